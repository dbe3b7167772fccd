//! Requests of agents, as JSON.

use std::time::Duration;

use axum::{
    Json,
    body::Body,
    extract::{Request, State},
};
use http::request::Parts;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::access::Scope;
use weir_events::web::request::{
    AgentId, ErrorClass, PortalError, PortalRequest, PortalResponse, Refused, quota,
};
use weir_processors::{
    caller::Caller,
    web::{
        portal::{Portal, PortalGateway as _},
        signature::may_send,
    },
};

use super::whose;
use crate::{
    ask::{self, Params},
    auth::{self, By, needs::Anybody},
    problem::{
        Problem,
        table::{
            DATABASE_AWAY, INTERNAL, MISSING_SCOPE, PORTAL_CLOSED, PORTAL_DENIED,
            PORTAL_DOMAIN_BLOCKED, PORTAL_FAILED, PORTAL_INVALID, PORTAL_QUOTA, PORTAL_RATE,
            PORTAL_TIMEOUT, WEB_OFF,
        },
    },
    state::ApiState,
};

/// The longest request as JSON, in bytes: its body stands there in base64.
pub(super) const MAX_REQUEST_BYTES: usize = 2 << 20;

/// The routes of requests.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(submit)).routes(routes!(access))
}

/// Asks the outside
///
/// The request is signed by its agent over the canonical bytes; where the configuration does not say
/// `web.signature_only`, it comes with a token of that agent too. A request that comes again under the
/// same id gets its first answer, and costs nothing.
#[utoipa::path(
    post, path = "/api/web/requests", tag = "web", operation_id = "web_request",
    request_body(
        content = Object,
        description = "A PortalRequest: `id`, `agent`, `url`, `method`, `headers`, `body`, `filter`, \
            `purpose`, `tick`, `signature`",
    ),
    responses(
        (status = 200, description = "A PortalResponse: `request_id`, `status`, `content`, \
            `content_type`, `filtered`, `cached`, `cost`. In the format `structured` the content is JSON: \
            `title`, `blocks`, `links`, and `truncated`, which is true where it is not all of the page",
            body = Object),
        (status = 403, description = "The epoch, a rule or the balance forbids it"),
        (status = 422, description = "It has not the shape of a request, or its signature is not right"),
        (status = 429, description = "Too often, or the quota of the cycle is used up"),
        (status = 502, description = "The outside gave nothing that could be passed on"),
        (status = 503, description = "The database does not answer; ask again with the same id"),
        (status = 504, description = "The outside took too long"),
    ),
)]
async fn submit(
    State(state): State<ApiState>,
    request: Request<Body>,
) -> Result<Json<PortalResponse>, Problem> {
    let (parts, body) = request.into_parts();
    let portal = portal(&state)?;
    let bytes = ask::collect_within(&parts.headers, body, MAX_REQUEST_BYTES).await?;
    let request: PortalRequest = ask::parse(&parts.headers, &bytes)?;
    let caller = caller(&state, &parts, &request.agent).await?;
    let answered = portal.handle_request(request, &caller).await;
    answered.map(Json).map_err(|refused| {
        let problem = of_refused(&refused);
        match refused.retry_ticks {
            Some(ticks) => problem.retry_after(retry_seconds(portal.length(ticks))),
            None => problem,
        }
    })
}

/// In how many seconds one may come again. Nobody knows where the clock is driven.
fn retry_seconds(length: Option<Duration>) -> u64 {
    length.map_or(1, |length| u64::try_from(length.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX))
}

/// What agents may do now.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccessView {
    /// The epoch.
    epoch: u32,
    /// The cycle: what quotas are for.
    cycle: u64,
    /// The tick: what a request is signed with.
    tick: u64,
    /// `closed`, `read-only` or `read-write`.
    access_level: &'static str,
    /// How many requests an agent has in a cycle.
    quota: u32,
    /// How many the agent has left in this cycle, where one is named.
    remaining: Option<u32>,
}

/// Says what agents may do now
#[utoipa::path(
    get, path = "/api/web/access", tag = "web", operation_id = "web_access",
    params(("agent" = Option<String>, Query, description = "An agent, to learn what it has left")),
    responses((status = 200, description = "What agents may do now", body = AccessView)),
)]
async fn access(
    State(state): State<ApiState>,
    by: By<Anybody>,
    mut params: Params,
) -> Result<Json<AccessView>, Problem> {
    let portal = portal(&state)?;
    let asked: Option<AgentId> = params.take("agent")?;
    params.done()?;
    // What others have used is for those who see requests.
    let others = asked.is_some_and(|asked| by.principal.agent != Some(asked));
    if others && !by.principal.may(Scope::WebRead) {
        let words = "what another agent has left is shown with the scope `web:read`";
        return Err(Problem::new(&MISSING_SCOPE, words));
    }
    let agent = match asked {
        Some(_) => whose(&by.principal, asked)?,
        None => None,
    };
    let told = |error: PortalError| of_refused(&error.refused(None));
    let moment = portal.now().await.map_err(told)?;
    let level = portal.access_level().await.map_err(told)?;
    let remaining = match agent {
        Some(agent) => Some(portal.remaining_quota(&agent).await.map_err(told)?),
        None => None,
    };
    Ok(Json(AccessView {
        epoch: moment.epoch,
        cycle: moment.cycle,
        tick: moment.tick,
        access_level: level.as_str(),
        quota: quota(moment.epoch),
        remaining,
    }))
}

/// The portal, where this process has one.
pub(super) fn portal(state: &ApiState) -> Result<&Portal, Problem> {
    let words = "this process does not serve web requests";
    state.portal().ok_or_else(|| Problem::new(&WEB_OFF, words))
}

/// In whose name an agent's request is carried out: with its own token, or by its signature alone.
pub(super) async fn caller(
    state: &ApiState,
    parts: &Parts,
    agent: &AgentId,
) -> Result<Caller, Problem> {
    if state.settings().web_signature_only {
        return Ok(Caller::principal(&agent.to_string(), &agent.to_string()));
    }
    let principal = auth::authenticate(state, parts).await?;
    may_send(&principal, agent).map_err(|error| of_refused(&error.refused(None)))?;
    Ok(principal.caller())
}

/// A refusal, as a problem document: with the code it has on the wire.
pub(super) fn of_refused(refused: &Refused) -> Problem {
    let kind = match (refused.class, refused.error.as_str()) {
        (_, "PortalClosed" | "ReadOnlyEpoch") => &PORTAL_CLOSED,
        (_, "QuotaExceeded") => &PORTAL_QUOTA,
        (_, "RateLimited") => &PORTAL_RATE,
        (_, "DomainBlocked") => &PORTAL_DOMAIN_BLOCKED,
        (_, "PermissionDenied") => &PORTAL_DENIED,
        (_, "Timeout") => &PORTAL_TIMEOUT,
        (ErrorClass::InvalidRequest, _) => &PORTAL_INVALID,
        (_, "FetchFailed" | "TooManyRedirects") => &PORTAL_FAILED,
        (_, "Database") => &DATABASE_AWAY,
        _ => &INTERNAL,
    };
    let problem = Problem::new(kind, refused.message.clone()).wire_code(refused.code);
    if refused.error == "Database" { problem.retry_after(1) } else { problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_come_again_is_told_in_how_many_seconds() {
        let seconds = |ms| retry_seconds(Some(Duration::from_millis(ms)));
        assert_eq!([seconds(1), seconds(1_000), seconds(1_001), seconds(16_000)], [1, 1, 2, 16]);
        assert_eq!(retry_seconds(None), 1);
    }
}
