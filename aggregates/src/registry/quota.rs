//! What a token has used of its quota on one day. Stream `registry/quota/<token id>/<yyyy-mm-dd>`.
//!
//! The rule: a file counts when it is let through, before its first byte, in the same append as the
//! decision, at the version of this stream that was judged. So of all instances together exactly as
//! many let something pass as may; what breaks off afterwards stays counted.

use weir_events::{
    kind::Subsystem,
    registry::{
        Event, Mask,
        profile::{Quota, QuotaSpent},
    },
    timestamp::Timestamp,
};

use super::verdict::{Objection, QUOTA};
use crate::machine::{Context, Decision, Machine};

const HOURS: usize = 24;
const SECONDS_AN_HOUR: i64 = 3_600;
const SECONDS_A_DAY: i64 = 86_400;
const MICROS: i64 = 1_000_000;

/// The machine that counts.
#[derive(Debug)]
pub struct Spending;

/// What is used of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    hours: [u32; HOURS],
    /// Files of the day.
    pub downloads: u32,
    /// Bytes of the day.
    pub bytes: u64,
}

impl State {
    /// Files of an hour.
    #[must_use]
    pub fn downloads_in(&self, hour: u8) -> u32 {
        self.hours.get(usize::from(hour)).copied().unwrap_or_default()
    }
}

/// Let a file through, if there is something left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spend {
    /// The token.
    pub token_id: String,
    /// How much it may.
    pub quota: Quota,
    /// How large the file is, or the part of it that is wanted.
    pub bytes: u64,
    /// When it is asked for: on the day of the stream.
    pub at: Timestamp,
}

/// Why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The hour is used up.
    #[error(
        "this token may download {0} files an hour and has; it may again in the next hour (UTC)"
    )]
    Hour(u32),
    /// The day is used up.
    #[error("this token may download {0} files a day and has; it may again tomorrow (UTC)")]
    Day(u32),
    /// The bytes of the day are used up.
    #[error(
        "this token may download {max} bytes a day, {left} are left today (UTC) and this is {bytes}"
    )]
    Bytes {
        /// How many a day.
        max: u64,
        /// How many are left.
        left: u64,
        /// How many were wanted.
        bytes: u64,
    },
}

impl Refusal {
    /// In how many seconds there is something left again.
    #[must_use]
    pub const fn retry_after(self, now: Timestamp) -> u64 {
        let window = match self {
            Self::Hour(_) => SECONDS_AN_HOUR,
            Self::Day(_) | Self::Bytes { .. } => SECONDS_A_DAY,
        };
        let left = window - now.micros().div_euclid(MICROS).rem_euclid(window);
        left.unsigned_abs()
    }
}

impl Objection {
    /// What is said to who has used up a quota.
    #[must_use]
    pub fn used_up(refusal: &Refusal) -> Self {
        Self {
            source: QUOTA.to_owned(),
            reason: refusal.to_string(),
            mask: Mask::DenyOnly,
            rule_id: None,
            cited: None,
        }
    }
}

/// The hour of the day in UTC.
#[must_use]
pub fn hour(at: Timestamp) -> u8 {
    let seconds = at.micros().div_euclid(MICROS).rem_euclid(SECONDS_A_DAY);
    u8::try_from(seconds / SECONDS_AN_HOUR).unwrap_or_default()
}

impl Machine for Spending {
    type State = State;
    type Command = Spend;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, spend: &Spend, _: &Context) -> Decision<Event, Refusal> {
        let Spend { token_id, quota, bytes, at } = spend;
        let Quota { downloads_per_hour, downloads_per_day, bytes_per_day } = *quota;
        let hour = hour(*at);
        if let Some(max) = downloads_per_hour.filter(|max| state.downloads_in(hour) >= *max) {
            return Decision::refuse(Refusal::Hour(max));
        }
        if let Some(max) = downloads_per_day.filter(|max| state.downloads >= *max) {
            return Decision::refuse(Refusal::Day(max));
        }
        if let Some(max) = bytes_per_day {
            let left = max.saturating_sub(state.bytes);
            if left < *bytes {
                return Decision::refuse(Refusal::Bytes { max, left, bytes: *bytes });
            }
        }
        Decision::accept(QuotaSpent { token_id: token_id.clone(), hour, bytes: *bytes })
    }

    fn apply(state: &mut State, event: &Event) {
        if let Event::QuotaSpent(spent) = event {
            if let Some(hour) = state.hours.get_mut(usize::from(spent.hour)) {
                *hour = hour.saturating_add(1);
            }
            state.downloads = state.downloads.saturating_add(1);
            state.bytes = state.bytes.saturating_add(spent.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(hour: i64, second: i64) -> Timestamp {
        Timestamp::EPOCH.plus_seconds(20_000 * SECONDS_A_DAY + hour * SECONDS_AN_HOUR + second)
    }

    fn spend(quota: Quota, bytes: u64, at: Timestamp) -> Spend {
        Spend { token_id: "0123456789abcdef".to_owned(), quota, bytes, at }
    }

    /// Spends as long as there is something left; answers the first refusal.
    fn spent(state: &mut State, spend: &Spend) -> Option<Refusal> {
        let decision = Spending::decide(state, spend, &Context { now: spend.at });
        for event in &decision.events {
            Spending::apply(state, event);
        }
        decision.refusal
    }

    #[test]
    fn an_hour_that_is_used_up_begins_anew_and_a_day_does_not() {
        let quota =
            Quota { downloads_per_hour: Some(2), downloads_per_day: Some(3), ..Quota::default() };
        let mut state = State::default();
        let ask = |state: &mut State, at| spent(state, &spend(quota, 10, at));
        assert_eq!(ask(&mut state, at(7, 1)), None);
        assert_eq!(ask(&mut state, at(7, 2)), None);
        let refused = ask(&mut state, at(7, 3_590)).unwrap();
        assert_eq!((refused, refused.retry_after(at(7, 3_590))), (Refusal::Hour(2), 10));
        assert_eq!(ask(&mut state, at(8, 0)), None);
        let refused = ask(&mut state, at(8, 1)).unwrap();
        assert_eq!(refused, Refusal::Day(3));
        assert_eq!(refused.retry_after(at(8, 1)), 16 * 3_600 - 1);
        assert_eq!((state.downloads, state.bytes, state.downloads_in(7)), (3, 30, 2));
        assert_eq!(state.downloads_in(24), 0);
    }

    #[test]
    fn the_last_byte_passes_and_the_one_after_it_does_not() {
        let quota = Quota { bytes_per_day: Some(100), ..Quota::default() };
        let mut state = State::default();
        assert_eq!(spent(&mut state, &spend(quota, 60, at(1, 0))), None);
        let refused = Refusal::Bytes { max: 100, left: 40, bytes: 41 };
        assert_eq!(spent(&mut state, &spend(quota, 41, at(1, 0))), Some(refused));
        assert_eq!(spent(&mut state, &spend(quota, 40, at(1, 0))), None);
        assert_eq!(spent(&mut state, &spend(quota, 0, at(1, 0))), None, "nothing is always left");
    }

    proptest! {
        #[test]
        fn no_order_of_requests_gets_more_than_the_quota(
            asked in prop::collection::vec((0_i64..24, 0_u64..50), 0..80),
            per_hour in 1_u32..5, per_day in 1_u32..30, bytes in 1_u64..500,
        ) {
            let quota = Quota {
                downloads_per_hour: Some(per_hour),
                downloads_per_day: Some(per_day),
                bytes_per_day: Some(bytes),
            };
            let mut state = State::default();
            for (hour, bytes) in asked {
                spent(&mut state, &spend(quota, bytes, at(hour, 0)));
            }
            prop_assert!(state.downloads <= per_day && state.bytes <= bytes);
            prop_assert!((0..24).all(|hour| state.downloads_in(hour) <= per_hour));
            let hours: u32 = (0..24).map(|hour| state.downloads_in(hour)).sum();
            prop_assert_eq!(hours, state.downloads);
        }
    }
}
