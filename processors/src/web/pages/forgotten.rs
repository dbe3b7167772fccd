//! Forgets pages that may say something else by now. What was asked for before that is neither kept after
//! it, nor shown, nor given to who asks after it.
//!
//! The log says so, also where nothing was cached: others may be fetching it. Each process knows where it
//! says so last, as far as it has heard, and in bounded room: names share the places of a table, so that
//! now and then a page is not kept, or not shown, that could have been.

use std::{
    collections::BTreeSet,
    sync::{
        LazyLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use tracing::warn;
use weir_events::{
    position::Position,
    web::{
        Invalidated, WebCacheStored, WebEvictionCause,
        request::{Hash256, HttpMethod},
    },
};
use weir_projections::web::cache::Identity;

use super::{
    super::eviction::{EvictionFault, Evictions},
    Pages, key,
};
use crate::{caller::Caller, chain::chain, outbound::web::address::WebUrl};

/// How long this process may take to hear of what it wrote itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many places the table has.
const N_PLACES: usize = 1 << 16;

/// What was forgotten, by the names it has: addresses, hosts, keys.
#[derive(Debug)]
pub(super) struct Forgotten {
    /// Where in the log something is forgotten last whose name has this place.
    last: Vec<AtomicI64>,
    /// The last of it that is known.
    known: AtomicI64,
    /// How often what was said was not known, or of another life of the log.
    life: AtomicU64,
}

/// A place in the log, in one of its lives as this process has followed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Moment {
    life: u64,
    position: Position,
}

impl Moment {
    /// The place.
    #[must_use]
    pub const fn position(self) -> Position {
        self.position
    }

    /// Whether what was forgotten last at this moment was not yet when something was asked for at that one.
    #[must_use]
    pub fn is_since(self, asked_at: Self) -> bool {
        self.life != asked_at.life || asked_at.position < self.position
    }

    /// The later of two.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if self.is_since(other) { self } else { other }
    }
}

impl Forgotten {
    pub(super) fn new() -> Self {
        let last = std::iter::repeat_with(AtomicI64::default).take(N_PLACES).collect();
        Self { last, known: AtomicI64::default(), life: AtomicU64::default() }
    }

    /// These are forgotten there.
    fn note(&self, pages: &Invalidated, position: Position) {
        let Names(places) = match pages {
            Invalidated::Url(name) | Invalidated::Host(name) => Names::of([name]),
            Invalidated::Keys(keys) => Names::of(keys.iter().map(Hash256::to_string)),
        };
        for last in places.iter().filter_map(|place| self.last.get(usize::from(*place))) {
            last.fetch_max(position.0, Ordering::SeqCst);
        }
    }

    /// The log says so there: whoever asks from here on asks after it.
    pub(super) fn hear(&self, pages: &Invalidated, position: Position) {
        self.note(pages, position);
        self.known.fetch_max(position.0, Ordering::SeqCst);
    }

    /// What was said for a while is not known, or the log lives another life, with other positions: all
    /// that was asked for before is forgotten.
    pub(super) fn begin_anew(&self) {
        self.life.fetch_add(1, Ordering::SeqCst);
        for last in self.last.iter().chain([&self.known]) {
            last.store(0, Ordering::SeqCst);
        }
    }

    /// Where something is forgotten last that has one of these names.
    pub(super) fn last(&self, Names(places): &Names) -> Position {
        let last = places.iter().filter_map(|place| self.last.get(usize::from(*place)));
        Position(last.map(|last| last.load(Ordering::SeqCst)).max().unwrap_or_default())
    }

    fn at(&self, position: impl FnOnce() -> Position) -> Moment {
        // Before the position: one of a life that has ended is not taken for one of the next.
        let life = self.life.load(Ordering::SeqCst);
        Moment { life, position: position() }
    }
}

/// What a page is forgotten by, as places in the table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names(Box<[u16]>);

impl Names {
    fn of(names: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut places: Vec<u16> = names.into_iter().map(|name| place(name.as_ref())).collect();
        places.sort_unstable();
        places.dedup();
        Self(places.into())
    }

    /// How many bytes of memory they take.
    pub(super) fn size(&self) -> usize {
        self.0.len() * size_of::<u16>()
    }

    /// Those of a page as it is asked for: who sends something there is told what came of that, whatever
    /// it has changed.
    pub fn asked(url: &WebUrl, key: &Hash256, method: HttpMethod) -> Self {
        let mut names =
            vec![url.as_str().to_owned(), url.written_host().to_owned(), key.to_string()];
        if method != HttpMethod::Post {
            names.push(address(url).to_string());
        }
        Self::of(names)
    }

    /// Those of what redirects led to.
    pub fn on_the_way(redirected: &[String], hops: &[Hash256]) -> Self {
        let origins = redirected.iter().filter_map(|origin| WebUrl::parse(origin).ok());
        let hosts = origins.map(|origin| origin.written_host().to_owned());
        Self::of(hosts.chain(hops.iter().map(Hash256::to_string)))
    }

    /// Those of a page that is cached. `also` are keys, or their hexadecimal digits.
    pub(super) fn cached(
        (url, key): (&str, &Hash256),
        redirected: &[String],
        also: impl IntoIterator<Item = impl ToString>,
    ) -> Self {
        let addresses = redirected.iter().map(String::as_str).chain([url]);
        let addresses = addresses.filter_map(|address| WebUrl::parse(address).ok());
        let hosts = addresses.map(|address| address.written_host().to_owned());
        let also = also.into_iter().map(|key| key.to_string());
        Self::of(hosts.chain(also).chain([url.to_owned(), key.to_string()]))
    }
}

/// The key that GET has at an address: by that the log names it.
pub fn address(url: &WebUrl) -> Hash256 {
    key(url.as_str(), HttpMethod::Get, b"")
}

/// What was sent to addresses may have changed: what is to be put on record of it; nothing, where there
/// are none.
pub fn changed<'a>(urls: impl IntoIterator<Item = &'a WebUrl>) -> Option<Invalidated> {
    let keys: BTreeSet<Hash256> = urls.into_iter().map(address).collect();
    (!keys.is_empty()).then(|| Invalidated::Keys(keys.into_iter().collect()))
}

impl Pages {
    /// Where the log stands, as far as is known here: taken before a page is asked for.
    pub fn now(&self) -> Moment {
        let forgotten = &self.inner.forgotten;
        forgotten.at(|| {
            let known = Position(forgotten.known.load(Ordering::SeqCst));
            known.max(self.inner.door.log().head())
        })
    }

    /// These are about to be said to be forgotten, further on in the log: whoever asks for them before that
    /// is said keeps them no more.
    pub fn change(&self, pages: &Invalidated) {
        self.inner.forgotten.note(pages, self.now().position.next());
    }

    /// Puts on record that these have changed.
    pub async fn invalidate(
        &self,
        pages: Invalidated,
        cycle: u64,
        caller: &Caller,
    ) -> Result<(), EvictionFault> {
        let changed = WebEvictionCause::Changed;
        self.evictions().invalidate(pages, changed, cycle, caller).await.map(drop)
    }

    /// The log says there, since a moment ago, that these are forgotten.
    pub(in crate::web) fn are_invalid(&self, pages: &Invalidated, position: Position) {
        self.inner.forgotten.hear(pages, position);
    }

    /// Where a page is forgotten last. Who asks for it after that does not wait with those who asked before.
    pub fn forgotten(&self, names: &Names) -> Moment {
        let forgotten = &self.inner.forgotten;
        forgotten.at(|| forgotten.last(names))
    }

    /// Forgets again what was stored a moment too late, where it was forgotten since it was asked for, as
    /// far as is known here. Answers whether it was.
    pub async fn recheck(
        &self,
        stored: &WebCacheStored,
        names: &[Names],
        asked_at: Moment,
        caller: &Caller,
    ) -> bool {
        if !names.iter().any(|names| self.forgotten(names).is_since(asked_at)) {
            return false;
        }
        self.take_back(stored, caller).await;
        true
    }

    /// Forgets again what was stored: it may have been forgotten since it was asked for.
    pub async fn take_back(&self, stored: &WebCacheStored, caller: &Caller) {
        let gone = [Identity::from(stored)];
        if let Err(fault) = self.evictions().change(&gone, stored.cycle, caller).await {
            warn!(url = stored.url, error = %chain(&fault), "a page may be shown that was forgotten");
        }
    }

    /// Whether all that stands in the log up to there is heard of.
    pub fn has_heard(&self, position: Position) -> bool {
        *self.inner.heard.borrow() >= position
    }

    /// Waits until it is; answers whether it is before it takes too long.
    pub async fn hear(&self, position: Position) -> bool {
        let mut heard = self.inner.heard.subscribe();
        let come = heard.wait_for(|heard| *heard >= position);
        tokio::time::timeout(PATIENCE, come).await.is_ok_and(|come| come.is_ok())
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

/// Nobody outside knows which names share a place: else they could have those of others forgotten.
static PLACES: LazyLock<[u8; 32]> = LazyLock::new(rand::random);

fn place(name: &[u8]) -> u16 {
    let [a, b, ..] = *blake3::keyed_hash(&PLACES, name).as_bytes();
    u16::from_le_bytes([a, b])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_before_it_was_forgotten_is_told_from_what_was_asked_for_after() {
        let forgotten = Forgotten::new();
        let url = WebUrl::parse("https://docs.rs/a").unwrap();
        let key = address(&url);
        let page = Names::asked(&url, &key, HttpMethod::Get);
        let cached = Names::cached(("https://docs.rs/a", &key), &[], [""; 0]);
        assert_eq!(forgotten.last(&page), Position(0));
        for (n, pages) in [
            Invalidated::Host("docs.rs".to_owned()),
            Invalidated::Url("https://docs.rs/a".to_owned()),
            Invalidated::Keys(vec![key]),
        ]
        .into_iter()
        .enumerate()
        {
            let position = Position(10 + i64::try_from(n).unwrap());
            forgotten.note(&pages, position);
            assert_eq!(forgotten.last(&page), position, "{pages:?}");
            assert_eq!(forgotten.last(&cached), position, "{pages:?}");
        }
        forgotten.note(&Invalidated::Host("example.org".to_owned()), Position(20));
        assert_eq!(forgotten.last(&page), Position(12), "that was something else");
        forgotten.note(&Invalidated::Host("docs.rs".to_owned()), Position(11));
        assert_eq!(forgotten.last(&page), Position(12), "it was heard late");
        let (before, last) =
            (forgotten.at(|| Position(30)), || forgotten.at(|| forgotten.last(&page)));
        assert!(!last().is_since(before));
        forgotten.begin_anew();
        assert_eq!(forgotten.last(&page), Position(0));
        assert!(last().is_since(before), "nobody knows what was said");
        assert!(!last().is_since(forgotten.at(|| Position(0))));
    }

    #[test]
    fn a_page_is_forgotten_with_each_address_that_it_comes_from() {
        let forgotten = Forgotten::new();
        let url = |text: &str| WebUrl::parse(text).unwrap();
        let (from, to) = (url("https://docs.rs/a"), url("https://docs.rs/b"));
        let way = Names::on_the_way(&[to.origin()], &[address(&to)]);
        let head = key(from.as_str(), HttpMethod::Head, b"");
        let posted = key(from.as_str(), HttpMethod::Post, b"1");
        forgotten.note(&changed([&from]).unwrap(), Position(1));
        assert_eq!(forgotten.last(&Names::asked(&from, &head, HttpMethod::Head)), Position(1));
        assert_eq!(forgotten.last(&Names::asked(&from, &posted, HttpMethod::Post)), Position(0));
        let own = Names::cached((from.as_str(), &posted), &[], [address(&from)]);
        assert_eq!(forgotten.last(&own), Position(1));
        assert_eq!(forgotten.last(&way), Position(0));
        forgotten.note(&changed([&to]).unwrap(), Position(2));
        assert_eq!(forgotten.last(&way), Position(2));
        assert_eq!(changed([]), None);
    }
}
