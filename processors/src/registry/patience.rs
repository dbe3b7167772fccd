//! How long requests wait for a person's word: bounded, as is how many do, and over when the process
//! stops.

use std::{future::Future, sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// The longest that a request may wait.
pub const MAX_WAIT: Duration = Duration::from_mins(5);

/// How many requests of a process may wait at once; one more is answered as if nobody did.
pub const MAX_WAITING: usize = 256;

/// How long a request waits, and until when at the latest. Cheap to clone: all ecosystems of a process
/// share the places.
#[derive(Debug, Clone)]
pub struct Patience {
    wait: Duration,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

/// A request that waits, and keeps its place for as long as this is there.
#[derive(Debug)]
pub struct Waiting {
    until: Instant,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Patience {
    /// Requests wait so long (at most [`MAX_WAIT`]), but not beyond a stop.
    #[must_use]
    pub fn new(wait: Duration, stop: CancellationToken) -> Self {
        Self { wait: wait.min(MAX_WAIT), places: Arc::new(Semaphore::new(MAX_WAITING)), stop }
    }

    /// Nobody waits.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Duration::ZERO, CancellationToken::new())
    }

    /// Begins to wait, where anybody does and there is a place.
    #[must_use]
    pub fn begin(&self) -> Option<Waiting> {
        if self.wait.is_zero() {
            return None;
        }
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let until = Instant::now() + self.wait;
        Some(Waiting { until, stop: self.stop.clone(), _place: place })
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
        let waiting = patience.begin().unwrap();
        let began = Instant::now();
        let late = tokio::time::sleep(Duration::from_secs(19));
        assert_eq!(waiting.wait(late).await, Some(()));
        // The time is that of the whole request.
        assert_eq!(waiting.wait(pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_secs(), 20);
        assert!(Patience::none().begin().is_none());
        let long = Patience::new(Duration::from_hours(1), CancellationToken::new());
        assert_eq!(long.begin().unwrap().wait(pending::<()>()).await, None);
        assert_eq!(began.elapsed().as_secs(), 320);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_ends_every_wait_at_once() {
        let stop = CancellationToken::new();
        let waiting = Patience::new(WAIT, stop.clone()).begin().unwrap();
        let began = Instant::now();
        let stopping = async { stop.cancel() };
        let (had, ()) = tokio::join!(waiting.wait(pending::<()>()), stopping);
        assert_eq!((had, began.elapsed()), (None, Duration::ZERO));
        assert_eq!(waiting.wait(ready(())).await, None);
    }

    #[tokio::test]
    async fn no_more_wait_than_there_are_places_and_who_leaves_makes_room() {
        let patience = Patience::new(WAIT, CancellationToken::new());
        let mut all: Vec<_> = (0..MAX_WAITING).map(|_| patience.begin().unwrap()).collect();
        assert!(patience.begin().is_none());
        all.pop();
        assert!(patience.begin().is_some());
    }
}
