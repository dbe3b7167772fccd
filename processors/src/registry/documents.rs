//! Lists of versions, fetched from an upstream and kept in memory while they are fresh.
//!
//! One request at a time for each, conditional where the upstream gave a validator. An old one is
//! given when the upstream fails, and where it says less than it did, with what it says now beside it;
//! that there is none is remembered briefly, and never mistaken for a failure. Where several instances
//! share a place for lists, what one of them fetched serves all.

mod fetch;
mod shared;

use std::{
    error::Error,
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use http::{HeaderMap, Method, StatusCode};
use tokio::time::Instant;
use tracing::warn;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};
use weir_log::lifecycle::Lifecycle;

use self::{fetch::Validators, shared::Shared};
use super::{
    cache::{self, redis::Id},
    lru::Lru,
    shelves::{Shelf, Shelves},
    stats::{Count, Counters},
};
use crate::{
    flights::Flights,
    outbound::{Outbound, OutboundFault, Page, Reach, Room, Trail, Url},
};

/// What an ecosystem's lists are: where they lie, and how they are read.
pub trait Source: fmt::Debug + Send + Sync + 'static {
    /// What a list is asked for by.
    type Key: Clone + Eq + Hash + fmt::Display + fmt::Debug + Send + Sync + 'static;
    /// A list that was read.
    type Document: fmt::Debug + Send + Sync + 'static;
    /// Why one cannot be read.
    type Fault: Error + Send + Sync + 'static;

    /// What a list is about, in messages: `project`, `package`, `crate`.
    const NOUN: &'static str;

    /// How it is asked for.
    const METHOD: Method = Method::GET;

    /// Whether one that was there is given on when the upstream says that it is gone.
    const OUTLIVES: bool = false;

    /// Whether an upstream that wants to know who asks, or refuses, has no such list, where there are no
    /// credentials for it: some say so of what does not exist, and clients go on after a 404 only.
    const DENIED_IS_NONE: bool = false;

    /// The package that a list is about, in any spelling; none where it is about no package.
    fn package(key: &Self::Key) -> Option<&str>;

    /// Where a list lies, below the upstream's address, which ends with a slash.
    fn url(base: &Url, key: &Self::Key) -> Url;

    /// The headers it is asked for with.
    fn headers(key: &Self::Key) -> HeaderMap;

    /// A list that Weir has by itself, so that no upstream is asked for it.
    fn own(_key: &Self::Key) -> Option<Own> {
        None
    }

    /// Reads a list, away from the threads that serve: the largest take tens of milliseconds.
    fn read(key: &Self::Key, page: &Page) -> Result<Self::Document, Self::Fault>;

    /// How much memory a list takes, roughly.
    fn size_bytes(document: &Self::Document) -> usize;

    /// Whether a list leaves out what every list of its kind has to tell, as upstreams do that are half
    /// up. It is given, but does not take the place of one that tells: it is kept beside that, for those to
    /// whom it does not matter ([`Documents::lesser`]); where it must take it, it is kept no longer than
    /// that there is none. To be told at once: all who ask for a list wait for it.
    fn is_degraded(_document: &Self::Document) -> bool {
        false
    }
}

/// A list as an upstream would give it, written here.
#[derive(Debug)]
pub struct Own {
    /// Its media type.
    pub content_type: &'static str,
    /// Its text.
    pub body: String,
}

/// How lists are fetched and kept.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// How long a list is fresh.
    pub ttl: Duration,
    /// How old a list may be that says that a file does not exist: the file may be newer.
    pub recent: Duration,
    /// How long it is remembered that there is none, how long a list is fresh that says less than the
    /// one before it, and how long an upstream is not asked again that has nothing but such.
    pub negative_ttl: Duration,
    /// How long an old list may be given when the upstream fails.
    pub stale_for: Duration,
    /// How long a failing upstream is left in peace while an old list can be given.
    pub retry_after: Duration,
    /// The bound on the whole time of a fetch.
    pub bound: Duration,
    /// The largest list.
    pub max_page_bytes: u64,
    /// How much memory all lists may take.
    pub max_bytes: u64,
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            ttl: Duration::from_mins(5),
            recent: Duration::from_secs(10),
            negative_ttl: Duration::from_secs(30),
            stale_for: Duration::from_hours(24),
            retry_after: Duration::from_secs(5),
            bound: Duration::from_mins(1),
            max_page_bytes: 32 << 20,
            // Enough for one list of the largest size.
            max_bytes: 192 << 20,
        }
    }
}

/// There is no list.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DocumentsFault {
    /// The upstream knows no such thing.
    #[error("the upstream has no {0}")]
    NotFound(String),
    /// The upstream answers with a status that is no answer.
    #[error("the upstream answers {status} for {what}")]
    Status {
        /// What was asked for: ``project `six` ``.
        what: String,
        /// The status.
        status: StatusCode,
    },
    /// The upstream cannot be reached, or its answer breaks off.
    #[error("could not fetch {what} from the upstream")]
    Unreachable {
        /// What was asked for.
        what: String,
        /// What broke.
        #[source]
        cause: Arc<OutboundFault>,
    },
    /// The upstream's answer cannot be read.
    #[error("could not read the upstream's page of {what}")]
    Unreadable {
        /// What was asked for.
        what: String,
        /// What is wrong with it.
        #[source]
        cause: Arc<dyn Error + Send + Sync>,
    },
    /// The upstream's answer leaves out what the one before it told.
    #[error("the upstream's page of {0} says less than the one before it")]
    Degraded(String),
    /// This process is stopping.
    #[error("this instance is stopping")]
    Stopping,
}

/// An upstream's lists and what was fetched of them. Cheap to clone.
#[derive(Debug)]
pub struct Documents<S: Source>(Arc<Inner<S>>);

impl<S: Source> Clone for Documents<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

type Answered<S> = Result<Landed<<S as Source>::Document>, DocumentsFault>;

#[derive(Debug)]
struct Inner<S: Source> {
    base: Url,
    reach: Reach,
    outbound: Outbound,
    keeping: Keeping,
    counters: Arc<Counters>,
    kept: Mutex<Shelved<S>>,
    shared: Option<Shared<S>>,
    /// By how many Weirs a request came through, too: [`Trail::n_hops`] says why.
    flights: Flights<(S::Key, usize), Answered<S>>,
}

/// What came of looking for a list.
#[derive(Debug)]
struct Landed<D> {
    open: Open<D>,
    /// When the upstream last confirmed it, if nobody asked it just now: another instance had.
    confirmed_at: Option<Instant>,
}

impl<D> Clone for Landed<D> {
    fn clone(&self) -> Self {
        Self { open: self.open.clone(), confirmed_at: self.confirmed_at }
    }
}

impl<D> Landed<D> {
    const fn asked(open: Open<D>) -> Self {
        Self { open, confirmed_at: None }
    }
}

/// What is kept, and how often some of it was forgotten because somebody said so: what was fetched
/// before that is not kept after it.
#[derive(Debug)]
struct Shelved<S: Source> {
    lists: Lru<S::Key, Kept<S::Document>>,
    n_purges: u64,
}

/// A list somebody works with. A large one that was just fetched holds its room until the last one
/// who waited for it is done: it may be too large to be kept.
#[derive(Debug)]
pub struct Open<D> {
    /// The list.
    pub document: Arc<D>,
    /// The room it takes.
    pub room: Option<Room>,
}

impl<D> Clone for Open<D> {
    fn clone(&self) -> Self {
        Self { document: Arc::clone(&self.document), room: self.room.clone() }
    }
}

impl<D> Open<D> {
    /// The list without its room, for those who go on to wait for something else.
    #[must_use]
    pub fn without_room(self) -> Self {
        Self::kept(self.document)
    }

    fn kept(document: Arc<D>) -> Self {
        Self { document, room: None }
    }
}

/// What is known of a list.
#[derive(Debug)]
struct Kept<D> {
    /// The list; `None` when there is none.
    document: Option<Arc<D>>,
    /// When the upstream last said so.
    confirmed_at: Instant,
    /// When it may be asked again after a failure.
    retry_at: Instant,
    validators: Validators,
    /// Whether one before it told what it leaves out.
    says_less: bool,
    /// What the upstream said since, where that leaves out what this one tells.
    lesser: Option<Arc<D>>,
    /// What it is called where instances share it.
    shared: Option<Id>,
}

impl<D> Clone for Kept<D> {
    fn clone(&self) -> Self {
        Self {
            document: self.document.clone(),
            confirmed_at: self.confirmed_at,
            retry_at: self.retry_at,
            validators: self.validators.clone(),
            says_less: self.says_less,
            lesser: self.lesser.clone(),
            shared: self.shared,
        }
    }
}

impl<S: Source> Documents<S> {
    /// The lists below an address, which is asked only within the reach. They lie on a shelf of their
    /// own among these.
    pub fn new(
        mut base: Url,
        reach: Reach,
        outbound: Outbound,
        keeping: Keeping,
        counters: Arc<Counters>,
        (ecosystem, shelves): (Ecosystem, &Shelves),
        lifecycle: &Lifecycle,
    ) -> Self {
        if !base.path().ends_with('/') {
            let path = format!("{}/", base.path());
            base.set_path(&path);
        }
        let shared = shelves.shared().cloned();
        let shared = shared.map(|cache| Shared::new(cache, ecosystem, &outbound, &keeping));
        let inner = Arc::new(Inner {
            base,
            reach,
            outbound,
            keeping,
            counters,
            kept: Mutex::new(Shelved { lists: Lru::new(keeping.max_bytes), n_purges: 0 }),
            shared,
            flights: Flights::new(S::NOUN, lifecycle.clone()),
        });
        let weak: Weak<Inner<S>> = Arc::downgrade(&inner);
        shelves.add(ecosystem, weak);
        Self(inner)
    }

    /// The upstream's address, with a slash at its end.
    #[must_use]
    pub fn base(&self) -> &Url {
        &self.0.base
    }

    /// Where the upstream's lists may be fetched from.
    #[must_use]
    pub fn reach(&self) -> &Reach {
        &self.0.reach
    }

    /// How lists are kept.
    #[must_use]
    pub fn keeping(&self) -> &Keeping {
        &self.0.keeping
    }

    /// Forgets a list that turned out to be wrong, here and where instances share it.
    pub fn forget(&self, key: &S::Key) {
        let mut shelved = self.0.kept();
        shelved.n_purges += 1;
        shelved.lists.remove(key);
        drop(shelved);
        if let Some(shared) = &self.0.shared {
            shared.forget(&self.0.base, key);
        }
    }

    /// What the upstream said last of a list in whose place an older one is given, because that one tells
    /// more: for those to whom what is left out does not matter. Who gives the older one counts it as
    /// [`Count::Stale`].
    #[must_use]
    pub fn lesser(&self, key: &S::Key) -> Option<Open<S::Document>> {
        let lesser = self.0.kept().lists.peek(key)?.lesser.clone();
        lesser.map(Open::kept)
    }

    /// A list that the upstream confirmed at most `max_age` ago; an older one only when the upstream
    /// fails.
    pub async fn get(
        &self,
        key: &S::Key,
        max_age: Duration,
        trail: &Trail,
    ) -> Result<Open<S::Document>, DocumentsFault> {
        let inner = &self.0;
        if let Some(answer) = inner.known(key, max_age) {
            inner.counters.count(Count::Hit);
            return answer.map(Open::kept);
        }
        inner.counters.count(Count::Miss);
        loop {
            let work = {
                let (inner, key, trail) = (Arc::clone(inner), key.clone(), trail.clone());
                move || async move { inner.refresh(&key, max_age, &trail).await }
            };
            let landed = inner.flights.join((key.clone(), trail.n_hops()), work).await;
            let Landed { open, confirmed_at } = landed.unwrap_or(Err(DocumentsFault::Stopping))?;
            // What another instance knew may be new enough for who asked first, and not for us.
            if confirmed_at.is_none_or(|at| at.elapsed() < max_age) {
                return Ok(open);
            }
        }
    }
}

impl<S: Source> Inner<S> {
    fn kept(&self) -> MutexGuard<'_, Shelved<S>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be answered without asking.
    fn known(
        &self,
        key: &S::Key,
        max_age: Duration,
    ) -> Option<Result<Arc<S::Document>, DocumentsFault>> {
        let mut all = self.kept();
        let kept = all.lists.get(key)?;
        let age = kept.confirmed_at.elapsed();
        match &kept.document {
            Some(document) if age < self.fresh_for(kept, max_age) => Some(Ok(Arc::clone(document))),
            Some(document) if Instant::now() < kept.retry_at && age < self.keeping.stale_for => {
                if kept.lesser.is_none() {
                    self.counters.count(Count::Stale);
                }
                Some(Ok(Arc::clone(document)))
            }
            None if age < self.keeping.negative_ttl.min(max_age) => {
                Some(Err(DocumentsFault::NotFound(what::<S>(key))))
            }
            _ => None,
        }
    }

    /// How old a list may be, for who takes one of this age. One of an upstream that never told more may
    /// be as old as any.
    fn fresh_for(&self, kept: &Kept<S::Document>, max_age: Duration) -> Duration {
        let is_brief = kept.says_less || kept.lesser.is_some();
        if is_brief { max_age.min(self.keeping.negative_ttl) } else { max_age }
    }

    /// Whether a list is given on in the place of one that came later.
    fn outlives(&self, old: &Kept<S::Document>, later: &S::Document) -> bool {
        S::is_degraded(later)
            && old.document.as_deref().is_some_and(|old| !S::is_degraded(old))
            && old.confirmed_at.elapsed() < self.keeping.stale_for
    }

    async fn refresh(
        &self,
        key: &S::Key,
        max_age: Duration,
        trail: &Trail,
    ) -> Result<Landed<S::Document>, DocumentsFault> {
        let (mut old, n_purges) = {
            let mut kept = self.kept();
            (kept.lists.get(key).cloned(), kept.n_purges)
        };
        if let Some(shared) = &self.shared
            && let Some((theirs, room)) =
                shared.newer(&self.base, key, old.as_ref(), &self.outbound).await
            && !theirs
                .document
                .as_deref()
                .is_some_and(|theirs| old.as_ref().is_some_and(|old| self.outlives(old, theirs)))
        {
            self.keep(key, theirs.clone(), n_purges);
            let confirmed_at = theirs.confirmed_at;
            match &theirs.document {
                Some(document) if confirmed_at.elapsed() < self.fresh_for(&theirs, max_age) => {
                    let open = Open { document: Arc::clone(document), room };
                    return Ok(Landed { open, confirmed_at: Some(confirmed_at) });
                }
                _ => old = Some(theirs),
            }
        }
        let mut lesser = None;
        let fetched = match self.fetch(key, old.as_ref(), trail).await {
            Ok((Kept { document: Some(document), .. }, _))
                if old.as_ref().is_some_and(|old| self.outlives(old, &document)) =>
            {
                lesser = Some(document);
                Err(DocumentsFault::Degraded(what::<S>(key)))
            }
            fetched => fetched,
        };
        match fetched {
            Ok((kept, room)) => {
                if S::own(key).is_none() {
                    self.counters.upstream_fails(false);
                }
                let document = kept.document.clone();
                self.keep(key, kept, n_purges);
                let document = document.ok_or_else(|| DocumentsFault::NotFound(what::<S>(key)))?;
                Ok(Landed::asked(Open { document, room }))
            }
            Err(fault) => {
                // Who says too little has not failed to say something.
                let degraded = matches!(fault, DocumentsFault::Degraded(_));
                if !degraded {
                    self.counters.count(Count::UpstreamFailure);
                }
                let fails = !degraded && !matches!(fault, DocumentsFault::Stopping);
                self.counters.upstream_fails(fails);
                let stale = old.and_then(|old| {
                    let fits = old.confirmed_at.elapsed() < self.keeping.stale_for;
                    old.document.clone().filter(|_| fits).map(|document| (document, old))
                });
                let Some((document, old)) = stale else { return Err(fault) };
                if degraded {
                    warn!(list = %key, "the upstream tells less than it did, keeping the older list too");
                } else {
                    warn!(list = %key, error = %fault, "upstream failed, giving an old list");
                }
                let lesser = lesser.or_else(|| old.lesser.clone());
                if lesser.is_none() {
                    self.counters.count(Count::Stale);
                }
                // Who says too little says so however it was asked.
                if degraded || trail.begins_here() {
                    let Keeping { negative_ttl, retry_after, .. } = self.keeping;
                    let pause = if degraded { negative_ttl } else { retry_after };
                    let retry_at = Instant::now() + pause;
                    self.keep(key, Kept { retry_at, lesser, ..old }, n_purges);
                }
                Ok(Landed::asked(Open::kept(document)))
            }
        }
    }

    /// Keeps what is known of a list, unless some was forgotten since it was asked for.
    fn keep(&self, key: &S::Key, mut kept: Kept<S::Document>, n_purges: u64) {
        let mut weight = kept.document.as_deref().map_or(512, |list| S::size_bytes(list) as u64);
        if let Some(lesser) = &kept.lesser {
            let both = weight + S::size_bytes(lesser) as u64;
            // Rather without it than neither of them.
            if both > self.keeping.max_bytes {
                kept.lesser = None;
            } else {
                weight = both;
            }
        }
        let mut shelved = self.kept();
        if shelved.n_purges == n_purges {
            shelved.lists.put(key.clone(), kept, weight);
        }
    }
}

impl<S: Source> Shelf for Inner<S> {
    fn kept(&self, now: Timestamp) -> cache::Kept {
        let mut all = cache::Kept::default();
        for (_, kept, weight) in self.kept().lists.iter() {
            if kept.document.is_some() {
                let age = i64::try_from(kept.confirmed_at.elapsed().as_micros());
                let micros = now.micros().saturating_sub(age.unwrap_or(i64::MAX));
                all.add(weight, Timestamp::from_micros(micros));
            }
        }
        all
    }

    fn upstream_fails(&self) -> bool {
        self.counters.stats().upstream_fails
    }

    fn forget(&self, meant: &dyn Fn(Option<&str>) -> bool) -> u64 {
        let mut shelved = self.kept();
        let keys = shelved.lists.keys().filter(|key| meant(S::package(key)));
        let keys: Vec<S::Key> = keys.cloned().collect();
        shelved.n_purges += 1;
        let gone = keys.iter().filter_map(|key| shelved.lists.remove(key));
        gone.filter(|kept| kept.document.is_some()).count() as u64
    }
}

/// Whether a list leaves out what one before it told.
fn says_less<S: Source>(old: Option<&Kept<S::Document>>, later: &S::Document) -> bool {
    let told = |old: &Kept<S::Document>| {
        old.says_less || old.document.as_deref().is_some_and(|old| !S::is_degraded(old))
    };
    S::is_degraded(later) && old.is_some_and(told)
}

fn what<S: Source>(key: &S::Key) -> String {
    format!("{} `{key}`", S::NOUN)
}
