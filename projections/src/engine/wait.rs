//! Reading one's own writes: waiting, bounded, until a projection has passed a position.
//!
//! However many wait for a projection in this process, one of them at a time asks the database.

use std::{sync::atomic::Ordering, time::Duration};

use sqlx::Row;
use tokio::time::Instant;
use weir_events::position::Position;
use weir_log::database::DatabaseFault;

use super::{Engine, Slot};

/// The wait ended without the position.
#[derive(Debug, thiserror::Error)]
pub enum WaitFault {
    /// No projection has this name.
    #[error("no projection is called `{0}`")]
    Unknown(String),
    /// It did not get there in time.
    #[error("projection `{name}` stands at position {position}, not yet at {wanted}")]
    TimedOut {
        /// The projection.
        name: String,
        /// Where it is.
        position: Position,
        /// Where it should have been.
        wanted: Position,
    },
    /// It will not get there: it stands still before an event it cannot apply.
    #[error("projection `{name}` is halted at position {position}; a replay heals it")]
    Halted {
        /// The projection.
        name: String,
        /// Where it is.
        position: Position,
    },
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

/// How often the database is asked where another process's worker is.
const POLL: Duration = Duration::from_millis(20);

const WHERE: &str = "
    SELECT position, state, version FROM projections.builds
    WHERE name = $1 AND state IN ('live', 'halted')";

impl Engine {
    /// Waits until a projection has applied everything up to `wanted`, on any instance. Answers
    /// where it is.
    pub async fn wait_for(
        &self,
        name: &str,
        wanted: Position,
        timeout: Duration,
    ) -> Result<Position, WaitFault> {
        let slot = self.slot(name).ok_or_else(|| WaitFault::Unknown(name.to_owned()))?;
        let deadline = Instant::now() + timeout;
        let mut seen = slot.seen.subscribe();
        let (mut turn, mut halted, mut told) = (None, false, false);
        loop {
            seen.mark_unchanged();
            let position = slot.position(self.life());
            if position >= wanted {
                return Ok(position);
            }
            if halted {
                return Err(WaitFault::Halted { name: name.to_owned(), position });
            }
            if Instant::now() >= deadline {
                return Err(WaitFault::TimedOut { name: name.to_owned(), position, wanted });
            }
            // This process's own worker says where it is; only that it halted must be asked.
            let kept = slot.kept.load(Ordering::Relaxed);
            if kept && !told {
                slot.awaited.notify_one();
                told = true;
            }
            if turn.is_none() {
                tokio::select! {
                    mine = slot.asking.lock() => turn = Some(mine),
                    _ = seen.changed() => continue,
                    () = tokio::time::sleep_until(deadline) => continue,
                }
                if kept {
                    continue;
                }
            } else {
                let pause = Instant::now() + if kept { POLL * 10 } else { POLL };
                if tokio::time::timeout_at(pause.min(deadline), seen.changed()).await.is_ok() {
                    continue;
                }
            }
            if let Ok(asked) = tokio::time::timeout_at(deadline, self.ask(slot, wanted)).await {
                halted = asked?;
            }
        }
    }

    /// Asks the database where the live build is, and says so to all who wait here. Answers
    /// whether it is halted there.
    async fn ask(&self, slot: &Slot, wanted: Position) -> Result<bool, DatabaseFault> {
        let fault = DatabaseFault::of("read where a projection stands");
        let (name, life) = (slot.projection.name(), self.life());
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(WHERE).bind(name).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let Some(row) = rows.first() else { return Ok(false) };
        let position = Position(row.try_get("position").map_err(&fault)?);
        let state: &str = row.try_get("state").map_err(&fault)?;
        let version: i32 = row.try_get("version").map_err(&fault)?;
        let same = version == slot.projection.version();
        slot.saw(life, if same { self.passed(slot, position, wanted) } else { position });
        Ok(state == "halted")
    }

    /// Up to where a build that stands at a position has everything it wants: its offset need not have
    /// moved over the events that it does not.
    fn passed(&self, slot: &Slot, position: Position, wanted: Position) -> Position {
        let kinds = slot.projection.kinds();
        let between = self.log().recent(position, wanted).unwrap_or_default();
        match between.last() {
            Some(last) if between.iter().all(|event| !kinds.want(event.kind)) => last.position,
            _ => position,
        }
    }
}
