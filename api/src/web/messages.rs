//! The same, as envelopes in `MessagePack`.

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Request, StatusCode, header::CONTENT_TYPE};
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::request::{MAX_ENVELOPE_BYTES, Message, PortalError, Refused};
use weir_processors::web::portal::PortalGateway as _;

use super::requests::{caller, portal};
use crate::{
    ask,
    problem::{Problem, table::BAD_ENVELOPE},
    state::ApiState,
};

/// The media type of an envelope.
const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/msgpack");

/// The routes of envelopes.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(deliver))
}

/// Delivers an envelope
///
/// `WEB_REQUEST` (0x0700) is answered with `WEB_RESPONSE` (0x0701), which holds the response or says
/// why there is none. Whoever may not send at all gets a problem document.
#[utoipa::path(
    post, path = "/api/messages", tag = "web", operation_id = "message",
    request_body(content = Vec<u8>, content_type = "application/msgpack"),
    responses(
        (status = 200, description = "A WEB_RESPONSE", content_type = "application/msgpack", body = Vec<u8>),
        (status = 422, description = "The bytes are no envelope, or none that is answered"),
    ),
)]
async fn deliver(
    State(state): State<ApiState>,
    request: Request<Body>,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let portal = portal(&state)?;
    let bytes = ask::collect_within(&parts.headers, body, MAX_ENVELOPE_BYTES).await?;
    let bad = |words: String| Problem::new(&BAD_ENVELOPE, words);
    let message = Message::decode(&bytes).map_err(|fault| bad(fault.to_string()))?;
    let Message::Request(request) = message else {
        let words = "only WEB_REQUEST (0x0700) is answered; the others are answers";
        return Err(bad(words.to_owned()));
    };
    let caller = caller(&state, &parts, &request.agent).await?;
    let id = request.id;
    let answered = portal.handle_request(*request, &caller).await;
    let status = answered.as_ref().map_or_else(status, |_| StatusCode::OK);
    let encoded = Message::Response(Box::new(answered)).encode();
    let bytes = encoded.or_else(|fault| {
        let refused: Refused = PortalError::Internal(fault.to_string()).refused(Some(id));
        Message::Response(Box::new(Err(refused))).encode()
    });
    let bytes = bytes.map_err(|fault| bad(fault.to_string()))?;
    let mut response = (status, bytes).into_response();
    response.headers_mut().insert(CONTENT_TYPE, MEDIA_TYPE);
    Ok(response)
}

/// The status of a refusal: the same as beside a problem document.
fn status(refused: &Refused) -> StatusCode {
    super::requests::of_refused(refused).status()
}
