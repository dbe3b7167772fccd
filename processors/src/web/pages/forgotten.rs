//! Forgets pages that may say something else by now. What was asked for before that is neither kept after
//! it nor given to who asks after it.
//!
//! Each process knows for itself when it heard of that, and in bounded room: names share the places of a
//! table, so that now and then a page is not kept that could have been.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tracing::warn;
use weir_events::{
    position::Position,
    web::{
        WebCacheStored,
        request::{Hash256, HttpMethod},
    },
};
use weir_projections::{
    query::QueryFault,
    web::cache::{self, Identity, Purge},
};

use super::{
    super::eviction::{EvictionFault, Evictions, Purged},
    Pages, key,
};
use crate::{caller::Caller, chain::chain, outbound::web::address::WebUrl};

/// How many renderings of what may have changed are forgotten at once.
const MAX_CHANGED: usize = 20_000;
/// How long the read model may take to come to where the log is when it is asked what has changed.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many places the table has.
const N_PLACES: usize = 1 << 16;

/// A moment among those in which something was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mark(u64);

/// What was forgotten, by the names it has: addresses, hosts, keys.
#[derive(Debug)]
pub(super) struct Forgotten {
    now: AtomicU64,
    /// When something was forgotten last whose name has this place.
    last: Vec<AtomicU64>,
}

impl Forgotten {
    pub(super) fn new() -> Self {
        let last = std::iter::repeat_with(AtomicU64::default).take(N_PLACES).collect();
        Self { now: AtomicU64::default(), last }
    }

    /// The moment it is: taken before something is asked for.
    pub(super) fn now(&self) -> Mark {
        Mark(self.now.load(Ordering::SeqCst))
    }

    /// What has this name is forgotten now. Noted before it is looked for where pages are kept: whoever
    /// keeps one at the same time finds the note, or is found.
    pub(super) fn note(&self, name: &[u8]) {
        let now = self.now.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        if let Some(last) = self.last.get(place(name)) {
            last.fetch_max(now, Ordering::SeqCst);
        }
    }

    /// When something was forgotten last that has one of these names.
    pub(super) fn last<'a>(&self, names: impl IntoIterator<Item = &'a [u8]>) -> Mark {
        let last = names.into_iter().filter_map(|name| self.last.get(place(name)));
        Mark(last.map(|last| last.load(Ordering::SeqCst)).max().unwrap_or_default())
    }
}

impl Pages {
    /// Forgets what an operator means. What this process had asked for before is not kept any more.
    pub async fn purge(
        &self,
        purge: &Purge,
        cycle: u64,
        caller: &Caller,
    ) -> Result<Purged, EvictionFault> {
        let (Purge::Url(name) | Purge::Host(name)) = purge;
        self.inner.forgotten.note(name.as_bytes());
        self.evictions().purge(purge, cycle, caller).await
    }

    /// Something was sent to addresses, with success: what is cached of reading them may say something
    /// else by now (RFC 9111, section 4.4). What is under way is not kept from here on. Answers the keys of
    /// what is to be forgotten, for [`Pages::forget_changed`].
    pub fn note_changed(&self, urls: &[WebUrl]) -> BTreeSet<Hash256> {
        let read = [HttpMethod::Get, HttpMethod::Head];
        let of = |url: &WebUrl| read.map(|method| key(url.as_str(), method, b""));
        let keys: BTreeSet<Hash256> = urls.iter().flat_map(of).collect();
        for key in &keys {
            self.inner.forgotten.note(key.as_bytes());
        }
        keys
    }

    /// Forgets what was noted as changed, whosever it is.
    pub async fn forget_changed(
        &self,
        keys: BTreeSet<Hash256>,
        cycle: u64,
        caller: &Caller,
    ) -> Result<(), EvictionFault> {
        let log = self.inner.door.log();
        let head = log.ask_head().await.map_err(QueryFault::from)?;
        // What was stored a moment ago, on whichever instance, is known there then.
        if let Err(fault) = self.inner.engine.wait_for("cache", head.position, PATIENCE).await {
            warn!(error = %chain(&fault), "of what a POST has changed only what is known here is forgotten");
        }
        let known = self.memory().of_keys(&keys);
        let keys: Vec<_> = keys.into_iter().collect();
        let mut gone: BTreeSet<Identity> =
            match cache::of_keys(log.database(), &keys, MAX_CHANGED).await {
                Err(QueryFault::NotBuilt(_)) => BTreeSet::new(),
                rows => rows?.into_iter().collect(),
            };
        gone.extend(known);
        let gone: Vec<_> = gone.into_iter().collect();
        self.evictions().change(&gone, cycle, caller).await
    }

    /// The moment it is, among those in which pages are forgotten: taken before one is asked for.
    pub fn mark(&self) -> Mark {
        self.inner.forgotten.now()
    }

    /// When a page was forgotten last, as far as its address tells. Who asks for it after that does not
    /// wait with those who asked before.
    pub fn forgotten(&self, url: &WebUrl, key: &Hash256) -> Mark {
        let names = [url.as_str().as_bytes(), url.written_host().as_bytes(), key.as_bytes()];
        self.inner.forgotten.last(names)
    }

    /// Whether a page was forgotten since it was asked for, by its address or by one that a redirect
    /// led to: then it is not kept, nor given to others.
    pub fn is_forgotten(
        &self,
        (url, key): (&WebUrl, &Hash256),
        redirected: &[String],
        since: Mark,
    ) -> bool {
        since < self.forgotten(url, key) || self.are_forgotten(redirected, since)
    }

    /// Whether one of the origins that redirects led to was forgotten since.
    pub fn are_forgotten(&self, redirected: &[String], since: Mark) -> bool {
        let origins = redirected.iter().filter_map(|origin| WebUrl::parse(origin).ok());
        let hosts: Vec<_> = origins.map(|origin| origin.written_host().to_owned()).collect();
        since < self.inner.forgotten.last(hosts.iter().map(String::as_bytes))
    }

    /// Forgets again what was stored a moment too late, where it was forgotten since it was asked for.
    pub async fn recheck(
        &self,
        stored: &WebCacheStored,
        url: &WebUrl,
        since: Mark,
        caller: &Caller,
    ) {
        if !self.is_forgotten((url, &stored.key), &stored.redirected, since) {
            return;
        }
        let gone = [Identity::from(stored)];
        if let Err(fault) = self.evictions().change(&gone, stored.cycle, caller).await {
            warn!(url = stored.url, error = %chain(&fault), "a page may be shown that was forgotten");
        }
    }

    /// Renderings were forgotten by this process, just now.
    pub(in crate::web) fn are_gone(&self, gone: &[Identity], last: Position) {
        let mut memory = self.memory();
        for identity in gone {
            memory.learn(identity, last, None);
        }
    }

    pub(super) fn evictions(&self) -> Evictions<'_> {
        Evictions::new(&self.inner.door, &self.inner.engine).of(self)
    }
}

fn place(name: &[u8]) -> usize {
    let [a, b, ..] = *blake3::hash(name).as_bytes();
    usize::from(u16::from_le_bytes([a, b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_before_it_was_forgotten_is_told_from_what_was_asked_for_after() {
        let forgotten = Forgotten::new();
        let names = [b"https://docs.rs/".as_slice(), b"docs.rs"];
        let before = forgotten.now();
        assert!(forgotten.last(names) <= before);
        forgotten.note(b"docs.rs");
        assert!(forgotten.last(names) > before);
        let after = forgotten.now();
        assert!(forgotten.last(names) <= after);
        forgotten.note(b"example.org");
        assert!(forgotten.last(names) <= after, "that was something else");
        assert_eq!(forgotten.last([]), Mark::default());
    }
}
