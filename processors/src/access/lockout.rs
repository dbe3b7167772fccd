//! Ten failures from one address lock it out for five minutes.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

/// Failures before an address is locked out.
const MAX_FAILURES: u32 = 10;
/// How long a lock-out lasts, and how long failures are remembered.
const LASTS: Duration = Duration::from_mins(5);
/// Addresses remembered.
const MAX_ADDRESSES: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Lockout(HashMap<IpAddr, Failures>);

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

impl Lockout {
    /// How much longer an address is locked out.
    pub(super) fn locked(&self, from: IpAddr, now: Instant) -> Option<Duration> {
        let failures = self.0.get(&from).filter(|f| f.count >= MAX_FAILURES)?;
        LASTS.checked_sub(now.saturating_duration_since(failures.last)).filter(|d| !d.is_zero())
    }

    pub(super) fn failed(&mut self, from: IpAddr, now: Instant) {
        if self.0.len() >= MAX_ADDRESSES {
            self.0.retain(|_, f| now.saturating_duration_since(f.last) < LASTS);
        }
        if self.0.len() >= MAX_ADDRESSES && !self.0.contains_key(&from) {
            return;
        }
        let failures = self.0.entry(from).or_insert(Failures { count: 0, last: now });
        if now.saturating_duration_since(failures.last) >= LASTS {
            failures.count = 0;
        }
        failures.count += 1;
        failures.last = now;
    }

    pub(super) fn succeeded(&mut self, from: IpAddr) {
        self.0.remove(&from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tenth_failure_locks_for_five_minutes_and_success_forgives_before() {
        let (from, start) = (IpAddr::from([127, 0, 0, 1]), Instant::now());
        let mut lockout = Lockout::default();
        (0..9).for_each(|_| lockout.failed(from, start));
        assert_eq!(lockout.locked(from, start), None);
        lockout.succeeded(from);
        (0..10).for_each(|_| lockout.failed(from, start));
        assert_eq!(lockout.locked(from, start), Some(LASTS));
        assert_eq!(lockout.locked(IpAddr::from([127, 0, 0, 2]), start), None);
        assert_eq!(lockout.locked(from, start + LASTS), None);
        lockout.failed(from, start + LASTS);
        assert_eq!(lockout.locked(from, start + LASTS), None);
    }
}
