//! Rebuilding a read model beside the live one, and swapping it in.
//!
//! A replay is a row: whoever holds the projection's lease works on it, batch by batch, and goes on
//! where it was after any interruption. Near the head, one transaction holds the live build still,
//! applies the rest, and points the views at the new tables; readers see the old or the new.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection, Row, error::ErrorKind};
use tracing::{debug, error, info, warn};
use weir_events::position::Position;
use weir_log::{database::DatabaseFault, tail::TailFault};

use super::{
    Engine, EngineFault, Projection, Slot,
    backoff::Backoff,
    batch::{self, BatchFault, Target},
    build::{self, Build, BuildState, Builds},
    lease::Lease,
    meter::{Meter, eta},
    worker::Work,
};

/// How a replay is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayOptions {
    /// Rebuild from after this position. `None` goes on with an interrupted rebuild, wherever that
    /// began, or takes the whole log.
    pub from: Option<Position>,
    /// Begin again, even if an interrupted rebuild could be gone on with.
    pub restart: bool,
}

/// A rebuild that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replay {
    /// The build being made.
    pub build: i64,
    /// Whether it goes on with one that was begun before.
    pub resumed: bool,
}

/// How far a build is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Everything up to here is in it.
    pub position: Position,
    /// Where it must come to.
    pub target: Position,
    /// Events a second.
    pub rate: f64,
    /// How long it will still take at this rate.
    pub eta: Option<Duration>,
}

/// How a rebuild ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayEnd {
    /// The new build is live.
    Swapped,
    /// It was called off, or begun again as another build.
    Cancelled,
    /// It met an event it cannot apply, and the projection's policy is to stand still.
    Halted(String),
}

/// How often a follower looks at a build.
const FOLLOW: Duration = Duration::from_millis(200);
/// How often a worker looks for builds that others asked for.
const LOOK: Duration = Duration::from_secs(1);
/// How long a swap waits for readers of the views before it lets them pass and tries again.
const SWAP_PATIENCE: &str = "1s";

const WHERE: &str = "
    SELECT b.state, b.position, b.rate, b.halted_by, h.position AS head
    FROM (SELECT max(position) AS position FROM log.head) h
    LEFT JOIN projections.builds b ON b.id = $1";

const UNHALT: &str = "UPDATE projections.builds SET halted_by = NULL WHERE id = $1";

const HOLD_LIVE: &str = "
    SELECT id, position, set_config('lock_timeout', $2, true) FROM projections.builds
    WHERE name = $1 AND state IN ('live', 'halted') FOR NO KEY UPDATE";

const PROMOTE: &str = "
    UPDATE projections.builds
    SET state = 'live', position = $2, moved_at = clock_timestamp(), halted_by = NULL
    WHERE id = $1";

const POINT_VIEWS: &str = "SELECT projections.point_views($1, $2, $3)";

impl Engine {
    /// Asks for a rebuild; whoever holds the projection's lease makes it. Works on any instance.
    pub async fn replay(&self, name: &str, options: ReplayOptions) -> Result<Replay, EngineFault> {
        let fault = DatabaseFault::of("ask for a replay");
        let slot = self.known(name)?;
        let mut again = true;
        loop {
            let mut tx = self.database().begin().await?;
            match ask(&mut tx, &*slot.projection, options).await {
                // Two asked at once: the other's build is there now.
                Err(EngineFault::Database(fault)) if again && taken(&fault) => again = false,
                asked => {
                    let replay = asked?;
                    tx.commit().await.map_err(&fault)?;
                    slot.changed.notify_waiters();
                    return Ok(replay);
                }
            }
        }
    }

    /// Follows a rebuild to its end, whoever makes it. Safe to drop: the rebuild goes on.
    pub async fn follow_replay(
        &self,
        name: &str,
        build: i64,
        mut progress: impl FnMut(Progress) + Send,
    ) -> Result<ReplayEnd, EngineFault> {
        let fault = DatabaseFault::of("read how far a replay is");
        self.known(name)?;
        loop {
            let mut tx = self.database().begin().await?;
            let rows = sqlx::query(WHERE).bind(build).fetch_all(&mut *tx).await.map_err(&fault)?;
            tx.commit().await.map_err(&fault)?;
            let row = rows.first().ok_or_else(|| fault(sqlx::Error::RowNotFound))?;
            let state: Option<&str> = row.try_get("state").map_err(&fault)?;
            if !matches!(state, Some("building" | "live" | "halted")) {
                return Ok(ReplayEnd::Cancelled);
            }
            let position = Position(row.try_get("position").map_err(&fault)?);
            let target = Position(row.try_get("head").map_err(&fault)?);
            let rate = row.try_get("rate").map_err(&fault)?;
            progress(Progress { position, target, rate, eta: eta(position, target, rate) });
            if state != Some("building") {
                return Ok(ReplayEnd::Swapped);
            }
            if let Some(error) = row.try_get("halted_by").map_err(&fault)? {
                return Ok(ReplayEnd::Halted(error));
            }
            tokio::time::sleep(FOLLOW).await;
        }
    }

    /// Calls a rebuild off; what was built is dropped. Works on any instance.
    pub async fn cancel_replay(&self, name: &str) -> Result<(), EngineFault> {
        let fault = DatabaseFault::of("call a replay off");
        let slot = self.known(name)?;
        let mut tx = self.database().begin().await?;
        let id = cancel(&mut tx, name).await?;
        tx.commit().await.map_err(&fault)?;
        slot.changed.notify_waiters();
        if let Err(fault) = build::drop_build(self.database(), id).await {
            info!(projection = %name, error = %fault, "dropping the build is left to a worker");
        }
        Ok(())
    }
}

fn taken(fault: &DatabaseFault) -> bool {
    let kind = fault.cause.as_database_error().map(sqlx::error::DatabaseError::kind);
    matches!(kind, Some(ErrorKind::UniqueViolation))
}

/// Asks for a rebuild, in a transaction.
pub(super) async fn ask(
    tx: &mut PgConnection,
    projection: &dyn Projection,
    options: ReplayOptions,
) -> Result<Replay, EngineFault> {
    let fault = DatabaseFault::of("ask for a replay");
    let Builds { building, .. } = Builds::within(tx, projection.name()).await.map_err(&fault)?;
    if let Some(building) = building {
        let id = building.id;
        if !options.restart && building.version == projection.version() {
            if options.from.is_some_and(|from| from != building.started_from) {
                let name = projection.name().to_owned();
                return Err(EngineFault::Replaying { name, build: id });
            }
            sqlx::query(UNHALT).bind(id).execute(tx).await.map_err(&fault)?;
            return Ok(Replay { build: id, resumed: true });
        }
        Build::retire(tx, id).await.map_err(&fault)?;
    }
    let from = options.from.unwrap_or_default();
    let build = Build::create(tx, projection, BuildState::Building, from).await;
    Ok(Replay { build: build.map_err(&fault)?.id, resumed: false })
}

/// Calls a rebuild off, in a transaction; answers the build that is to be dropped.
pub(super) async fn cancel(tx: &mut PgConnection, name: &str) -> Result<i64, EngineFault> {
    let fault = DatabaseFault::of("call a replay off");
    let Builds { building, .. } = Builds::within(tx, name).await.map_err(&fault)?;
    let building = building.ok_or_else(|| EngineFault::NotReplaying(name.to_owned()))?;
    Build::retire(tx, building.id).await.map_err(&fault)?;
    Ok(building.id)
}

/// Works on whatever build is asked for.
pub(super) async fn keep_building(work: &Work<'_>) {
    let Work { engine, slot, stop, .. } = *work;
    let name = slot.projection.name();
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        let changed = slot.changed.notified();
        match build_once(work).await {
            Ok(()) => backoff.reset(),
            Err(BatchFault::Lost) => work.lost(),
            Err(BatchFault::Gone) => continue,
            Err(BatchFault::Halted { position, error }) => {
                error!(projection = name, %position, %error, "rebuild stands still");
            }
            Err(fault) => {
                let cause = std::error::Error::source(&fault).map(ToString::to_string);
                warn!(projection = name, error = %fault, cause, "rebuild waits");
                backoff.wait(stop).await;
                continue;
            }
        }
        if let Err(fault) = build::sweep(engine.database(), name).await {
            debug!(projection = name, error = %fault, cause = %fault.cause,
                "retired builds are still in use");
        }
        // A look now and then finds what other processes asked for.
        work.pause(LOOK, changed).await;
    }
}

async fn build_once(work: &Work<'_>) -> Result<(), BatchFault> {
    let Work { engine, slot, lease, lifecycle, stop } = *work;
    let projection = &*slot.projection;
    let Builds { building, .. } = Builds::of(engine.database(), projection.name()).await?;
    let Some(mut build) = building.filter(|b| b.version == projection.version()) else {
        return Ok(());
    };
    if build.halted_by.is_some() {
        return Ok(());
    }
    let options = engine.options();
    let near = u64::try_from(options.live_batch).unwrap_or(u64::MAX);
    let mut analyzed = false;
    let mut meter = Meter::new();
    let mut cursor = engine.cursor(lifecycle, build.position);
    info!(projection = projection.name(), build = build.id, position = %build.position,
        "rebuilding");
    while !stop.is_cancelled() {
        if cursor.distance() <= near {
            if !analyzed {
                analyze(engine, projection, &build).await?;
                analyzed = true;
            }
            if swap(engine, slot, lease, &build).await? {
                info!(projection = projection.name(), build = build.id, "rebuilt and live");
                slot.changed.notify_waiters();
                return Ok(());
            }
        }
        let Some(events) = work.wait(cursor.next()).await else { break };
        let events = events?;
        let target = Target { projection, build: &build, options };
        let done = batch::commit(engine.log(), &target, lease, &events, meter.rate()).await?;
        meter.count(events.len());
        build.position = done.position;
        if events.last().is_some_and(|last| last.position != done.position) {
            cursor = engine.cursor(lifecycle, build.position);
        }
        if done.n_parked > 0 {
            warn!(projection = projection.name(), build = build.id, n_parked = done.n_parked,
                position = %done.position, "events parked while rebuilding");
        }
    }
    Ok(())
}

/// Fresh tables get their statistics before anybody reads them.
async fn analyze(
    engine: &Engine,
    projection: &dyn Projection,
    build: &Build,
) -> Result<(), DatabaseFault> {
    let fault = DatabaseFault::of("analyze a rebuilt projection");
    let mut tx = engine.database().begin().await?;
    for table in projection.tables() {
        // Both names are the code's own.
        let statement = AssertSqlSafe(format!("ANALYZE \"{}\".\"{table}\"", build.schema));
        sqlx::raw_sql(statement).execute(&mut *tx).await.map_err(&fault)?;
    }
    tx.commit().await.map_err(&fault)
}

/// Makes a build the live one, in one transaction. Answers false, and does nothing, when too much
/// is left to apply for that.
async fn swap(
    engine: &Engine,
    slot: &Slot,
    lease: &Lease,
    build: &Build,
) -> Result<bool, BatchFault> {
    let (fault, life) = (DatabaseFault::of("swap a rebuilt projection in"), engine.life());
    let projection = &*slot.projection;
    let target = Target { projection, build, options: engine.options() };
    // From here on the live build stands still: what is read now goes at least as far as it.
    let _turn = slot.turn.lock().await;
    let head = engine.log().ask_head().await?.position;
    let n_left = usize::try_from(build.position.distance_to(head)).unwrap_or(usize::MAX);
    if n_left > engine.options().rebuild_batch {
        return Ok(false);
    }
    let rest = engine.log().read(build.position, n_left).await.map_err(TailFault::from)?;
    let position = rest.last().map_or(build.position, |event| event.position);
    let mut tx = engine.database().begin().await?;
    let live = sqlx::query(HOLD_LIVE).bind(projection.name()).bind(SWAP_PATIENCE);
    let live = live.fetch_all(&mut *tx).await.map_err(&fault)?;
    if batch::enter(&mut tx, &target, false).await.map_err(&fault)? != Some(build.position) {
        return Err(BatchFault::Gone);
    }
    let wanted = batch::wanted(projection.kinds(), &rest);
    if batch::apply(&mut tx, &target, &wanted).await?.upto.is_some() {
        return Ok(false);
    }
    if let Some(row) = live.first() {
        let live_at: i64 = row.try_get("position").map_err(&fault)?;
        if live_at > position.0 {
            return Ok(false);
        }
        let id = row.try_get("id").map_err(&fault)?;
        Build::retire(&mut tx, id).await.map_err(&fault)?;
    }
    let promoted = sqlx::query(PROMOTE).bind(build.id).bind(position.0).execute(&mut *tx).await;
    promoted.map_err(&fault)?;
    let pointed = sqlx::query(POINT_VIEWS)
        .bind(projection.views())
        .bind(projection.tables())
        .bind(&build.schema)
        .execute(&mut *tx)
        .await;
    pointed.map_err(&fault)?;
    if !lease.verify(&mut tx).await.map_err(&fault)? {
        return Err(BatchFault::Lost);
    }
    tx.commit().await.map_err(&fault)?;
    slot.saw(life, position);
    Ok(true)
}
