//! The builds of a projection: each in its own schema, one live, at most one in the making.

use sqlx::{AssertSqlSafe, PgConnection, Row, postgres::PgRow};
use weir_events::position::Position;
use weir_log::database::{Database, DatabaseFault};

use super::{Projection, lease::Lease};

/// A build, as its row said when it was read.
#[derive(Debug, Clone)]
pub(super) struct Build {
    pub(super) id: i64,
    pub(super) version: i32,
    pub(super) schema: String,
    pub(super) state: BuildState,
    pub(super) position: Position,
    pub(super) started_from: Position,
    pub(super) halted_by: Option<String>,
}

/// What a build is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildState {
    Live,
    Halted,
    Building,
    Checking,
}

impl BuildState {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Halted => "halted",
            Self::Building => "building",
            Self::Checking => "checking",
        }
    }
}

const OF: &str = "
    SELECT id, version, schema, state, position, started_from, halted_by FROM projections.builds
    WHERE name = $1 AND state IN ('live', 'halted', 'building') ORDER BY id";

const CREATE: &str = "
    INSERT INTO projections.builds (subsystem, name, version, state, position, started_from)
    VALUES ($1, $2, $3, $4, $5, $5)
    RETURNING id, version, schema, state, position, started_from, halted_by";

const RETIRE: &str = "UPDATE projections.builds SET state = 'retired' WHERE id = $1";

/// Retired builds, and scratches whose check is gone.
const SWEEPABLE: &str = "
    SELECT b.id FROM projections.builds b
    WHERE b.name = $1 AND (b.state = 'retired' OR b.state = 'checking'
        AND b.started_at < clock_timestamp() - interval '1 minute'
        AND NOT EXISTS (SELECT FROM projections.leases l
            WHERE l.name = b.schema AND l.held_until > clock_timestamp()))
    ORDER BY b.id LIMIT 100";

const LOCK_RETIRED: &str = "
    SELECT schema, set_config('lock_timeout', '1s', true) FROM projections.builds
    WHERE id = $1 AND state IN ('retired', 'checking') FOR UPDATE SKIP LOCKED";

const FORGET: &str = "DELETE FROM projections.builds WHERE id = $1";
const FORGET_LEASE: &str = "DELETE FROM projections.leases WHERE name = $1";

fn from_row(row: &PgRow) -> Result<Build, sqlx::Error> {
    let state = match row.try_get("state")? {
        "live" => BuildState::Live,
        "halted" => BuildState::Halted,
        "checking" => BuildState::Checking,
        _ => BuildState::Building,
    };
    Ok(Build {
        id: row.try_get("id")?,
        version: row.try_get("version")?,
        schema: row.try_get("schema")?,
        state,
        position: Position(row.try_get("position")?),
        started_from: Position(row.try_get("started_from")?),
        halted_by: row.try_get("halted_by")?,
    })
}

/// The live build of a projection, and the one in the making.
#[derive(Debug, Default)]
pub(super) struct Builds {
    pub(super) live: Option<Build>,
    pub(super) building: Option<Build>,
}

impl Builds {
    /// Reads them.
    pub(super) async fn of(database: &Database, name: &str) -> Result<Self, DatabaseFault> {
        let fault = DatabaseFault::of("read the builds of a projection");
        let mut tx = database.begin().await?;
        let builds = Self::within(&mut tx, name).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        Ok(builds)
    }

    /// Reads them in a transaction.
    pub(super) async fn within(tx: &mut PgConnection, name: &str) -> Result<Self, sqlx::Error> {
        let mut builds = Self::default();
        for row in sqlx::query(OF).bind(name).fetch_all(tx).await? {
            let build = from_row(&row)?;
            if build.state == BuildState::Building {
                builds.building = Some(build);
            } else {
                builds.live = Some(build);
            }
        }
        Ok(builds)
    }
}

impl Build {
    /// Makes a build with its schema and empty tables. Leaves the `search_path` there.
    pub(super) async fn create(
        tx: &mut PgConnection,
        projection: &dyn Projection,
        state: BuildState,
        from: Position,
    ) -> Result<Self, sqlx::Error> {
        let rows = sqlx::query(CREATE)
            .bind(projection.subsystem().as_str())
            .bind(projection.name())
            .bind(projection.version())
            .bind(state.as_str())
            .bind(from.0)
            .fetch_all(&mut *tx)
            .await?;
        let build = from_row(rows.first().ok_or(sqlx::Error::RowNotFound)?)?;
        let (schema, ddl) = (&build.schema, projection.ddl());
        let statements =
            format!("CREATE SCHEMA \"{schema}\"; SET LOCAL search_path = \"{schema}\"; {ddl}");
        // Subsystem, name and id make the schema's name, and the row's checks hold them to letters,
        // digits and underscores; the DDL is a constant of the projection.
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut *tx).await?;
        Ok(build)
    }

    /// Marks a build as one to be dropped. Waits for a batch that is being committed.
    pub(super) async fn retire(tx: &mut PgConnection, id: i64) -> Result<(), sqlx::Error> {
        sqlx::query(RETIRE).bind(id).execute(tx).await.map(drop)
    }
}

/// Drops what is retired, one build a transaction. What somebody still reads is left for later.
pub(super) async fn sweep(database: &Database, name: &str) -> Result<(), DatabaseFault> {
    let fault = DatabaseFault::of("drop retired builds");
    let mut tx = database.begin().await?;
    let ids = sqlx::query(SWEEPABLE).bind(name).fetch_all(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    for row in ids {
        drop_build(database, row.try_get("id").map_err(&fault)?).await?;
    }
    Ok(())
}

/// Drops one build that is retired, or a scratch.
pub(super) async fn drop_build(database: &Database, id: i64) -> Result<(), DatabaseFault> {
    let fault = DatabaseFault::of("drop a retired build");
    let mut tx = database.begin().await?;
    let rows = sqlx::query(LOCK_RETIRED).bind(id).fetch_all(&mut *tx).await.map_err(&fault)?;
    if let Some(row) = rows.first() {
        let schema: String = row.try_get("schema").map_err(&fault)?;
        let statement = format!("DROP SCHEMA IF EXISTS \"{schema}\" CASCADE");
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *tx).await.map_err(&fault)?;
        sqlx::query(FORGET).bind(id).execute(&mut *tx).await.map_err(&fault)?;
        sqlx::query(FORGET_LEASE).bind(&schema).execute(&mut *tx).await.map_err(&fault)?;
    }
    tx.commit().await.map_err(&fault)
}

/// Makes sure there is something to keep: a first build, or one of this version beside an older.
/// Answers false when the live build is of a newer version than this code.
pub(super) async fn install(
    database: &Database,
    projection: &dyn Projection,
    lease: &Lease,
) -> Result<bool, DatabaseFault> {
    let fault = DatabaseFault::of("install a projection");
    let mut tx = database.begin().await?;
    let Builds { live, building } =
        Builds::within(&mut tx, projection.name()).await.map_err(&fault)?;
    let version = projection.version();
    if live.as_ref().is_some_and(|b| b.version > version) {
        return Ok(false);
    }
    let wanted = live.is_none_or(|b| b.version < version);
    let outdated = building.as_ref().filter(|b| b.version < version);
    if let Some(outdated) = outdated {
        Build::retire(&mut tx, outdated.id).await.map_err(&fault)?;
    }
    if wanted && (building.is_none() || outdated.is_some()) {
        Build::create(&mut tx, projection, BuildState::Building, Position::START)
            .await
            .map_err(&fault)?;
    }
    if lease.verify(&mut tx).await.map_err(&fault)? {
        tx.commit().await.map_err(&fault)?;
    }
    Ok(true)
}
