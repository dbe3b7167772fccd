//! How long requests wait for a person's word: bounded, as is how many do, and over when the process
//! stops.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// The longest that a request may wait.
pub const MAX_WAIT: Duration = Duration::from_mins(5);

/// How many requests of a process may wait at once; one more is answered as if nobody did.
pub const MAX_WAITING: usize = 256;

/// How many of them one token may have: nobody keeps all others from waiting.
pub const MAX_WAITING_OF_ONE: usize = 8;

/// How many requests wait, by token.
type Waits = Arc<Mutex<BTreeMap<String, usize>>>;

/// How long a request waits, and until when at the latest. Cheap to clone: all ecosystems of a process
/// share the places.
#[derive(Debug, Clone)]
pub struct Patience {
    wait: Duration,
    places: Arc<Semaphore>,
    waits: Waits,
    stop: CancellationToken,
}

/// A request that waits, and keeps its place for as long as this is there.
#[derive(Debug)]
pub struct Waiting {
    until: Instant,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
    _own: OwnPlace,
}

/// One of the places that a token may have.
#[derive(Debug)]
struct OwnPlace {
    token: String,
    waits: Waits,
}

impl OwnPlace {
    fn take(waits: &Waits, token: &str) -> Option<Self> {
        let mut all = waits.lock().unwrap_or_else(PoisonError::into_inner);
        let n = all.entry(token.to_owned()).or_default();
        if *n >= MAX_WAITING_OF_ONE {
            return None;
        }
        *n += 1;
        Some(Self { token: token.to_owned(), waits: Arc::clone(waits) })
    }
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        let mut all = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = all.get_mut(&self.token) {
            *n = n.saturating_sub(1);
            if *n == 0 {
                all.remove(&self.token);
            }
        }
    }
}

impl Patience {
    /// Requests wait so long (at most [`MAX_WAIT`]), but not beyond a stop.
    #[must_use]
    pub fn new(wait: Duration, stop: CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(MAX_WAITING));
        Self { wait: wait.min(MAX_WAIT), places, waits: Waits::default(), stop }
    }

    /// Nobody waits.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Duration::ZERO, CancellationToken::new())
    }

    /// Begins to wait with a token, where anybody does and there is a place for it.
    #[must_use]
    pub fn begin(&self, token: &str) -> Option<Waiting> {
        if self.wait.is_zero() {
            return None;
        }
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let own = OwnPlace::take(&self.waits, token)?;
        let until = Instant::now() + self.wait;
        Some(Waiting { until, stop: self.stop.clone(), _place: place, _own: own })
    }
}

impl Waiting {
    /// Waits for something; `None` where the time was over before, or the process stops.
    pub async fn wait<T>(&self, something: impl Future<Output = T> + Send) -> Option<T> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            done = something => Some(done),
            () = sleep_until(self.until) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const WAIT: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn what_comes_in_time_is_had_and_what_does_not_is_not_waited_for() {
        let patience = Patience::new(WAIT, CancellationToken::new());
        let waiting = patience.begin("ann").unwrap();
        let began = Instant::now();
        let late = tokio::time::sleep(Duration::from_secs(19));
        assert_eq!(waiting.wait(late).await, Some(()));
        // The time is that of the whole request.
        assert_eq!(waiting.wait(pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_secs(), 20);
        assert!(Patience::none().begin("ann").is_none());
        let long = Patience::new(Duration::from_hours(1), CancellationToken::new());
        assert_eq!(long.begin("ann").unwrap().wait(pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_secs(), 320);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_every_wait_at_once() {
        let stop = CancellationToken::new();
        let waiting = Patience::new(WAIT, stop.clone()).begin("ann").unwrap();
        let began = Instant::now();
        let stopping = async { stop.cancel() };
        let (had, ()) = tokio::join!(waiting.wait(pending::<()>()), stopping);
        assert_eq!((had, began.elapsed()), (None, Duration::ZERO));
        assert_eq!(waiting.wait(ready(())).await, None);
    }

    #[tokio::test]
    async fn no_more_wait_than_there_are_places_and_who_leaves_makes_room() {
        let patience = Patience::new(WAIT, CancellationToken::new());
        let token = |nth: usize| format!("token-{}", nth / MAX_WAITING_OF_ONE);
        let mut all: Vec<_> =
            (0..MAX_WAITING).map(|nth| patience.begin(&token(nth)).unwrap()).collect();
        assert!(patience.begin("ann").is_none());
        all.pop();
        assert!(patience.begin("ann").is_some());
    }

    #[tokio::test]
    async fn one_token_takes_a_few_places_and_leaves_the_rest_to_others() {
        let patience = Patience::new(WAIT, CancellationToken::new());
        let mut anns: Vec<_> =
            (0..MAX_WAITING_OF_ONE).map(|_| patience.begin("ann").unwrap()).collect();
        assert!(patience.begin("ann").is_none());
        let bob = patience.begin("bob").unwrap();
        anns.pop();
        anns.push(patience.begin("ann").unwrap());
        assert!(patience.begin("ann").is_none());
        drop((anns, bob));
        assert!(patience.waits.lock().unwrap().is_empty());
        assert_eq!(patience.places.available_permits(), MAX_WAITING);
    }
}
