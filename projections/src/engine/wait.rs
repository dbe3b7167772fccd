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
    SELECT position, state FROM projections.builds WHERE name = $1 AND state IN ('live', 'halted')";

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
        let (mut turn, mut halted) = (None, false);
        loop {
            seen.mark_unchanged();
            let position = slot.position(self.log().incarnation());
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
            if let Ok(asked) = tokio::time::timeout_at(deadline, self.ask(slot)).await {
                halted = asked?;
            }
        }
    }

    /// Asks the database where the live build is, and says so to all who wait here. Answers
    /// whether it is halted there.
    async fn ask(&self, slot: &Slot) -> Result<bool, DatabaseFault> {
        let fault = DatabaseFault::of("read where a projection stands");
        let name = slot.projection.name();
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(WHERE).bind(name).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let Some(row) = rows.first() else { return Ok(false) };
        let position = Position(row.try_get("position").map_err(&fault)?);
        let state: &str = row.try_get("state").map_err(&fault)?;
        slot.saw(self.log().incarnation(), position);
        Ok(state == "halted")
    }
}
