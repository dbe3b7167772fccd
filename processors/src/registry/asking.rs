//! What a request of a package client says beside what it is about: whether the body is wanted, which
//! part of it, if changed, and through which Weirs it came.

use std::ops::Range;

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Version,
    header::{IF_NONE_MATCH, IF_RANGE, RANGE, USER_AGENT},
};

use weir_events::timestamp::Timestamp;

use super::plugin::Asked;
use crate::outbound::Trail;

/// How something is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asking {
    /// Whether only the headers are wanted.
    pub head: bool,
    /// The validators the client has, as they came.
    pub if_none_match: Option<String>,
    /// The part of a file that is wanted.
    pub part: Option<Part>,
    /// The part only if the file still has this validator; otherwise all of it.
    pub if_range: Option<String>,
    /// The Weirs it has come through.
    pub trail: Trail,
    /// As of when the registry is to look, where that is not now.
    pub as_of: Option<Timestamp>,
    /// Whether the size of a body must be told before it: in HTTP/1.0, one without a size ends as one does
    /// that breaks off.
    pub needs_size: bool,
    /// Whether the client sleeps as long as it is told to, and says nothing meanwhile.
    pub sleeps: bool,
}

impl Asking {
    /// Reads it from a request.
    #[must_use]
    pub fn of(asked: &Asked<'_>) -> Self {
        let headers = asked.headers;
        Self {
            head: asked.method == Method::HEAD,
            if_none_match: text(headers, IF_NONE_MATCH),
            part: text(headers, RANGE).and_then(|range| Part::parse(&range)),
            if_range: text(headers, IF_RANGE),
            trail: Trail::of(headers),
            as_of: asked.as_of,
            needs_size: asked.version < Version::HTTP_11,
            // pip sleeps through a `retry-after`, be it a day.
            sleeps: text(headers, USER_AGENT).is_some_and(|agent| agent.starts_with("pip/")),
        }
    }

    /// Whether the client has what has this validator, or anything will do.
    #[must_use]
    pub fn has(&self, etag: &HeaderValue) -> bool {
        self.if_none_match.as_deref().is_some_and(|known| known.trim() == "*") || self.knows(etag)
    }

    /// Whether the client names this validator: then it was given before what has it.
    #[must_use]
    pub fn knows(&self, etag: &HeaderValue) -> bool {
        let (Some(known), Ok(etag)) = (&self.if_none_match, etag.to_str()) else { return false };
        known.split(',').any(|known| known.trim().trim_start_matches("W/") == etag)
    }
}

/// A part of a file: `bytes=…` with one range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From here on.
    From(u64),
    /// From here up to there, both included.
    Between(u64, u64),
    /// So many bytes at the end.
    Last(u64),
}

impl Part {
    /// Reads one range; several at once are answered with the whole file.
    fn parse(value: &str) -> Option<Self> {
        let (from, to) = value.strip_prefix("bytes=")?.trim().split_once('-')?;
        match (from, to) {
            ("", last) => last.parse().ok().map(Self::Last),
            (from, "") => from.parse().ok().map(Self::From),
            (from, to) => {
                let (from, to) = (from.parse().ok()?, to.parse().ok()?);
                (from <= to).then_some(Self::Between(from, to))
            }
        }
    }

    /// The bytes of a file of this size; `None` when it has none of them.
    #[must_use]
    pub fn of(self, size: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From(from) => from..size,
            Self::Between(from, to) => from..size.min(to.saturating_add(1)),
            Self::Last(n) => size.saturating_sub(n)..size,
        };
        (range.start < range.end).then_some(range)
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_a_part_and_several_are_the_whole() {
        for (value, part, of_ten) in [
            ("bytes=0-3", Some(Part::Between(0, 3)), Some(0..4)),
            ("bytes=4-99", Some(Part::Between(4, 99)), Some(4..10)),
            ("bytes=4-", Some(Part::From(4)), Some(4..10)),
            ("bytes=-3", Some(Part::Last(3)), Some(7..10)),
            ("bytes=-99", Some(Part::Last(99)), Some(0..10)),
            ("bytes=10-", Some(Part::From(10)), None),
            ("bytes=-0", Some(Part::Last(0)), None),
            ("bytes=0-18446744073709551615", Some(Part::Between(0, u64::MAX)), Some(0..10)),
            ("bytes=3-1", None, None),
            ("bytes=0-1,3-4", None, None),
            ("lines=0-1", None, None),
            ("bytes=a-b", None, None),
        ] {
            assert_eq!(Part::parse(value), part, "{value}");
            assert_eq!(part.and_then(|part| part.of(10)), of_ten, "{value}");
        }
    }

    #[test]
    fn a_validator_is_found_among_those_the_client_has() {
        let has = |known: &str| {
            let asking = Asking { if_none_match: Some(known.to_owned()), ..Asking::default() };
            asking.has(&HeaderValue::from_static("\"a\""))
        };
        assert!(has("\"a\"") && has("\"b\", W/\"a\"") && has("*"));
        assert!(!has("\"b\"") && !has("a"));
        let any = Asking { if_none_match: Some("*".to_owned()), ..Asking::default() };
        assert!(!any.knows(&HeaderValue::from_static("\"a\"")));
    }
}
