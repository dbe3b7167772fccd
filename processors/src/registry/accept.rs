//! `Accept` with its weights: how much a client wants a media type.

use http::{HeaderMap, header::ACCEPT};

/// The most ranges that are looked at.
const MAX_RANGES: usize = 64;

/// What a client accepts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accepted(Vec<Range>);

/// A range of media types and its weight in thousandths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Range {
    media_type: String,
    weight: u16,
}

/// How much a media type is wanted, by the most precise range that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wish {
    /// In thousandths; never 0.
    pub weight: u16,
    /// How precisely it is named.
    pub precision: Precision,
}

/// How precisely a range names a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precision {
    /// `*/*`
    Anything,
    /// `text/*`
    Kind,
    /// By its name.
    Exact,
}

impl Accepted {
    /// Reads a request's headers.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        let ranges = values.flat_map(|value| value.split(',')).take(MAX_RANGES).map(Range::parse);
        Self(ranges.filter(|range| !range.media_type.is_empty()).collect())
    }

    /// Whether the client says nothing about it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How much a media type is wanted, under any of these names; `None` if it is not.
    #[must_use]
    pub fn wish(&self, names: &[&str]) -> Option<Wish> {
        let named = self.0.iter().filter_map(|range| Some((range.precision(names)?, range.weight)));
        let (precision, weight) = named.max()?;
        (weight > 0).then_some(Wish { weight, precision })
    }
}

impl Range {
    fn parse(range: &str) -> Self {
        let (media_type, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight = parameters
            .split(';')
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(1000, |(_, weight)| thousandths(weight.trim()));
        Self { media_type: media_type.trim().to_ascii_lowercase(), weight }
    }

    fn precision(&self, names: &[&str]) -> Option<Precision> {
        if self.media_type == "*/*" {
            return Some(Precision::Anything);
        }
        let kind = self.media_type.strip_suffix('*').filter(|kind| kind.ends_with('/'));
        match kind {
            Some(kind) => {
                names.iter().any(|name| name.starts_with(kind)).then_some(Precision::Kind)
            }
            None => names.contains(&self.media_type.as_str()).then_some(Precision::Exact),
        }
    }
}

fn thousandths(weight: &str) -> u16 {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = fraction.bytes().chain(*b"000").take(3);
    let fraction = digits.fold(0, |sum, b| sum * 10 + u16::from(b.saturating_sub(b'0').min(9)));
    if whole == "0" { fraction } else { 1000 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_precise_range_says_how_much_a_type_is_wanted() {
        let wish = |accept: &str, name: &str| {
            let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
            Accepted::of(&headers).wish(&[name]).map(|wish| (wish.weight, wish.precision))
        };
        for (accept, name, wanted) in [
            ("text/html", "text/html", Some((1000, Precision::Exact))),
            ("TEXT/HTML; level=1; Q=0.25", "text/html", Some((250, Precision::Exact))),
            ("text/*;q=0.1234, */*", "text/html", Some((123, Precision::Kind))),
            ("text/html;q=0, */*", "text/html", None),
            ("*/*;q=1.0", "text/html", Some((1000, Precision::Anything))),
            ("application/*", "text/html", None),
            ("*", "text/html", None),
            ("", "text/html", None),
        ] {
            assert_eq!(wish(accept, name), wanted, "{accept}");
        }
        assert!(Accepted::of(&HeaderMap::new()).is_empty());
    }
}
