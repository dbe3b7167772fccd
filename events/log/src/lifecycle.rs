//! The one owner of every background task of a process: tells them to stop, and waits until they
//! did. Nothing in Weir runs detached.

use std::{future::Future, time::Duration};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::warn;

/// Starts background tasks and ends them: first softly, then, past a deadline, by dropping them.
#[derive(Debug, Clone, Default)]
pub struct Lifecycle {
    soft: CancellationToken,
    hard: CancellationToken,
    tracker: TaskTracker,
}

impl Lifecycle {
    /// Nothing running, nothing stopping.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs a task until it ends by itself or the hard stop drops it.
    pub fn run(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        let hard = self.hard.clone();
        self.tracker.spawn(async move {
            tokio::select! {
                () = hard.cancelled() => warn!(task = name, "dropped at the hard stop"),
                () = task => {}
            }
        });
    }

    /// Cancelled when the process should finish what it has and take nothing new.
    pub const fn soft(&self) -> &CancellationToken {
        &self.soft
    }

    /// A lifecycle of its own that stops with this one, but can be stopped alone before.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            soft: self.soft.child_token(),
            hard: self.hard.child_token(),
            tracker: TaskTracker::new(),
        }
    }

    /// Stops softly, waits at most `patience`, then drops what is left. True if all ended softly.
    pub async fn stop(&self, patience: Duration) -> bool {
        self.soft.cancel();
        self.tracker.close();
        let soft = tokio::time::timeout(patience, self.tracker.wait()).await.is_ok();
        self.hard.cancel();
        self.tracker.wait().await;
        soft
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_heeds_the_soft_stop_ends_softly_and_a_stubborn_one_is_dropped() {
        let lifecycle = Lifecycle::new();
        let soft = lifecycle.soft().clone();
        lifecycle.run("good", async move { soft.cancelled().await });
        assert!(lifecycle.stop(Duration::from_secs(5)).await);

        let lifecycle = Lifecycle::new();
        lifecycle.run("stubborn", std::future::pending());
        assert!(!lifecycle.stop(Duration::from_millis(1)).await);
    }
}
