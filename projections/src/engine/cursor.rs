//! Where a build reads on: from the tail when it is near the head, else from the table in long
//! strides, the next one being read while this one is applied.

use std::sync::Arc;

use tokio::sync::mpsc;
use tracing::error;
use weir_events::{envelope::Recorded, position::Position};
use weir_log::{
    Log,
    lifecycle::Lifecycle,
    read::ReadFault,
    tail::{Tail, TailFault},
};

use super::{Engine, EngineOptions};

impl Engine {
    /// Reads on from a position.
    pub(super) fn cursor(&self, lifecycle: &Lifecycle, position: Position) -> Cursor {
        let EngineOptions { live_batch, rebuild_batch, .. } = *self.options();
        Cursor {
            log: self.log().clone(),
            lifecycle: lifecycle.clone(),
            position,
            live_batch,
            stride: rebuild_batch,
            source: Source::None,
        }
    }
}

/// Bytes a stride should not exceed by much: the next one is sized by what the last one weighed.
const STRIDE_BYTES: usize = 32 << 20;
/// The length of a first stride, of which nothing is known yet.
const FIRST_STRIDE: usize = 1_000;

/// The events after a position, in order, for one reader.
pub(super) struct Cursor {
    log: Log,
    lifecycle: Lifecycle,
    position: Position,
    live_batch: usize,
    stride: usize,
    source: Source,
}

enum Source {
    None,
    Tail(Box<Tail>),
    Ahead(mpsc::Receiver<Result<Vec<Arc<Recorded>>, ReadFault>>),
}

impl Cursor {
    /// Events that lie before it, as far as this process knows.
    pub(super) fn distance(&self) -> u64 {
        self.position.distance_to(self.log.head())
    }

    /// Waits for events and hands out a batch. Safe to drop while waiting: nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Vec<Arc<Recorded>>, TailFault> {
        loop {
            let far = self.distance() > u64::try_from(self.live_batch * 2).unwrap_or(u64::MAX);
            let batch = match &mut self.source {
                Source::Ahead(strides) => {
                    let Some(stride) = strides.recv().await else {
                        self.source = Source::None;
                        continue;
                    };
                    stride.map_err(TailFault::from)?
                }
                Source::Tail(tail) if !far => tail.next(self.live_batch).await?,
                Source::None if !far => {
                    self.source = Source::Tail(Box::new(self.log.tail(self.position)));
                    continue;
                }
                Source::None | Source::Tail(_) => {
                    self.source = Source::Ahead(self.read_ahead());
                    continue;
                }
            };
            if let Some(event) = batch.last() {
                self.position = event.position;
                return Ok(batch);
            }
        }
    }

    /// Reads strides until the table has no more; ends when nobody takes them.
    fn read_ahead(&self) -> mpsc::Receiver<Result<Vec<Arc<Recorded>>, ReadFault>> {
        let (give, take) = mpsc::channel(1);
        let (log, mut after, longest) = (self.log.clone(), self.position, self.stride);
        self.lifecycle.run("projection reads ahead", async move {
            let mut limit = longest.min(FIRST_STRIDE);
            loop {
                let stride = log.read(after, limit).await;
                let Some(last) = stride.as_ref().ok().and_then(|s| s.last().map(|e| e.position))
                else {
                    if let Err(fault) = &stride {
                        error!(error = %fault, %after, "could not read ahead");
                        drop(give.send(stride).await);
                    }
                    return;
                };
                after = last;
                if let Ok(events) = &stride {
                    limit = next_limit(events, limit, longest);
                }
                if give.send(stride).await.is_err() {
                    return;
                }
            }
        });
        take
    }
}

/// Twice as many as now at most, and no more than fit the budget if they weigh the same.
fn next_limit(events: &[Arc<Recorded>], limit: usize, longest: usize) -> usize {
    let n_bytes: usize = events.iter().map(|event| event.size_bytes()).sum();
    let each = n_bytes / events.len().max(1);
    (STRIDE_BYTES / each.max(1)).min(limit * 2).clamp(100.min(longest), longest)
}
