//! The world's time: epochs that an operator advances, cycles and ticks that a clock counts.
//! Stream: `nexus`.

use serde::{Deserialize, Serialize};

use crate::{codec::events, timestamp::Timestamp};

/// The name of the one stream.
pub const STREAM: &str = "nexus";

events! {
    /// Events of subsystem `nexus` (range 0x1200).
    Event {
        /// An operator advanced the epoch: agents may do more from now on.
        0x1201 v 1 EpochAdvanced,
        /// From now on ticks and cycles are counted like this.
        0x1202 v 1 ClockSet,
        /// A driven clock was moved on.
        0x1203 v 1 ClockDriven,
        /// A cycle began: quotas are new, what had its time is evicted, the last one is reported on.
        0x1204 v 1 CycleStarted,
    }
}

/// An operator advanced the epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpochAdvanced {
    /// The epoch before.
    pub from: u32,
    /// The epoch now.
    pub to: u32,
    /// Why.
    pub reason: String,
}

/// From now on ticks and cycles are counted like this. Neither number is ever counted twice: a clock
/// begins where the one before it stood, with a new cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockSet {
    /// What moves it.
    pub pace: Pace,
    /// How many ticks a cycle has.
    pub ticks_per_cycle: u32,
    /// When it began.
    pub since: Timestamp,
    /// The tick it began with.
    pub tick: u64,
    /// The cycle it began with.
    pub cycle: u64,
}

/// What moves a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The wall clock.
    Wall {
        /// How long a tick is, in microseconds.
        tick_micros: u64,
    },
    /// Whoever drives it.
    Driven,
}

/// A driven clock was moved on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockDriven {
    /// By how many ticks.
    pub ticks: u64,
}

/// A cycle began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleStarted {
    /// Its number. Numbers are skipped where nobody was there to see the cycle begin.
    pub cycle: u64,
    /// The tick it began with.
    pub tick: u64,
    /// The epoch it began in.
    pub epoch: u32,
    /// The cycle that was announced before it.
    pub after: Option<u64>,
}
