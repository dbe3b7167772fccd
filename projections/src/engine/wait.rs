//! Reading one's own writes: waiting, bounded, until a projection has passed a position.
//!
//! However many wait for a projection in this process, one of them at a time asks the database.

use std::{sync::atomic::Ordering, time::Duration};

use sqlx::Row;
use tokio::time::Instant;
use weir_events::position::Position;
use weir_log::database::DatabaseFault;

use super::{Engine, Slot};
use crate::transaction;

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
        let timed_out =
            |position| Err(WaitFault::TimedOut { name: name.to_owned(), position, wanted });
        let mut seen = slot.seen.subscribe();
        loop {
            seen.mark_unchanged();
            let known = slot.position(self.log().incarnation());
            if known >= wanted {
                return Ok(known);
            }
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(deadline) => return timed_out(known),
                // The sender lives as long as the engine.
                _ = seen.changed() => {}
                asked = self.ask_position(slot, wanted) => asked?,
            }
        }
    }

    /// Asks the database where the live build is until that is far enough. One at a time.
    async fn ask_position(&self, slot: &Slot, wanted: Position) -> Result<(), WaitFault> {
        let fault = DatabaseFault::of("read where a projection stands");
        let name = slot.projection.name();
        let _turn = slot.asking.lock().await;
        loop {
            if slot.kept.load(Ordering::Relaxed) {
                // This process's own worker says where it is; only that it halted must be asked.
                tokio::time::sleep(POLL * 10).await;
            }
            let mut tx = transaction::begin(self.database()).await?;
            let rows = sqlx::query(WHERE).bind(name).fetch_all(&mut *tx).await.map_err(&fault)?;
            tx.commit().await.map_err(&fault)?;
            if let Some(row) = rows.first() {
                let position = Position(row.try_get("position").map_err(&fault)?);
                let state: &str = row.try_get("state").map_err(&fault)?;
                slot.saw(self.log().incarnation(), position);
                if position >= wanted {
                    return Ok(());
                }
                if state == "halted" {
                    return Err(WaitFault::Halted { name: name.to_owned(), position });
                }
            }
            tokio::time::sleep(POLL).await;
        }
    }
}
