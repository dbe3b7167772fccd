//! What a package client is told, before it becomes HTTP.

use std::{fmt, io};

use bytes::Bytes;
use futures_util::stream::BoxStream;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE},
};

/// The longest reason phrase, in bytes.
pub const MAX_REASON_BYTES: usize = 200;

/// An answer to a package client.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The reason phrase, where it says more than the status: the one part of a refusal that pip
    /// and uv print. Printable ASCII.
    pub reason: Option<String>,
    /// The headers, those of the body included.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// There is none: the answer to HEAD, or one that needs none.
    Empty,
    /// It is here as a whole.
    Whole(Bytes),
    /// It comes piece by piece. An error in it must break the connection, never end it cleanly.
    Stream(BoxStream<'static, io::Result<Bytes>>),
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Whole(bytes) => write!(f, "Whole({} bytes)", bytes.len()),
            Self::Stream(_) => f.write_str("Stream"),
        }
    }
}

impl Answer {
    /// A body as a whole.
    pub fn whole(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        Self { status, reason: None, headers: HeaderMap::new(), body: Body::Empty }
            .with(CONTENT_TYPE, HeaderValue::from_static(content_type))
            .with(CONTENT_LENGTH, body.len().into())
            .carrying(Body::Whole(body))
    }

    /// One or more lines for a person.
    pub fn text(status: StatusCode, text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.push('\n');
        Self::whole(status, "text/plain; charset=utf-8", text)
            .with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
    }

    /// A body in pieces, of a size that may be known.
    pub fn stream(
        status: StatusCode,
        content_type: &'static str,
        size: Option<u64>,
        body: Body,
    ) -> Self {
        let answer = Self { status, reason: None, headers: HeaderMap::new(), body }
            .with(CONTENT_TYPE, HeaderValue::from_static(content_type));
        match size {
            Some(size) => answer.with(CONTENT_LENGTH, size.into()),
            None => answer,
        }
    }

    /// No body and nothing about one.
    pub fn empty(status: StatusCode) -> Self {
        Self { status, reason: None, headers: HeaderMap::new(), body: Body::Empty }
    }

    /// The same answer with a header.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// The same answer with a reason phrase: what is not printable ASCII becomes `?`, what is too
    /// long is cut.
    #[must_use]
    pub fn because(mut self, reason: &str) -> Self {
        let printable = |c: char| if matches!(c, ' '..='~') { c } else { '?' };
        let mut phrase: String = reason.chars().map(printable).take(MAX_REASON_BYTES).collect();
        if reason.chars().count() > MAX_REASON_BYTES {
            phrase.truncate(MAX_REASON_BYTES - 3);
            phrase.push_str("...");
        }
        self.reason = Some(phrase);
        self
    }

    /// The answer to HEAD: all headers, no body.
    #[must_use]
    pub fn without_body(self) -> Self {
        self.carrying(Body::Empty)
    }

    fn carrying(mut self, body: Body) -> Self {
        self.body = body;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_phrase_is_short_printable_ascii() {
        let answer = Answer::text(StatusCode::FORBIDDEN, "no").because("zu jung: ä\r\nX-Evil: 1");
        assert_eq!(answer.reason.as_deref(), Some("zu jung: ???X-Evil: 1"));
        let long = Answer::empty(StatusCode::FORBIDDEN).because(&"ö".repeat(300)).reason.unwrap();
        assert_eq!((long.len(), long.ends_with("?...")), (MAX_REASON_BYTES, true));
    }

    #[test]
    fn head_keeps_the_length_of_the_body_it_does_not_send() {
        let answer = Answer::text(StatusCode::OK, "four").without_body();
        assert_eq!(answer.headers[CONTENT_LENGTH], "5");
        assert!(matches!(answer.body, Body::Empty));
        assert_eq!(format!("{:?}", Answer::text(StatusCode::OK, "").body), "Whole(1 bytes)");
    }
}
