//! Which form of a page a client wants (PEP 691): by `?format=`, else by `Accept` with its weights.

use http::HeaderMap;

use crate::registry::accept::{Accepted, Precision};

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

    /// The name that always means the latest version.
    const fn latest(self) -> &'static str {
        match self {
            Self::Json => "application/vnd.pypi.simple.latest+json",
            Self::Html => "application/vnd.pypi.simple.latest+html",
            Self::TextHtml => "text/html",
        }
    }

    /// Finds a form by its media type, or by the name that always means the latest version.
    fn find(media_type: &str) -> Option<Self> {
        let named = |form: &Self| form.media_type() == media_type || form.latest() == media_type;
        Self::ALL.into_iter().find(named)
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
        let accepted = Accepted::of(headers);
        if accepted.is_empty() {
            return Some(Self::TextHtml);
        }
        // The highest weight wins; where only a wildcard asks, a browser or a person is likely.
        let rank = |form: &Self| {
            let wish = accepted.wish(&[form.media_type(), form.latest()])?;
            let preferred = match (wish.precision, form) {
                (Precision::Anything | Precision::Kind, Self::TextHtml) => 3,
                (_, Self::Json) => 2,
                (_, Self::Html) => 1,
                (_, Self::TextHtml) => 0,
            };
            Some((wish, preferred))
        };
        Self::ALL.into_iter().filter(|form| rank(form).is_some()).max_by_key(rank)
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

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
