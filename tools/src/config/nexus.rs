//! `nexus`: how ticks and cycles are counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use weir_aggregates::nexus::{Schedule, TICK_MICROS, TICKS_PER_CYCLE};
use weir_events::nexus::Pace;

use super::section::section;
use super::value::Span;

section! {
    /// How ticks and cycles are counted: quotas are for a cycle. The process that starts last says
    /// so for all of them.
    Nexus at "nexus" {
        /// What moves the clock: `wall`, the time of day, or `driven`, whoever moves it on with
        /// `weir nexus tick`.
        clock: Clock = Clock::Wall,
        /// How long a tick is, where the wall clock moves it: 1ms to 1d.
        tick: Tick = Tick(Span::seconds(1)),
        /// How many ticks a cycle has: 1 to 1000000.
        ticks_per_cycle: Ticks = Ticks(256),
    }
}

/// What moves the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    Wall,
    Driven,
}

/// The length of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Span", into = "Span")]
pub(crate) struct Tick(Span);

/// The ticks of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub(crate) struct Ticks(u32);

impl TryFrom<Span> for Tick {
    type Error = String;

    fn try_from(span: Span) -> Result<Self, String> {
        let fits = TICK_MICROS.contains(&micros(span.0));
        if fits { Ok(Self(span)) } else { Err(format!("a tick is 1ms to 1d long, not {span}")) }
    }
}

impl From<Tick> for Span {
    fn from(tick: Tick) -> Self {
        tick.0
    }
}

impl TryFrom<u32> for Ticks {
    type Error = String;

    fn try_from(ticks: u32) -> Result<Self, String> {
        let fits = TICKS_PER_CYCLE.contains(&ticks);
        if fits {
            Ok(Self(ticks))
        } else {
            Err(format!("a cycle has 1 to 1000000 ticks, not {ticks}"))
        }
    }
}

impl From<Ticks> for u32 {
    fn from(ticks: Ticks) -> Self {
        ticks.0
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

impl Nexus {
    pub(crate) fn schedule(&self) -> Schedule {
        let pace = match self.clock {
            Clock::Driven => Pace::Driven,
            Clock::Wall => Pace::Wall { tick_micros: micros(self.tick.0.0) },
        };
        Schedule { pace, ticks_per_cycle: self.ticks_per_cycle.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_could_reckon_with_is_no_clock() {
        for (yaml, fits) in [("1ms", true), ("1d", true), ("0ms", false), ("2d", false)] {
            let span: Span = yaml.parse().unwrap();
            assert_eq!(Tick::try_from(span).is_ok(), fits, "{yaml}");
        }
        let fits = [0, 1, 1_000_000, 1_000_001].map(|ticks| Ticks::try_from(ticks).is_ok());
        assert_eq!(fits, [false, true, true, false]);
    }

    #[test]
    fn the_default_is_a_tick_a_second_and_256_of_them() {
        let pace = Pace::Wall { tick_micros: 1_000_000 };
        assert_eq!(Nexus::default().schedule(), Schedule { pace, ticks_per_cycle: 256 });
        let driven = Nexus { clock: Clock::Driven, ..Nexus::default() };
        assert_eq!(driven.schedule().pace, Pace::Driven);
    }
}
