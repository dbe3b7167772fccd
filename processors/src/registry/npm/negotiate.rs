//! Which form of a packument a client wants: by `Accept` with its weights.

use http::HeaderMap;

use crate::registry::accept::Accepted;

/// A form of a packument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// `application/json`: everything there is.
    Full,
    /// `application/vnd.npm.install-v1+json`: what is needed to install.
    Abbreviated,
}

impl Form {
    /// The media type, and the value of `Content-Type`.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Full => "application/json",
            Self::Abbreviated => "application/vnd.npm.install-v1+json",
        }
    }

    /// The form a client wants; the full one where it names neither.
    #[must_use]
    pub fn wanted(headers: &HeaderMap) -> Self {
        let accepted = Accepted::of(headers);
        let wish = |form: Self| accepted.wish(&[form.media_type()]);
        if wish(Self::Abbreviated) > wish(Self::Full) { Self::Abbreviated } else { Self::Full }
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn weights_are_honoured_and_real_clients_get_what_they_prefer() {
        for (accept, form) in [
            // npm, pnpm, yarn, bun
            (
                "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*",
                Form::Abbreviated,
            ),
            ("application/json", Form::Full),
            ("application/vnd.npm.install-v1+json", Form::Abbreviated),
            ("application/vnd.npm.install-v1+json;q=0.1, application/json;q=0.2", Form::Full),
            ("application/vnd.npm.install-v1+json;q=0, */*", Form::Full),
            ("application/vnd.npm.install-v1+json, */*;q=0.9", Form::Abbreviated),
            ("*/*", Form::Full),
            ("application/*", Form::Full),
            ("text/html", Form::Full),
            ("", Form::Full),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())]);
            assert_eq!(Form::wanted(&headers), form, "{accept}");
        }
        assert_eq!(Form::wanted(&HeaderMap::new()), Form::Full);
    }
}
