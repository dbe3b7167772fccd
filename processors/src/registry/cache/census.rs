//! What is kept of each ecosystem, and what was forgotten since the process started.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use weir_events::{
    registry::{Ecosystem, EvictionCause},
    timestamp::Timestamp,
};

/// What is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// How many.
    pub n: u64,
    /// Their size in bytes.
    pub size_bytes: u64,
    /// When the oldest of them was fetched.
    pub oldest_at: Option<Timestamp>,
    /// When the newest of them was fetched.
    pub newest_at: Option<Timestamp>,
}

impl Kept {
    /// Counts one more.
    pub fn add(&mut self, size_bytes: u64, at: Timestamp) {
        let one = Self { n: 1, size_bytes, oldest_at: Some(at), newest_at: Some(at) };
        *self = self.and(one);
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let oldest = [self.oldest_at, other.oldest_at].into_iter().flatten().min();
        Self {
            n: self.n + other.n,
            size_bytes: self.size_bytes + other.size_bytes,
            oldest_at: oldest,
            newest_at: self.newest_at.max(other.newest_at),
        }
    }
}

/// How many artifacts were forgotten since the process started, by it, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forgotten {
    /// There was no more room.
    pub lru: u64,
    /// They were kept as long as they may be.
    pub expired: u64,
    /// Somebody asked for it.
    pub purged: u64,
    /// They were not what they were.
    pub broken: u64,
}

/// What a cache keeps, and what it forgot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Census {
    /// How much may be kept, in bytes.
    pub max_bytes: u64,
    /// What is kept of each ecosystem.
    pub kept: BTreeMap<Ecosystem, Kept>,
    /// What was forgotten of each.
    pub forgotten: BTreeMap<Ecosystem, Forgotten>,
}

/// Counts what is forgotten.
#[derive(Debug, Default)]
pub(super) struct Oblivion(Mutex<BTreeMap<Ecosystem, Forgotten>>);

impl Oblivion {
    pub(super) fn count(&self, ecosystem: Ecosystem, cause: EvictionCause) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let its = all.entry(ecosystem).or_default();
        let counter = match cause {
            EvictionCause::Lru => &mut its.lru,
            EvictionCause::Expired => &mut its.expired,
            EvictionCause::Purged => &mut its.purged,
            EvictionCause::Broken => &mut its.broken,
        };
        *counter += 1;
    }

    pub(super) fn read(&self) -> BTreeMap<Ecosystem, Forgotten> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
