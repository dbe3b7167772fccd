//! A host that says that it is asked too much is left alone for as long as it says.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http::{
    HeaderMap, StatusCode,
    header::{DATE, RETRY_AFTER},
};
use weir_events::timestamp::Timestamp;

use crate::{clock::Clock, outbound::polite::date};

/// No host is left alone for longer, in seconds.
const MAX_SECONDS: i64 = 3_600;
/// Where a host does not say, it is left alone for a second, then twice as long each time, up to
/// this, in seconds.
const MAX_UNASKED_SECONDS: i64 = 64;
/// How many hosts are remembered.
const MAX_HOSTS: usize = 4_096;

/// Which hosts are left alone, and until when, by the clock on the wall.
#[derive(Debug)]
pub(super) struct BackOff {
    clock: Arc<dyn Clock>,
    hosts: Mutex<HashMap<Box<str>, Away>>,
}

#[derive(Debug, Clone, Copy)]
struct Away {
    until: Timestamp,
    /// How often in a row the host has said so.
    n_times: u32,
}

impl Away {
    /// Whether it holds still. Longer than nobody is left alone means that the clock was put back: what
    /// was said by another clock is over.
    fn holds(self, now: Timestamp) -> bool {
        now < self.until && self.until <= now.plus_seconds(MAX_SECONDS)
    }
}

impl BackOff {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, hosts: Mutex::default() }
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<Box<str>, Away>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until when a host is left alone, if it is.
    pub(super) fn check(&self, host: &str) -> Result<(), Timestamp> {
        let now = self.clock.now();
        match self.hosts().get(host) {
            Some(away) if away.holds(now) => Err(away.until),
            _ => Ok(()),
        }
    }

    /// Takes note of what a host answered.
    pub(super) fn note(&self, host: &str, status: StatusCode, headers: &HeaderMap) {
        let now = self.clock.now();
        let mut hosts = self.hosts();
        if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            if hosts.get(host).is_some_and(|away| !away.holds(now)) {
                hosts.remove(host);
            }
            return;
        }
        let before = hosts.get(host).copied().filter(|away| away.until <= now || away.holds(now));
        let n_times = before.map_or(1, |away| away.n_times.saturating_add(1));
        let unasked = (1_i64 << (n_times - 1).min(16)).min(MAX_UNASKED_SECONDS);
        let seconds = asked(headers, now).filter(|seconds| 0 < *seconds).unwrap_or(unasked);
        let until = now.plus_seconds(seconds.min(MAX_SECONDS));
        let until = before.map_or(until, |away| away.until.max(until));
        if hosts.len() >= MAX_HOSTS && before.is_none() {
            hosts.retain(|_, away| away.holds(now));
            let soonest = hosts.iter().min_by_key(|(_, away)| away.until);
            let soonest = soonest.map(|(host, _)| host.clone());
            if let Some(soonest) = soonest.filter(|_| hosts.len() >= MAX_HOSTS) {
                hosts.remove(&soonest);
            }
        }
        hosts.insert(host.into(), Away { until, n_times });
    }
}

/// How many seconds an answer asks for. A date is measured by the date of the answer, or by ours.
fn asked(headers: &HeaderMap, now: Timestamp) -> Option<i64> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let asked = text(RETRY_AFTER)?;
    if !asked.is_empty() && asked.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(asked.parse().unwrap_or(MAX_SECONDS));
    }
    let from = text(DATE).and_then(date).unwrap_or_else(|| now.micros() / 1_000_000);
    Some(date(asked)? - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ManualClock;

    const NOON: i64 = 1_795_867_200_000_000; // Sat, 28 Nov 2026 12:00:00 GMT

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(NOON).plus_seconds(seconds)
    }

    fn world() -> (Arc<ManualClock>, BackOff) {
        let clock = Arc::new(ManualClock::at(at(0)));
        (Arc::clone(&clock), BackOff::new(clock))
    }

    fn headers(retry_after: &str, date: &str) -> HeaderMap {
        let pairs = [(RETRY_AFTER, retry_after), (DATE, date)];
        let pairs = pairs.into_iter().filter(|pair| !pair.1.is_empty());
        pairs.map(|(name, value)| (name, value.parse().unwrap())).collect()
    }

    #[test]
    fn a_host_is_left_alone_for_as_long_as_it_says_up_to_an_hour() {
        for (retry_after, date, seconds) in [
            ("7", "", 7),
            ("3120", "", 3_120),
            ("99999999999999999999", "", 3_600),
            ("Sat, 28 Nov 2026 12:01:30 GMT", "", 90),
            // Their clock is an hour ahead of ours, and means the same minute and a half.
            ("Sat, 28 Nov 2026 13:01:30 GMT", "Sat, 28 Nov 2026 13:00:00 GMT", 90),
            ("Sat, 28 Nov 2026 11:00:00 GMT", "", 1),
            ("soon", "", 1),
            ("-5", "", 1),
            ("0", "", 1),
            ("", "", 1),
        ] {
            for status in [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE] {
                let (clock, back_off) = world();
                back_off.note("h", status, &headers(retry_after, date));
                assert_eq!(back_off.check("h"), Err(at(seconds)), "{retry_after} {date}");
                assert_eq!(back_off.check("other"), Ok(()));
                clock.set(at(seconds));
                assert_eq!(back_off.check("h"), Ok(()), "{retry_after} {date}");
            }
        }
    }

    #[test]
    fn who_does_not_say_for_how_long_is_left_alone_longer_each_time() {
        let (clock, back_off) = world();
        let (busy, nothing) = (StatusCode::TOO_MANY_REQUESTS, HeaderMap::new());
        let mut now = 0;
        for seconds in [1, 2, 4, 8, 16, 32, 64, 64] {
            back_off.note("h", busy, &nothing);
            assert_eq!(back_off.check("h"), Err(at(now + seconds)));
            // An answer that was under way does not say that all is well.
            back_off.note("h", StatusCode::OK, &nothing);
            assert!(back_off.check("h").is_err());
            now += seconds;
            clock.set(at(now));
        }
        back_off.note("h", StatusCode::OK, &nothing);
        back_off.note("h", busy, &nothing);
        assert_eq!(back_off.check("h"), Err(at(now + 1)));
    }

    #[test]
    fn nobody_is_left_alone_for_longer_because_a_clock_was_put_back() {
        let (clock, back_off) = world();
        back_off.note("h", StatusCode::TOO_MANY_REQUESTS, &headers("60", ""));
        clock.set(at(-86_400));
        assert_eq!(back_off.check("h"), Ok(()));
        back_off.note("h", StatusCode::TOO_MANY_REQUESTS, &headers("60", ""));
        assert_eq!(back_off.check("h"), Err(at(60 - 86_400)));
        // By a little, it holds: nobody can tell.
        clock.set(at(-86_400 - 600));
        assert!(back_off.check("h").is_err());
    }

    #[test]
    fn only_so_many_hosts_are_remembered() {
        let (_, back_off) = world();
        for n in 0..MAX_HOSTS + 10 {
            let seconds = format!("{}", 10 + n % 1_000);
            back_off.note(&n.to_string(), StatusCode::TOO_MANY_REQUESTS, &headers(&seconds, ""));
        }
        assert_eq!(back_off.hosts().len(), MAX_HOSTS);
    }
}
