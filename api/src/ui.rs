//! The web UI: the built files of `api/ui/dist`, inside the binary.
//!
//! Names in `assets/` carry their content's hash and never change; everything else is asked for
//! again each time. A missing asset is missing: an answer of HTML would break the page that asked.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{
    HeaderMap, HeaderValue, Method, StatusCode, Uri,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH,
        REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
    },
};

use crate::problem::{Problem, table::NOT_FOUND};

const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
    img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; \
    frame-ancestors 'none'";

/// The page that all routes of the UI begin with.
const INDEX: &str = "index.html";

#[cfg(feature = "ui")]
#[derive(rust_embed::RustEmbed)]
#[folder = "ui/dist"]
#[allow_missing = true]
struct Dist;

/// A built file.
struct File {
    bytes: std::borrow::Cow<'static, [u8]>,
    hash: [u8; 32],
}

#[cfg(feature = "ui")]
fn file(name: &str) -> Option<File> {
    let file = Dist::get(name)?;
    Some(File { hash: file.metadata.sha256_hash(), bytes: file.data })
}

#[cfg(not(feature = "ui"))]
const fn file(_: &str) -> Option<File> {
    None
}

/// Answers what no other route does.
pub(crate) async fn show(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return Problem::new(&NOT_FOUND, "no resource has this address").into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return answer;
    }
    // The UI's routes are one segment deep, because its build is relative.
    let name = if path.contains('/') || file(path).is_some() { path } else { INDEX };
    match file(name) {
        Some(found) => send(name, found, &headers),
        None if name == INDEX => plain(
            StatusCode::NOT_FOUND,
            "this build of Weir has no web UI; the API is at /api, described by /api/openapi.json\n",
        ),
        None => plain(StatusCode::NOT_FOUND, "there is nothing here\n"),
    }
}

fn plain(status: StatusCode, words: &'static str) -> Response {
    let mut answer = (status, words).into_response();
    secure(answer.headers_mut());
    answer
}

fn send(name: &str, file: File, headers: &HeaderMap) -> Response {
    let tag = format!("\"{}\"", hex::encode(file.hash));
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let unchanged = known
        .is_some_and(|known| known.split(',').any(|k| k.trim().trim_start_matches("W/") == tag));
    let (status, body) = if unchanged {
        (StatusCode::NOT_MODIFIED, Body::empty())
    } else {
        (StatusCode::OK, Body::from(file.bytes.into_owned()))
    };
    let mut answer = (status, body).into_response();
    let into = answer.headers_mut();
    into.insert(CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    let kept = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    into.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        into.insert(ETAG, tag);
    }
    secure(into);
    answer
}

fn secure(headers: &mut HeaderMap) {
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("json") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        Some("ico") => "image/x-icon",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn get(path: &'static str, headers: HeaderMap) -> Response {
        show(Method::GET, Uri::from_static(path), headers).await
    }

    #[tokio::test]
    async fn what_is_not_of_the_ui_is_not_answered_with_its_page() {
        for missing in ["/assets/gone-12345678.js", "/a/b", "/projections/assets/x.js"] {
            let answer = get(missing, HeaderMap::new()).await;
            assert_eq!(answer.status(), 404, "{missing}");
            assert_eq!(answer.headers()[CONTENT_SECURITY_POLICY], POLICY);
        }
        let api = get("/api/nonsense", HeaderMap::new()).await;
        assert_eq!(api.status(), 404);
        assert_eq!(api.headers()[CONTENT_TYPE], "application/problem+json");
        let post = show(Method::POST, Uri::from_static("/"), HeaderMap::new()).await;
        assert_eq!(
            (post.status().as_u16(), &post.headers()[ALLOW]),
            (405, &"GET, HEAD".parse().unwrap())
        );
    }

    #[test]
    fn a_file_is_sent_once_and_then_known_by_its_tag() {
        let page = || File { bytes: b"<!doctype html>".as_slice().into(), hash: [0xab; 32] };
        let first = send(INDEX, page(), &HeaderMap::new());
        assert_eq!(first.status(), 200);
        assert_eq!(first.headers()[CACHE_CONTROL], "no-cache");
        assert_eq!(first.headers()[X_FRAME_OPTIONS], "DENY");
        let known = HeaderMap::from_iter([(IF_NONE_MATCH, first.headers()[ETAG].clone())]);
        assert_eq!(send(INDEX, page(), &known).status(), 304);
        let asset = send("assets/index-12345678.js", page(), &HeaderMap::new());
        assert_eq!(asset.headers()[CACHE_CONTROL], "public, max-age=31536000, immutable");
        assert_eq!(asset.headers()[CONTENT_TYPE], "text/javascript; charset=utf-8");
    }

    #[cfg(feature = "ui")]
    #[tokio::test]
    async fn routes_of_the_ui_begin_with_its_page() {
        // Not built yet is a state of the working tree, not of this code.
        if file(INDEX).is_none() {
            return;
        }
        for route in ["/", "/projections", "/index.html"] {
            let answer = get(route, HeaderMap::new()).await;
            assert_eq!(answer.status(), 200, "{route}");
            assert_eq!(answer.headers()[CONTENT_TYPE], "text/html; charset=utf-8");
        }
    }
}
