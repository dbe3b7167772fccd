//! How npm's clients are told what is wrong: npm prints the `error` of a body in JSON, the header
//! `npm-notice`, and the reason phrase.

use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{ALLOW, CACHE_CONTROL},
};

use crate::registry::{answer::Answer, gate::Voice};

const NPM_NOTICE: HeaderName = HeaderName::from_static("npm-notice");

/// JSON with an `error`.
#[derive(Debug)]
pub struct Json;

impl Voice for Json {
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer {
        let line = text.split('\n').collect::<Vec<_>>().join("; ");
        let answer = json(status, &serde_json::json!({ "error": line })).because(reason);
        let refuses = [StatusCode::FORBIDDEN, StatusCode::TOO_MANY_REQUESTS].contains(&status);
        if !refuses && !status.is_server_error() {
            return answer;
        }
        let notice = answer.reason.as_deref().and_then(|reason| HeaderValue::from_str(reason).ok());
        match notice {
            Some(notice) => answer.with(NPM_NOTICE, notice),
            None => answer,
        }
    }
}

/// An answer in JSON that is not to be kept.
pub(super) fn json(status: StatusCode, body: &serde_json::Value) -> Answer {
    Answer::whole(status, "application/json", body.to_string())
        .with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// There is no such thing among what a registry has beside its packages.
pub(super) fn nothing() -> Answer {
    json(StatusCode::NOT_FOUND, &serde_json::json!({}))
}

/// Nothing is published here.
pub(super) fn read_only() -> Answer {
    let why = "packages are read-only here: publish to the registry itself";
    Json::say(StatusCode::METHOD_NOT_ALLOWED, why, why)
        .with(ALLOW, HeaderValue::from_static("GET, HEAD"))
}
