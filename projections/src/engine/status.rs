//! Where every projection stands.

use sqlx::{Row, postgres::PgRow};
use weir_events::{kind::Subsystem, position::Position, timestamp::Timestamp};
use weir_log::database::DatabaseFault;

use super::{Engine, Projection, actor_path, meter::eta};

/// Where the log and its projections stand.
#[derive(Debug, Clone)]
pub struct Status {
    /// The log's head.
    pub head: Position,
    /// Each projection, in the order of registration.
    pub projections: Vec<ProjectionStatus>,
}

/// Where a projection stands.
#[derive(Debug, Clone)]
pub struct ProjectionStatus {
    /// Its name.
    pub name: &'static str,
    /// Its subsystem.
    pub subsystem: Subsystem,
    /// The version of the live build; the version of the code while there is none.
    pub version: i32,
    /// Its actor path.
    pub actor: String,
    /// Whether somebody keeps it.
    pub state: State,
    /// Why it stands still.
    pub halted_by: Option<String>,
    /// Contiguous up to here; 0 while it is not built.
    pub position: Position,
    /// Events between its position and the log's head.
    pub lag_events: u64,
    /// How long ago the first event it has not applied was recorded, by the database's clock.
    pub lag_seconds: f64,
    /// Events a second it has been moving at.
    pub rate: f64,
    /// Who holds its lease.
    pub owner: Option<String>,
    /// Events it could not apply.
    pub dead_letters: u64,
    /// The build being made beside it.
    pub replay: Option<ReplayStatus>,
}

/// Whether somebody keeps a projection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A worker holds its lease.
    Live,
    /// No worker holds its lease, or it is not built yet.
    Stopped,
    /// It met an event it cannot apply, and its policy is to stand still.
    Halted,
}

impl State {
    /// The name used in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Stopped => "stopped",
            Self::Halted => "halted",
        }
    }
}

/// A build in the making.
#[derive(Debug, Clone)]
pub struct ReplayStatus {
    /// Its id.
    pub build: i64,
    /// The version of the code it is made by.
    pub version: i32,
    /// How far it is.
    pub position: Position,
    /// Where it must come to: the log's head.
    pub target: Position,
    /// Events a second.
    pub rate: f64,
    /// Seconds left at this rate.
    pub eta_seconds: Option<f64>,
    /// When it was begun.
    pub started_at: Timestamp,
    /// Whether somebody works on it.
    pub state: ReplayState,
}

/// Whether somebody works on a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayState {
    /// A worker holds the lease.
    Running,
    /// No worker does; the next one goes on with it.
    Interrupted,
    /// It met an event it cannot apply, and the projection's policy is to stand still.
    Halted(String),
}

const HEAD: &str = "SELECT max(position) FROM log.head";

const STATUS: &str = "
    SELECT n.name, b.version, b.state, b.halted_by, b.position,
        CASE WHEN b.moved_at > clock_timestamp() - interval '3 seconds' THEN b.rate ELSE 0 END
            AS rate,
        greatest(extract(epoch FROM clock_timestamp() - e.recorded_at), 0)::float8 AS lag_seconds,
        (SELECT count(*) FROM projections.dead_letters d WHERE d.build = b.id) AS dead_letters,
        CASE WHEN l.held_until > clock_timestamp() THEN concat_ws('/', nullif(l.host, ''), l.owner)
            END AS owner,
        r.id AS replay, r.version AS replay_version, r.position AS replay_position,
        r.rate AS replay_rate, r.started_at AS replay_started_at, r.halted_by AS replay_halted_by
    FROM unnest($1::text[]) AS n (name)
    LEFT JOIN projections.builds b ON b.name = n.name AND b.state IN ('live', 'halted')
    LEFT JOIN projections.builds r ON r.name = n.name AND r.state = 'building'
    LEFT JOIN projections.leases l ON l.name = n.name
    LEFT JOIN LATERAL (
        SELECT recorded_at FROM log.events WHERE position = coalesce(b.position, 0) + 1) e ON true";

impl Engine {
    /// Where every projection stands.
    pub async fn status(&self) -> Result<Status, DatabaseFault> {
        let fault = DatabaseFault::of("read where the projections stand");
        let names: Vec<&str> = self.projections().map(|p| p.name()).collect();
        let mut tx = self.database().begin().await?;
        // The head first: what is read after it may be ahead of it, but never seems behind.
        let head: Vec<Option<i64>> =
            sqlx::query_scalar(HEAD).fetch_all(&mut *tx).await.map_err(&fault)?;
        let rows = sqlx::query(STATUS).bind(names).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let head = Position(head.first().copied().flatten().unwrap_or(0));
        let found =
            |name: &str| rows.iter().find(|row| row.try_get("name").is_ok_and(|n: &str| n == name));
        let projections = self
            .projections()
            .map(|p| {
                found(p.name())
                    .map_or_else(|| Err(sqlx::Error::RowNotFound), |row| from_row(&**p, head, row))
            })
            .collect::<Result<_, _>>()
            .map_err(&fault)?;
        Ok(Status { head, projections })
    }
}

fn from_row(
    projection: &dyn Projection,
    head: Position,
    row: &PgRow,
) -> Result<ProjectionStatus, sqlx::Error> {
    let owner: Option<String> = row.try_get("owner")?;
    let state: Option<&str> = row.try_get("state")?;
    let position = Position(row.try_get::<Option<i64>, _>("position")?.unwrap_or(0));
    Ok(ProjectionStatus {
        name: projection.name(),
        subsystem: projection.subsystem(),
        version: row.try_get::<Option<_>, _>("version")?.unwrap_or_else(|| projection.version()),
        actor: actor_path(projection.name()),
        state: match state {
            Some("halted") => State::Halted,
            Some(_) if owner.is_some() => State::Live,
            _ => State::Stopped,
        },
        halted_by: row.try_get("halted_by")?,
        position,
        lag_events: position.distance_to(head),
        lag_seconds: row.try_get::<Option<_>, _>("lag_seconds")?.unwrap_or(0.0),
        rate: row.try_get::<Option<_>, _>("rate")?.unwrap_or(0.0),
        dead_letters: row.try_get::<i64, _>("dead_letters")?.unsigned_abs(),
        replay: replay_from_row(head, owner.is_some(), row)?,
        owner,
    })
}

fn replay_from_row(
    target: Position,
    held: bool,
    row: &PgRow,
) -> Result<Option<ReplayStatus>, sqlx::Error> {
    let Some(build) = row.try_get("replay")? else { return Ok(None) };
    let position = Position(row.try_get("replay_position")?);
    let rate: f64 = row.try_get("replay_rate")?;
    let halted_by: Option<String> = row.try_get("replay_halted_by")?;
    let started_at: time::OffsetDateTime = row.try_get("replay_started_at")?;
    Ok(Some(ReplayStatus {
        build,
        version: row.try_get("replay_version")?,
        position,
        target,
        rate,
        eta_seconds: eta(position, target, rate).map(|eta| eta.as_secs_f64()),
        started_at: started_at.into(),
        state: match halted_by {
            Some(error) => ReplayState::Halted(error),
            None if held => ReplayState::Running,
            None => ReplayState::Interrupted,
        },
    }))
}
