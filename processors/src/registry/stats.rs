//! What happened since the process started, counted. The api turns it into metrics.

mod durations;

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use http::StatusCode;

use self::durations::Measured;
pub use self::durations::{BOUNDS, Durations};

/// Counters of one ecosystem.
#[derive(Debug, Default)]
pub struct Counters {
    requests: Mutex<BTreeMap<u16, u64>>,
    blocked: AtomicU64,
    filtered: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    file_hits: AtomicU64,
    file_misses: AtomicU64,
    upstream_requests: AtomicU64,
    upstream_failures: AtomicU64,
    stale: AtomicU64,
    upstream: Measured,
    fails: AtomicBool,
}

/// What the counters say at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Answers, by status.
    pub requests: BTreeMap<u16, u64>,
    /// Downloads refused.
    pub blocked: u64,
    /// Lists answered with something hidden or marked.
    pub filtered: u64,
    /// Files and pages answered from what was here already.
    pub hits: u64,
    /// Files and pages that had to be fetched.
    pub misses: u64,
    /// Of the hits, those that were files.
    pub file_hits: u64,
    /// Of the misses, those that were files.
    pub file_misses: u64,
    /// Requests to the upstream.
    pub upstream_requests: u64,
    /// Of those, how many failed.
    pub upstream_failures: u64,
    /// Pages answered from an old copy, because the upstream failed.
    pub stale: u64,
    /// How long upstreams took.
    pub upstream: Durations,
    /// Whether the upstream failed when it was asked last.
    pub upstream_fails: bool,
}

/// What can be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// A download was refused.
    Blocked,
    /// A list was answered with something hidden or marked.
    Filtered,
    /// A page was here already.
    Hit,
    /// A page had to be fetched.
    Miss,
    /// A file was here already.
    FileHit,
    /// A file had to be fetched.
    FileMiss,
    /// The upstream was asked.
    UpstreamRequest,
    /// The upstream failed.
    UpstreamFailure,
    /// An old copy was given, because the upstream failed.
    Stale,
}

impl Counters {
    /// Counts one.
    pub fn count(&self, what: Count) {
        let counter = match what {
            Count::FileHit => {
                self.file_hits.fetch_add(1, Ordering::Relaxed);
                &self.hits
            }
            Count::FileMiss => {
                self.file_misses.fetch_add(1, Ordering::Relaxed);
                &self.misses
            }
            Count::Blocked => &self.blocked,
            Count::Filtered => &self.filtered,
            Count::Hit => &self.hits,
            Count::Miss => &self.misses,
            Count::UpstreamRequest => &self.upstream_requests,
            Count::UpstreamFailure => &self.upstream_failures,
            Count::Stale => &self.stale,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an answer.
    pub fn answered(&self, status: StatusCode) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.entry(status.as_u16()).or_default() += 1;
    }

    /// Counts how long an upstream took: from the request to the last byte of what it was asked for,
    /// or to its failure.
    pub fn upstream(&self, took: Duration) {
        self.upstream.add(took);
    }

    /// Notes whether the upstream fails: as it did when it was asked last. That it lacks something is
    /// an answer too.
    pub fn upstream_fails(&self, fails: bool) {
        self.fails.store(fails, Ordering::Relaxed);
    }

    /// What they say now.
    pub fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            requests: self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            blocked: read(&self.blocked),
            filtered: read(&self.filtered),
            hits: read(&self.hits),
            misses: read(&self.misses),
            file_hits: read(&self.file_hits),
            file_misses: read(&self.file_misses),
            upstream_requests: read(&self.upstream_requests),
            upstream_failures: read(&self.upstream_failures),
            stale: read(&self.stale),
            upstream: self.upstream.read(),
            upstream_fails: self.fails.load(Ordering::Relaxed),
        }
    }
}
