//! What happened with a Redis since the process started, counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the counters say at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Lists that were there.
    pub hits: u64,
    /// Lists that were not.
    pub misses: u64,
    /// Lists that were put there.
    pub stored: u64,
    /// Lists that are too large for it.
    pub too_large: u64,
    /// Values that are not signed by an instance of this Weir, or not for where they lay.
    pub rejected: u64,
    /// Commands that failed, or took too long.
    pub failed: u64,
    /// Commands that were not given, because it was down or had too much to do.
    pub skipped: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Count {
    Hit,
    Miss,
    Stored,
    TooLarge,
    Rejected,
    Failed,
    Skipped,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    hits: AtomicU64,
    misses: AtomicU64,
    stored: AtomicU64,
    too_large: AtomicU64,
    rejected: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
}

impl Counters {
    pub(super) fn count(&self, what: Count) {
        let counter = match what {
            Count::Hit => &self.hits,
            Count::Miss => &self.misses,
            Count::Stored => &self.stored,
            Count::TooLarge => &self.too_large,
            Count::Rejected => &self.rejected,
            Count::Failed => &self.failed,
            Count::Skipped => &self.skipped,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            hits: read(&self.hits),
            misses: read(&self.misses),
            stored: read(&self.stored),
            too_large: read(&self.too_large),
            rejected: read(&self.rejected),
            failed: read(&self.failed),
            skipped: read(&self.skipped),
        }
    }
}
