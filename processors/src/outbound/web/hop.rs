//! Every address on the way to a page is judged like the first one, and only then asked.

use bytes::Bytes;
use http::{
    HeaderMap, Method, StatusCode,
    header::{CONTENT_LOCATION, LOCATION},
};

use super::{address::WebUrl, fault::Why};

/// How many addresses an answer may name as changed.
const MAX_NAMED: usize = 8;

/// An address that is about to be asked.
#[derive(Debug, Clone, Copy)]
pub struct Hop<'a> {
    /// 0 for the address that was asked for, then one for each redirect.
    pub number: usize,
    /// The address in its one spelling.
    pub url: &'a WebUrl,
}

/// Which ports of a host the rules let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Those of the web: 80 and 443.
    WebPorts,
    /// The very port of the hop: a rule names it.
    ThisPort,
}

/// What the rules say against a hop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HopRefusal {
    /// Why not.
    pub reason: Box<str>,
}

/// The rules, as far as they are about where a request goes. Asked for every hop, before anything is
/// sent to it.
pub trait HopJudge: Sync {
    /// Whether a hop is let through.
    fn judge(&self, hop: &Hop<'_>) -> Result<Pass, HopRefusal>;
}

impl<F: Fn(&Hop<'_>) -> Result<Pass, HopRefusal> + Sync> HopJudge for F {
    fn judge(&self, hop: &Hop<'_>) -> Result<Pass, HopRefusal> {
        self(hop)
    }
}

/// What is asked next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) url: WebUrl,
    pub(super) method: Method,
    pub(super) body: Option<Bytes>,
}

impl Step {
    /// Where an answer leads on to, as browsers understand it; none where it is the answer.
    pub(super) fn after(
        &self,
        hop: usize,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, Why> {
        if !leads_on(status, headers) {
            return Ok(None);
        }
        let host = || Box::from(self.url.host());
        let mut locations = headers.get_all(LOCATION).iter();
        let (Some(location), None) = (locations.next(), locations.next()) else {
            return Err(Why::Location { host: host() });
        };
        let location = std::str::from_utf8(location.as_bytes());
        let location = location.map_err(|_| Why::Location { host: host() })?;
        let url = self.url.join(location).map_err(|cause| {
            let to = Some(self.url.shown_from(location).into());
            Why::Url { hop: hop + 1, to, cause }
        })?;
        if self.url.scheme().secure() && !url.scheme().secure() {
            return Err(Why::Downgrade { host: host(), to: url.shown().into() });
        }
        let posts = self.method == Method::POST;
        let repeats = matches!(status.as_u16(), 307 | 308);
        if posts && repeats && !self.url.same_origin(&url) {
            return Err(Why::CrossOrigin { host: host(), to: url.shown().into() });
        }
        let (method, body) = if posts && !repeats {
            (Method::GET, None)
        } else {
            (self.method.clone(), self.body.clone())
        };
        Ok(Some(Self { url, method, body }))
    }

    /// The addresses that may say something else after an answer (RFC 9111, section 4.4): where something
    /// was sent, with success, this one, and those of its origin that the answer names.
    pub(super) fn changes(&self, status: StatusCode, headers: &HeaderMap) -> Vec<WebUrl> {
        let succeeds = status.is_success() || status.is_redirection();
        if self.method != Method::POST || !succeeds {
            return Vec::new();
        }
        let named = [LOCATION, CONTENT_LOCATION];
        let named = named.iter().flat_map(|name| headers.get_all(name)).take(MAX_NAMED);
        let urls =
            named.filter_map(|to| self.url.join(std::str::from_utf8(to.as_bytes()).ok()?).ok());
        let own = urls.filter(|url| self.url.same_origin(url));
        std::iter::once(self.url.clone()).chain(own).collect()
    }
}

/// Whether an answer only says where the page is.
pub(super) fn leads_on(status: StatusCode, headers: &HeaderMap) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) && headers.contains_key(LOCATION)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn next(
        url: &str,
        method: Method,
        status: u16,
        to: &[&'static str],
    ) -> Result<Option<Step>, Why> {
        let body = (method == Method::POST).then(|| Bytes::from_static(b"body"));
        let step = Step { url: WebUrl::parse(url).unwrap(), method, body };
        let headers = to.iter().map(|to| (LOCATION, HeaderValue::from_static(to))).collect();
        step.after(0, StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn a_redirect_becomes_a_get_as_in_browsers_and_a_body_stays_at_home() {
        for (method, status, to, becomes, has_body) in [
            (Method::GET, 301, "/b", Method::GET, false),
            (Method::HEAD, 303, "/b", Method::HEAD, false),
            (Method::POST, 301, "https://b.example/", Method::GET, false),
            (Method::POST, 302, "/b", Method::GET, false),
            (Method::POST, 303, "/b", Method::GET, false),
            (Method::POST, 307, "/b", Method::POST, true),
            (Method::POST, 308, "https://a.example:443/b", Method::POST, true),
        ] {
            let step = next("https://a.example/a", method, status, &[to]).unwrap().unwrap();
            assert_eq!((step.method, step.body.is_some()), (becomes, has_body), "{status} {to}");
        }
        for to in ["https://b.example/", "https://a.example:8443/"] {
            let fault = next("https://a.example/", Method::POST, 307, &[to]).unwrap_err();
            assert!(matches!(fault, Why::CrossOrigin { .. }), "{to}: {fault}");
        }
    }

    #[test]
    fn what_was_sent_with_success_changes_its_address_and_those_of_its_origin_that_are_named() {
        let changes = |method: Method, status: u16| {
            let step =
                Step { url: WebUrl::parse("https://a.example/items").unwrap(), method, body: None };
            let named = [
                (LOCATION, "/items/1"),
                (CONTENT_LOCATION, "https://a.example:443/items/2#x"),
                (CONTENT_LOCATION, "https://b.example/items"),
                (CONTENT_LOCATION, "http://a.example/items"),
                (LOCATION, "file:///items"),
            ];
            let named = named.map(|(name, to)| (name, HeaderValue::from_static(to)));
            let status = StatusCode::from_u16(status).unwrap();
            let changed = step.changes(status, &named.into_iter().collect());
            changed.iter().map(|url| url.target().to_owned()).collect::<Vec<_>>()
        };
        for status in [200, 201, 204, 303, 307] {
            let changed = changes(Method::POST, status);
            assert_eq!(changed, ["/items", "/items/1", "/items/2"], "{status}");
        }
        for (method, status) in
            [(Method::POST, 400), (Method::POST, 500), (Method::GET, 200), (Method::HEAD, 200)]
        {
            assert!(changes(method.clone(), status).is_empty(), "{method} {status}");
        }
    }

    #[test]
    fn a_redirect_that_leads_astray_is_refused() {
        for to in ["http://a.example/", "http://b.example/", "ws://a.example/"] {
            let fault = next("https://a.example/", Method::GET, 302, &[to]).unwrap_err();
            assert!(matches!(fault, Why::Downgrade { .. }), "{to}: {fault}");
        }
        for (to, shown) in [
            ("file:///etc/passwd", "file:///etc/passwd"),
            ("gopher://a.example/", "gopher://a.example/"),
            ("//u@a.example/", "https://a.example/"),
            ("http://[::1", "an address that cannot be read"),
        ] {
            let fault = next("https://a.example/", Method::GET, 302, &[to]).unwrap_err();
            assert!(matches!(fault, Why::Url { hop: 1, .. }), "{to}: {fault}");
            let Why::Url { to: on_record, .. } = fault else { continue };
            assert_eq!(on_record.as_deref(), Some(shown), "{to}");
        }
        let fault = next("https://a.example/", Method::GET, 302, &["/a", "/b"]).unwrap_err();
        assert!(matches!(fault, Why::Location { .. }), "{fault}");
        assert!(next("https://a.example/", Method::GET, 302, &[]).unwrap().is_none());
        assert!(next("https://a.example/", Method::GET, 304, &["/a"]).unwrap().is_none());
        assert!(next("https://a.example/", Method::GET, 200, &["/a"]).unwrap().is_none());
    }
}
