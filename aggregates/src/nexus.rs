//! Epoch, cycle and tick. Stream `nexus`.
//!
//! The rule: the epoch is what an operator said last, and only grows. Tick and cycle are a function of
//! the clock that was set last and of the time it is asked at (or of how far it was driven), so every
//! instance reckons the same without asking another. `CycleStarted` only says that a cycle has begun.

use std::ops::RangeInclusive;

use weir_events::{
    kind::Subsystem,
    nexus::{ClockDriven, ClockSet, CycleStarted, EpochAdvanced, Event, Pace},
    timestamp::Timestamp,
};

use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// The longest reason, in characters.
pub const MAX_REASON_CHARS: usize = 500;

/// The most ticks a driven clock moves at once.
pub const MAX_DRIVEN_TICKS: u64 = 1_000_000;

/// How long a tick may be, in microseconds: from a millisecond to a day.
pub const TICK_MICROS: RangeInclusive<u64> = 1_000..=86_400_000_000;

/// How many ticks a cycle may have.
pub const TICKS_PER_CYCLE: RangeInclusive<u32> = 1..=1_000_000;

/// By how much the epoch advances at once: it never goes back, so a slip must not use it up.
pub const MAX_EPOCHS: u32 = 100;

/// The machine of the world's time.
#[derive(Debug)]
pub struct Nexus;

/// A moment in the world's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moment {
    /// What agents may do.
    pub epoch: u32,
    /// The cycle, which quotas are for.
    pub cycle: u64,
    /// The tick.
    pub tick: u64,
}

/// How ticks and cycles are to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// What moves the clock.
    pub pace: Pace,
    /// How many ticks a cycle has.
    pub ticks_per_cycle: u32,
}

/// What is known of the world's time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    epoch: u32,
    clock: Option<ClockSet>,
    driven: u64,
    announced: Option<u64>,
}

impl State {
    /// What time it is. Never earlier than the clock's beginning, however wrong the wall clock goes.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Moment {
        let Some(clock) = &self.clock else {
            return Moment { epoch: self.epoch, ..Moment::default() };
        };
        let since = self.ticks_since(clock, now);
        Moment {
            epoch: self.epoch,
            cycle: clock.cycle.saturating_add(since / u64::from(clock.ticks_per_cycle.max(1))),
            tick: clock.tick.saturating_add(since),
        }
    }

    fn ticks_since(&self, clock: &ClockSet, now: Timestamp) -> u64 {
        match clock.pace {
            Pace::Driven => self.driven,
            Pace::Wall { tick_micros } => {
                let micros = now.micros().saturating_sub(clock.since.micros()).max(0);
                micros.unsigned_abs() / tick_micros.max(1)
            }
        }
    }

    /// How many ticks of the cycle are over.
    #[must_use]
    pub fn ticks_into_cycle(&self, now: Timestamp) -> u64 {
        self.clock.as_ref().map_or(0, |clock| {
            self.ticks_since(clock, now) % u64::from(clock.ticks_per_cycle.max(1))
        })
    }

    /// When the next cycle begins, where a wall clock says so.
    #[must_use]
    pub fn next_cycle_at(&self, now: Timestamp) -> Option<Timestamp> {
        let clock = self.clock.as_ref()?;
        let Pace::Wall { tick_micros } = clock.pace else { return None };
        let cycle =
            i64::try_from(tick_micros.checked_mul(u64::from(clock.ticks_per_cycle))?).ok()?;
        let since = now.micros().saturating_sub(clock.since.micros()).max(0);
        let n_whole = since.checked_div(cycle)?;
        let micros = n_whole.checked_add(1)?.checked_mul(cycle)?;
        Some(Timestamp::from_micros(clock.since.micros().checked_add(micros)?))
    }

    /// How ticks and cycles are counted, once somebody has said so.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        let clock = self.clock.as_ref()?;
        Some(Schedule { pace: clock.pace, ticks_per_cycle: clock.ticks_per_cycle })
    }

    /// The cycle that was announced last.
    #[must_use]
    pub const fn announced(&self) -> Option<u64> {
        self.announced
    }
}

/// What can be asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Advance the epoch.
    Advance {
        /// To which.
        to: u32,
        /// Why.
        reason: String,
    },
    /// Count ticks and cycles like this from now on.
    Keep(Schedule),
    /// Move a driven clock on.
    Drive {
        /// By how many ticks.
        ticks: u64,
    },
    /// Say that a cycle has begun, if one has that nobody announced.
    Announce,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The epoch is there already, or beyond.
    #[error("the epoch is {now}, and only advances: {to} is not after it")]
    NotAfter {
        /// The epoch now.
        now: u32,
        /// What was asked for.
        to: u32,
    },
    /// So far at once is a slip.
    #[error(
        "the epoch is {now}, advances by at most {MAX_EPOCHS} at once and never goes back: {to} is too far"
    )]
    TooFar {
        /// The epoch now.
        now: u32,
        /// What was asked for.
        to: u32,
    },
    /// Nobody says why.
    #[error(
        "a reason has 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadReason,
    /// A clock that does not move, or cannot be reckoned with.
    #[error("a tick takes from 1 ms to 1 day, and a cycle has from 1 to 1,000,000 ticks")]
    BadSchedule,
    /// The wall clock cannot be moved on.
    #[error(
        "the clock follows the wall clock: only a driven clock is moved on (`nexus.clock: driven`)"
    )]
    NotDriven,
    /// Too far, or not at all.
    #[error("a clock is driven on by 1 to {MAX_DRIVEN_TICKS} ticks at once")]
    BadTicks,
}

impl Machine for Nexus {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Nexus;

    fn decide(state: &State, command: &Command, context: &Context) -> Decision<Event, Refusal> {
        let now = state.at(context.now);
        match command {
            Command::Advance { to, reason } => {
                if *to <= state.epoch {
                    Decision::refuse(Refusal::NotAfter { now: state.epoch, to: *to })
                } else if to - state.epoch > MAX_EPOCHS {
                    Decision::refuse(Refusal::TooFar { now: state.epoch, to: *to })
                } else if !are_plain(reason, MAX_REASON_CHARS) {
                    Decision::refuse(Refusal::BadReason)
                } else {
                    let (from, reason) = (state.epoch, reason.clone());
                    Decision::accept(EpochAdvanced { from, to: *to, reason })
                }
            }
            Command::Keep(schedule) if state.schedule() == Some(*schedule) => Decision::nothing(),
            Command::Keep(schedule) if !sane(schedule) => Decision::refuse(Refusal::BadSchedule),
            Command::Keep(Schedule { pace, ticks_per_cycle }) => Decision::accept(ClockSet {
                pace: *pace,
                ticks_per_cycle: *ticks_per_cycle,
                since: context.now,
                tick: now.tick,
                cycle: if state.clock.is_some() { now.cycle.saturating_add(1) } else { 0 },
            }),
            Command::Drive { ticks } => match state.schedule().map(|schedule| schedule.pace) {
                Some(Pace::Driven) if (1..=MAX_DRIVEN_TICKS).contains(ticks) => {
                    let driven = ClockDriven { ticks: *ticks };
                    let mut after = state.clone();
                    Self::apply(&mut after, &driven.clone().into());
                    let decision = Decision::accept(driven);
                    match begun(&after, after.at(context.now)) {
                        Some(begun) => decision.recording(begun),
                        None => decision,
                    }
                }
                Some(Pace::Driven) => Decision::refuse(Refusal::BadTicks),
                _ => Decision::refuse(Refusal::NotDriven),
            },
            Command::Announce => begun(state, now).map_or_else(Decision::nothing, Decision::accept),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::EpochAdvanced(advanced) => state.epoch = advanced.to,
            Event::ClockSet(clock) => {
                state.clock = Some(clock.clone());
                state.driven = 0;
            }
            Event::ClockDriven(driven) => state.driven = state.driven.saturating_add(driven.ticks),
            Event::CycleStarted(started) => state.announced = Some(started.cycle),
        }
    }
}

fn sane(schedule: &Schedule) -> bool {
    let paced = match schedule.pace {
        Pace::Wall { tick_micros } => TICK_MICROS.contains(&tick_micros),
        Pace::Driven => true,
    };
    paced && TICKS_PER_CYCLE.contains(&schedule.ticks_per_cycle)
}

/// The cycle that has begun and that nobody announced.
fn begun(state: &State, now: Moment) -> Option<CycleStarted> {
    let clock = state.clock.as_ref()?;
    if state.announced.is_some_and(|announced| now.cycle <= announced) {
        return None;
    }
    let into = (now.cycle - clock.cycle).saturating_mul(u64::from(clock.ticks_per_cycle));
    Some(CycleStarted {
        cycle: now.cycle,
        tick: clock.tick.saturating_add(into),
        epoch: now.epoch,
        after: state.announced,
    })
}

#[cfg(test)]
mod tests;
