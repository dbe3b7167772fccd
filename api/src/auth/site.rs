//! What a browser may do with the cookie it sends by itself: nothing that another site made it do.

use http::{HeaderMap, HeaderName, Method, header::CONTENT_TYPE};

use crate::problem::{Problem, table::CROSS_SITE};

const CSRF: HeaderName = HeaderName::from_static("x-weir-csrf");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether the browser, if it is one, says that the request comes from our own pages or from the
/// person at it.
pub(crate) fn same_site(headers: &HeaderMap) -> bool {
    headers.get(SEC_FETCH_SITE).is_none_or(|site| site == "same-origin" || site == "none")
}

/// Checks a request that counts on its cookie.
pub(crate) fn check(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    if !same_site(headers) {
        return Err(Problem::new(&CROSS_SITE, "another site made the browser send this"));
    }
    if method == Method::GET || method == Method::HEAD {
        return Ok(());
    }
    if headers.get(CSRF).is_none_or(|value| value != "1") {
        return Err(Problem::new(&CROSS_SITE, "the header `x-weir-csrf: 1` is missing"));
    }
    if !is_json(headers) {
        return Err(Problem::new(&CROSS_SITE, "`content-type: application/json` is missing"));
    }
    Ok(())
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

    #[test]
    fn a_change_by_cookie_needs_what_a_form_cannot_send() {
        assert!(allowed(&Method::POST, &[JSON, MARK]));
        assert!(!allowed(&Method::POST, &[JSON]));
        assert!(!allowed(&Method::POST, &[MARK]));
        assert!(!allowed(&Method::DELETE, &[MARK, ("content-type", "text/plain")]));
        assert!(!allowed(&Method::PUT, &[JSON, ("x-weir-csrf", "0")]));
        assert!(allowed(&Method::GET, &[]));
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
