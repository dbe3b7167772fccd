//! What a browser may do with the cookie it sends by itself: nothing that another site made it do.

use http::{
    HeaderMap, HeaderName, Method,
    header::{CONTENT_TYPE, HOST, ORIGIN},
};

use crate::problem::{Problem, table::CROSS_SITE};

const CSRF: HeaderName = HeaderName::from_static("x-weir-csrf");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether the browser, if it is one, says that the request comes from our own pages or from the
/// person at it.
pub(crate) fn same_site(headers: &HeaderMap) -> bool {
    let mut said = headers.get_all(SEC_FETCH_SITE).iter();
    said.all(|site| site == "same-origin" || site == "none")
}

/// Whether `origin` is the host that the request was sent to; `None` where the request names no
/// origin.
fn from_our_pages(headers: &HeaderMap) -> Option<bool> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (origin, None) = (origins.next()?, origins.next()) else { return Some(false) };
    let origin = origin.to_str().ok();
    let origin = origin.and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    Some(origin.zip(host).is_some_and(|(origin, host)| origin.eq_ignore_ascii_case(host)))
}

/// Checks a request that counts on its cookie.
pub(crate) fn check(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if !same_site(headers) {
        return Err(Problem::new(&CROSS_SITE, "another site made the browser send this"));
    }
    if method == Method::GET || method == Method::HEAD {
        return Ok(());
    }
    // Browsers say `sec-fetch-site` on secure connections and to loopback only; `origin` always.
    // Where both are there, they agree.
    let ours = from_our_pages(headers);
    if !ours.unwrap_or_else(|| headers.contains_key(SEC_FETCH_SITE)) {
        let detail = "`origin` is missing, or is not the `host` that this was sent to; a proxy in \
                      front of this Weir must hand `host` on";
        return Err(Problem::new(&CROSS_SITE, detail));
    }
    if headers.get(CSRF).is_none_or(|value| value != "1") {
        return Err(Problem::new(&CROSS_SITE, "the header `x-weir-csrf: 1` is missing"));
    }
    if !is_json(headers) {
        return Err(Problem::new(&CROSS_SITE, "`content-type: application/json` is missing"));
    }
    Ok(())
}

/// Checks a request that makes a browser somebody's: another site must not sign its visitors in as
/// somebody else. A program that names no origin signs in nobody but itself.
pub(crate) fn check_sign_in(headers: &HeaderMap) -> Result<(), Problem> {
    let known = headers.contains_key(SEC_FETCH_SITE);
    let ours = if known { same_site(headers) } else { from_our_pages(headers).unwrap_or(true) };
    if ours {
        return Ok(());
    }
    Err(Problem::new(&CROSS_SITE, "another site made the browser send this"))
}

/// Whether the body says that it is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: &Method, lines: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, value.parse().unwrap());
        }
        check(method, &map).is_ok()
    }

    const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");
    const MARK: (&str, &str) = ("x-weir-csrf", "1");

    const HERE: (&str, &str) = ("host", "weir.example:7400");
    const OURS: (&str, &str) = ("sec-fetch-site", "same-origin");

    #[test]
    fn a_change_by_cookie_needs_what_a_form_cannot_send() {
        assert!(allowed(&Method::POST, &[OURS, JSON, MARK]));
        assert!(!allowed(&Method::POST, &[OURS, JSON]));
        let (evil, good) =
            (("origin", "http://evil.example"), ("origin", "http://weir.example:7400"));
        assert!(allowed(&Method::POST, &[OURS, HERE, good, JSON, MARK]));
        assert!(!allowed(&Method::POST, &[OURS, HERE, evil, JSON, MARK]));
        assert!(!allowed(&Method::POST, &[HERE, good, evil, JSON, MARK]));
        let other = ("sec-fetch-site", "cross-site");
        assert!(!allowed(&Method::POST, &[OURS, other, HERE, good, JSON, MARK]));
        assert!(!allowed(&Method::POST, &[OURS, MARK]));
        assert!(!allowed(&Method::DELETE, &[OURS, MARK, ("content-type", "text/plain")]));
        assert!(!allowed(&Method::PUT, &[OURS, JSON, ("x-weir-csrf", "0")]));
        assert!(allowed(&Method::GET, &[]));
    }

    #[test]
    fn where_the_browser_does_not_say_which_site_the_origin_must_be_the_host() {
        for (origin, good) in [
            ("http://weir.example:7400", true),
            ("https://WEIR.example:7400", true),
            ("http://weir.example", false),
            ("http://weir.example:7400.evil.example", false),
            ("http://evil.example", false),
            ("null", false),
            ("weir.example:7400", false),
        ] {
            let said = [HERE, ("origin", origin), JSON, MARK];
            assert_eq!(allowed(&Method::POST, &said), good, "{origin}");
        }
        assert!(!allowed(&Method::POST, &[HERE, JSON, MARK]), "neither is said");
        assert!(!allowed(&Method::POST, &[("origin", "http://weir.example:7400"), JSON, MARK]));
    }

    #[test]
    fn no_other_site_signs_a_browser_in_and_a_program_signs_itself_in() {
        let signs_in = |lines: &[(&'static str, &str)]| {
            let map = lines.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap()));
            check_sign_in(&map.collect::<HeaderMap>()).is_ok()
        };
        assert!(signs_in(&[HERE]) && signs_in(&[OURS]));
        assert!(signs_in(&[HERE, ("origin", "http://weir.example:7400")]));
        assert!(!signs_in(&[HERE, ("origin", "http://evil.example")]));
        assert!(!signs_in(&[("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn what_the_browser_says_of_other_sites_is_heeded_even_for_reading() {
        for (site, good) in
            [("same-origin", true), ("none", true), ("same-site", false), ("cross-site", false)]
        {
            let site = ("sec-fetch-site", site);
            assert_eq!(allowed(&Method::GET, &[site]), good, "{site:?}");
            assert_eq!(allowed(&Method::POST, &[site, JSON, MARK]), good, "{site:?}");
        }
    }
}
