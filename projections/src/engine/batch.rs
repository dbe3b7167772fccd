//! One batch: rows and offset in one transaction, poison set apart.
//!
//! A batch is applied as it stands. One that fails begins again behind savepoints, and is halved until
//! the events that cannot be applied stand alone. What is wrong with the database for the moment is
//! never held against an event.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::FutureExt;
use sqlx::{Connection, PgConnection, Postgres, Row, Transaction, error::DatabaseError};
use weir_events::{envelope::Recorded, position::Position};
use weir_log::{
    Log,
    database::{self, DatabaseFault},
    tail::TailFault,
};

use super::{
    ApplyFault, EngineFault, EngineOptions, Kinds, PoisonPolicy, Projection,
    build::{Build, BuildState},
    dead_letter,
    lease::Lease,
};

/// How often an event is tried before it counts as poison.
pub(super) const ATTEMPTS: i32 = 3;
/// How long to wait before each further attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(20), Duration::from_millis(100)];
/// Events of one batch that get these pauses; where more fail, it is not the moment's fault.
const PAUSED: usize = 3;

/// What a batch is applied to.
pub(super) struct Target<'a> {
    pub(super) projection: &'a dyn Projection,
    pub(super) build: &'a Build,
    pub(super) options: &'a EngineOptions,
}

/// A batch that was committed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Committed {
    /// Where the build is now; before the batch's end when it parked as much as one batch may.
    pub(super) position: Position,
    /// Events it parked.
    pub(super) n_parked: usize,
}

/// A batch was not committed, or not to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum BatchFault {
    /// Somebody else holds the lease.
    #[error("the lease is lost")]
    Lost,
    /// The build is not what it was: swapped out, called off, or moved by somebody else.
    #[error("the build is not what it was")]
    Gone,
    /// It stands still before an event it cannot apply; what came before is committed.
    #[error("halted at position {position}: {error}")]
    Halted {
        /// The event.
        position: Position,
        /// Why it cannot be applied.
        error: String,
    },
    /// The log did not say how it goes on.
    #[error(transparent)]
    Read(#[from] TailFault),
    /// The database did not do it.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

impl BatchFault {
    /// As the answer to whoever asked for work on a projection.
    pub(super) fn on(self, projection: &dyn Projection) -> EngineFault {
        match self {
            Self::Lost | Self::Gone | Self::Read(TailFault::Stopped | TailFault::Resync { .. }) => {
                EngineFault::Interrupted(projection.name().to_owned())
            }
            Self::Halted { position, error } => EngineFault::Poison { position, error },
            Self::Read(TailFault::Read(fault)) => fault.into(),
            Self::Database(fault) => fault.into(),
        }
    }
}

/// Whoever writes to a build's tables holds its row. A client that goes silent in the middle must
/// not hold it for longer than its lease.
const ENTER: &str = "
    SELECT position, set_config('search_path', quote_ident(schema), true),
        set_config('idle_in_transaction_session_timeout', $3, true),
        CASE WHEN $4 THEN set_config('synchronous_commit', 'off', true) END
    FROM projections.builds WHERE id = $1 AND state = $2 FOR NO KEY UPDATE";

/// Holds the lease's row until the end of the transaction: nobody takes over before it is committed.
const MOVE: &str = "
    WITH held AS (
        SELECT 1 FROM projections.leases
        WHERE name = $6 AND owner = $7 AND fence = $8 AND held_until > clock_timestamp()
        FOR SHARE)
    UPDATE projections.builds
    SET position = $2, rate = $3, state = $4, halted_by = $5, moved_at = clock_timestamp()
    WHERE id = $1 AND EXISTS (SELECT FROM held)";

/// Applies the events after the build's position and moves it over them, in one transaction.
pub(super) async fn commit(
    log: &Log,
    target: &Target<'_>,
    lease: &Lease,
    events: &[Arc<Recorded>],
    rate: f64,
) -> Result<Committed, BatchFault> {
    let Target { projection, build, .. } = *target;
    let Some(last) = events.last().map(|event| event.position) else {
        return Ok(Committed { position: build.position, n_parked: 0 });
    };
    let batch =
        Batch { log, target, lease, wanted: wanted(projection.kinds(), events), last, rate };
    match batch.commit_as_it_stands().await? {
        Some(committed) => Ok(committed),
        None => batch.commit_with_care().await,
    }
}

/// A batch on its way into a build.
struct Batch<'a> {
    log: &'a Log,
    target: &'a Target<'a>,
    lease: &'a Lease,
    wanted: Vec<Arc<Recorded>>,
    last: Position,
    rate: f64,
}

impl Batch<'_> {
    /// All of it at once, in as few round trips as it takes: nearly every batch can be applied. Nothing,
    /// if it cannot: then it has to be found out what is wrong with which event.
    async fn commit_as_it_stands(&self) -> Result<Option<Committed>, BatchFault> {
        let fault = DatabaseFault::of("apply a batch of events");
        let mut tx = self.begin().await?;
        if !self.wanted.is_empty() {
            match tried(self.target.projection, &self.wanted, &mut tx).await {
                Ok(()) => {}
                Err(ApplyFault::Database(cause)) if passing(&cause) => {
                    return Err(fault(cause).into());
                }
                Err(_) => {
                    tx.rollback().await.map_err(&fault)?;
                    return Ok(None);
                }
            }
        }
        let state = self.target.build.state;
        match self.move_over(self.last, state, None, &mut tx).await {
            Ok(()) => {}
            // The transaction had failed before, and nobody said so.
            Err(BatchFault::Database(fault)) if !passing(&fault.cause) => return Ok(None),
            Err(fault) => return Err(fault),
        }
        match tx.commit().await {
            Ok(()) => Ok(Some(Committed { position: self.last, n_parked: 0 })),
            Err(cause) if passing(&cause) => Err(fault(cause).into()),
            // A deferred constraint has spoken.
            Err(_) => Ok(None),
        }
    }

    /// What can be applied of it, event by event where need be.
    async fn commit_with_care(&self) -> Result<Committed, BatchFault> {
        let fault = DatabaseFault::of("apply a batch of events");
        let mut tx = self.begin().await?;
        let applied = apply(&mut tx, self.target, &self.wanted).await?;
        let position = applied.upto.unwrap_or(self.last);
        let (mut state, mut halted_by) = (self.target.build.state, None);
        if let Some((at, error)) = &applied.halted {
            halted_by = Some(format!("position {at}: {error}"));
            if state == BuildState::Live {
                state = BuildState::Halted;
            }
        }
        self.move_over(position, state, halted_by, &mut tx).await?;
        tx.commit().await.map_err(&fault)?;
        match applied.halted {
            Some((position, error)) => Err(BatchFault::Halted { position, error }),
            None => Ok(Committed { position, n_parked: applied.n_parked }),
        }
    }

    /// A transaction that has entered the build. Nothing in it waits for the disk. Rows and offset are
    /// one transaction: after a crash of the database both are where they were some moments before, and
    /// the events, which are on disk, are applied again. Whoever acts on what he has read says so in the
    /// log, and that append writes to disk whatever was committed before it. Whoever was only told how
    /// far a build is (`Life`) finds out that the database was away. Where nobody listens (behind a
    /// pooler, or with notifications off) he may not, so rows that are read are waited for there.
    async fn begin(&self) -> Result<Transaction<'static, Postgres>, BatchFault> {
        let build = self.target.build;
        let relaxed = self.wanted.is_empty()
            || matches!(build.state, BuildState::Building | BuildState::Checking)
            || self.log.hub().notices_outages();
        let mut tx = self.log.database().begin().await?;
        let entered = enter(&mut tx, self.target, relaxed).await;
        let entered = entered.map_err(DatabaseFault::of("apply a batch of events"))?;
        if entered == Some(build.position) { Ok(tx) } else { Err(BatchFault::Gone) }
    }

    /// Moves the build, unless the lease is lost.
    async fn move_over(
        &self,
        position: Position,
        state: BuildState,
        halted_by: Option<String>,
        tx: &mut PgConnection,
    ) -> Result<(), BatchFault> {
        let moved = sqlx::query(MOVE)
            .bind(self.target.build.id)
            .bind(position.0)
            .bind(self.rate)
            .bind(state.as_str())
            .bind(halted_by)
            .bind(&self.lease.name)
            .bind(self.lease.owner)
            .bind(self.lease.fence)
            .execute(tx)
            .await
            .map_err(DatabaseFault::of("apply a batch of events"))?;
        if moved.rows_affected() == 0 { Err(BatchFault::Lost) } else { Ok(()) }
    }
}

/// Takes the build's row and goes to its schema; answers its position, `None` if it is not what it
/// was.
pub(super) async fn enter(
    tx: &mut PgConnection,
    target: &Target<'_>,
    relaxed: bool,
) -> Result<Option<Position>, sqlx::Error> {
    let Target { build, options, .. } = *target;
    let rows = sqlx::query(ENTER)
        .bind(build.id)
        .bind(build.state.as_str())
        .bind(options.lease_window.as_millis().to_string())
        .bind(relaxed)
        .fetch_all(tx)
        .await?;
    rows.first().map(|row| row.try_get("position").map(Position)).transpose()
}

/// Those of the events that the projection wants to see.
pub(super) fn wanted(kinds: Kinds, events: &[Arc<Recorded>]) -> Vec<Arc<Recorded>> {
    events.iter().filter(|event| kinds.want(event.kind)).cloned().collect()
}

/// What became of the events of a batch.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// Where it stopped, when that is not the end.
    pub(super) upto: Option<Position>,
    pub(super) n_parked: usize,
    pub(super) halted: Option<(Position, String)>,
}

/// Applies wanted events in a transaction that has entered the build.
pub(super) async fn apply(
    tx: &mut PgConnection,
    target: &Target<'_>,
    wanted: &[Arc<Recorded>],
) -> Result<Applied, BatchFault> {
    let Target { projection, options, .. } = *target;
    let mut applied = Applied::default();
    // The next range to try lies on top.
    let mut ranges = vec![wanted];
    while let Some(range) = ranges.pop() {
        let Some(first) = range.first() else { continue };
        let before = Position(first.position.0 - 1);
        if applied.n_parked >= options.max_parked {
            applied.upto = Some(before);
            break;
        }
        if range.len() > 1 {
            if attempt(projection, range, tx).await?.is_some() {
                let (left, right) = range.split_at(range.len() / 2);
                ranges.extend([right, left]);
            }
            continue;
        }
        let n_pauses = if applied.n_parked < PAUSED { PAUSES.len() } else { 0 };
        let Some(error) = stubbornly(projection, range, tx, n_pauses).await? else { continue };
        if projection.poison_policy() == PoisonPolicy::Halt {
            applied.upto = Some(before);
            applied.halted = Some((first.position, error));
            break;
        }
        let parked = dead_letter::park(tx, target, first, &error).await;
        parked.map_err(DatabaseFault::of("park an event"))?;
        applied.n_parked += 1;
    }
    Ok(applied)
}

async fn stubbornly(
    projection: &dyn Projection,
    range: &[Arc<Recorded>],
    tx: &mut PgConnection,
    n_pauses: usize,
) -> Result<Option<String>, DatabaseFault> {
    let mut pauses = PAUSES.iter().take(n_pauses);
    for _ in 1..ATTEMPTS {
        if attempt(projection, range, tx).await?.is_none() {
            return Ok(None);
        }
        if let Some(pause) = pauses.next() {
            tokio::time::sleep(*pause).await;
        }
    }
    attempt(projection, range, tx).await
}

/// Tries events behind a savepoint. Answers why they cannot be applied; fails when the database
/// cannot be blamed on them.
pub(super) async fn attempt(
    projection: &dyn Projection,
    range: &[Arc<Recorded>],
    tx: &mut PgConnection,
) -> Result<Option<String>, DatabaseFault> {
    let fault = DatabaseFault::of("apply events");
    let mut inner = tx.begin().await.map_err(&fault)?;
    // Those before may have had them speak.
    constraints("SET CONSTRAINTS ALL DEFERRED", &mut inner).await.map_err(&fault)?;
    let error = match tried(projection, range, &mut inner).await {
        Ok(()) => match constraints("SET CONSTRAINTS ALL IMMEDIATE", &mut inner).await {
            Ok(()) => {
                inner.commit().await.map_err(&fault)?;
                return Ok(None);
            }
            Err(cause) => ApplyFault::Database(cause),
        },
        Err(error) => error,
    };
    match error {
        ApplyFault::Database(cause) if passing(&cause) => Err(fault(cause)),
        error => {
            inner.rollback().await.map_err(&fault)?;
            Ok(Some(said(&error)))
        }
    }
}

/// Applies events; a panic is a refusal.
async fn tried(
    projection: &dyn Projection,
    range: &[Arc<Recorded>],
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let tried = AssertUnwindSafe(projection.apply(range, tx)).catch_unwind().await;
    tried.unwrap_or_else(|panic| {
        Err(ApplyFault::Refused(format!("it panicked: {}", panic_text(&panic))))
    })
}

/// Has deferred constraints speak now, while it can still be told which events break them, or wait.
async fn constraints(when: &'static str, tx: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(when).execute(tx).await.map(drop)
}

/// Whether the same can succeed later. An owner that was stalled finds its session ended (25P03).
fn passing(cause: &sqlx::Error) -> bool {
    database::is_passing(cause)
        || matches!(cause, sqlx::Error::PoolClosed)
        || cause.as_database_error().and_then(DatabaseError::code).is_some_and(|c| c == "25P03")
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// The longest error kept, in characters.
const MAX_ERROR_CHARS: usize = 2_000;

/// An error with its causes, as text a table can keep.
pub(super) fn said(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let line = next.to_string();
        if !text.ends_with(&line) {
            text = format!("{text}: {line}");
        }
        cause = next.source();
    }
    text.chars().map(|c| if c == '\0' { '\u{fffd}' } else { c }).take(MAX_ERROR_CHARS).collect()
}
