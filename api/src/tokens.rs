//! Tokens: who may pass. The secret is in one answer, once, and nowhere else.

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::{
    access::Refusal,
    registry::{
        profile::Profiles,
        quota::{Spending, hour},
    },
};
use weir_events::{
    access::{Event, TokenIssued},
    position::Position,
    registry::profile::{Quota, quota_stream},
    timestamp::Timestamp,
    web::request::AgentId,
};
use weir_processors::access::{Issued, Wish};
use weir_projections::access::api_tokens::{self, TokenRow};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{By, needs::TokensWrite},
    problem::{
        Problem,
        table::{BAD_BODY, BOUND_BY_PROFILE, MISSING_SCOPE, NO_SUCH_TOKEN, TOKEN_REFUSED},
    },
    registry::profiles::{self, QuotaView},
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "tokens";
/// Tokens of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (100, 1_000);
/// The longest life of a token that is given one, in seconds: 100 years.
const MAX_LIFE: u64 = 100 * 366 * 86_400;

/// The routes of tokens.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list, issue)).routes(routes!(revoke))
}

/// Tokens, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenPage {
    tokens: Vec<TokenView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A token, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenView {
    /// The part of the token that is no secret.
    id: String,
    /// What the operator called it; also the name of its principal.
    name: String,
    /// What it may do.
    scopes: Vec<String>,
    /// When it was issued.
    #[schema(value_type = String, format = DateTime)]
    issued_at: Timestamp,
    /// In whose name.
    issued_by: String,
    /// When it ends by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// When it was revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Timestamp>,
    /// The profile that it is judged by.
    profile: Option<String>,
    /// The agent whose own it is.
    agent: Option<String>,
    /// What it has used of its profile's quota, where that counts something.
    used: Option<UsedView>,
}

/// What a token has used, and of how much. Hours and days are those of UTC.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsedView {
    /// Files in this hour.
    downloads_this_hour: u32,
    /// Files today.
    downloads_today: u32,
    /// Bytes today.
    bytes_today: u64,
    /// How much it may.
    quota: QuotaView,
}

impl From<TokenRow> for TokenView {
    fn from(row: TokenRow) -> Self {
        let TokenRow { id, name, scopes, issued_at, issued_by, .. } = row;
        let TokenRow { expires_at, revoked_at, profile, agent, .. } = row;
        let used = None;
        Self {
            id,
            name,
            scopes,
            issued_at,
            issued_by,
            expires_at,
            revoked_at,
            profile,
            agent,
            used,
        }
    }
}

/// Lists tokens, the newest first
#[utoipa::path(
    get, path = "/api/tokens", tag = "access", operation_id = "tokens",
    params(
        ("limit" = Option<usize>, Query, description = "1 to 1000, 100 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The tokens", body = TokenPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<TokensWrite>,
    mut params: Params,
) -> Result<Json<TokenPage>, Problem> {
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let before = cursor.map(|cursor| state.cursors().read(LIST, "", &cursor)).transpose()?;
    wait::projection(&state, "api_tokens", &mut params).await?;
    params.done()?;
    let rows = api_tokens::list(state.database(), before.map(Position), limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, "", last.0));
    let mut tokens: Vec<TokenView> = rows.into_iter().map(TokenView::from).collect();
    let (profiles, _) = state.door().load::<Profiles>(&profiles::stream()?).await?;
    for token in tokens.iter_mut().filter(|token| token.revoked_at.is_none()) {
        let profile = token.profile.as_deref().and_then(|name| profiles.profile(name));
        let quota = profile.map(|profile| profile.quota).filter(|quota| !quota.is_none());
        if let Some(quota) = quota {
            token.used = Some(used(&state, &token.id, quota).await?);
        }
    }
    Ok(Json(TokenPage { tokens, next }))
}

/// What a token has used of its quota today, as the log says now.
async fn used(state: &ApiState, token_id: &str, quota: Quota) -> Result<UsedView, Problem> {
    let now = state.door().now();
    let stream = quota_stream(token_id, &now.date()).map_err(|fault| Problem::internal(&fault))?;
    let (spent, _) = state.door().load::<Spending>(&stream).await?;
    Ok(UsedView {
        downloads_this_hour: spent.downloads_in(hour(now)),
        downloads_today: spent.downloads,
        bytes_today: spent.bytes,
        quota: quota.into(),
    })
}

/// What a token is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct IssueRequest {
    /// What to call it: 1 to 80 characters.
    name: String,
    /// What it may do.
    scopes: Vec<String>,
    /// When it ends by itself; never, without.
    expires_in_seconds: Option<u64>,
    /// The profile that it is judged by, beside everything else.
    profile: Option<String>,
    /// The agent whose own it is: 64 hexadecimal digits. With scope `web:fetch` it may ask the outside.
    agent: Option<String>,
}

/// A token just issued.
#[derive(Debug, Serialize, ToSchema)]
pub struct IssuedView {
    /// The part of the token that is no secret.
    id: String,
    /// The whole token, this once; `null` when this answers a repeated request.
    secret: Option<String>,
    /// What it is called.
    name: String,
    /// What it may do.
    scopes: Vec<String>,
    /// When it ends by itself.
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// The profile that it is judged by.
    profile: Option<String>,
    /// The agent whose own it is.
    agent: Option<String>,
    /// Why there is no secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

impl IssuedView {
    fn of(issued: &Issued) -> Option<Self> {
        let token = issued.executed.events.iter().find_map(|event| match event {
            Event::TokenIssued(token) => Some(token.clone()),
            _ => None,
        })?;
        let TokenIssued { token_id: id, name, scopes, expires_at, profile, agent } = token;
        let agent = agent.map(|agent| agent.to_string());
        let secret = issued.token.clone();
        let detail = secret.is_none().then_some(
            "this answers a repeated request; the secret was in the first answer and is kept \
             nowhere: revoke this token and issue another if it is lost",
        );
        Some(Self { id, secret, name, scopes, expires_at, profile, agent, detail })
    }
}

/// Issues a token
#[utoipa::path(
    post, path = "/api/tokens", tag = "access", operation_id = "issue_token",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = IssueRequest,
    responses((status = 201, description = "The token; its secret is never shown again", body = IssuedView)),
)]
async fn issue(
    State(state): State<ApiState>,
    ask: Ask<TokensWrite, IssueRequest>,
) -> Result<Done<IssuedView>, Problem> {
    let IssueRequest { name, scopes, expires_in_seconds, profile, agent } = ask.body;
    let agent = agent.map(|agent| agent.parse()).transpose();
    let agent: Option<AgentId> =
        agent.map_err(|fault| Problem::of_field(&TOKEN_REFUSED, "agent", format!("{fault}")))?;
    let now = state.door().now();
    let expires_at = expires_in_seconds.map(|seconds| expiry(now, seconds)).transpose()?;
    let wish = Wish { name, scopes, expires_at, profile, agent };
    let by = ask.principal.grantor();
    let issued = state.tokens().issue(wish, by, &ask.caller, ask.key).await?;
    let view = IssuedView::of(&issued)
        .ok_or_else(|| Problem::internal(&std::io::Error::other("a token without its event")))?;
    Ok(Done::of(&issued.executed, StatusCode::CREATED, view))
}

fn expiry(now: Timestamp, seconds: u64) -> Result<Timestamp, Problem> {
    if seconds == 0 || MAX_LIFE < seconds {
        let detail = format!("{seconds} is not within 1 to {MAX_LIFE}");
        return Err(Problem::of_field(&BAD_BODY, "expires_in_seconds", detail));
    }
    Ok(now.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

/// A token revoked.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevokedView {
    /// The token.
    id: String,
    /// It opens nothing any more.
    revoked: bool,
}

/// Revokes a token
#[utoipa::path(
    delete, path = "/api/tokens/{id}", tag = "access", operation_id = "revoke_token",
    params(
        ("id" = String, Path, description = "The token"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses((status = 200, description = "It opens nothing any more, on any instance", body = RevokedView)),
)]
async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<TokensWrite, Nothing>,
) -> Result<Done<RevokedView>, Problem> {
    let executed = state.tokens().revoke(&id, &ask.caller, ask.key).await?;
    Ok(Done::of(&executed, StatusCode::OK, RevokedView { id, revoked: true }))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Unknown => Self::new(&NO_SUCH_TOKEN, words),
            Refusal::BadName => Self::of_field(&TOKEN_REFUSED, "name", words),
            Refusal::BadScope(_) | Refusal::NotForAgents(_) => {
                Self::of_field(&TOKEN_REFUSED, "scopes", words)
            }
            Refusal::Beyond(_) => Self::of_field(&MISSING_SCOPE, "scopes", words),
            Refusal::NoProfile(_) => Self::of_field(&TOKEN_REFUSED, "profile", words),
            Refusal::Bound(_) => Self::of_field(&BOUND_BY_PROFILE, "profile", words),
            Refusal::NoAgent(_) | Refusal::NeedsAgent => {
                Self::of_field(&TOKEN_REFUSED, "agent", words)
            }
            Refusal::AuditNeedsAdmin(_) => Self::of_field(&MISSING_SCOPE, "profile", words),
            Refusal::ExpiresInThePast(_) => {
                Self::of_field(&TOKEN_REFUSED, "expires_in_seconds", words)
            }
            Refusal::AlreadyIssued(_) => Self::internal(&refusal),
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_processors::door::Executed;

    use super::*;

    fn issued(token: Option<&str>) -> Issued {
        let event = TokenIssued {
            token_id: "0123456789abcdef".to_owned(),
            name: "ci".to_owned(),
            scopes: vec!["registry:pypi".to_owned()],
            expires_at: None,
            profile: Some("agent".to_owned()),
            agent: None,
        };
        let (replayed, token) = (token.is_none(), token.map(str::to_owned));
        let executed =
            Executed { position: Position(7), events: vec![Event::TokenIssued(event)], replayed };
        Issued { token_id: "0123456789abcdef".to_owned(), token, executed }
    }

    #[test]
    fn a_repeated_issue_answers_the_same_without_the_secret_and_says_why() {
        let json = |token| serde_json::to_value(IssuedView::of(&issued(token)).unwrap()).unwrap();
        let (mut first, mut again) = (json(Some("rf_x")), json(None));
        assert_eq!(first["secret"], "rf_x");
        assert!(again["secret"].is_null() && again["detail"].is_string(), "{again}");
        for document in [&mut first, &mut again] {
            let document = document.as_object_mut().unwrap();
            document.remove("secret");
            document.remove("detail");
        }
        assert_eq!(first, again);
    }

    #[test]
    fn a_life_is_neither_nothing_nor_for_ever() {
        let now = Timestamp::from_micros(5_000_000);
        assert_eq!(expiry(now, 60).unwrap(), Timestamp::from_micros(65_000_000));
        for bad in [0, u64::MAX, MAX_LIFE + 1] {
            assert_eq!(expiry(now, bad).unwrap_err().kind().code, "bad_body");
        }
    }

    #[test]
    fn a_refusal_names_the_field() {
        for (refusal, status, field) in [
            (Refusal::BadName, 422, "name"),
            (Refusal::BadScope("root".to_owned()), 422, "scopes"),
            (Refusal::Beyond("admin".to_owned()), 403, "scopes"),
            (Refusal::NoProfile("agent".to_owned()), 422, "profile"),
            (Refusal::Bound("agent".to_owned()), 403, "profile"),
            (Refusal::AuditNeedsAdmin("trial".to_owned()), 403, "profile"),
            (Refusal::NeedsAgent, 422, "agent"),
            (Refusal::NotForAgents("admin"), 422, "scopes"),
            (Refusal::ExpiresInThePast(Timestamp::EPOCH), 422, "expires_in_seconds"),
        ] {
            let problem = Problem::from(refusal);
            assert_eq!(problem.status(), status);
            assert!(problem.detail().starts_with(field), "{}", problem.detail());
        }
        assert_eq!(Problem::from(Refusal::Unknown).status(), 404);
    }
}
