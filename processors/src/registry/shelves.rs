//! All lists of versions that a process keeps in memory, whichever ecosystem keeps them: to be
//! counted, and to be forgotten when somebody says so.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use weir_aggregates::registry::selection::Selection;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::cache::{Kept, RedisCache};

/// Lists of one kind.
pub(super) trait Shelf: fmt::Debug + Send + Sync {
    /// What of it is kept, as of now.
    fn kept(&self, now: Timestamp) -> Kept;

    /// Forgets the lists that are meant by the package they are about, or by being about none; also
    /// those that are on their way. Says how many there were.
    fn forget(&self, meant: &dyn Fn(Option<&str>) -> bool) -> u64;
}

/// All lists of a process, and the place beside it that several instances share. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Shelves {
    places: Arc<Mutex<Vec<Place>>>,
    shared: Option<RedisCache>,
}

/// Where lists of an ecosystem lie, as long as somebody uses them.
type Place = (Ecosystem, Weak<dyn Shelf>);

impl Shelves {
    /// Shelves beside a place that several instances share.
    #[must_use]
    pub fn beside(shared: Option<RedisCache>) -> Self {
        Self { places: Arc::default(), shared }
    }

    /// The place that several instances share.
    #[must_use]
    pub const fn shared(&self) -> Option<&RedisCache> {
        self.shared.as_ref()
    }

    /// One more shelf.
    pub(super) fn add(&self, ecosystem: Ecosystem, shelf: Weak<dyn Shelf>) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).push((ecosystem, shelf));
    }

    fn all(&self) -> Vec<(Ecosystem, Arc<dyn Shelf>)> {
        let shelves = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let here = |(ecosystem, shelf): &Place| Some((*ecosystem, shelf.upgrade()?));
        shelves.iter().filter_map(here).collect()
    }

    /// What is kept of each ecosystem.
    #[must_use]
    pub fn kept(&self, now: Timestamp) -> BTreeMap<Ecosystem, Kept> {
        let mut kept: BTreeMap<Ecosystem, Kept> = BTreeMap::new();
        for (ecosystem, shelf) in self.all() {
            let its = kept.entry(ecosystem).or_default();
            *its = its.and(shelf.kept(now));
        }
        kept
    }

    /// Forgets what is meant. A list is about all versions of its package, and goes whole.
    pub fn forget(&self, selection: &Selection) -> u64 {
        let forget = |(ecosystem, shelf): (_, Arc<dyn Shelf>)| {
            shelf.forget(&|package| selection.has_package(ecosystem, package))
        };
        self.all().into_iter().map(forget).sum()
    }
}
