//! What stands around every route: the request's id, bounds, panics, problem documents, the log's
//! position, and one line in the server's log.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
};
use tracing::{debug, error};
use uuid::Uuid;

use crate::{
    answer::WEIR_POSITION,
    problem::{
        Problem,
        table::{self, INTERNAL, TIMED_OUT, URI_TOO_LONG},
    },
    state::ApiState,
};

/// The id of a request: the caller's own, where it sent one that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id taken from a caller.
const MAX_ID_BYTES: usize = 64;

/// The longest address, in bytes.
const MAX_URI_BYTES: usize = 8 << 10;

/// How long the answer of a JSON route may take to begin.
const PATIENCE: Duration = Duration::from_secs(30);

/// Around everything.
pub(crate) async fn around(
    State(state): State<ApiState>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = RequestId::of(request.headers(), || state.door().new_id());
    request.extensions_mut().insert(id.clone());
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let n_bytes = request.uri().path_and_query().map_or(0, |address| address.as_str().len());

    let mut answer = if n_bytes > MAX_URI_BYTES {
        let detail = format!("an address has at most {MAX_URI_BYTES} bytes");
        Problem::new(&URI_TOO_LONG, detail).into_response()
    } else {
        caught(next.run(request), &path).await
    };
    if path.starts_with("/api/") || answer.extensions().get::<Arc<Problem>>().is_some() {
        answer = as_problem(answer, &id);
    }
    finish(answer.headers_mut(), &id, &path, || state.log().head().0);
    debug!(
        %method,
        path,
        status = answer.status().as_u16(),
        request_id = &*id.0,
        duration_ms = began.elapsed().as_secs_f64() * 1_000.0,
        "answered"
    );
    answer
}

/// Around JSON routes: their answers begin in time.
pub(crate) async fn in_time(request: Request, next: Next) -> Response {
    let Ok(answer) = tokio::time::timeout(PATIENCE, next.run(request)).await else {
        let detail = format!("no answer within {} s", PATIENCE.as_secs());
        return Problem::new(&TIMED_OUT, detail).retry_after(1).into_response();
    };
    answer
}

impl RequestId {
    fn of(headers: &HeaderMap, fresh: impl FnOnce() -> Uuid) -> Self {
        let usable = |id: &&str| {
            !id.is_empty()
                && id.len() <= MAX_ID_BYTES
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let sent = headers.get(X_REQUEST_ID).and_then(|id| id.to_str().ok()).filter(usable);
        Self(sent.map_or_else(|| fresh().to_string().into(), Into::into))
    }
}

/// A handler that panics is a fault of ours, not the end of the connection.
async fn caught(answer: impl Future<Output = Response>, path: &str) -> Response {
    match AssertUnwindSafe(answer).catch_unwind().await {
        Ok(answer) => answer,
        Err(panic) => {
            let said = panic.downcast_ref::<&str>().copied();
            let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            error!(path, panic = said.unwrap_or("no words"), "a handler panicked");
            Problem::new(&INTERNAL, "something broke inside; the server's log says more")
                .into_response()
        }
    }
}

/// Writes a problem's document with the request's id; makes one where a refusal has none.
fn as_problem(answer: Response, id: &RequestId) -> Response {
    let status = answer.status();
    if let Some(problem) = answer.extensions().get::<Arc<Problem>>() {
        return problem.answer(Some(&id.0));
    }
    // An envelope says itself why.
    let says_itself =
        answer.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/msgpack");
    if says_itself || !(status.is_client_error() || status.is_server_error()) {
        return answer;
    }
    let detail = match status {
        StatusCode::NOT_FOUND => "no resource has this address",
        StatusCode::METHOD_NOT_ALLOWED => "this resource does not have this method",
        _ => status.canonical_reason().unwrap_or("the request was refused"),
    };
    let mut document = Problem::new(table::of_status(status), detail).answer(Some(&id.0));
    let (parts, _empty) = answer.into_parts();
    for (name, value) in &parts.headers {
        if ![CONTENT_TYPE, CONTENT_LENGTH].contains(name) {
            document.headers_mut().insert(name, value.clone());
        }
    }
    document
}

fn finish(headers: &mut HeaderMap, id: &RequestId, path: &str, head: impl FnOnce() -> i64) {
    if let Ok(id) = HeaderValue::from_str(&id.0) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.entry(WEIR_POSITION).or_insert_with(|| head().into());
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if path.starts_with("/api/") {
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, routing::post};
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    fn id() -> RequestId {
        RequestId("r-1".into())
    }

    async fn document(answer: Response) -> serde_json::Value {
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    #[test]
    fn a_callers_id_is_taken_when_it_can_stand_in_a_log() {
        let of = |sent: &str| {
            let headers = HeaderMap::from_iter([(X_REQUEST_ID, sent.parse().unwrap())]);
            RequestId::of(&headers, Uuid::nil).0
        };
        assert_eq!(&*of("req-7.a_B"), "req-7.a_B");
        for bad in ["", "a b", "x\"y", &"x".repeat(65)] {
            assert_eq!(&*of(bad), Uuid::nil().to_string(), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_refusal_without_a_document_gets_one_and_keeps_its_headers() {
        let router = Router::new().route("/api/x", post(async || "")).with_state(());
        let get = Request::builder().uri("/api/x").body(Body::empty()).unwrap();
        let answer = as_problem(router.oneshot(get).await.unwrap(), &id());
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.headers()["allow"], "POST");
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/problem+json");
        let document = document(answer).await;
        assert_eq!(document["code"], "method_not_allowed");
        assert_eq!(document["request_id"], "r-1");
    }

    #[tokio::test]
    async fn a_problem_is_written_with_the_id_of_its_request() {
        let problem = Problem::new(&table::BUSY, "busy").retry_after(3).into_response();
        let answer = as_problem(problem, &id());
        assert_eq!(answer.headers()["retry-after"], "3");
        assert_eq!(document(answer).await["request_id"], "r-1");
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_and_says_nothing_of_itself() {
        let answer = caught(async { panic!("secret {}", 7) }, "/api/x").await;
        assert_eq!(answer.status(), 500);
        let document = document(as_problem(answer, &id())).await;
        assert_eq!(document["code"], "internal");
        assert!(!document.to_string().contains("secret"), "{document}");
    }

    #[test]
    fn every_answer_carries_the_position_but_a_commands_own_goes_before() {
        let mut headers = HeaderMap::new();
        finish(&mut headers, &id(), "/api/events", || 9);
        assert_eq!(headers[WEIR_POSITION], "9");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        headers.insert(WEIR_POSITION, 7.into());
        finish(&mut headers, &id(), "/pypi/simple/", || 9);
        assert_eq!(headers[WEIR_POSITION], "7");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_begin_in_time_is_given_up() {
        let router = Router::new()
            .route("/api/x", post(async || std::future::pending::<()>().await))
            .layer(axum::middleware::from_fn(in_time));
        let asked = Request::builder().method("POST").uri("/api/x").body(Body::empty()).unwrap();
        let answer = router.oneshot(asked).await.unwrap();
        assert_eq!(answer.status(), 503);
        assert_eq!(answer.headers()["retry-after"], "1");
    }
}
