//! How fast a build moves, and how long it will still take.

use std::time::Duration;

use tokio::time::Instant;
use weir_events::position::Position;

/// Over which time rates are averaged.
const MEMORY: Duration = Duration::from_secs(3);

/// A moving average of events a second.
#[derive(Debug)]
pub(super) struct Meter {
    rate: f64,
    n_counted: u64,
    counted_at: Instant,
    began: bool,
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { rate: 0.0, n_counted: 0, counted_at: Instant::now(), began: false }
    }

    /// Counts events that were applied just now.
    pub(super) fn count(&mut self, n: usize) {
        self.count_at(n, Instant::now());
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of events between two moments")]
    fn count_at(&mut self, n: usize, now: Instant) {
        self.n_counted += n as u64;
        let span = now.saturating_duration_since(self.counted_at);
        // Small batches come in bursts: what a millisecond holds says nothing.
        if span < Duration::from_millis(50) {
            return;
        }
        let current = self.n_counted as f64 / span.as_secs_f64();
        let kept =
            if self.began { (-span.as_secs_f64() / MEMORY.as_secs_f64()).exp() } else { 0.0 };
        self.rate = self.rate.mul_add(kept, current * (1.0 - kept));
        self.began = true;
        self.n_counted = 0;
        self.counted_at = now;
    }

    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }
}

/// The longest time worth saying.
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// How long the way to a target takes at a rate.
#[expect(clippy::cast_precision_loss, reason = "a distance in the log fits f64 well enough")]
pub(super) fn eta(position: Position, target: Position, rate: f64) -> Option<Duration> {
    let left = position.distance_to(target) as f64;
    if left == 0.0 {
        return Some(Duration::ZERO);
    }
    (rate > 0.0).then(|| Duration::from_secs_f64((left / rate).min(LONGEST.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_reads_as_its_rate_and_an_end_is_foreseen() {
        let mut meter = Meter::new();
        for tenth in 1..=100 {
            meter.count_at(1_000, meter.counted_at + Duration::from_millis(100));
            assert!(meter.rate() > 0.0, "nothing after {tenth} tenths of a second");
        }
        assert!((meter.rate() - 10_000.0).abs() < 100.0, "{}", meter.rate());
        let eta = |upto| eta(Position(0), Position(upto), meter.rate());
        assert_eq!(eta(100_000).map(|eta| eta.as_secs_f64().round()), Some(10.0));
        assert_eq!(eta(0), Some(Duration::ZERO));
    }

    #[test]
    fn what_does_not_move_has_no_end_in_sight() {
        assert_eq!(eta(Position(1), Position(2), 0.0), None);
    }
}
