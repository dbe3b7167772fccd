//! What was kept and may not have reached the disk yet. Nobody waits for that; but a disk that fails
//! tells so to whoever asks it to write, and to nobody who reads.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::{CacheKey, checked::Print};

/// How many bodies may wait to be flushed.
const MAX_WAITING: usize = 4_096;

/// The bodies that wait to be flushed, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Unflushed {
    waiting: Mutex<VecDeque<(CacheKey, Print)>>,
    news: Notify,
}

impl Unflushed {
    /// Adds one. Where too many wait, answers the one that has waited longest, and waits no more.
    pub(super) fn add(&self, key: CacheKey, print: Print) -> Option<(CacheKey, Print)> {
        let mut waiting = self.waiting();
        waiting.push_back((key, print));
        let dropped = if waiting.len() > MAX_WAITING { waiting.pop_front() } else { None };
        drop(waiting);
        self.news.notify_one();
        dropped
    }

    /// Takes the one that has waited longest.
    pub(super) fn next(&self) -> Option<(CacheKey, Print)> {
        self.waiting().pop_front()
    }

    /// Waits until one waits. For one listener.
    pub(super) async fn any(&self) {
        while self.waiting().is_empty() {
            self.news.notified().await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(CacheKey, Print)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::Ecosystem;

    use super::*;

    #[test]
    fn where_too_many_wait_the_oldest_waits_no_more() {
        let file = tempfile::tempfile().unwrap();
        let print = Print::of(&file.metadata().unwrap());
        let key = |n: usize| CacheKey::new(Ecosystem::Pypi, "six", &n.to_string()).unwrap();
        let unflushed = Unflushed::default();
        for n in 0..MAX_WAITING {
            assert_eq!(unflushed.add(key(n), print), None);
        }
        assert_eq!(unflushed.add(key(MAX_WAITING), print), Some((key(0), print)));
        assert_eq!(unflushed.next(), Some((key(1), print)));
    }
}
