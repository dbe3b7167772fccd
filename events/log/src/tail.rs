//! Following the log: one reader per process with a ring of recent events in memory, which feeds
//! every subscriber. Who falls behind the ring pages from the table and hops on again.

mod hub;
mod notify;

use std::sync::Arc;

use weir_events::{
    envelope::Recorded,
    position::{Cursor, Incarnation, Position},
};

pub use self::hub::Hub;
use crate::{Log, open::Head, read::ReadFault};

/// A follower of the log.
#[derive(Debug)]
pub struct Tail {
    log: Log,
    head: tokio::sync::watch::Receiver<Head>,
    incarnation: Option<Incarnation>,
    last: Position,
}

/// A follower cannot go on as it is.
#[derive(Debug, thiserror::Error)]
pub enum TailFault {
    /// What the follower remembers is not of this log: it is ahead of the head, or from another
    /// life. It must start again from what it is told here.
    #[error("the cursor does not belong to this log: {reason}; start again below position {head}")]
    Resync {
        /// The life of the log.
        incarnation: Incarnation,
        /// Its head.
        head: Position,
        /// Why.
        reason: &'static str,
    },
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// This process is stopping.
    #[error("this process is stopping")]
    Stopped,
}

impl Tail {
    pub(crate) fn new(log: Log, after: Cursor) -> Self {
        let head = log.hub().watch();
        Self { log, head, incarnation: after.incarnation, last: after.position }
    }

    /// The last position handed out.
    pub const fn position(&self) -> Position {
        self.last
    }

    /// Waits until there is something new, and hands out at most `max` events in order, fewer where
    /// they are large (see [`crate::read::MAX_READ_BYTES`]). Safe to drop while waiting: nothing is
    /// lost.
    pub async fn next(&mut self, max: usize) -> Result<Vec<Arc<Recorded>>, TailFault> {
        loop {
            let head = *self.head.borrow_and_update();
            self.check(head).await?;
            if self.last < head.position {
                let batch = match self.log.hub().take_after(self.last, max) {
                    Some(batch) => batch,
                    None => self.log.read(self.last, max.min(1_000)).await?,
                };
                if let Some(event) = batch.last() {
                    self.last = event.position;
                    return Ok(batch);
                }
            }
            if self.head.changed().await.is_err() {
                return Err(TailFault::Stopped);
            }
        }
    }

    async fn check(&mut self, known: Head) -> Result<(), TailFault> {
        let resync = |head: Head, reason| {
            let Head { incarnation, position: head } = head;
            Err(TailFault::Resync { incarnation, head, reason })
        };
        if self.incarnation.is_some_and(|life| life != known.incarnation) {
            return resync(known, "it is from another life of the log");
        }
        if self.last > known.position {
            // This process may be the one that is behind.
            let now = self.log.ask_head().await.map_err(ReadFault::from)?;
            if self.incarnation.is_some_and(|life| life != now.incarnation) {
                return resync(now, "it is from another life of the log");
            }
            if self.last > now.position {
                return resync(now, "it is ahead of the log's head");
            }
        }
        self.incarnation = Some(known.incarnation);
        Ok(())
    }
}
