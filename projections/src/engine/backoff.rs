//! Waiting longer and longer for what should come back by itself.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// A wait that doubles up to a bound.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    pub(super) const fn new(first: Duration, max: Duration) -> Self {
        Self { first, max, next: first }
    }

    /// What was away is back.
    pub(super) const fn reset(&mut self) {
        self.next = self.first;
    }

    /// Waits, or is told to stop.
    pub(super) async fn wait(&mut self, stop: &CancellationToken) {
        stop.run_until_cancelled(tokio::time::sleep(self.next)).await;
        self.next = (self.next * 2).min(self.max);
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::new(Duration::from_millis(50), Duration::from_secs(2))
    }
}
