//! The OpenAPI document, made from the handlers themselves and served at `/api/openapi.json`.

use std::sync::Arc;

use axum::{
    extract::Extension,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, header::CONTENT_TYPE};
use utoipa::{
    Modify, OpenApi, ToSchema,
    openapi::{
        Content, Ref, RefOr, ResponseBuilder,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

/// The media type of a problem document.
const PROBLEM: &str = "application/problem+json";

/// The frame of the document; the paths come from the routers.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Weir",
        description = "One audited door between your agents and the outside. Every error is a problem document (RFC 9457) whose `type` leads to an explanation; every answer carries `weir-position`; every command takes `idempotency-key`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
        contact()
    ),
    components(schemas(EventDoc, MetaDoc, crate::problem::ProblemView<'static>, crate::wait::MinPosition)),
    security(("bearer" = []), ("basic" = []), ("cookie" = [])),
    modifiers(&Schemes)
)]
pub struct Frame;

/// The ways in.
struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let http = |scheme| SecurityScheme::Http(HttpBuilder::new().scheme(scheme).build());
        components.add_security_scheme("bearer", http(HttpAuthScheme::Bearer));
        components.add_security_scheme("basic", http(HttpAuthScheme::Basic));
        let cookie = ApiKey::Cookie(ApiKeyValue::new("weir_session"));
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(cookie));
    }
}

/// Adds what every operation may answer instead: a problem.
pub(crate) fn with_problems(mut document: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    let schema = Ref::from_schema_name("Problem");
    let content = Content::new(Some(schema));
    let any = ResponseBuilder::new()
        .description("What came in between: a problem document")
        .content(PROBLEM, content.clone())
        .build();
    for path in document.paths.paths.values_mut() {
        for operation in [&mut path.get, &mut path.put, &mut path.post, &mut path.delete] {
            let Some(operation) = operation else { continue };
            for (status, response) in &mut operation.responses.responses {
                if let RefOr::T(response) = response
                    && response.content.is_empty()
                    && status.starts_with(['4', '5'])
                {
                    response.content.insert(PROBLEM.to_owned(), RefOr::T(content.clone()));
                }
            }
            let responses = &mut operation.responses.responses;
            responses.insert("default".to_owned(), RefOr::T(any.clone()));
        }
    }
    document
}

/// An event, as it is shown.
#[derive(ToSchema)]
#[schema(as = Event)]
#[expect(
    dead_code,
    reason = "describes `weir_events::envelope::EventView`, which knows no OpenAPI"
)]
pub struct EventDoc {
    /// Its place in the total order.
    position: i64,
    /// The stream it belongs to.
    stream: String,
    /// Its place in that stream.
    version: i64,
    /// The name of its kind, or its code in hexadecimal where this build does not know it.
    kind: String,
    /// The code of its kind.
    kind_code: i32,
    /// The subsystem whose range holds its kind.
    subsystem: Option<String>,
    /// The schema version of the stored payload.
    schema: i16,
    /// When it was appended.
    #[schema(format = DateTime)]
    recorded_at: String,
    /// Who caused it, in answer to what.
    meta: Option<MetaDoc>,
    /// The payload in today's schema.
    #[schema(value_type = Object)]
    payload: serde_json::Value,
    /// Why payload or meta could not be read; absent otherwise.
    #[schema(required = false)]
    undecodable: Option<String>,
    /// The leaf hash, hexadecimal.
    hash: String,
}

/// Who caused an event, in answer to what.
#[derive(ToSchema)]
#[schema(as = Meta)]
#[expect(dead_code, reason = "describes `weir_events::envelope::Meta`, which knows no OpenAPI")]
pub struct MetaDoc {
    /// The event's own id.
    event_id: uuid::Uuid,
    /// Who caused it: a canonical actor path.
    actor: String,
    /// The id shared by everything that one first cause set off.
    correlation_id: uuid::Uuid,
    /// The event this one answers to.
    causation_id: Option<uuid::Uuid>,
    /// The command that was judged.
    command_id: uuid::Uuid,
    /// In whose name.
    principal: String,
    /// W3C trace context of the command.
    traceparent: Option<String>,
}

/// The document as it is sent.
#[derive(Debug, Clone)]
pub(crate) struct Document(Arc<Bytes>);

impl Document {
    pub(crate) fn new(document: &utoipa::openapi::OpenApi) -> Self {
        // A tree of maps and strings can always be written.
        Self(Arc::new(serde_json::to_vec(document).unwrap_or_default().into()))
    }
}

/// Sends the document.
pub(crate) async fn show(Extension(document): Extension<Document>) -> Response {
    let mut answer = Bytes::clone(&document.0).into_response();
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    /// What is referred to in a part of the document.
    fn references<'a>(part: &'a Value, found: &mut Vec<&'a str>) {
        match part {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str));
                members.values().for_each(|part| references(part, found));
            }
            Value::Array(parts) => parts.iter().for_each(|part| references(part, found)),
            _ => {}
        }
    }

    #[test]
    fn whatever_is_referred_to_is_there() {
        let document = serde_json::to_value(crate::router::document()).unwrap();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 100, "{}", found.len());
        for reference in found {
            let there = reference.strip_prefix('#').and_then(|path| document.pointer(path));
            assert!(there.is_some(), "{reference}");
        }
    }

    #[test]
    fn the_document_in_the_repository_is_the_one_that_is_served() {
        let mut served = serde_json::to_string_pretty(&crate::router::document()).unwrap();
        served.push('\n');
        let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json"));
        if kept.is_ok_and(|kept| kept == served) {
            return;
        }
        let fresh = std::env::temp_dir().join("weir-openapi.json");
        std::fs::write(&fresh, served).unwrap();
        panic!("the API has changed: look at {} and copy it to api/openapi.json", fresh.display());
    }

    #[test]
    fn every_operation_has_a_summary_a_tag_and_answers() {
        let document = serde_json::to_value(crate::router::document()).unwrap();
        assert!(
            document["openapi"].as_str().unwrap().starts_with("3.1"),
            "{}",
            document["openapi"]
        );
        assert_eq!(document["info"]["license"]["identifier"], "Apache-2.0");
        let paths = document["paths"].as_object().unwrap();
        assert!(paths.len() >= 15, "{}", paths.len());
        let mut ids = std::collections::HashSet::new();
        for (path, operations) in paths {
            for (method, operation) in operations.as_object().unwrap() {
                assert!(operation["summary"].is_string(), "{method} {path}");
                let id = operation["operationId"].as_str().unwrap();
                assert!(ids.insert(id), "{method} {path}: another is called {id}");
                assert!(operation["tags"][0].is_string(), "{method} {path}");
                assert!(!operation["responses"].as_object().unwrap().is_empty(), "{method} {path}");
            }
        }
    }
}
