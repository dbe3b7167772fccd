//! One piece of work however many ask for it: the first starts it, all wait for the same answer.
//!
//! The work is a task of its own, so that it goes on when the one who started it goes away.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;
use weir_log::lifecycle::Lifecycle;

type Answer<V> = watch::Receiver<Option<V>>;

/// The work under way, by its key.
#[derive(Debug)]
pub struct Flights<K, V> {
    name: &'static str,
    live: Arc<Mutex<HashMap<K, Answer<V>>>>,
    lifecycle: Lifecycle,
}

/// The work was dropped before it had an answer: the process is stopping, or it panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was given up, because this process is stopping")]
pub struct GivenUp;

impl<K, V> Flights<K, V>
where
    K: Hash + Eq + Clone + Send + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Nothing under way.
    pub fn new(name: &'static str, lifecycle: Lifecycle) -> Self {
        Self { name, live: Arc::default(), lifecycle }
    }

    /// Joins the work under way for this key, or starts it.
    pub async fn join<F>(&self, key: K, work: impl FnOnce() -> F) -> Result<V, GivenUp>
    where
        F: Future<Output = V> + Send + 'static,
    {
        self.join_while_wanted(key, |_| work()).await
    }

    /// The same, with work that can ask whether anybody still waits for it.
    pub async fn join_while_wanted<F>(
        &self,
        key: K,
        work: impl FnOnce(Wanted<V>) -> F,
    ) -> Result<V, GivenUp>
    where
        F: Future<Output = V> + Send + 'static,
    {
        let mut answer = self.answer(key, work);
        let answer = answer.wait_for(Option::is_some).await.map_err(|_| GivenUp)?;
        answer.clone().ok_or(GivenUp)
    }

    /// The answer to the work under way for this key, if there is any.
    pub async fn under_way(&self, key: &K) -> Option<Result<V, GivenUp>> {
        let known = self.live.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        let mut answer = known?;
        let landed = answer.wait_for(Option::is_some).await.map(|value| (*value).clone());
        Some(landed.ok().flatten().ok_or(GivenUp))
    }

    /// Whether there is work under way for this key.
    pub fn is_under_way(&self, key: &K) -> bool {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).contains_key(key)
    }

    fn answer<F>(&self, key: K, work: impl FnOnce(Wanted<V>) -> F) -> Answer<V>
    where
        F: Future<Output = V> + Send + 'static,
    {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = live.get(&key) {
            return answer.clone();
        }
        let (sender, answer) = watch::channel(None);
        let sender = Arc::new(sender);
        live.insert(key.clone(), answer.clone());
        drop(live);
        let landing = Landing { key, live: Arc::clone(&self.live) };
        let work = work(Wanted(Arc::clone(&sender)));
        self.lifecycle.run(self.name, async move {
            let value = work.await;
            // Who asks from now on starts anew; who waits gets the answer.
            drop(landing);
            sender.send_replace(Some(value));
        });
        answer
    }
}

/// Tells work under way whether anybody waits for it.
#[derive(Debug)]
pub struct Wanted<V>(Arc<watch::Sender<Option<V>>>);

impl<V> Wanted<V> {
    /// Whether somebody waits now, beside the list of what is under way.
    #[must_use]
    pub fn still(&self) -> bool {
        self.0.receiver_count() > 1
    }
}

/// Takes the work off the list when it ends, also by a panic or by being dropped.
struct Landing<K: Hash + Eq, V> {
    key: K,
    live: Arc<Mutex<HashMap<K, Answer<V>>>>,
}

impl<K: Hash + Eq, V> Drop for Landing<K, V> {
    fn drop(&mut self) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn many_askers_share_one_piece_of_work_and_the_next_starts_anew() {
        let flights = Arc::new(Flights::new("test", Lifecycle::new()));
        let (started, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let ask = || {
            let (started, gate) = (Arc::clone(&started), Arc::clone(&gate));
            flights.join("key", move || async move {
                let n = started.fetch_add(1, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                n
            })
        };
        let waiting = futures_util::future::join_all((0..64).map(|_| ask()));
        gate.add_permits(1);
        assert_eq!(waiting.await, vec![Ok(0); 64]);
        gate.add_permits(1);
        assert_eq!(ask().await, Ok(1));
    }

    #[tokio::test]
    async fn work_that_is_dropped_is_given_up_and_does_not_block_the_key() {
        let lifecycle = Lifecycle::new();
        let flights = Flights::<_, ()>::new("test", lifecycle.clone());
        let waiting = flights.join("key", std::future::pending);
        let (answer, _) = tokio::join!(waiting, lifecycle.stop(Duration::from_millis(1)));
        assert_eq!(answer, Err(GivenUp));
        assert!(flights.live.lock().unwrap().is_empty());
    }
}
