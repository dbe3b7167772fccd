//! Waivers of the gateway: hosts that are asked although they are blocked, and code that stays in what
//! is fetched. Each needs a second person, as the waivers of packages that are for grave things do.

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::{
    waiver::Known,
    web::waiver::{Refusal, Waivers},
};
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::{
        request::AgentId,
        rule::{Permits, WebWaiver},
    },
};

use super::go_by;
use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{
        By,
        needs::{WebRead, WebWrite},
    },
    problem::{Problem, table::WAIVER_REFUSED},
    state::ApiState,
    waivers::{self, Live, WaiverRevocation},
};

/// The routes of waivers.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list, request))
        .routes(routes!(grant))
        .routes(routes!(revoke))
}

/// Waivers that are in force or wait for a second person, the oldest first. Those of the past stand in
/// the log.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebWaivers {
    waivers: Vec<WebWaiverView>,
}

/// A waiver.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebWaiverView {
    /// Its id (UUID version 7).
    id: String,
    /// `waiting` (for a second person), `granted`, or `expired`.
    state: &'static str,
    /// What it permits: `host` or `code`.
    #[schema(value_type = String)]
    permits: Permits,
    /// The hosts it is about; none: all.
    pattern: Option<String>,
    /// The agent it is for; none: all.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// Why.
    reason: String,
    /// Who answers for it.
    owner: String,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Who asked for it.
    requested_by: String,
    /// Who said yes.
    granted_by: Option<String>,
}

impl WebWaiverView {
    fn of(known: Known<WebWaiver>, now: Timestamp) -> Self {
        let Known { waiver, requested_by, granted_by } = known;
        let WebWaiver { id, permits, pattern, agent, reason, owner, expires_at } = waiver;
        let state = match &granted_by {
            _ if expires_at <= now => "expired",
            Some(_) => "granted",
            None => "waiting",
        };
        Self {
            id,
            state,
            permits,
            pattern,
            agent,
            reason,
            owner,
            expires_at,
            requested_by,
            granted_by,
        }
    }
}

/// Lists the waivers of the gateway that are in force or wait, the oldest first
#[utoipa::path(
    get, path = "/api/web/waivers", tag = "web", operation_id = "web_waivers",
    responses((status = 200, description = "The waivers", body = WebWaivers)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<WebRead>,
    params: Params,
) -> Result<Json<WebWaivers>, Problem> {
    params.done()?;
    let (book, _) = state.door().load::<Waivers>(&waivers::stream::<Waivers>()?).await?;
    let now = state.door().now();
    let waivers = book.all().map(|known| WebWaiverView::of(known.clone(), now)).collect();
    Ok(Json(WebWaivers { waivers }))
}

/// What a waiver is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebWaiverRequest {
    /// What it permits: `host` (to be asked although it is blocked) or `code` (to stay in what is
    /// fetched).
    #[schema(value_type = String)]
    permits: Permits,
    /// The hosts it is about, by a pattern as a rule that allows has it.
    pattern: Option<String>,
    /// The one agent that may have code; hosts are for all agents.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// Why: 1 to 300 characters.
    reason: String,
    /// Who answers for it: 1 to 300 characters.
    owner: String,
    /// When it ends (RFC 3339), within 366 days. Either this or `days`.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// In how many days it ends.
    days: Option<u16>,
}

impl WebWaiverRequest {
    fn under(self, id: String, now: Timestamp) -> Result<WebWaiver, Problem> {
        let Self { permits, pattern, agent, reason, owner, expires_at, days } = self;
        let expires_at = waivers::end(expires_at, days, now)?;
        Ok(WebWaiver { id, permits, pattern, agent, reason, owner, expires_at })
    }
}

/// Asks for a waiver, which then waits for a second person
#[utoipa::path(
    post, path = "/api/web/waivers", tag = "web", operation_id = "request_web_waiver",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = WebWaiverRequest,
    responses(
        (status = 201, description = "The waiver, waiting for a second person", body = WebWaiverView),
        (status = 422, description = "The waiver makes no sense"),
    ),
)]
async fn request(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<WebWrite, WebWaiverRequest>,
) -> Result<Done<WebWaiverView>, Problem> {
    let now = state.door().now();
    let waiver = body.under(state.door().new_id().to_string(), now)?;
    let (executed, known) = waivers::request::<Waivers>(&state, waiver, true, &caller, key).await?;
    Ok(Done::of(&executed, StatusCode::CREATED, WebWaiverView::of(known, now)))
}

/// Grants what somebody else asked for
#[utoipa::path(
    post, path = "/api/web/waivers/{id}/grant", tag = "web", operation_id = "grant_web_waiver",
    params(
        ("id" = String, Path, description = "The waiver"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is in force on this instance"),
        (status = 404, description = "Nothing waits under this id"),
        (status = 409, description = "Who asked for it cannot grant it"),
    ),
)]
async fn grant(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<WebWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    waivers::grant::<Waivers, _>(&state, id, ask).await
}

/// Takes a waiver back, or says no to one that waits
#[utoipa::path(
    post, path = "/api/web/waivers/{id}/revoke", tag = "web", operation_id = "revoke_web_waiver",
    params(
        ("id" = String, Path, description = "The waiver"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = WaiverRevocation,
    responses(
        (status = 204, description = "It is in force no more, and will not be"),
        (status = 404, description = "Nothing is in force or waits under this id"),
        (status = 422, description = "The reason is none"),
    ),
)]
async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<WebWrite, WaiverRevocation>,
) -> Result<Done<()>, Problem> {
    waivers::revoke::<Waivers, _>(&state, id, ask).await
}

impl Live for Waivers {
    async fn go_by(state: &ApiState, position: Position) -> Result<(), Problem> {
        go_by(state, position).await
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        let field = match refusal {
            Refusal::Any(refusal) => return refusal.into(),
            Refusal::BadPattern { .. } | Refusal::EveryHost => "pattern",
            Refusal::OneAgent | Refusal::Everybody => "agent",
        };
        Self::of_field(&WAIVER_REFUSED, field, words)
    }
}
