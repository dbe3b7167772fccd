//! Operators' commands that come through the log: handled once, by whoever holds the lease.
//!
//! What was handled is remembered in the transaction that handles it, by the version of the
//! command's event in the projection's own operations stream.

use std::time::Duration;

use sqlx::{Connection, PgConnection, Row};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use weir_events::{
    envelope::Recorded,
    log::{DeadLetterRedelivered, Event, ReplayCancelled, ReplayRequested},
    position::{Position, StreamVersion},
    stream::StreamName,
};
use weir_log::{database::DatabaseFault, tail::TailFault};

use super::{
    Engine, EngineFault, Slot,
    backoff::Backoff,
    batch::said,
    dead_letter,
    lease::Lease,
    rebuild::{self, ReplayOptions},
    worker::Work,
};

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was done.
    Done {
        /// The build being made, where it was a replay.
        build: Option<i64>,
    },
    /// It could not be done.
    Refused(String),
}

/// How often an instance looks whether a command was handled.
const POLL: Duration = Duration::from_millis(20);
/// How often a worker looks for commands by itself; nearly always it is told.
const LOOK: Duration = Duration::from_secs(5);
/// Commands read at once.
const AT_ONCE: usize = 100;

const HANDLED: &str = "
    SELECT coalesce(max(version), 0) AS version FROM projections.operations WHERE name = $1";

const REMEMBER: &str = "
    INSERT INTO projections.operations (name, version, position, build, refused)
    VALUES ($1, $2, $3, $4, $5)";

/// Answers are asked for soon or never.
const FORGET: &str = "
    DELETE FROM projections.operations WHERE name = $1 AND version <= $2 - 1000";

const ANSWER: &str = "
    SELECT build, refused FROM projections.operations WHERE name = $1 AND position = $2";

impl Engine {
    /// Waits until the command recorded at `position` of the log was handled. `None` when it was
    /// not in time: no worker is running, or it is busy.
    pub async fn await_operation(
        &self,
        name: &str,
        position: Position,
        timeout: Duration,
    ) -> Result<Option<Outcome>, EngineFault> {
        let fault = DatabaseFault::of("read what came of a command");
        let name = self.projection(name)?.name();
        let deadline = Instant::now() + timeout;
        loop {
            let mut tx = self.database().begin().await?;
            let rows = sqlx::query(ANSWER).bind(name).bind(position.0).fetch_all(&mut *tx).await;
            let rows = rows.map_err(&fault)?;
            tx.commit().await.map_err(&fault)?;
            if let Some(row) = rows.first() {
                let build = row.try_get("build").map_err(&fault)?;
                let refused: Option<String> = row.try_get("refused").map_err(&fault)?;
                return Ok(Some(refused.map_or(Outcome::Done { build }, Outcome::Refused)));
            }
            if Instant::now() + POLL > deadline {
                return Ok(None);
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

/// The stream that operators' commands on a projection are recorded in.
fn stream(name: &str) -> Result<StreamName, EngineFault> {
    StreamName::new(format!("log/projections/{name}"))
        .map_err(|_| EngineFault::Unknown(name.to_owned()))
}

/// Rings for a worker of this process whenever a command for its projection is recorded.
pub(super) async fn follow(engine: &Engine, stop: &CancellationToken) {
    let mut backoff = Backoff::default();
    let mut tail = engine.log().tail(engine.log().head());
    while let Some(next) = stop.run_until_cancelled(tail.next(engine.options().live_batch)).await {
        match next {
            Ok(events) => {
                backoff.reset();
                for projection in events.iter().filter_map(|event| commanded(event)) {
                    if let Some(slot) = engine.slot(&projection) {
                        slot.commanded.notify_one();
                    }
                }
            }
            Err(TailFault::Stopped) => return,
            Err(fault) => {
                info!(error = %fault, "following operators' commands anew");
                backoff.wait(stop).await;
                tail = engine.log().tail(engine.log().head());
                engine.inner.slots.iter().for_each(|slot| slot.commanded.notify_one());
            }
        }
    }
}

fn commanded(event: &Recorded) -> Option<String> {
    event.decode::<Event>()?.ok().map(|event| match event {
        Event::ReplayRequested(ReplayRequested { projection, .. })
        | Event::ReplayCancelled(ReplayCancelled { projection })
        | Event::DeadLetterRedelivered(DeadLetterRedelivered { projection, .. }) => projection,
    })
}

/// Handles commands as they come.
pub(super) async fn keep_handling(work: &Work<'_>) {
    let Work { engine, slot, lease, stop, .. } = *work;
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        match handle_all(engine, slot, lease).await {
            Ok(true) => {
                backoff.reset();
                work.pause(LOOK, slot.commanded.notified()).await;
            }
            Ok(false) => work.lost(),
            Err(fault) => {
                let cause = std::error::Error::source(&fault).map(ToString::to_string);
                warn!(projection = slot.projection.name(), error = %fault, cause,
                    "operators' commands wait");
                backoff.wait(stop).await;
            }
        }
    }
}

/// Handles what is waiting; answers false when the lease is lost.
async fn handle_all(engine: &Engine, slot: &Slot, lease: &Lease) -> Result<bool, EngineFault> {
    let fault = DatabaseFault::of("read which commands were handled");
    let name = slot.projection.name();
    let stream = stream(name)?;
    loop {
        let mut tx = engine.database().begin().await?;
        let rows = sqlx::query(HANDLED).bind(name).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let handled = rows.first().map_or(Ok(0), |row| row.try_get("version")).map_err(&fault)?;
        let commands = engine.log().read_stream(&stream, StreamVersion(handled), AT_ONCE).await?;
        if commands.is_empty() {
            return Ok(true);
        }
        for command in &commands {
            if !handle(engine, slot, lease, command).await? {
                return Ok(false);
            }
        }
    }
}

async fn handle(
    engine: &Engine,
    slot: &Slot,
    lease: &Lease,
    command: &Recorded,
) -> Result<bool, EngineFault> {
    let fault = DatabaseFault::of("handle an operator's command");
    let name = slot.projection.name();
    // Read before the transaction, which holds its connection.
    let event = match command.decode::<Event>() {
        Some(Ok(Event::DeadLetterRedelivered(event))) => engine.log().event(event.position).await?,
        _ => None,
    };
    let mut tx = engine.database().begin().await?;
    let mut inner = tx.begin().await.map_err(&fault)?;
    let outcome = match act(&mut inner, engine, slot, command, event).await {
        Ok(outcome) => {
            inner.commit().await.map_err(&fault)?;
            outcome
        }
        Err(EngineFault::Database(fault)) if fault.passing() => return Err(fault.into()),
        Err(why) => {
            inner.rollback().await.map_err(&fault)?;
            Outcome::Refused(said(&why))
        }
    };
    let (build, refused) = match &outcome {
        Outcome::Done { build } => (*build, None),
        Outcome::Refused(why) => (None, Some(why)),
    };
    sqlx::query(REMEMBER)
        .bind(name)
        .bind(command.version.0)
        .bind(command.position.0)
        .bind(build)
        .bind(refused)
        .execute(&mut *tx)
        .await
        .map_err(&fault)?;
    let forgotten = sqlx::query(FORGET).bind(name).bind(command.version.0).execute(&mut *tx).await;
    forgotten.map_err(&fault)?;
    if !lease.verify(&mut tx).await.map_err(&fault)? {
        return Ok(false);
    }
    tx.commit().await.map_err(&fault)?;
    match refused {
        None => info!(projection = name, position = %command.position, "command done"),
        Some(why) => {
            warn!(projection = name, position = %command.position, why, "command refused");
        }
    }
    slot.changed.notify_waiters();
    Ok(true)
}

async fn act(
    tx: &mut PgConnection,
    engine: &Engine,
    slot: &Slot,
    command: &Recorded,
    event: Option<Recorded>,
) -> Result<Outcome, EngineFault> {
    let projection = &*slot.projection;
    match command.decode::<Event>() {
        Some(Ok(Event::ReplayRequested(ReplayRequested { from, .. }))) => {
            let options = ReplayOptions { from: Some(from), restart: false };
            let replay = rebuild::ask(tx, projection, options).await?;
            Ok(Outcome::Done { build: Some(replay.build) })
        }
        Some(Ok(Event::ReplayCancelled(_))) => {
            let build = rebuild::cancel(tx, projection.name()).await?;
            Ok(Outcome::Done { build: Some(build) })
        }
        Some(Ok(Event::DeadLetterRedelivered(DeadLetterRedelivered { position, .. }))) => {
            let tried =
                dead_letter::redeliver_within(tx, engine, projection, position, event).await?;
            Ok(tried.map_or_else(Outcome::Refused, |()| Outcome::Done { build: None }))
        }
        Some(Err(fault)) => Ok(Outcome::Refused(fault.to_string())),
        None => Ok(Outcome::Refused("it is no command on a projection".to_owned())),
    }
}
