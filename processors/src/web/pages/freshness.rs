//! What an answer says of how long it is good, by RFC 9111 for a cache that is shared.

use std::time::Duration;

use http::{HeaderMap, HeaderName, header};
use weir_events::timestamp::Timestamp;

use crate::outbound::polite::date;

/// The longest lifetime that is told apart.
const LONGEST: u64 = 1 << 31;

/// The directives of `Cache-Control` that matter here, and `Pragma` where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Control {
    pub(super) no_store: bool,
    pub(super) no_cache: bool,
    pub(super) private: bool,
    max_age: Option<u64>,
    s_maxage: Option<u64>,
}

impl Control {
    /// Reads them. What cannot be read forbids to store, for who knows what it forbids.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut control = Self::default();
        for value in headers.get_all(header::CACHE_CONTROL) {
            match value.to_str() {
                Ok(text) => directives(text).for_each(|(name, value)| control.add(&name, &value)),
                Err(_) => control.no_store = true,
            }
        }
        if !headers.contains_key(header::CACHE_CONTROL) {
            let pragma = headers.get_all(header::PRAGMA).iter();
            let mut said = pragma.filter_map(|value| value.to_str().ok()).flat_map(directives);
            control.no_cache = said.any(|(name, _)| name == "no-cache");
        }
        control
    }

    fn add(&mut self, name: &str, value: &str) {
        // Of two that contradict each other the stricter one counts, and what is no number is 0.
        let seconds = |old: Option<u64>| {
            let number = value.parse::<u64>().map_or_else(
                |_| {
                    let long = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
                    if long { LONGEST } else { 0 }
                },
                |number| number.min(LONGEST),
            );
            Some(old.map_or(number, |old| old.min(number)))
        };
        match name {
            "no-store" => self.no_store = true,
            "no-cache" => self.no_cache = true,
            "private" => self.private = true,
            "max-age" => self.max_age = seconds(self.max_age),
            "s-maxage" => self.s_maxage = seconds(self.s_maxage),
            _ => {}
        }
    }
}

/// The directives of a header, by their names in lower case; commas in quotes separate nothing.
fn directives(text: &str) -> impl Iterator<Item = (String, String)> {
    let mut quoted = false;
    let mut escaped = false;
    let parts = text.split(move |c| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => return true,
            _ => {}
        }
        false
    });
    parts.filter_map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim().to_ascii_lowercase();
        let value = value.trim();
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        (!name.is_empty()).then(|| (name, bare.unwrap_or(value).to_owned()))
    })
}

/// When an answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Came {
    /// What the clock said.
    pub at: Timestamp,
    /// How long it had been under way, from when it was asked for.
    pub took: Duration,
    /// How long ago that is.
    pub ago: Duration,
}

/// For how long an answer is still good; `None` where it does not say.
pub(super) fn remaining(
    headers: &HeaderMap,
    control: &Control,
    shared: bool,
    came: Came,
) -> Option<Duration> {
    let date = date_of(headers, &header::DATE);
    let s_maxage = control.s_maxage.filter(|_| shared);
    let lifetime = s_maxage.or(control.max_age).or_else(|| {
        headers.contains_key(header::EXPIRES).then(|| {
            // One that is no date has passed.
            let expires = date_of(headers, &header::EXPIRES).unwrap_or(0);
            expires.saturating_sub(date.unwrap_or_else(|| seconds(came.at)))
        })
    })?;
    // RFC 9111, 4.2.3: its age was told before it was under way, and goes on from when it came.
    let apparent = date.map_or(0, |date| seconds(came.at).saturating_sub(date));
    let told = headers.get(header::AGE).and_then(|age| age.to_str().ok()?.trim().parse().ok());
    let told = Duration::from_secs(told.unwrap_or(0)).saturating_add(came.took);
    let age = Duration::from_secs(apparent).max(told).saturating_add(came.ago);
    Some(Duration::from_secs(lifetime).saturating_sub(age))
}

fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.micros() / 1_000_000).unwrap_or(0)
}

/// A date, in seconds since 1970.
fn date_of(headers: &HeaderMap, name: &HeaderName) -> Option<u64> {
    let date = date(headers.get(name)?.to_str().ok()?)?;
    u64::try_from(date).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    /// 1994-11-06 08:49:37, as all of the old dates of HTTP.
    const CAME: Came = Came {
        at: Timestamp::from_micros(784_111_777_000_000),
        took: Duration::ZERO,
        ago: Duration::ZERO,
    };
    const DATE: (&str, &str) = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn left(pairs: &[(&str, &str)]) -> Option<u64> {
        let headers = headers(pairs);
        let control = Control::of(&headers);
        remaining(&headers, &control, true, CAME).map(|left| left.as_secs())
    }

    #[test]
    fn directives_are_read_as_the_specification_has_them() {
        for (text, wanted) in [
            ("no-store", "store"),
            ("NO-STORE", "store"),
            ("max-age=1, no-store", "store"),
            ("foo=\"no-store, private\"", ""),
            ("foo=\"a\\\", no-store\"", ""),
            ("private=\"set-cookie\"", "private"),
            ("no-cache=\"set-cookie\"", "cache"),
            ("xprivate, no-storefoo", ""),
            (",, ,private,", "private"),
        ] {
            let control = Control::of(&headers(&[("cache-control", text)]));
            let said = [
                (control.no_store, "store"),
                (control.no_cache, "cache"),
                (control.private, "private"),
            ];
            let said: String = said.iter().filter(|it| it.0).map(|it| it.1).collect();
            assert_eq!(said, wanted, "{text}");
        }
        let two =
            Control::of(&headers(&[("cache-control", "public"), ("cache-control", "private")]));
        assert!(two.private);
        assert!(Control::of(&headers(&[("pragma", "no-cache")])).no_cache);
        let beside = headers(&[("pragma", "no-cache"), ("cache-control", "max-age=9")]);
        assert!(!Control::of(&beside).no_cache);
        let mut odd = HeaderMap::new();
        odd.insert("cache-control", http::HeaderValue::from_bytes(b"\xff").unwrap());
        assert!(Control::of(&odd).no_store);
    }

    #[test]
    fn lifetimes_are_those_of_rfc_9111() {
        for (pairs, wanted) in [
            (&[][..], None),
            (&[("cache-control", "public")], None),
            (&[("cache-control", "max-age=60")], Some(60)),
            (&[("cache-control", "max-age=\"60\"")], Some(60)),
            (&[("cache-control", "max-age=60, s-maxage=10")], Some(10)),
            (&[("cache-control", "s-maxage=100, max-age=0")], Some(100)),
            (&[("cache-control", "max-age=60"), ("cache-control", "max-age=5")], Some(5)),
            (&[("cache-control", "max-age")], Some(0)),
            (&[("cache-control", "max-age=-1")], Some(0)),
            (&[("cache-control", "max-age=1.5")], Some(0)),
            (&[("cache-control", "max-age=99999999999999999999")], Some(LONGEST)),
            (&[("cache-control", "max-age=60"), ("age", "20")], Some(40)),
            (&[("cache-control", "max-age=60"), ("age", "61")], Some(0)),
            (&[("cache-control", "max-age=60"), ("age", "soon")], Some(60)),
            (&[("expires", "Sun, 06 Nov 1994 08:50:37 GMT"), DATE], Some(60)),
            (&[("expires", "Sun, 06 Nov 1994 08:50:37 GMT")], Some(60)),
            (&[("expires", "Sunday, 06-Nov-94 08:50:37 GMT"), DATE], Some(60)),
            (&[("expires", "Sun Nov  6 08:50:37 1994"), DATE], Some(60)),
            (&[("expires", "Sun, 06 Nov 1994 08:49:36 GMT"), DATE], Some(0)),
            (&[("expires", "0"), DATE], Some(0)),
            (&[("expires", "-1")], Some(0)),
            // What says how long counts for more than what says until when.
            (&[("expires", "0"), ("cache-control", "max-age=60"), DATE], Some(60)),
            // It was under way for ten seconds.
            (
                &[("cache-control", "max-age=60"), ("date", "Sun, 06 Nov 1994 08:49:27 GMT")],
                Some(50),
            ),
            // The outside's clock is ahead.
            (
                &[("cache-control", "max-age=60"), ("date", "Sun, 06 Nov 1994 09:49:27 GMT")],
                Some(60),
            ),
        ] {
            assert_eq!(left(pairs), wanted, "{pairs:?}");
        }
        let both = headers(&[("cache-control", "max-age=60, s-maxage=10")]);
        let own = remaining(&both, &Control::of(&both), false, CAME);
        assert_eq!(own, Some(Duration::from_mins(1)), "for one agent it is no shared cache");
    }

    /// What was kept for a while before it was stored was once as good as new.
    #[test]
    fn an_answer_ages_while_it_is_under_way_and_from_when_it_came() {
        let left = |pairs: &[(&str, &str)], took, ago| {
            let headers = headers(pairs);
            let (took, ago) = (Duration::from_millis(took), Duration::from_millis(ago));
            let came = Came { took, ago, ..CAME };
            remaining(&headers, &Control::of(&headers), true, came).map(|left| left.as_millis())
        };
        let minute = ("cache-control", "max-age=60");
        for (pairs, took, ago, wanted) in [
            (&[minute][..], 2_000, 0, Some(58_000)),
            (&[minute], 0, 2_500, Some(57_500)),
            (&[minute, ("age", "20")], 2_000, 3_000, Some(35_000)),
            // What its date says of how long it was under way counts where that is more.
            (&[minute, ("date", "Sun, 06 Nov 1994 08:49:27 GMT")], 2_000, 3_000, Some(47_000)),
            (
                &[minute, ("date", "Sun, 06 Nov 1994 08:49:27 GMT"), ("age", "9")],
                2_000,
                0,
                Some(49_000),
            ),
            (&[minute, ("age", "18446744073709551615")], u64::MAX, u64::MAX, Some(0)),
            (&[], 2_000, 3_000, None),
        ] {
            assert_eq!(left(pairs, took, ago), wanted, "{pairs:?} {took} {ago}");
        }
    }
}
