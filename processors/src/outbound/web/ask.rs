//! What is asked of the outside, what is let out with it, and what comes back.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, Method, StatusCode,
    header::{
        ACCEPT, ACCEPT_LANGUAGE, AGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_TYPE, DATE, ETAG,
        EXPIRES, LAST_MODIFIED, PRAGMA, RETRY_AFTER, SET_COOKIE, VARY,
    },
};
use tokio::time::Instant;
use weir_events::web::request::{MAX_BODY_BYTES, MAX_HEADER_BYTES};

use super::{
    address::WebUrl,
    fault::AskFault,
    places::{Place, Seat},
};

/// Whose turn a request is counted as: an agent's id.
pub type Agent = [u8; 32];

/// How much of a page is read unless somebody says otherwise, decoded, in bytes.
pub const DEFAULT_DECODED_BYTES: usize = 2 << 20;
/// The most of a page that is read, decoded, in bytes.
pub const MAX_DECODED_BYTES: usize = 8 << 20;

/// What an agent may say about what it wants.
const SENT: [HeaderName; 2] = [ACCEPT, ACCEPT_LANGUAGE];

/// What is kept of the headers of an answer: what a cache must know, and a reader.
const KEPT: [HeaderName; 11] = [
    CONTENT_TYPE,
    CONTENT_LANGUAGE,
    CACHE_CONTROL,
    PRAGMA,
    VARY,
    ETAG,
    LAST_MODIFIED,
    EXPIRES,
    AGE,
    DATE,
    RETRY_AFTER,
];

/// What was agreed before a request is sent.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Its seat; without one, it has to find one.
    pub seat: Option<Arc<Seat>>,
    /// When it has to be over, where that is before its time is up.
    pub until: Option<Instant>,
}

/// One request for a page.
#[derive(Debug, Clone)]
pub struct PageAsk {
    /// For whom.
    pub agent: Agent,
    /// GET, HEAD or POST.
    pub method: Method,
    /// The address, as it was written.
    pub url: String,
    /// What the agent says: accept, accept-language, and content-type with a body.
    pub headers: HeaderMap,
    /// The body of a POST. None is not the same as an empty one.
    pub body: Option<Bytes>,
    /// How much of the page is wanted, decoded.
    pub max_decoded_bytes: usize,
    /// What was agreed before.
    pub terms: Terms,
}

impl PageAsk {
    /// A GET without anything special.
    #[must_use]
    pub fn get(agent: Agent, url: impl Into<String>) -> Self {
        Self {
            agent,
            method: Method::GET,
            url: url.into(),
            headers: HeaderMap::new(),
            body: None,
            max_decoded_bytes: DEFAULT_DECODED_BYTES,
            terms: Terms::default(),
        }
    }

    /// Whether it is one that is sent.
    pub fn check(&self) -> Result<(), AskFault> {
        if ![Method::GET, Method::HEAD, Method::POST].contains(&self.method) {
            return Err(AskFault::Method(self.method.as_str().chars().take(32).collect()));
        }
        for (name, value) in &self.headers {
            let with_body = self.body.is_some() && name == CONTENT_TYPE;
            if !with_body && !SENT.contains(name) {
                return Err(AskFault::Header(name.as_str().chars().take(64).collect()));
            }
            if value.len() > MAX_HEADER_BYTES {
                return Err(AskFault::LongHeader(name.as_str().into()));
            }
        }
        match &self.body {
            Some(_) if self.method != Method::POST => return Err(AskFault::Body),
            Some(body) if body.len() > MAX_BODY_BYTES => return Err(AskFault::LongBody),
            _ => {}
        }
        if !(1..=MAX_DECODED_BYTES).contains(&self.max_decoded_bytes) {
            return Err(AskFault::Size);
        }
        Ok(())
    }
}

/// A page as it came, decoded but not filtered.
#[derive(Debug, Clone)]
pub struct Page {
    /// Its status.
    pub status: StatusCode,
    /// Every address that was asked, in order: the last one is where it came from.
    pub hops: Vec<String>,
    /// The hosts that were connected to, each once, in order.
    pub contacted: Vec<Box<str>>,
    /// Its headers, as far as they are kept.
    pub headers: HeaderMap,
    /// The redirects on the way to it, in order: their statuses, and the same of their headers.
    pub redirects: Vec<(StatusCode, HeaderMap)>,
    /// Whether it, or a redirect on the way, tried to set a cookie: such an answer is meant for one
    /// asker.
    pub sets_cookie: bool,
    /// The addresses that may say something else because of what was sent.
    pub changed: Vec<WebUrl>,
    /// Its body, decoded.
    pub body: Bytes,
    /// Whether there was more, or should have been: such a body is never shared as a whole one.
    pub truncated: bool,
    /// Whether it broke off: of such a body nobody knows how it goes on.
    pub broken: bool,
    /// How long it took, from when the first address was asked.
    pub took: Duration,
    /// The place it takes up: as long as it is kept, as much less is fetched.
    pub place: Option<Arc<Place>>,
}

impl Page {
    /// What it says that it is.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(CONTENT_TYPE)?.to_str().ok()
    }
}

/// The headers of an answer that are kept, and whether it set a cookie.
pub(super) fn kept(headers: &HeaderMap) -> (HeaderMap, bool) {
    let mut kept = HeaderMap::new();
    for name in KEPT {
        for value in headers.get_all(&name) {
            kept.append(&name, value.clone());
        }
    }
    (kept, headers.contains_key(SET_COOKIE))
}

#[cfg(test)]
mod tests {
    use http::{
        HeaderValue,
        header::{AUTHORIZATION, COOKIE, HOST, RANGE},
    };

    use super::*;

    #[test]
    fn only_what_is_on_the_list_goes_out() {
        let ask = |name: HeaderName, value: &str| {
            let mut ask = PageAsk::get([1; 32], "https://docs.rs/");
            ask.headers.insert(name, HeaderValue::try_from(value).unwrap());
            ask
        };
        assert_eq!(ask(ACCEPT, "text/html").check(), Ok(()));
        assert_eq!(ask(ACCEPT_LANGUAGE, "en").check(), Ok(()));
        for name in [COOKIE, AUTHORIZATION, HOST, RANGE, CONTENT_TYPE] {
            let fault = ask(name.clone(), "x").check().unwrap_err();
            assert_eq!(fault, AskFault::Header(name.as_str().into()));
        }
        assert_eq!(
            ask(ACCEPT, &"x".repeat(1_025)).check(),
            Err(AskFault::LongHeader("accept".into()))
        );
        let mut post = ask(CONTENT_TYPE, "application/json");
        post.body = Some(Bytes::new());
        assert_eq!(post.check(), Err(AskFault::Body));
        post.method = Method::POST;
        assert_eq!(post.check(), Ok(()));
        post.body = Some(vec![0; MAX_BODY_BYTES + 1].into());
        assert_eq!(post.check(), Err(AskFault::LongBody));
        post.method = Method::PUT;
        assert_eq!(post.check(), Err(AskFault::Method("PUT".into())));
        for size in [0, MAX_DECODED_BYTES + 1] {
            let ask = PageAsk { max_decoded_bytes: size, ..PageAsk::get([1; 32], "x") };
            assert_eq!(ask.check(), Err(AskFault::Size));
        }
    }

    #[test]
    fn only_what_is_on_the_list_comes_in() {
        let pairs = [
            (VARY, "accept"),
            (VARY, "cookie"),
            (PRAGMA, "no-cache"),
            (SET_COOKIE, "a=b"),
            (HOST, "x"),
        ];
        let pairs = pairs.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let (kept, sets_cookie) = kept(&pairs.into_iter().collect());
        assert!(sets_cookie);
        assert_eq!(kept.len(), 3);
        assert_eq!(kept.get_all(VARY).iter().count(), 2);
        assert!(kept.contains_key(PRAGMA), "it forbids to cache where nothing else says so");
    }
}
