//! Lists of versions in a Redis, for several instances to share: the upstream's pages as they came,
//! with their validators. What is decided about them is decided by whoever takes them out.
//!
//! Nobody is believed who can write to that Redis: each value is signed with a key that only the
//! instances have, together with the place it lies in, and one that does not verify counts as not
//! there. A Redis that is slow or down is done without.

mod counters;
mod frame;
mod line;
mod places;

use std::{
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use redis::{Pipeline, pipe};
use tokio::sync::Semaphore;
use tracing::{info, warn};
use weir_events::timestamp::Timestamp;
use weir_log::lifecycle::Lifecycle;

pub use self::{
    counters::Counted,
    frame::{Fresh, Id, Page},
    line::{Options, SetupFault, State, probe},
    places::PageKey,
};
use self::{
    counters::{Count, Counters},
    frame::{FRAME_BYTES, PEEK_BYTES, Peek, Signer, WORD_BYTES},
    line::{Line, LineFault},
    places::{Place, Places},
};
use super::{CachePlugin, CacheStats, Purge, Purged, purge::Watch};
use crate::clock::Clock;

/// Nothing is kept for longer, so that nothing has to be known of purges that are older.
pub const MAX_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// How far the clocks of two instances may be apart.
const MAX_SKEW_SECONDS: i64 = 5;
/// Values on their way into Redis at once; what comes beyond that is not kept.
const MAX_WRITES: usize = 8;
/// Keys asked for in one step of a look through all of them.
const STEP: usize = 1_000;
/// How long such a look may take.
const LOOK: Duration = Duration::from_mins(1);

/// Lists in a Redis. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RedisCache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    line: Line,
    places: Places,
    signer: Signer,
    clock: Arc<dyn Clock>,
    lifecycle: Lifecycle,
    watch: Watch,
    /// Whether all purges are known that stand in the log: until then nothing is taken out.
    followed: AtomicBool,
    counters: Counters,
    /// Whether it was told that there are values that do not verify.
    told: AtomicBool,
    known: Mutex<CacheStats>,
    writes: Semaphore,
}

/// When an upstream last confirmed which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Confirmed {
    /// Which.
    pub id: Id,
    /// When.
    pub at: Timestamp,
}

/// A page that was found, and when its upstream last confirmed it.
#[derive(Debug)]
pub struct Found {
    /// The page; its body is still packed.
    pub page: Page,
    /// When it was confirmed.
    pub confirmed_at: Timestamp,
}

impl RedisCache {
    /// Opens the line, and waits a moment for its first answer. One that does not answer is no fault:
    /// it is tried again for as long as the process runs. `secret` is what all instances share.
    pub async fn start(
        options: &Options,
        secret: &[u8; 32],
        clock: Arc<dyn Clock>,
        lifecycle: &Lifecycle,
    ) -> Result<Self, SetupFault> {
        let line = Line::start(options, Arc::clone(&clock), lifecycle).await?;
        let watched = i64::try_from(MAX_LIFETIME.as_secs()).unwrap_or(i64::MAX);
        Ok(Self(Arc::new(Inner {
            line,
            places: Places::new(&options.prefix),
            signer: Signer::new(secret),
            clock,
            lifecycle: lifecycle.clone(),
            watch: Watch::new(watched),
            followed: AtomicBool::new(false),
            counters: Counters::default(),
            told: AtomicBool::new(false),
            known: Mutex::default(),
            writes: Semaphore::new(MAX_WRITES),
        })))
    }

    /// How the line is.
    pub fn state(&self) -> State {
        self.0.line.state()
    }

    /// What happened since the process started.
    pub fn counted(&self) -> Counted {
        self.0.counters.read()
    }

    /// The time, as values are stamped with it.
    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Says whether all purges that stand in the log are known here. As long as they are not, nothing
    /// is taken out: it may have been purged.
    pub fn follows(&self, followed: bool) {
        self.0.followed.store(followed, Ordering::SeqCst);
    }

    /// Ignores from now on what these purges mean, wherever it still lies.
    pub fn heed(&self, purges: &[Purge]) {
        self.0.watch.add(purges);
    }

    /// When the upstream last confirmed what lies under a key, and which page that was.
    pub async fn confirmed(&self, key: &PageKey) -> io::Result<Option<Confirmed>> {
        let inner = &self.0;
        if !inner.followed.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let Place { word, .. } = inner.places.of(key);
        let mut ask = pipe();
        ask.cmd("GETRANGE").arg(&word).arg(0).arg(WORD_BYTES);
        let (text,): (Vec<u8>,) = inner.ask(&ask).await?;
        Ok(inner.word(&word, &text))
    }

    /// Notes that the upstream has confirmed a page, if it is still there. Not waited for.
    pub fn confirm(&self, key: PageKey, confirmed: Confirmed, lifetime: Duration) {
        self.later(async move |this| {
            let inner = &this.0;
            let Place { page, word } = inner.places.of(&key);
            let text = inner.signer.write_word(&word, confirmed);
            let lifetime = millis(lifetime);
            let mut ask = pipe();
            ask.cmd("SET").arg(&word).arg(text).arg("XX").arg("PX").arg(lifetime).ignore();
            ask.cmd("PEXPIRE").arg(&page).arg(lifetime).ignore();
            inner.write(&ask).await
        });
    }

    /// Keeps a page. Not waited for.
    pub fn keep(&self, key: PageKey, fresh: Fresh) {
        self.later(async move |this| this.set(key, fresh).await.map(drop));
    }

    /// Forgets a page that is no more. Not waited for.
    pub fn forget(&self, key: PageKey) {
        self.later(async move |this| this.delete(&key).await.map(drop));
    }

    /// Has something written, unless too much is being written already.
    fn later<F>(&self, work: impl FnOnce(Self) -> F + Send + 'static)
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let this = self.clone();
        if !matches!(self.state(), State::Up { .. }) || self.0.writes.available_permits() == 0 {
            self.0.counters.count(Count::Skipped);
            return;
        }
        self.0.lifecycle.run("shared list", async move {
            let inner = Arc::clone(&this.0);
            let Ok(_permit) = inner.writes.try_acquire() else {
                inner.counters.count(Count::Skipped);
                return;
            };
            // What goes wrong was counted and told by the line.
            drop(work(this).await);
        });
    }
}

impl Inner {
    async fn ask<T: redis::FromRedisValue>(&self, ask: &Pipeline) -> io::Result<T> {
        self.line.ask(ask).await.map_err(|fault| {
            let what =
                if matches!(fault, LineFault::Away) { Count::Skipped } else { Count::Failed };
            self.counters.count(what);
            io::Error::other(fault)
        })
    }

    /// The same, for what changes something: a Redis that refuses that may still be read.
    async fn write<T: redis::FromRedisValue>(&self, ask: &Pipeline) -> io::Result<T> {
        let answer = self.ask(ask).await;
        self.line.wrote(answer.as_ref().err());
        answer
    }

    fn word(&self, at: &str, text: &[u8]) -> Option<Confirmed> {
        if text.is_empty() {
            return None;
        }
        let word = self.signer.read_word(at, text);
        if word.is_none() {
            self.reject();
        }
        word.filter(|word| !self.is_ahead(word.at))
    }

    /// Whether a moment lies so far ahead that nothing can be said of how old it is.
    fn is_ahead(&self, at: Timestamp) -> bool {
        at > self.clock.now().plus_seconds(MAX_SKEW_SECONDS)
    }

    /// Counts a value that nobody of ours has written, or not here.
    fn reject(&self) {
        self.counters.count(Count::Rejected);
        if !self.told.swap(true, Ordering::SeqCst) {
            warn!(
                "a value in Redis is not signed by an instance of this Weir and is ignored, as all \
                 such will be: somebody else writes there, or instances differ in `server.secret`"
            );
        }
    }

    fn purged(&self, key: &PageKey, created_at: Timestamp) -> bool {
        self.watch.means_list(key.ecosystem(), key.package(), created_at)
    }

    fn known(&self, change: impl FnOnce(&mut CacheStats)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Shows every key of ours with the beginning of its value, step by step, and forgets those that
    /// are unwanted. Says how much that was.
    async fn look(
        &self,
        unwanted: impl Fn(&PageKey, &Peek) -> bool,
    ) -> io::Result<(Purged, CacheStats)> {
        let (mut cursor, mut purged, mut stays) = (0_u64, Purged::default(), CacheStats::default());
        loop {
            let mut step = pipe();
            step.cmd("SCAN").arg(cursor).arg("MATCH").arg(self.places.pattern());
            step.arg("COUNT").arg(STEP);
            let ((next, keys),): ((u64, Vec<Vec<u8>>),) = self.ask(&step).await?;
            let keys: Vec<(PageKey, Place)> = keys
                .iter()
                .filter_map(|at| self.places.read(std::str::from_utf8(at).ok()?))
                .map(|key| (key.clone(), self.places.of(&key)))
                .collect();
            let mut peek = pipe();
            for (_, Place { page, word }) in &keys {
                peek.cmd("GETRANGE").arg(page).arg(0).arg(PEEK_BYTES - 1);
                peek.cmd("GETRANGE").arg(word).arg(0).arg(WORD_BYTES);
                peek.cmd("STRLEN").arg(page);
            }
            let peeked: Vec<redis::Value> =
                if keys.is_empty() { Vec::new() } else { self.ask(&peek).await? };
            let mut unlink = pipe();
            for ((key, place), values) in keys.iter().zip(peeked.chunks_exact(3)) {
                let read = |n: usize| values.get(n).cloned().unwrap_or(redis::Value::Nil);
                let head: Vec<u8> = redis::from_redis_value(read(0)).unwrap_or_default();
                let word: Vec<u8> = redis::from_redis_value(read(1)).unwrap_or_default();
                let size: u64 = redis::from_redis_value(read(2)).unwrap_or_default();
                let word = self.signer.read_word(&place.word, &word);
                // What cannot be read was never ours, and is nobody's.
                let gone = Peek::of(&head, word).is_none_or(|peek| unwanted(key, &peek));
                if gone {
                    unlink.cmd("UNLINK").arg(&place.page).arg(&place.word).ignore();
                    purged.n_files += 1;
                    purged.size_bytes += size;
                } else {
                    stays.entries += 1;
                    stays.size_bytes += size;
                }
            }
            if !unlink.is_empty() {
                let () = self.write(&unlink).await?;
            }
            if next == 0 {
                return Ok((purged, stays));
            }
            cursor = next;
        }
    }

    async fn bounded_look(
        &self,
        unwanted: impl Fn(&PageKey, &Peek) -> bool,
    ) -> io::Result<(Purged, CacheStats)> {
        let looked = tokio::time::timeout(LOOK, self.look(unwanted)).await;
        looked.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl CachePlugin for RedisCache {
    type Key = PageKey;
    type Entry = Fresh;
    type Found = Found;

    async fn get(&self, key: &PageKey) -> io::Result<Option<Found>> {
        let inner = &self.0;
        if !inner.followed.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let place = inner.places.of(key);
        let mut ask = pipe();
        ask.cmd("GETRANGE").arg(&place.page).arg(0).arg(FRAME_BYTES);
        ask.cmd("GETRANGE").arg(&place.word).arg(0).arg(WORD_BYTES);
        let (frame, word): (Vec<u8>, Vec<u8>) = inner.ask(&ask).await?;
        if frame.is_empty() {
            inner.counters.count(Count::Miss);
            return Ok(None);
        }
        let (signer, at) = (inner.signer.clone(), place.page.clone());
        let reading = move || signer.read(&at, &Bytes::from(frame));
        let Some(page) = tokio::task::spawn_blocking(reading).await.map_err(io::Error::other)?
        else {
            inner.reject();
            return Ok(None);
        };
        let word = inner.word(&place.word, &word).filter(|word| word.id == page.id);
        let confirmed_at = word.map_or(page.created_at, |word| word.at.max(page.created_at));
        let now = inner.clock.now();
        let expired = Peek { created_at: page.created_at, confirmed_at, lifetime: page.lifetime };
        let ahead = inner.is_ahead(page.created_at);
        if ahead || expired.expired_at(now) || inner.purged(key, page.created_at) {
            inner.counters.count(Count::Miss);
            return Ok(None);
        }
        inner.counters.count(Count::Hit);
        Ok(Some(Found { page, confirmed_at }))
    }

    async fn set(&self, key: PageKey, fresh: Fresh) -> io::Result<bool> {
        let inner = &self.0;
        let (created_at, id) = (fresh.created_at, fresh.id);
        if inner.purged(&key, created_at) {
            return Ok(false);
        }
        let place = inner.places.of(&key);
        let confirmed = Confirmed { id, at: created_at };
        let (lifetime, word) =
            (millis(fresh.lifetime), inner.signer.write_word(&place.word, confirmed));
        let (signer, at) = (inner.signer.clone(), place.page.clone());
        let writing = move || signer.write(&at, &fresh);
        let frame = tokio::task::spawn_blocking(writing).await.map_err(io::Error::other)??;
        if frame.len() > FRAME_BYTES {
            inner.counters.count(Count::TooLarge);
            return Ok(false);
        }
        let size = frame.len() as u64;
        let mut ask = pipe();
        ask.cmd("STRLEN").arg(&place.page);
        ask.cmd("SET").arg(&place.page).arg(frame).arg("PX").arg(lifetime).ignore();
        ask.cmd("SET").arg(&place.word).arg(word).arg("PX").arg(lifetime).ignore();
        let (before,): (u64,) = inner.write(&ask).await?;
        inner.known(|known| {
            known.entries += u64::from(before == 0);
            known.size_bytes = known.size_bytes.saturating_sub(before) + size;
        });
        if inner.purged(&key, created_at) {
            self.delete(&key).await?;
            return Ok(false);
        }
        inner.counters.count(Count::Stored);
        Ok(true)
    }

    async fn delete(&self, key: &PageKey) -> io::Result<bool> {
        let inner = &self.0;
        let Place { page, word } = inner.places.of(key);
        let mut ask = pipe();
        ask.cmd("STRLEN").arg(&page);
        ask.cmd("UNLINK").arg(&page).arg(&word).ignore();
        let (size,): (u64,) = inner.write(&ask).await?;
        inner.known(|known| {
            known.entries = known.entries.saturating_sub(u64::from(size != 0));
            known.size_bytes = known.size_bytes.saturating_sub(size);
        });
        Ok(size != 0)
    }

    fn stats(&self) -> CacheStats {
        *self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn purge(&self, purges: Vec<Purge>) -> io::Result<Purged> {
        self.heed(&purges);
        let means = |key: &PageKey, peek: &Peek| {
            let means =
                |purge: &Purge| purge.means_list(key.ecosystem(), key.package(), peek.created_at);
            purges.iter().any(means)
        };
        let (purged, stays) = self.0.bounded_look(means).await?;
        self.0.known(|known| *known = stays);
        info!(n_lists = purged.n_files, "lists in Redis were purged");
        Ok(purged)
    }

    async fn purge_expired(&self, now: Timestamp) -> io::Result<u64> {
        let (purged, stays) = self.0.bounded_look(|_, peek| peek.expired_at(now)).await?;
        self.0.known(|known| *known = stays);
        Ok(purged.n_files)
    }
}

fn millis(lifetime: Duration) -> u64 {
    u64::try_from(lifetime.min(MAX_LIFETIME).as_millis()).unwrap_or(u64::MAX).max(1)
}
