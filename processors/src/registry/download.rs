//! An artifact on its way in: fetched once however many ask for it, verified before it is kept.
//!
//! Bytes are passed on while they come, but the last piece is held back until the whole fits what
//! the index promised. If it does not, readers get an error where the end should be, and nothing is
//! kept. A download goes on when the client who asked first goes away.

mod promise;
mod reader;
mod shape;

use std::{
    collections::HashMap,
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT};
pub use promise::Promise;
pub use reader::read;
use sha2::{Digest as _, Sha256 as Hasher};
pub use shape::Shape;
use tempfile::NamedTempFile;
use tokio::sync::{Semaphore, watch};
use tracing::{info, warn};
use weir_events::{
    registry::{CacheStored, UpstreamRejected},
    timestamp::Timestamp,
};
use weir_log::lifecycle::Lifecycle;

use self::{promise::Check, shape::ShapeFault};
use super::{
    cache::{CacheKey, CachePlugin, Cached, Meta},
    ledger::Ledger,
    stats::{Count, Counters},
};
use crate::{
    caller::Caller,
    outbound::{Ask, Encoding, Outbound, OutboundFault, Reach, Trail, Url},
};

/// An artifact somebody wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What it is kept under.
    pub key: CacheKey,
    /// Where the upstream has it.
    pub url: Url,
    /// Where requests for it may go.
    pub reach: Reach,
    /// The SHA-256 its index promises.
    pub sha256: Option<[u8; 32]>,
    /// What its index promises where it promises no SHA-256. What is promised neither way, or by a
    /// weak hash only, is passed through and not kept.
    pub promise: Option<Promise>,
    /// What it must be beside that.
    pub shape: Shape,
    /// The size its index promises.
    pub size: Option<u64>,
    /// Its media type.
    pub content_type: &'static str,
    /// The media types it is asked for as, where the upstream has to be told.
    pub accept: Option<&'static str>,
}

impl Wanted {
    /// What is promised of it, where only the very same bytes fit that: `sha256 …`, `h1 …`.
    #[must_use]
    pub fn pinned(&self) -> Option<String> {
        let promise = || {
            let promise = self.promise.as_ref().filter(|promise| promise.strong());
            promise.map(ToString::to_string)
        };
        let sha256 = self.sha256.map(|sha256| format!("sha256 {}", hex::encode(sha256)));
        sha256.or_else(promise).or_else(|| self.shape.tag().map(|sum| format!("h1 {sum}")))
    }

    /// Whether its bytes can be verified so well that they may be kept.
    #[must_use]
    pub fn can_be_kept(&self) -> bool {
        let promised = self.sha256.is_some() || self.promise.as_ref().is_some_and(Promise::strong);
        promised || self.shape.tells()
    }
}

/// An artifact that is here, or coming.
#[derive(Debug, Clone)]
pub enum Opened {
    /// It was here.
    Kept(Cached),
    /// It is coming; its size where that is known.
    Coming(Transfer),
}

/// An artifact could not be had.
#[derive(Debug, thiserror::Error)]
pub enum DownloadFault {
    /// The upstream does not have it.
    #[error("the upstream does not have `{0}`")]
    NotFound(Url),
    /// The upstream answers with a status that is no answer.
    #[error("the upstream answers {status} for `{url}`")]
    Status {
        /// The address.
        url: Url,
        /// The status.
        status: StatusCode,
    },
    /// The upstream cannot be reached, or its answer breaks off.
    #[error(transparent)]
    Outbound(#[from] OutboundFault),
    /// The upstream's bytes are not what its index promised.
    #[error("the upstream's bytes do not fit its index: {0}")]
    Mismatch(String),
    /// The place for files does not work.
    #[error("could not keep what the upstream sends")]
    Disk(#[from] io::Error),
    /// Its first bytes are long in coming.
    #[error("the upstream has sent nothing for {0:?}")]
    NothingCame(Duration),
    /// It takes too long.
    #[error("the download took longer than {0:?}")]
    TooSlow(Duration),
    /// As many come as may at once.
    #[error("{MAX_DOWNLOADS} downloads are under way already")]
    Busy,
    /// This process is stopping.
    #[error("this instance is stopping")]
    Stopping,
}

/// How many files may be on their way from the upstream at once: each has a connection and an open
/// file, and goes on without its client.
const MAX_DOWNLOADS: usize = 128;

/// Bounds of a download.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The largest artifact.
    pub max_bytes: u64,
    /// The whole time it may take.
    pub time: Duration,
    /// How long a client waits for the first bytes before it is told that there are none. The
    /// download goes on, for when it asks again.
    pub first: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_bytes: 16 << 30, time: Duration::from_hours(1), first: Duration::from_secs(12) }
    }
}

/// A running download, as its readers see it.
#[derive(Debug, Clone)]
pub struct Transfer {
    state: watch::Receiver<State>,
}

#[derive(Debug, Clone)]
enum State {
    /// The upstream is being asked.
    Asking,
    /// Somebody else had kept it meanwhile.
    Kept(Cached),
    /// So much of it may be read.
    Coming { file: Arc<File>, size: Option<u64>, available: u64 },
    /// It is whole and fits.
    Done { file: Arc<File>, size: u64 },
    /// There is no more of it to be had.
    Failed(Arc<DownloadFault>),
}

impl State {
    /// Whether there is something to send, or nothing more to wait for.
    const fn can_be_answered(&self) -> bool {
        match self {
            Self::Asking => false,
            Self::Coming { available, .. } => *available > 0,
            Self::Kept(_) | Self::Done { .. } | Self::Failed(_) => true,
        }
    }
}

impl Transfer {
    /// How large it is, where that is told; otherwise when all of it is here. `None` where it fails.
    pub async fn measured(&self) -> Option<u64> {
        let mut state = self.state.clone();
        let known = |state: &State| match state {
            State::Asking => false,
            State::Coming { size, .. } => size.is_some(),
            State::Kept(_) | State::Done { .. } | State::Failed(_) => true,
        };
        drop(state.wait_for(known).await.ok()?);
        self.size()
    }

    /// Its size, where the index or the upstream told it.
    pub fn size(&self) -> Option<u64> {
        match &*self.state.borrow() {
            State::Coming { size, .. } => *size,
            State::Done { size, .. } => Some(*size),
            State::Kept(cached) => Some(cached.meta.size),
            State::Asking | State::Failed(_) => None,
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

/// A download under way: files of one name that are promised to be different are different.
type Route = (CacheKey, Option<[u8; 32]>, Option<Promise>);

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

impl<C: CachePlugin> Downloads<C> {
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

    /// An artifact that is here already and fits what its index promises today.
    pub async fn kept(&self, wanted: &Wanted) -> io::Result<Option<Cached>> {
        if !wanted.can_be_kept() {
            return Ok(None);
        }
        let cached = self.0.cache.get(&wanted.key).await?;
        Ok(cached.filter(|cached| match (wanted.sha256, &wanted.promise) {
            (Some(sha256), _) => cached.meta.sha256 == hex::encode(sha256),
            (None, Some(promise)) => {
                cached.meta.promise.as_deref().is_some_and(|found| promise.admits_text(found))
            }
            (None, None) => {
                let found = cached.meta.promise.as_deref();
                found.is_some_and(|found| wanted.shape.admits(found))
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
        if let Some(cached) = kept.map_err(|fault| Arc::new(fault.into()))? {
            self.0.counters.count(Count::FileHit);
            return Ok(Opened::Kept(cached));
        }
        self.0.counters.count(Count::FileMiss);
        let mut state = self.state_of(wanted, caller, trail);
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
            State::Asking => Err(Arc::new(DownloadFault::NothingCame(first))),
            // Also when a first piece is here, and the second is long in coming.
            State::Coming { .. } | State::Done { .. } => Ok(Opened::Coming(Transfer { state })),
        }
    }

    /// The download under way, or a new one.
    fn state_of(&self, wanted: &Wanted, caller: &Caller, trail: &Trail) -> watch::Receiver<State> {
        let key = (wanted.key.clone(), wanted.sha256, wanted.promise.clone());
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = running.get(&key) {
            return state.clone();
        }
        let (sender, state) = watch::channel(State::Asking);
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
        if !matches!(fetched, Ok(Ok(None))) {
            self.0.counters.upstream(asked_at.elapsed());
        }
        // Who comes from now on looks in the cache first, or starts anew.
        drop(landing);
        match fetched.unwrap_or(Err(DownloadFault::TooSlow(bound))) {
            Ok(None) => {}
            Ok(Some(fetched)) => {
                let Fetched { file, size, kept } = fetched;
                state.send_replace(State::Done { file, size });
                if let Some(sha256) = kept {
                    self.record_stored(wanted, sha256, size, caller).await;
                }
            }
            Err(fault) => {
                self.0.counters.count(Count::UpstreamFailure);
                let (package, file) = (wanted.key.package(), wanted.key.file());
                warn!(package, file, error = %fault, "download failed, nothing is kept");
                if let DownloadFault::Mismatch(cause) = &fault {
                    self.record_rejected(wanted, cause, caller).await;
                }
                state.send_replace(State::Failed(Arc::new(fault)));
            }
        }
    }

    /// Fetches, verifies and keeps. `None` when somebody else had kept it meanwhile.
    async fn fetch(
        &self,
        wanted: &Wanted,
        trail: &Trail,
        state: &watch::Sender<State>,
    ) -> Result<Option<Fetched>, DownloadFault> {
        if let Some(cached) = self.kept(wanted).await? {
            state.send_replace(State::Kept(cached));
            return Ok(None);
        }
        // Sooner than a client is told that nothing comes.
        let slot = tokio::time::timeout(self.0.bounds.first / 2, self.0.slots.acquire()).await;
        let _slot = slot.map_err(|_| DownloadFault::Busy)?.map_err(|_| DownloadFault::Stopping)?;
        let began = self.0.ledger.now();
        let mut reply = self.ask(Method::GET, wanted, trail).await?;
        let announced = reply.content_length();
        if let (Some(promised), Some(announced)) = (wanted.size, announced)
            && promised != announced
        {
            let cause = format!("{announced} bytes instead of {promised}");
            return Err(DownloadFault::Mismatch(cause));
        }
        let size = wanted.size.or(announced);
        let mut arrival = Arrival::new(self.0.cache.stage().await?, wanted)?;
        let most = size.unwrap_or(u64::MAX).min(self.0.bounds.max_bytes);
        while let Some(chunk) = reply.chunk().await? {
            if chunk.is_empty() {
                continue;
            }
            // All that came before this piece; this one waits for the next, or for the verdict.
            let (file, available) = (Arc::clone(&arrival.file), arrival.n_bytes);
            state.send_replace(State::Coming { file, size, available });
            if arrival.n_bytes + chunk.len() as u64 > most {
                return Err(DownloadFault::Mismatch(format!("more than {most} bytes")));
            }
            arrival = arrival.take(chunk).await?;
        }
        self.keep(wanted, arrival, size, began).await.map(Some)
    }

    async fn ask(
        &self,
        method: Method,
        wanted: &Wanted,
        trail: &Trail,
    ) -> Result<crate::outbound::Reply, DownloadFault> {
        let ask = Ask {
            method,
            url: wanted.url.clone(),
            reach: &wanted.reach,
            encoding: Encoding::Verbatim,
            headers: wanted.accept.map(accepting).unwrap_or_default(),
            trail,
        };
        self.0.counters.count(Count::UpstreamRequest);
        let reply = self.0.outbound.open(ask).await?;
        match reply.status() {
            StatusCode::OK => Ok(reply),
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                Err(DownloadFault::NotFound(wanted.url.clone()))
            }
            status => Err(DownloadFault::Status { url: wanted.url.clone(), status }),
        }
    }

    /// The size of an artifact as the upstream tells it, for those who only ask for it.
    pub async fn size(&self, wanted: &Wanted, trail: &Trail) -> Result<Option<u64>, DownloadFault> {
        Ok(self.ask(Method::HEAD, wanted, trail).await?.content_length())
    }

    async fn keep(
        &self,
        wanted: &Wanted,
        arrival: Arrival,
        size: Option<u64>,
        began: Timestamp,
    ) -> Result<Fetched, DownloadFault> {
        let Arrival { staged, file, hasher, check, n_bytes } = arrival;
        if let Some(size) = size.filter(|size| *size != n_bytes) {
            return Err(DownloadFault::Mismatch(format!("{n_bytes} bytes instead of {size}")));
        }
        let found: [u8; 32] = hasher.finalize().into();
        if let Some(promised) = wanted.sha256.filter(|promised| *promised != found) {
            let (found, promised) = (hex::encode(found), hex::encode(promised));
            return Err(DownloadFault::Mismatch(format!("sha256 {found} instead of {promised}")));
        }
        let also = check.map(Check::found);
        if let (Some(found), Some(promised)) = (&also, &wanted.promise)
            && !promised.admits(found)
        {
            return Err(DownloadFault::Mismatch(format!("{found} instead of {promised}")));
        }
        let (shape, looked_at) = (wanted.shape.clone(), Arc::clone(&file));
        let looking = tokio::task::spawn_blocking(move || shape.verify(&looked_at)).await;
        let shaped = looking.map_err(io::Error::other)?.map_err(|fault| match fault {
            ShapeFault::Mismatch(cause) => DownloadFault::Mismatch(cause),
            ShapeFault::Disk(fault) => DownloadFault::Disk(fault),
        })?;
        if !wanted.can_be_kept() {
            return Ok(Fetched { file, size: n_bytes, kept: None });
        }
        let sha256 = hex::encode(found);
        let meta = Meta {
            size: n_bytes,
            sha256: sha256.clone(),
            promise: also.map(|promise| promise.to_string()).or(shaped),
            ttl: None,
            created_at: began,
            etag: None,
            content_type: wanted.content_type.to_owned(),
        };
        // The bytes are right, so readers get them even where there is no room to keep them.
        let kept = match self.0.cache.set(wanted.key.clone(), staged, meta).await {
            Ok(true) => Some(sha256),
            Ok(false) => {
                info!(file = wanted.key.file(), "a file was purged on its way, and is not kept");
                None
            }
            Err(fault) => {
                warn!(file = wanted.key.file(), error = %fault, "a verified file could not be kept");
                None
            }
        };
        Ok(Fetched { file, size: n_bytes, kept })
    }

    async fn record_stored(
        &self,
        wanted: &Wanted,
        sha256: String,
        size_bytes: u64,
        caller: &Caller,
    ) {
        let stored = CacheStored {
            ecosystem: wanted.key.ecosystem(),
            package: wanted.key.package().to_owned(),
            file: wanted.key.file().to_owned(),
            sha256,
            size_bytes,
        };
        info!(package = stored.package, file = stored.file, size_bytes, "file verified and kept");
        if let Err(fault) = self.0.ledger.record(stored, caller).await {
            warn!(error = %fault, "a kept file could not be recorded");
        }
    }

    async fn record_rejected(&self, wanted: &Wanted, cause: &str, caller: &Caller) {
        let rejected = UpstreamRejected {
            ecosystem: wanted.key.ecosystem(),
            package: wanted.key.package().to_owned(),
            file: wanted.key.file().to_owned(),
            cause: cause.to_owned(),
        };
        if let Err(fault) = self.0.ledger.record(rejected, caller).await {
            warn!(error = %fault, "a rejected file could not be recorded");
        }
    }
}

fn accepting(types: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(types))])
}

struct Fetched {
    file: Arc<File>,
    size: u64,
    /// Its SHA-256, if it was kept.
    kept: Option<String>,
}

/// What has arrived so far.
struct Arrival {
    staged: NamedTempFile,
    file: Arc<File>,
    hasher: Hasher,
    check: Option<Check>,
    n_bytes: u64,
}

impl Arrival {
    fn new(staged: NamedTempFile, wanted: &Wanted) -> io::Result<Self> {
        let file = Arc::new(staged.as_file().try_clone()?);
        let check = wanted.promise.as_ref().map(Promise::check);
        Ok(Self { staged, file, hasher: Hasher::new(), check, n_bytes: 0 })
    }

    /// Writes and hashes a piece, away from the threads that serve.
    async fn take(mut self, chunk: Bytes) -> io::Result<Self> {
        let taking = move || {
            self.file.write_all_at(&chunk, self.n_bytes)?;
            self.hasher.update(&chunk);
            if let Some(check) = &mut self.check {
                check.update(&chunk);
            }
            self.n_bytes += chunk.len() as u64;
            Ok(self)
        };
        tokio::task::spawn_blocking(taking).await.map_err(io::Error::other)?
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
