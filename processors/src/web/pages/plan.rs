//! Whether an answer is cached, for whom, and for how long.
//!
//! RFC 9111 for a shared cache, with these rulings on top: a page is shown for four cycles unless the
//! outside says less (A8); it is everybody's only if it was read, whole, and the outside neither
//! calls it private nor sets a cookie (A6): credentials never go out with a request; what was sent somewhere is the sender's
//! own, and only if the outside says for how long (A7); errors are never cached, nor what depends on
//! more than is known (`Vary: *`). Nothing is asked again whether it has changed: what would have to
//! be is not cached.

use std::time::Duration;

use http::{HeaderMap, StatusCode, header};
use weir_aggregates::nexus::State;
use weir_events::{
    nexus::Pace,
    timestamp::Timestamp,
    web::request::{ApiInteractionKind, CachePolicy, Hash256, HttpMethod},
};

use super::freshness::{self, Came, Control};

/// How long a tick of a driven clock is, to those who count in seconds.
const DRIVEN_TICK: Duration = Duration::from_secs(1);

/// An answer of the outside, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The method that was asked with.
    pub method: HttpMethod,
    /// What kind of interaction it was.
    pub interaction: ApiInteractionKind,
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// Those of the redirects that led to it: what they forbid is forbidden, too.
    pub redirects: &'a [(StatusCode, HeaderMap)],
    /// Whether it, or a redirect, set a cookie.
    pub sets_cookie: bool,
    /// Whether the body was cut off.
    pub truncated: bool,
    /// When it came.
    pub came: Came,
}

impl<'a> Answered<'a> {
    /// What it and the redirects say of being cached.
    fn said(&self) -> impl Iterator<Item = (&'a HeaderMap, Control)> {
        let redirects = self.redirects.iter().map(|(_, headers)| headers);
        let headers = std::iter::once(self.headers).chain(redirects);
        headers.map(|headers| (headers, Control::of(headers)))
    }

    /// Whether it was read, and nothing was sent.
    fn is_read(&self) -> bool {
        self.interaction == ApiInteractionKind::RestGet && self.method != HttpMethod::Post
    }

    /// Whether it is meant for the one who asked.
    fn is_private(&self) -> bool {
        self.sets_cookie || self.said().any(|(_, control)| control.private)
    }

    /// Whether it, and every redirect, is an answer to who asks again, too.
    fn outlasts_the_moment(&self) -> bool {
        let forbids = |(headers, control): (&HeaderMap, Control)| {
            control.no_store || control.no_cache || varies_on_anything(headers)
        };
        // Where a redirect leads that is for the moment, nobody knows a moment later.
        let fleeting = |(status, headers): &(StatusCode, HeaderMap)| {
            !matches!(status.as_u16(), 301 | 308)
                && freshness::remaining(headers, &Control::of(headers), false, self.came).is_none()
        };
        is_final(self.status) && !self.said().any(forbids) && !self.redirects.iter().any(fleeting)
    }

    /// For how long it is still good; `None` where neither it nor a redirect says.
    fn left(&self, shared: bool) -> Option<Duration> {
        let left = |(headers, control): (&HeaderMap, Control)| {
            freshness::remaining(headers, &control, shared, self.came)
        };
        self.said().filter_map(left).min()
    }
}

/// Where in a cycle one is, in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleTime {
    /// How long a cycle is.
    pub length: Duration,
    /// How much of this one is over.
    pub elapsed: Duration,
}

impl CycleTime {
    /// Where in a cycle a moment is. A tick of a driven clock counts as a second.
    #[must_use]
    pub fn of(state: &State, now: Timestamp) -> Self {
        let Some(schedule) = state.schedule() else {
            return Self { length: DRIVEN_TICK * 256, elapsed: Duration::ZERO };
        };
        let tick = match schedule.pace {
            Pace::Wall { tick_micros } => Duration::from_micros(tick_micros),
            Pace::Driven => DRIVEN_TICK,
        };
        let n_ticks = u32::try_from(state.ticks_into_cycle(now)).unwrap_or(u32::MAX);
        let length = tick.saturating_mul(schedule.ticks_per_cycle.max(1));
        Self { length, elapsed: tick.saturating_mul(n_ticks).min(length) }
    }

    /// How many cycles, this one among them, are over before a time is.
    fn within(self, time: Duration) -> u32 {
        let micros = self.elapsed.saturating_add(time).as_micros();
        let n = micros.checked_div(self.length.as_micros());
        n.map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX))
    }
}

/// Whether the answer of a page is cached, for whom, and for how long: at most for `ttl` cycles.
#[must_use]
pub fn plan(
    key: Hash256,
    answered: &Answered<'_>,
    time: CycleTime,
    ttl: u32,
) -> Option<CachePolicy> {
    let read = match answered.interaction {
        ApiInteractionKind::RestGet | ApiInteractionKind::RestPost => answered.is_read(),
        ApiInteractionKind::GraphQL | ApiInteractionKind::WebsocketSnap => return None,
    };
    if !answered.outlasts_the_moment() {
        return None;
    }
    let shared = read && !answered.is_private() && !answered.truncated;
    let ttl = match answered.left(shared) {
        Some(left) => ttl.min(time.within(left)),
        None if read => ttl,
        None => 0,
    };
    (ttl > 0).then_some(CachePolicy { ttl, key, shared })
}

/// Whether those who asked for the same before it came may all be given one answer, also where nobody
/// who comes later may.
#[must_use]
pub fn is_shareable(answered: &Answered<'_>) -> bool {
    let mut said = answered.said();
    answered.is_read()
        && !answered.truncated
        && !answered.is_private()
        && !said.any(|(headers, control)| control.no_store || varies_on_anything(headers))
}

/// Whether who asks for the same after it came may be given it, too, on its way into the cache, or
/// where it is good for too short a time to be cached.
#[must_use]
pub fn is_reusable(answered: &Answered<'_>) -> bool {
    is_shareable(answered)
        && answered.outlasts_the_moment()
        && answered.left(true).is_none_or(|left| !left.is_zero())
}

/// Whether a status is an answer for longer than the moment. A part of a page is not: none was asked
/// for.
const fn is_final(status: u16) -> bool {
    matches!(status, 200..=205 | 207..=299 | 301 | 308 | 404 | 410)
}

fn varies_on_anything(headers: &HeaderMap) -> bool {
    let mut vary = headers.get_all(header::VARY).iter();
    // What cannot be read may mean anything.
    vary.any(|value| value.to_str().map_or(true, |names| names.split(',').any(|n| n.trim() == "*")))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const TTL: u32 = 4;
    const HALF: CycleTime =
        CycleTime { length: Duration::from_secs(256), elapsed: Duration::from_secs(128) };

    const CAME: Came = Came {
        at: Timestamp::from_micros(1_795_824_000_000_000),
        took: Duration::ZERO,
        ago: Duration::ZERO,
    };

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter().copied();
        pairs
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)))
            .collect()
    }

    fn got(headers: &HeaderMap) -> Answered<'_> {
        Answered {
            method: HttpMethod::Get,
            interaction: ApiInteractionKind::RestGet,
            status: 200,
            headers,
            redirects: &[],
            sets_cookie: false,
            truncated: false,
            came: CAME,
        }
    }

    fn of(answered: &Answered<'_>) -> Option<CachePolicy> {
        plan(Hash256::new([7; 32]), answered, HALF, TTL)
    }

    fn planned(pairs: &[(&'static str, &'static str)]) -> Option<(u32, bool)> {
        of(&got(&headers(pairs))).map(|plan| (plan.ttl, plan.shared))
    }

    #[test]
    fn a_page_is_everybodys_for_four_cycles_unless_the_outside_says_otherwise() {
        for (pairs, wanted) in [
            (&[][..], Some((4, true))),
            (&[("cache-control", "public, max-age=31536000, immutable")], Some((4, true))),
            (&[("vary", "accept-encoding, accept-language")], Some((4, true))),
            (&[("vary", "*")], None),
            (&[("vary", "accept, *")], None),
            (&[("cache-control", "no-store")], None),
            (&[("cache-control", "no-cache")], None),
            (&[("pragma", "no-cache")], None),
            (&[("cache-control", "private")], Some((4, false))),
            (&[("cache-control", "private=\"x\"")], Some((4, false))),
            (&[("cache-control", "max-age=0")], None),
            (&[("cache-control", "max-age=0, must-revalidate")], None),
            (&[("expires", "0")], None),
            // The cycle is over in 128 s, the next one in 384 s, and so on.
            (&[("cache-control", "max-age=127")], None),
            (&[("cache-control", "max-age=128")], Some((1, true))),
            (&[("cache-control", "max-age=383")], Some((1, true))),
            (&[("cache-control", "max-age=384")], Some((2, true))),
            (&[("cache-control", "max-age=384"), ("age", "1")], Some((1, true))),
            (&[("cache-control", "max-age=1, s-maxage=384")], Some((2, true))),
            (&[("cache-control", "private, max-age=128, s-maxage=384")], Some((1, false))),
        ] {
            assert_eq!(planned(pairs), wanted, "{pairs:?}");
        }
    }

    #[test]
    fn only_what_is_final_is_cached() {
        let headers = headers(&[("cache-control", "max-age=1000")]);
        let cached: Vec<u16> = (100..600)
            .filter(|status| {
                let answered = Answered { status: *status, ..got(&headers) };
                of(&answered).is_some()
            })
            .filter(|status| !matches!(status, 207..=299))
            .collect();
        assert_eq!(cached, [200, 201, 202, 203, 204, 205, 301, 308, 404, 410]);
    }

    #[test]
    fn what_was_cut_off_or_has_a_cookie_is_nobody_elses() {
        let headers = headers(&[("cache-control", "public, max-age=1000")]);
        for answered in [
            Answered { truncated: true, ..got(&headers) },
            Answered { sets_cookie: true, ..got(&headers) },
        ] {
            assert!(!of(&answered).unwrap().shared);
        }
        let head = Answered { method: HttpMethod::Head, ..got(&headers) };
        assert!(of(&head).unwrap().shared);
    }

    #[test]
    fn what_was_sent_is_cached_for_its_sender_if_the_outside_says_for_how_long() {
        let post = |pairs: &[_], interaction| {
            let headers = headers(pairs);
            let answered = Answered { method: HttpMethod::Post, interaction, ..got(&headers) };
            of(&answered).map(|plan| (plan.ttl, plan.shared))
        };
        let (rest, fresh) = (ApiInteractionKind::RestPost, ("cache-control", "max-age=384"));
        assert_eq!(post(&[fresh], rest), Some((2, false)));
        assert_eq!(post(&[], rest), None);
        assert_eq!(post(&[("cache-control", "public")], rest), None);
        assert_eq!(post(&[fresh], ApiInteractionKind::GraphQL), None);
        assert_eq!(post(&[fresh], ApiInteractionKind::WebsocketSnap), None);
    }

    #[test]
    fn who_asks_at_the_same_time_is_given_what_is_not_meant_for_one() {
        let plain = headers(&[]);
        for status in [200, 429, 500, 503] {
            assert!(is_shareable(&Answered { status, ..got(&plain) }), "{status}");
        }
        for (pairs, wanted) in [
            (("cache-control", "max-age=0"), true),
            (("cache-control", "no-store"), false),
            (("cache-control", "private"), false),
            (("vary", "*"), false),
        ] {
            assert_eq!(is_shareable(&got(&headers(&[pairs]))), wanted, "{pairs:?}");
        }
        for answered in [
            Answered { truncated: true, ..got(&plain) },
            Answered { sets_cookie: true, ..got(&plain) },
            Answered { interaction: ApiInteractionKind::RestPost, ..got(&plain) },
        ] {
            assert!(!is_shareable(&answered), "{answered:?}");
        }
    }

    /// Whoever came while it was worked with was once given what allows nobody to.
    #[test]
    fn who_asks_later_is_given_what_is_still_good_and_may_be_shown_again() {
        let reused = |pairs: &[_], status, ago| {
            let headers = headers(pairs);
            let came = Came { ago: Duration::from_secs(ago), ..CAME };
            is_reusable(&Answered { status, came, ..got(&headers) })
        };
        for (pairs, status, ago, wanted) in [
            (&[][..], 200, 0, true),
            (&[], 404, 9, true),
            // What is no answer for longer than the moment.
            (&[], 500, 0, false),
            (&[("cache-control", "max-age=60")], 503, 0, false),
            (&[("cache-control", "no-cache")], 200, 0, false),
            (&[("pragma", "no-cache")], 200, 0, false),
            (&[("cache-control", "no-store")], 200, 0, false),
            (&[("cache-control", "private")], 200, 0, false),
            (&[("vary", "*")], 200, 0, false),
            (&[("cache-control", "max-age=0")], 200, 0, false),
            (&[("expires", "0")], 200, 0, false),
            // Good for less than a cycle, and no longer.
            (&[("cache-control", "max-age=2")], 200, 1, true),
            (&[("cache-control", "max-age=2")], 200, 2, false),
            (&[("cache-control", "max-age=2"), ("age", "1")], 200, 1, false),
        ] {
            assert_eq!(reused(pairs, status, ago), wanted, "{pairs:?} {status} {ago}");
        }
        let page = headers(&[]);
        for (status, wanted) in [(301, true), (302, false)] {
            let redirects = [(StatusCode::from_u16(status).unwrap(), headers(&[]))];
            let answered = Answered { redirects: &redirects, ..got(&page) };
            assert!(is_shareable(&answered));
            assert_eq!(is_reusable(&answered), wanted, "{status}");
        }
        assert!(!is_reusable(&Answered { truncated: true, ..got(&page) }));
    }

    /// The lifetime was counted from when it came, and the cycle from when it was stored.
    #[test]
    fn what_took_its_time_is_good_for_as_much_less() {
        let headers = headers(&[("cache-control", "max-age=128")]);
        let after = |took, ago| {
            let (took, ago) = (Duration::from_millis(took), Duration::from_millis(ago));
            let answered = Answered { came: Came { took, ago, ..CAME }, ..got(&headers) };
            of(&answered).map(|plan| plan.ttl)
        };
        assert_eq!(after(0, 0), Some(1), "until this very cycle is over");
        assert_eq!(after(1, 0), None);
        assert_eq!(after(0, 1), None);
    }

    #[test]
    fn what_a_redirect_forbids_is_forbidden_of_the_page_it_leads_to() {
        let page = headers(&[("cache-control", "public, max-age=1000000")]);
        for (pairs, wanted) in [
            (&[][..], Some((4, true))),
            (&[("cache-control", "private")], Some((4, false))),
            (&[("cache-control", "max-age=384")], Some((2, true))),
            (&[("cache-control", "no-store")], None),
            (&[("pragma", "no-cache")], None),
            (&[("vary", "*")], None),
        ] {
            let permanent = |pairs| (StatusCode::MOVED_PERMANENTLY, headers(pairs));
            let redirects = [permanent(&[]), permanent(pairs)];
            let answered = Answered { redirects: &redirects, ..got(&page) };
            let planned = of(&answered).map(|plan| (plan.ttl, plan.shared));
            assert_eq!(planned, wanted, "{pairs:?}");
        }
        for (status, pairs, wanted) in [
            (302, &[][..], None),
            (303, &[("cache-control", "public")], None),
            (307, &[("cache-control", "max-age=384")], Some(2)),
            (308, &[], Some(4)),
        ] {
            let redirects = [(StatusCode::from_u16(status).unwrap(), headers(pairs))];
            let answered = Answered { redirects: &redirects, ..got(&page) };
            let planned = of(&answered).map(|plan| plan.ttl);
            assert_eq!(planned, wanted, "{status}");
        }
    }

    #[test]
    fn what_it_varies_on_is_anything_where_it_cannot_be_read() {
        let mut odd = HeaderMap::new();
        odd.insert("vary", HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(of(&got(&odd)), None);
    }

    proptest! {
        #[test]
        fn nothing_is_shown_for_longer_than_the_outside_says(
            length in 1_u64..100_000, elapsed in 0_u64..100_000, max_age in 0_u64..1_000_000
        ) {
            let elapsed = elapsed % length;
            let time = CycleTime {
                length: Duration::from_secs(length),
                elapsed: Duration::from_secs(elapsed),
            };
            let n = u64::from(time.within(Duration::from_secs(max_age)));
            // Until the end of the last cycle in which it is shown.
            prop_assert!(n == 0 || n * length - elapsed <= max_age);
            prop_assert!((n + 1) * length - elapsed > max_age);
        }
    }
}
