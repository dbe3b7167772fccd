//! Which form of a page a client wants (PEP 691): by `?format=`, else by `Accept` with its weights.

use http::{HeaderMap, header::ACCEPT};

/// A form of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `application/vnd.pypi.simple.v1+json`
    Json,
    /// `application/vnd.pypi.simple.v1+html`
    Html,
    /// `text/html`
    TextHtml,
}

impl Form {
    /// All forms; of equally wanted ones, the first is given.
    pub const ALL: [Self; 3] = [Self::Json, Self::Html, Self::TextHtml];

    /// The media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.pypi.simple.v1+json",
            Self::Html => "application/vnd.pypi.simple.v1+html",
            Self::TextHtml => "text/html",
        }
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::TextHtml => "text/html; charset=utf-8",
            _ => self.media_type(),
        }
    }

    /// Finds a form by its media type, or by the name that always means the latest version.
    fn find(media_type: &str) -> Option<Self> {
        let latest = media_type.replace(".latest+", ".v1+");
        Self::ALL.into_iter().find(|form| form.media_type() == latest)
    }

    /// The form a client wants; `None` when it wants none of them (406).
    #[must_use]
    pub fn wanted(query: Option<&str>, headers: &HeaderMap) -> Option<Self> {
        let pairs = query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        if let Some((_, format)) = pairs.into_iter().find(|(name, _)| *name == "format") {
            let format = percent_encoding::percent_decode_str(format).decode_utf8().ok()?;
            // A `+` that somebody did not escape.
            return Self::find(&format.replace(' ', "+").to_ascii_lowercase());
        }
        let ranges = ranges(headers);
        if ranges.is_empty() {
            return Some(Self::TextHtml);
        }
        // The highest weight wins; where only a wildcard asks, a browser or a person is likely.
        let rank = |form: &Self| {
            let (precision, weight) = weight(*form, &ranges)?;
            let preferred = match (precision, form) {
                (0 | 1, Self::TextHtml) => 3,
                (_, Self::Json) => 2,
                (_, Self::Html) => 1,
                (_, Self::TextHtml) => 0,
            };
            Some((weight, precision, preferred))
        };
        Self::ALL.into_iter().filter(|form| rank(form).is_some()).max_by_key(rank)
    }
}

/// A range of media types and its weight in thousandths.
struct Range {
    media_type: String,
    weight: u16,
}

fn ranges(headers: &HeaderMap) -> Vec<Range> {
    let values = headers.get_all(ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let ranges = values.flat_map(|value| value.split(',')).take(64).map(|range| {
        let (media_type, parameters) = range.split_once(';').unwrap_or((range, ""));
        let weight = parameters
            .split(';')
            .filter_map(|parameter| parameter.split_once('='))
            .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
            .map_or(1000, |(_, weight)| thousandths(weight.trim()));
        Range { media_type: media_type.trim().to_ascii_lowercase(), weight }
    });
    ranges.filter(|range| !range.media_type.is_empty()).collect()
}

fn thousandths(weight: &str) -> u16 {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = fraction.bytes().chain(*b"000").take(3);
    let fraction = digits.fold(0, |sum, b| sum * 10 + u16::from(b.saturating_sub(b'0').min(9)));
    if whole == "0" { fraction } else { 1000 }
}

/// How precisely the ranges name a form, and how much it is wanted by the most precise one.
fn weight(form: Form, ranges: &[Range]) -> Option<(u8, u16)> {
    let precision = |range: &Range| match range.media_type.as_str() {
        "*/*" => Some(0),
        "application/*" if form != Form::TextHtml => Some(1),
        "text/*" if form == Form::TextHtml => Some(1),
        exact => (Form::find(exact) == Some(form)).then_some(2),
    };
    let named = ranges.iter().filter_map(|range| Some((precision(range)?, range.weight)));
    named.max().filter(|(_, weight)| *weight > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(accept: &str) -> Option<Form> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, accept.parse().unwrap());
        Form::wanted(None, &headers)
    }

    #[test]
    fn weights_are_honoured_and_real_clients_get_what_they_prefer() {
        for (accept, form) in [
            // pip
            (
                "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01",
                Form::Json,
            ),
            // uv
            (
                "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01",
                Form::Json,
            ),
            // a browser
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Form::TextHtml),
            // curl
            ("*/*", Form::TextHtml),
            ("application/*", Form::Json),
            ("text/*", Form::TextHtml),
            ("application/vnd.pypi.simple.latest+json", Form::Json),
            ("application/vnd.pypi.simple.latest+html", Form::Html),
            (
                "application/vnd.pypi.simple.v1+html, application/vnd.pypi.simple.v1+json;q=0.9",
                Form::Html,
            ),
            ("application/vnd.pypi.simple.v1+json;q=0.1, text/html;q=0.2", Form::TextHtml),
            ("application/vnd.pypi.simple.v1+json;q=0, */*;q=0.1", Form::TextHtml),
            ("application/vnd.pypi.simple.v1+json;q=0, application/*", Form::Html),
            ("TEXT/HTML;level=1;Q=0.001", Form::TextHtml),
            ("", Form::TextHtml),
        ] {
            assert_eq!(wanted(accept), Some(form), "{accept}");
        }
        assert_eq!(Form::wanted(None, &HeaderMap::new()), Some(Form::TextHtml));
    }

    #[test]
    fn who_wants_none_of_the_forms_gets_none() {
        for accept in [
            "application/json",
            "image/png",
            "text/html;q=0",
            "application/vnd.pypi.simple.v2+json",
        ] {
            assert_eq!(wanted(accept), None, "{accept}");
        }
    }

    #[test]
    fn the_address_can_ask_for_a_form() {
        let asked = |query| Form::wanted(Some(query), &HeaderMap::new());
        assert_eq!(asked("format=application%2Fvnd.pypi.simple.v1%2Bjson"), Some(Form::Json));
        assert_eq!(asked("a=b&format=application/vnd.pypi.simple.latest+html"), Some(Form::Html));
        assert_eq!(asked("format=yaml"), None);
        assert_eq!(asked("other=yaml"), Some(Form::TextHtml));
    }
}
