//! Problem documents (RFC 9457): every "no" of the API has one form, a stable code, and a page that
//! says what to do about it.

mod faults;
pub mod table;

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) use self::faults::chain;
use self::table::ProblemType;

/// The media type of a problem document.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/problem+json");

/// Why a request came to nothing.
#[derive(Debug, Clone)]
pub struct Problem {
    kind: &'static ProblemType,
    detail: String,
    errors: Vec<FieldError>,
    retry_after: Option<u64>,
    wire_code: Option<u16>,
}

/// What is wrong with one field or parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// The field of the body, or the parameter.
    pub field: String,
    /// What is wrong with it.
    pub detail: String,
}

/// The document itself.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemView<'a> {
    /// Where this type of problem is explained.
    r#type: String,
    /// What type of problem it is, for people.
    title: &'a str,
    /// The status.
    status: u16,
    /// What happened this time, and what to do about it.
    detail: &'a str,
    /// What type of problem it is, for programs. Never renamed.
    code: &'a str,
    /// What is wrong with the request, field by field.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [FieldError],
    /// The number that the web gateway's messages have for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    wire_code: Option<u16>,
    /// The request, as the server's own log names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl Problem {
    /// A problem of a type, in words of this time.
    pub fn new(kind: &'static ProblemType, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), retry_after: None, wire_code: None }
    }

    /// A problem with one field or parameter.
    pub fn of_field(
        kind: &'static ProblemType,
        field: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let error = FieldError { field: field.into(), detail: detail.into() };
        let detail = format!("{}: {}", error.field, error.detail);
        Self { errors: vec![error], ..Self::new(kind, detail) }
    }

    /// The same problem, with when it makes sense to try again.
    #[must_use]
    pub const fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// The same problem, with the number that the gateway's messages have for it.
    #[must_use]
    pub const fn wire_code(mut self, code: u16) -> Self {
        self.wire_code = Some(code);
        self
    }

    /// Its type.
    pub const fn kind(&self) -> &'static ProblemType {
        self.kind
    }

    /// Its status.
    pub const fn status(&self) -> StatusCode {
        self.kind.status
    }

    /// What happened this time.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Seconds until it makes sense to try again, where that is known.
    pub const fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after
    }

    /// The document.
    pub fn view<'a>(&'a self, request_id: Option<&'a str>) -> ProblemView<'a> {
        ProblemView {
            r#type: format!("/problems/{}", self.kind.code),
            title: self.kind.title,
            status: self.kind.status.as_u16(),
            detail: &self.detail,
            code: self.kind.code,
            errors: &self.errors,
            wire_code: self.wire_code,
            request_id,
        }
    }

    /// The answer, for the request of this id.
    pub fn answer(&self, request_id: Option<&str>) -> Response {
        // A document of strings and numbers can always be written.
        let body = serde_json::to_vec(&self.view(request_id)).unwrap_or_default();
        let mut answer = (self.kind.status, body).into_response();
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, MEDIA_TYPE);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.status() == StatusCode::PAYLOAD_TOO_LARGE {
            // The rest of the body is not read: who sends on over this connection is cut off.
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.kind.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"weir\""));
        }
        answer
    }
}

impl IntoResponse for Problem {
    /// The answer without the request's id; [`crate::outer`] writes it again with it.
    fn into_response(self) -> Response {
        let mut answer = self.answer(None);
        answer.extensions_mut().insert(Arc::new(self));
        answer
    }
}

/// Explains a type of problem: `GET /problems/{code}`.
pub(crate) async fn page(
    axum::extract::Path(code): axum::extract::Path<String>,
) -> Result<String, Problem> {
    let unknown = || Problem::new(&table::NOT_FOUND, "no problem of this version is called that");
    let kind = table::find(&code).ok_or_else(unknown)?;
    Ok(format!("{} ({}, {})\n\n{}\n", kind.title, kind.code, kind.status.as_u16(), kind.doc))
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, fmt::Write as _};

    use super::*;

    #[test]
    fn codes_are_unique_and_every_type_says_what_to_do() {
        let codes: HashSet<_> = table::TABLE.iter().map(|kind| kind.code).collect();
        assert_eq!(codes.len(), table::TABLE.len());
        for kind in table::TABLE {
            assert!(
                kind.code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{}",
                kind.code
            );
            assert!(kind.doc.len() > 40, "{} is not explained", kind.code);
            assert!(kind.status.is_client_error() || kind.status.is_server_error());
        }
    }

    #[test]
    fn the_table_of_problems_is_a_promise() {
        let mut lines = String::new();
        for kind in table::TABLE {
            writeln!(lines, "{} {} {}", kind.status.as_u16(), kind.code, kind.title).unwrap();
        }
        insta::assert_snapshot!(lines);
    }

    #[test]
    fn a_document_has_every_member_of_the_contract() {
        let problem = Problem::of_field(&table::BAD_PARAMETER, "limit", "`x` is no number");
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&problem.view(Some("0193"))).unwrap(),
            @r#"
        {
          "type": "/problems/bad_parameter",
          "title": "A parameter cannot be read",
          "status": 400,
          "detail": "limit: `x` is no number",
          "code": "bad_parameter",
          "errors": [
            {
              "field": "limit",
              "detail": "`x` is no number"
            }
          ],
          "request_id": "0193"
        }
        "#
        );
    }

    #[test]
    fn an_answer_says_when_to_come_back_and_how_to_come_in() {
        let busy = Problem::new(&table::BUSY, "busy").retry_after(2).answer(None);
        assert_eq!(busy.status(), 503);
        assert_eq!(busy.headers()[RETRY_AFTER], "2");
        assert_eq!(busy.headers()[CONTENT_TYPE], "application/problem+json");
        let huge = Problem::new(&table::BODY_TOO_LARGE, "too large").answer(None);
        assert_eq!(huge.headers()[CONNECTION], "close");
        let stranger = Problem::new(&table::UNAUTHENTICATED, "no token").into_response();
        assert_eq!(stranger.headers()[WWW_AUTHENTICATE], "Bearer realm=\"weir\"");
        assert!(stranger.extensions().get::<Arc<Problem>>().is_some());
    }

    #[tokio::test]
    async fn every_type_has_a_page_and_nothing_else_has() {
        for kind in table::TABLE {
            let page = page(axum::extract::Path(kind.code.to_owned())).await.unwrap();
            assert!(page.contains(kind.doc), "{page}");
        }
        let unknown = page(axum::extract::Path("nonsense".to_owned())).await.unwrap_err();
        assert_eq!(unknown.status(), 404);
    }
}
