//! How long something took, counted in buckets: cheap to add to from anywhere, and read whole.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The upper bounds of the buckets, in seconds: from a tenth of a millisecond to a minute. What took
/// longer is in one bucket more.
pub const BOUNDS: [f64; 15] =
    [0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0];

/// Durations as they are added.
#[derive(Debug, Default)]
pub(super) struct Measured {
    counts: [AtomicU64; BOUNDS.len() + 1],
    micros: AtomicU64,
}

/// Durations as they are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Durations {
    /// How many were at most so long and longer than the bound before; see [`BOUNDS`].
    pub counts: [u64; BOUNDS.len() + 1],
    /// All together.
    pub sum: Duration,
}

impl Measured {
    pub(super) fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        if let Some(count) = self.counts.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> Durations {
        Durations {
            counts: self.counts.each_ref().map(|count| count.load(Ordering::Relaxed)),
            sum: Duration::from_micros(self.micros.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_counted_once_in_the_bucket_it_belongs_to() {
        let measured = Measured::default();
        for millis in [0, 1, 1, 3, 90_000] {
            measured.add(Duration::from_millis(millis));
        }
        let read = measured.read();
        assert_eq!(read.sum, Duration::from_millis(90_005));
        assert_eq!(read.counts.iter().sum::<u64>(), 5);
        assert_eq!((read.counts[0], read.counts[2], read.counts[4], read.counts[15]), (1, 2, 1, 1));
    }
}
