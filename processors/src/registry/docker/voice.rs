//! How clients of container images are told what is wrong: JSON with `errors`, whose codes are a
//! closed set. skopeo and docker print the message.

use http::{HeaderName, HeaderValue, StatusCode, header::CACHE_CONTROL};
use serde_json::json;

use crate::registry::{answer::Answer, gate::Voice};

/// Says which protocol is spoken; older clients look for it.
const VERSION: HeaderName = HeaderName::from_static("docker-distribution-api-version");

/// JSON with `errors`.
#[derive(Debug)]
pub struct Errors;

impl Voice for Errors {
    fn say(status: StatusCode, text: &str, reason: &str) -> Answer {
        let code = match status.as_u16() {
            401 => "UNAUTHORIZED",
            403 => "DENIED",
            404 => "NAME_UNKNOWN",
            400 => "NAME_INVALID",
            429 => "TOOMANYREQUESTS",
            405 | 416 | 501 => "UNSUPPORTED",
            _ => "UNKNOWN",
        };
        error(status, code, text).because(reason)
    }
}

/// An answer with one error of this code.
pub(super) fn error(status: StatusCode, code: &str, text: &str) -> Answer {
    let message = text.split('\n').collect::<Vec<_>>().join("; ");
    let body = json!({ "errors": [{ "code": code, "message": message, "detail": null }] });
    versioned(Answer::whole(status, "application/json", body.to_string()))
        .with(CACHE_CONTROL, HeaderValue::from_static("no-store"))
}

/// The same answer, which says which protocol is spoken.
pub(super) fn versioned(answer: Answer) -> Answer {
    answer.with(VERSION, HeaderValue::from_static("registry/2.0"))
}
