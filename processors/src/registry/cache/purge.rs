//! What somebody had forgotten, and what of it may still be on its way.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use weir_aggregates::registry::selection::Selection;
use weir_events::{registry::CachePurged, timestamp::Timestamp};

use super::{CacheKey, Meta};

/// Longer than anything is on its way.
const WATCHED_SECONDS: i64 = 6 * 3_600;
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
#[derive(Debug, Default)]
pub(super) struct Watch(Mutex<VecDeque<Purge>>);

impl Watch {
    pub(super) fn add(&self, purges: &[Purge]) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for purge in purges {
            if !watched.contains(purge) {
                watched.push_back(purge.clone());
            }
        }
        let Some(newest) = watched.iter().map(|purge| purge.before).max() else { return };
        watched.retain(|purge| purge.before.plus_seconds(WATCHED_SECONDS) >= newest);
        while watched.len() > MAX_WATCHED {
            watched.pop_front();
        }
    }

    /// Whether an artifact that has just arrived was purged on its way.
    pub(super) fn means(&self, key: &CacheKey, meta: &Meta) -> bool {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.iter().any(|purge| purge.means(key, meta))
    }
}
