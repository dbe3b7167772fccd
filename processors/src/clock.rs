//! Where the time and fresh ids come from: given to the door, never asked for elsewhere.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicI64, Ordering},
};

use uuid::{Builder, Uuid};
use weir_events::timestamp::Timestamp;

/// The time, and ids that nobody can guess.
pub trait Clock: Debug + Send + Sync + 'static {
    /// The time.
    fn now(&self) -> Timestamp;

    /// A fresh id, UUID version 7.
    fn new_id(&self) -> Uuid {
        let millis = u64::try_from(self.now().micros() / 1_000).unwrap_or(0);
        Builder::from_unix_timestamp_millis(millis, &rand::random()).into_uuid()
    }
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everybody else asks")]
    fn now(&self) -> Timestamp {
        time::OffsetDateTime::now_utc().into()
    }
}

/// A clock that stands still until it is told.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock that stands at a moment.
    pub fn at(moment: Timestamp) -> Self {
        Self(AtomicI64::new(moment.micros()))
    }

    /// Sets it, forwards or back.
    pub fn set(&self, moment: Timestamp) {
        self.0.store(moment.micros(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_carry_the_clocks_time_and_differ() {
        let clock = ManualClock::at(Timestamp::from_micros(1_795_824_000_123_000));
        let (one, other) = (clock.new_id(), clock.new_id());
        assert_ne!(one, other);
        let seconds = one.get_timestamp().map(|t| t.to_unix());
        assert_eq!(seconds, Some((1_795_824_000, 123_000_000)));
    }
}
