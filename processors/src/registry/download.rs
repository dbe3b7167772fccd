//! An artifact on its way in: fetched once however many ask for it, verified before it is kept.
//!
//! Bytes are passed on while they come, but the last piece is held back until the whole fits what
//! the index promised. If it does not, readers get an error where the end should be, and nothing is
//! kept. A download goes on when the client who asked first goes away.

mod arrival;
mod fault;
mod fetch;
mod promise;
mod reader;
mod room;
mod shape;
mod transfer;
mod wanted;

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

pub use fault::DownloadFault;
pub use promise::Promise;
pub use reader::read;
pub use room::{NoRoom, Room};
pub use shape::{Shape, Sum};
use tokio::sync::{Semaphore, watch};
use tracing::warn;
pub use transfer::{Opened, Transfer};
pub use wanted::Wanted;
use weir_log::lifecycle::Lifecycle;

use self::{arrival::Fetched, transfer::State};
use super::{
    cache::{ArtifactCache, CacheKey, Cached, Looked},
    ledger::Ledger,
    stats::{Count, Counters},
};
use crate::{
    caller::Caller,
    outbound::{Outbound, Trail},
};

/// How many files may be on their way from the upstream at once: each has a connection and an open
/// file, and goes on without its client.
const MAX_DOWNLOADS: usize = 128;

/// Bounds of a download.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// The largest artifact.
    pub max_bytes: u64,
    /// The whole time it may take.
    pub time: Duration,
    /// How long a client waits for the first bytes before it is told that there are none. The
    /// download goes on, for when it asks again.
    pub first: Duration,
    /// How long a client waits to learn how large a file is that is to be charged. The download goes
    /// on here, too.
    pub measuring: Duration,
    /// How large a kept file may be that nobody has hashed yet and that is hashed before its first byte
    /// leaves; of a larger one, all but the last piece leaves meanwhile.
    pub hashed_first_bytes: u64,
    /// The room that all share while they come.
    pub room: Room,
    /// How long it is kept after it was used last; without that, as long as there is room.
    pub kept_for: Option<Duration>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            max_bytes: 16 << 30,
            time: Duration::from_hours(1),
            first: Duration::from_secs(12),
            measuring: Duration::from_secs(8),
            hashed_first_bytes: 64 << 20,
            room: Room::default(),
            kept_for: Some(Duration::from_hours(24)),
        }
    }
}

/// The downloads of an ecosystem. Cheap to clone.
#[derive(Debug)]
pub struct Downloads<C>(Arc<Inner<C>>);

impl<C> Clone for Downloads<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// A download under way: files of one name that are promised to be different are different, and
/// what somebody knows to be wrong is right for nobody who came before. By how many Weirs it came
/// through, too: [`Trail::n_hops`] says why.
type Route = (CacheKey, Option<[u8; 32]>, Option<Promise>, Shape, usize);

type Running = HashMap<Route, watch::Receiver<State>>;

#[derive(Debug)]
struct Inner<C> {
    cache: C,
    outbound: Outbound,
    ledger: Arc<Ledger>,
    counters: Arc<Counters>,
    lifecycle: Lifecycle,
    bounds: Bounds,
    running: Mutex<Running>,
    /// A permit for each download from the upstream.
    slots: Semaphore,
}

impl<C: ArtifactCache> Downloads<C> {
    /// Downloads that are kept in a cache.
    pub fn new(
        cache: C,
        outbound: Outbound,
        ledger: Arc<Ledger>,
        counters: Arc<Counters>,
        lifecycle: Lifecycle,
        bounds: Bounds,
    ) -> Self {
        let (running, slots) = (Mutex::default(), Semaphore::new(MAX_DOWNLOADS));
        let inner = Inner { cache, outbound, ledger, counters, lifecycle, bounds, running, slots };
        Self(Arc::new(inner))
    }

    /// The same way, with other bounds.
    #[must_use]
    pub fn bounded(&self, bounds: Bounds) -> Self
    where
        C: Clone,
    {
        let Inner { cache, outbound, ledger, counters, lifecycle, .. } = &*self.0;
        let (cache, outbound, ledger) = (cache.clone(), outbound.clone(), Arc::clone(ledger));
        let (counters, lifecycle) = (Arc::clone(counters), lifecycle.clone());
        Self::new(cache, outbound, ledger, counters, lifecycle, bounds)
    }

    /// The cache behind them.
    pub fn cache(&self) -> &C {
        &self.0.cache
    }

    /// An artifact that is here already and by its description fits what its index promises today.
    pub async fn kept(&self, wanted: &Wanted) -> io::Result<Option<Looked>> {
        if !wanted.can_be_kept() {
            return Ok(None);
        }
        let looked = self.0.cache.look(&wanted.key).await?;
        Ok(looked.filter(|looked| {
            let found = looked.meta().promise.as_deref();
            match (wanted.sha256, &wanted.promise) {
                (Some(sha256), _) => looked.meta().sha256 == hex::encode(sha256),
                (None, Some(promise)) => found.is_some_and(|found| promise.admits_text(found)),
                (None, None) => found.is_some_and(|found| wanted.shape.admits(found)),
            }
        }))
    }

    /// Opens an artifact: from the cache, from a download under way, or from the upstream. Answers
    /// once there is something to send: whatever goes wrong before can still be told.
    pub async fn open(
        &self,
        wanted: &Wanted,
        caller: &Caller,
        trail: &Trail,
    ) -> Result<Opened, Arc<DownloadFault>> {
        let kept = self.kept(wanted).await;
        let is_here = match kept.map_err(|fault| Arc::new(fault.into()))? {
            Some(Looked::Right(cached)) => {
                self.0.counters.count(Count::FileHit);
                self.note_use(&cached).await;
                return Ok(Opened::Kept(cached));
            }
            Some(Looked::Unhashed(_)) => true,
            None => {
                self.0.counters.count(Count::FileMiss);
                false
            }
        };
        let mut state = self.state_of(wanted, caller, trail);
        // Hashed once, however many ask for it, and waited for as long as that takes: the download has a
        // bound of its own. Whether that was enough is known only then.
        let looked = state.wait_for(State::is_looked_at).await.map(|it| it.is_of_what_is_kept());
        let was_here = looked.map_err(|_| Arc::new(DownloadFault::Stopping))?;
        if is_here {
            self.0.counters.count(if was_here { Count::FileHit } else { Count::FileMiss });
        }
        let first = self.0.bounds.first;
        let sendable = tokio::time::timeout(first, state.wait_for(State::can_be_answered)).await;
        if matches!(sendable, Ok(Err(_))) {
            return Err(Arc::new(DownloadFault::Stopping));
        }
        drop(sendable);
        let now = state.borrow().clone();
        match now {
            State::Kept(cached) => Ok(Opened::Kept(cached)),
            State::Failed(fault) => Err(fault),
            State::Looking | State::Asking => Err(Arc::new(DownloadFault::NothingCame(first))),
            // Also when a first piece is here, and the second is long in coming.
            State::Coming { .. } | State::Done { .. } => Ok(Opened::Coming(Transfer { state })),
        }
    }

    /// How large an opened artifact is; waits for that where nobody tells it, but not long.
    pub async fn measured(&self, opened: &Opened) -> Result<u64, Arc<DownloadFault>> {
        match opened {
            Opened::Kept(cached) => Ok(cached.meta.size),
            Opened::Coming(transfer) => transfer.measured(self.0.bounds.measuring).await,
        }
    }

    /// Notes that an artifact was used, where that decides how long it is kept.
    pub(super) async fn note_use(&self, cached: &Cached) {
        let now = self.0.ledger.now();
        if cached.is_worth_a_note(now)
            && let Err(fault) = self.0.cache.used(cached, now).await
        {
            warn!(error = %fault, "that a kept file was used could not be noted");
        }
    }

    /// The download under way, or a new one.
    fn state_of(&self, wanted: &Wanted, caller: &Caller, trail: &Trail) -> watch::Receiver<State> {
        let Wanted { key, sha256, promise, shape, .. } = wanted;
        let key = (key.clone(), *sha256, promise.clone(), shape.clone(), trail.n_hops());
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = running.get(&key) {
            return state.clone();
        }
        let (sender, state) = watch::channel(State::Looking);
        running.insert(key.clone(), state.clone());
        drop(running);
        let this = self.clone();
        let (wanted, caller, trail) = (wanted.clone(), caller.clone(), trail.clone());
        let landing = Landing { key, inner: Arc::clone(&self.0) };
        self.0.lifecycle.run("download", async move {
            this.download(&wanted, &caller, &trail, sender, landing).await;
        });
        state
    }

    async fn download(
        &self,
        wanted: &Wanted,
        caller: &Caller,
        trail: &Trail,
        state: watch::Sender<State>,
        landing: Landing<C>,
    ) {
        let (bound, asked_at) = (self.0.bounds.time, Instant::now());
        let fetched = tokio::time::timeout(bound, self.fetch(wanted, trail, &state)).await;
        if !matches!(fetched, Ok(Ok(None) | Err(DownloadFault::Broken))) {
            self.0.counters.upstream(asked_at.elapsed());
        }
        // Who comes from now on looks in the cache first, or starts anew.
        drop(landing);
        match fetched.unwrap_or(Err(DownloadFault::TooSlow(bound))) {
            Ok(None) => {}
            Ok(Some(fetched)) => {
                let Fetched { file, size, kept, place } = fetched;
                self.0.counters.upstream_fails(false);
                state.send_replace(State::Done { file, size, _place: place });
                if let Some(sha256) = kept {
                    self.record_stored(wanted, sha256, size, caller).await;
                }
            }
            Err(fault) => {
                self.0.counters.count(Count::UpstreamFailure);
                match &fault {
                    DownloadFault::Outbound(_)
                    | DownloadFault::Status { .. }
                    | DownloadFault::TooSlow(_) => self.0.counters.upstream_fails(true),
                    DownloadFault::NotFound(_) | DownloadFault::Mismatch(_) => {
                        self.0.counters.upstream_fails(false);
                    }
                    // What broke is here.
                    DownloadFault::Disk(_)
                    | DownloadFault::Broken
                    | DownloadFault::NothingCame(_)
                    | DownloadFault::Unmeasured(_)
                    | DownloadFault::Busy
                    | DownloadFault::NoRoom(_)
                    | DownloadFault::Stopping => {}
                }
                let (package, file) = (wanted.key.package(), wanted.key.file());
                warn!(package, file, error = %fault, "download failed, nothing is kept");
                if let DownloadFault::Mismatch(cause) = &fault {
                    self.record_rejected(wanted, cause, caller).await;
                }
                state.send_replace(State::Failed(Arc::new(fault)));
            }
        }
    }
}

/// Takes a download off the list when it ends, also by being dropped.
struct Landing<C> {
    key: Route,
    inner: Arc<Inner<C>>,
}

impl<C> Drop for Landing<C> {
    fn drop(&mut self) {
        self.inner.running.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
