//! Blocked requests that a human is asked about.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::{Path, Request, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::web::approval::{Command, Refusal};
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::{
        approval::{ApprovalWord, Said},
        request::{Hash256, PortalRequest},
    },
};
use weir_projections::web::approvals::{self, AnswerRow, ApprovalRow, Asked};

use super::{
    requests::{MAX_REQUEST_BYTES, caller, of_refused, portal},
    whose,
};
use crate::{
    answer::Done,
    ask::{self, Ask, Params},
    auth::{
        By,
        needs::{WebRead, WebWrite},
    },
    problem::{
        Problem,
        table::{APPROVAL_ANSWERED, APPROVAL_REFUSED, NO_SUCH_APPROVAL},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The most approvals one answer holds.
const AT_ONCE: usize = 200;

/// The routes of approvals.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(ask_for)).routes(routes!(list)).routes(routes!(answer))
}

/// What was asked.
#[derive(Debug, Serialize, ToSchema)]
pub struct AskedView {
    /// What the question is known by: SHA-256 of the agent and of all that its request says.
    #[schema(value_type = String)]
    approval: Hash256,
}

/// Asks a human to let a blocked request through
///
/// The body is the very request, signed as one that is carried out. What is asked is asked once; when a
/// human has allowed it, the agent sends the request again under a new id. A request that says anything
/// else needs an approval of its own.
#[utoipa::path(
    post, path = "/api/web/approvals", tag = "web", operation_id = "ask_for_approval",
    request_body(content = Object, description = "A PortalRequest that a rule blocks"),
    responses(
        (status = 202, description = "It waits for an answer, or has one", body = AskedView),
        (status = 422, description = "No rule blocks it, or it is no request"),
        (status = 429, description = "As many questions of this agent wait for an answer as may"),
    ),
)]
async fn ask_for(
    State(state): State<ApiState>,
    request: Request<Body>,
) -> Result<(StatusCode, Json<AskedView>), Problem> {
    let (parts, body) = request.into_parts();
    let portal = portal(&state)?;
    let bytes = ask::collect_within(&parts.headers, body, MAX_REQUEST_BYTES).await?;
    let request: PortalRequest = ask::parse(&parts.headers, &bytes)?;
    let caller = caller(&state, &parts, &request.agent).await?;
    let id = request.id;
    let asked = portal.ask_a_human(request, &caller).await;
    let approval = asked.map_err(|error| of_refused(&error.refused(Some(id))))?;
    Ok((StatusCode::ACCEPTED, Json(AskedView { approval })))
}

/// Approvals, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalsView {
    approvals: Vec<ApprovalView>,
    /// The position to go on before (`before=`), where there are more.
    #[schema(value_type = Option<i64>)]
    next: Option<Position>,
}

/// What an agent has asked a human about.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApprovalView {
    /// What it is known by.
    approval: String,
    /// Who asks.
    agent: String,
    /// The address.
    url: String,
    /// The method.
    method: String,
    /// Why the agent asks.
    purpose: String,
    /// The host that is blocked.
    host: String,
    /// Why it is.
    reason: String,
    /// What else the request says: `headers`, `filter`, and `body` with its `size`, the beginning of its
    /// `text`, and whether that is `cut`.
    #[schema(value_type = Option<Object>)]
    said: Option<Said>,
    /// When it was asked.
    #[schema(value_type = String, format = DateTime)]
    asked_at: Timestamp,
    /// When nobody has to answer any more.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// `open`, `expired`, `allowed`, `denied`, or `over` when the time of the answer is.
    state: &'static str,
    /// The answer, where there is one.
    answer: Option<AnswerView>,
    /// The event that made it what it is.
    #[schema(value_type = i64)]
    position: Position,
}

/// What a human has answered.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerView {
    /// `allow` or `deny`.
    word: String,
    /// Why.
    reason: String,
    /// Who.
    by: String,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// Until when it holds.
    #[schema(value_type = String, format = DateTime)]
    until: Timestamp,
}

impl ApprovalView {
    fn of(row: ApprovalRow, now: Timestamp) -> Self {
        let state = match &row.answer {
            None if now < row.expires_at => "open",
            None => "expired",
            Some(answer) if now >= answer.until => "over",
            Some(answer) if answer.word == ApprovalWord::Allow.as_str() => "allowed",
            Some(_) => "denied",
        };
        let answer = row.answer.map(|AnswerRow { word, reason, by, at, until }| AnswerView {
            word,
            reason,
            by,
            at,
            until,
        });
        Self {
            approval: row.approval.to_string(),
            agent: row.agent.to_string(),
            url: row.url,
            method: row.method,
            purpose: row.purpose,
            host: row.host,
            reason: row.reason,
            said: row.said,
            asked_at: row.asked_at,
            expires_at: row.expires_at,
            state,
            answer,
            position: row.position,
        }
    }
}

/// Lists approvals, newest first
#[utoipa::path(
    get, path = "/api/web/approvals", tag = "web", operation_id = "approvals",
    params(
        ("open" = Option<bool>, Query, description = "Only those that wait for an answer"),
        ("agent" = Option<String>, Query, description = "Only what this agent asked; a token of an agent sees its own"),
        ("before" = Option<i64>, Query, description = "Go on before this position"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The approvals", body = ApprovalsView)),
)]
async fn list(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<ApprovalsView>, Problem> {
    wait::projection(&state, "web_approvals", &mut params).await?;
    let agent = whose(&by.principal, params.take("agent")?)?;
    let open: Option<bool> = params.take("open")?;
    let before: Option<i64> = params.take("before")?;
    params.done()?;
    let now = state.door().now();
    let asked = Asked {
        before: before.map(Position),
        open_at: open.unwrap_or(false).then_some(now),
        agent,
    };
    let rows = approvals::list(state.database(), &asked, AT_ONCE).await?;
    let full = rows.len() == AT_ONCE;
    let next = rows.last().filter(|_| full).map(|row| row.position);
    let approvals = rows.into_iter().map(|row| ApprovalView::of(row, now)).collect();
    Ok(Json(ApprovalsView { approvals, next }))
}

/// An answer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AnswerRequest {
    /// `allow` or `deny`.
    #[schema(value_type = String)]
    word: ApprovalWord,
    /// Why: 1 to 500 characters.
    reason: String,
    /// For how many seconds it holds, up to 7 days; an hour, where nothing is said.
    #[serde(default)]
    seconds: Option<u64>,
    /// Whether it takes the place of an answer that says otherwise.
    #[serde(default)]
    replace: bool,
}

/// What was answered.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnsweredView {
    /// What it is known by.
    approval: String,
    /// Until when the answer holds.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Timestamp>,
}

/// Answers for a blocked request
#[utoipa::path(
    post, path = "/api/web/approvals/{approval}/answer", tag = "web", operation_id = "answer_approval",
    params(
        ("approval" = String, Path, description = "What the question is known by"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = AnswerRequest,
    responses(
        (status = 200, description = "It is answered", body = AnsweredView),
        (status = 404, description = "Nobody has asked for this"),
        (status = 409, description = "It is answered otherwise already"),
        (status = 422, description = "No reason, no time, too late, or an agent"),
    ),
)]
async fn answer(
    State(state): State<ApiState>,
    Path(approval): Path<String>,
    Ask { body, caller, key, principal, .. }: Ask<WebWrite, AnswerRequest>,
) -> Result<Done<AnsweredView>, Problem> {
    let unknown = || Problem::new(&NO_SUCH_APPROVAL, Refusal::Unknown.to_string());
    let approval: Hash256 = approval.parse().map_err(|_| unknown())?;
    let portal = portal(&state)?;
    let command = Command::Answer {
        word: body.word,
        reason: body.reason,
        by: principal.name.to_string(),
        by_agent: principal.agent.is_some(),
        holds: Duration::from_secs(body.seconds.unwrap_or(3_600)),
        replace: body.replace,
    };
    let executed = portal.approvals().say(&approval, &command, &caller, key).await?;
    let standing = portal.approvals().standing(&approval).await?;
    let until = standing.answer_at(state.door().now()).map(|answer| answer.until);
    let view = AnsweredView { approval: approval.to_string(), until };
    Ok(Done::of(&executed, StatusCode::OK, view))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Unknown => Self::new(&NO_SUCH_APPROVAL, words),
            Refusal::Answered { .. } => Self::new(&APPROVAL_ANSWERED, words),
            Refusal::BadReason => Self::of_field(&APPROVAL_REFUSED, "reason", words),
            Refusal::BadTime => Self::of_field(&APPROVAL_REFUSED, "seconds", words),
            Refusal::Expired(_) | Refusal::Agent => Self::new(&APPROVAL_REFUSED, words),
        }
    }
}
