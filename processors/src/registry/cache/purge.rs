//! What somebody had forgotten, and what of it may still be on its way.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use weir_aggregates::registry::selection::Selection;
use weir_events::{
    registry::{CachePurged, Ecosystem},
    timestamp::Timestamp,
};

use super::{CacheKey, Meta};

/// Longer than any file is on its way.
pub(super) const FILES_WATCHED_SECONDS: i64 = 6 * 3_600;
/// Purges that are watched at once. Beyond that the oldest are forgotten first, and with them what
/// was on its way all that time.
const MAX_WATCHED: usize = 1_024;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Purge {
    /// What is meant.
    pub selection: Selection,
    /// What began to be fetched up to then.
    pub before: Timestamp,
}

impl Purge {
    /// What an event of the log says.
    #[must_use]
    pub fn of(purged: &CachePurged) -> Self {
        Self { selection: Selection::of(purged), before: purged.before }
    }

    /// Whether it means a list, which is about all versions of its package, or about no package.
    pub(super) fn means_list(
        &self,
        ecosystem: Ecosystem,
        package: Option<&str>,
        created_at: Timestamp,
    ) -> bool {
        created_at <= self.before && self.selection.has_package(ecosystem, package)
    }

    /// Whether it means an artifact.
    pub(super) fn means(&self, key: &CacheKey, meta: &Meta) -> bool {
        let (ecosystem, package) = (key.ecosystem(), key.package());
        meta.created_at <= self.before
            && self.selection.has_package(ecosystem, Some(package))
            && self.selection.has_file(ecosystem, package, key.version().as_ref())
    }
}

/// What was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purged {
    /// How many artifacts.
    pub n_files: u64,
    /// Their size in bytes.
    pub size_bytes: u64,
}

/// The purges of late: what they mean is not kept when it arrives.
#[derive(Debug)]
pub(super) struct Watch {
    seconds: i64,
    watched: Mutex<Watched>,
}

#[derive(Debug, Default)]
struct Watched {
    purges: VecDeque<Purge>,
    /// Up to when there were purges that are watched no more, though it is not long enough ago.
    dropped: Option<Timestamp>,
}

impl Watch {
    /// Watches each purge for so long.
    pub(super) fn new(seconds: i64) -> Self {
        Self { seconds, watched: Mutex::default() }
    }

    pub(super) fn add(&self, purges: &[Purge]) {
        let mut watched = self.watched();
        for purge in purges {
            if !watched.purges.contains(purge) {
                watched.purges.push_back(purge.clone());
            }
        }
        let Some(newest) = watched.purges.iter().map(|purge| purge.before).max() else { return };
        watched.purges.retain(|purge| purge.before.plus_seconds(self.seconds) >= newest);
        while watched.purges.len() > MAX_WATCHED {
            let dropped = watched.purges.pop_front().map(|purge| purge.before);
            watched.dropped = watched.dropped.max(dropped);
        }
    }

    /// Whether an artifact that has just arrived was purged on its way.
    pub(super) fn means(&self, key: &CacheKey, meta: &Meta) -> bool {
        self.watched().purges.iter().any(|purge| purge.means(key, meta))
    }

    /// Whether a list was purged that began to be fetched at a time. Where so many purges came that
    /// not all of them are known, each list from before counts as purged.
    pub(super) fn means_list(
        &self,
        ecosystem: Ecosystem,
        package: Option<&str>,
        created_at: Timestamp,
    ) -> bool {
        let watched = self.watched();
        watched.dropped.is_some_and(|dropped| created_at <= dropped)
            || watched.purges.iter().any(|purge| purge.means_list(ecosystem, package, created_at))
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn purge(package: &str, seconds: i64) -> Purge {
        let selection = Selection::new(Some(Ecosystem::Pypi), Some(package), None).unwrap();
        Purge { selection, before: Timestamp::EPOCH.plus_seconds(seconds) }
    }

    #[test]
    fn a_list_from_before_a_purge_is_meant_for_as_long_as_it_is_watched_however_many_there_are() {
        let watch = Watch::new(1_000);
        let means = |package, seconds| {
            let at = Timestamp::EPOCH.plus_seconds(seconds);
            watch.means_list(Ecosystem::Pypi, Some(package), at)
        };
        watch.add(&[purge("six", 100)]);
        assert!(means("six", 100) && !means("six", 101) && !means("attrs", 100));
        // Too many to be remembered one by one: the oldest of them meant anything.
        for n in 0..MAX_WATCHED {
            watch.add(&[purge(&format!("p{n}"), 200)]);
        }
        assert!(means("six", 100) && means("attrs", 100) && !means("attrs", 101));
        watch.add(&[purge("late", 1_300)]);
        assert!(!means("p9", 200) && means("late", 1_300));
    }
}
