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

    /// Whether their upstream failed when it was asked last.
    fn upstream_fails(&self) -> bool;

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

    /// Ecosystems whose upstream failed when it was asked last.
    #[must_use]
    pub fn failing(&self) -> Vec<Ecosystem> {
        let mut failing: Vec<_> = self
            .all()
            .into_iter()
            .filter(|(_, shelf)| shelf.upstream_fails())
            .map(|(ecosystem, _)| ecosystem)
            .collect();
        failing.dedup();
        failing
    }

    /// Forgets what is meant. A list is about all versions of its package, and goes whole.
    pub fn forget(&self, selection: &Selection) -> u64 {
        let forget = |(ecosystem, shelf): (_, Arc<dyn Shelf>)| {
            shelf.forget(&|package| selection.has_package(ecosystem, package))
        };
        self.all().into_iter().map(forget).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Failing(bool);

    impl Shelf for Failing {
        fn kept(&self, _: Timestamp) -> Kept {
            Kept::default()
        }

        fn upstream_fails(&self) -> bool {
            self.0
        }

        fn forget(&self, _: &dyn Fn(Option<&str>) -> bool) -> u64 {
            0
        }
    }

    #[test]
    fn an_upstream_fails_that_fails_for_one_of_its_shelves_as_long_as_somebody_uses_it() {
        let shelves = Shelves::default();
        let all = [(Ecosystem::Pypi, false), (Ecosystem::Npm, true), (Ecosystem::Npm, true)];
        let mut used: Vec<Arc<dyn Shelf>> = Vec::new();
        for (ecosystem, fails) in all {
            let shelf: Arc<dyn Shelf> = Arc::new(Failing(fails));
            shelves.add(ecosystem, Arc::downgrade(&shelf));
            used.push(shelf);
        }
        assert_eq!(shelves.failing(), [Ecosystem::Npm]);
        used.truncate(1);
        assert_eq!(shelves.failing(), []);
    }
}
