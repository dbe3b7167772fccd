//! Agents: whose signatures count.

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::access::agent::Refusal;
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::request::{AgentId, PublicKey},
};
use weir_projections::access::agents::{self, AgentRow};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{
        By,
        needs::{AgentsRead, AgentsWrite},
    },
    problem::{
        Problem,
        table::{AGENT_EXISTS, AGENT_REFUSED, NO_SUCH_AGENT},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "agents";
/// Agents of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The routes of agents.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list, register)).routes(routes!(show, revoke))
}

/// Agents, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentPage {
    agents: Vec<AgentView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// An agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentView {
    /// SHA-256 of its public key, 64 hexadecimal digits.
    id: String,
    /// What the operator called it.
    name: String,
    /// The ed25519 key that its signatures are checked with, 64 hexadecimal digits.
    public_key: String,
    /// When it was registered.
    #[schema(value_type = String, format = DateTime)]
    registered_at: Timestamp,
    /// In whose name.
    registered_by: String,
    /// When it was revoked.
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Timestamp>,
    /// In whose name.
    revoked_by: Option<String>,
}

impl From<AgentRow> for AgentView {
    fn from(row: AgentRow) -> Self {
        let AgentRow { id, name, public_key, registered_at, registered_by, .. } = row;
        let AgentRow { revoked_at, revoked_by, .. } = row;
        Self { id, name, public_key, registered_at, registered_by, revoked_at, revoked_by }
    }
}

/// Lists agents, the newest first
#[utoipa::path(
    get, path = "/api/access/agents", tag = "access", operation_id = "agents",
    params(
        ("limit" = Option<usize>, Query, description = "1 to 1000, 100 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The agents", body = AgentPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<AgentsRead>,
    mut params: Params,
) -> Result<Json<AgentPage>, Problem> {
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let before = cursor.map(|cursor| state.cursors().read(LIST, "", &cursor)).transpose()?;
    wait::projection(&state, "agents", &mut params).await?;
    params.done()?;
    let rows = agents::list(state.database(), before.map(Position), limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, "", last.0));
    Ok(Json(AgentPage { agents: rows.into_iter().map(AgentView::from).collect(), next }))
}

/// Shows an agent
#[utoipa::path(
    get, path = "/api/access/agents/{id}", tag = "access", operation_id = "agent",
    params(
        ("id" = String, Path, description = "The agent"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The agent", body = AgentView),
        (status = 404, description = "None was registered with this id"),
    ),
)]
async fn show(
    State(state): State<ApiState>,
    _: By<AgentsRead>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Json<AgentView>, Problem> {
    let agent = known(&id)?;
    wait::projection(&state, "agents", &mut params).await?;
    params.done()?;
    let row = agents::find(state.database(), &agent).await?;
    Ok(Json(row.ok_or_else(|| Problem::from(Refusal::Unknown))?.into()))
}

/// An agent to be known.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RegisterRequest {
    /// What it is to be called: 1 to 80 characters.
    name: String,
    /// Its ed25519 public key: 64 lower-case hexadecimal digits. `weir agent keygen` makes one.
    public_key: String,
}

/// An agent registered.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegisteredView {
    /// SHA-256 of its public key: what it calls itself in its requests.
    id: String,
    /// What it is called.
    name: String,
    /// The key that its signatures are checked with.
    public_key: String,
}

/// Registers an agent by its key
#[utoipa::path(
    post, path = "/api/access/agents", tag = "access", operation_id = "register_agent",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = RegisterRequest,
    responses(
        (status = 201, description = "What it signs counts from now on", body = RegisteredView),
        (status = 409, description = "Its key is registered under another name, or was revoked"),
        (status = 422, description = "No name, or no key that could be trusted"),
    ),
)]
async fn register(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<AgentsWrite, RegisterRequest>,
) -> Result<Done<RegisteredView>, Problem> {
    let RegisterRequest { name, public_key } = body;
    let public_key: PublicKey = public_key
        .parse()
        .map_err(|fault| Problem::of_field(&AGENT_REFUSED, "public_key", format!("{fault}")))?;
    let agents = state.tokens().agents();
    let executed = agents.register(name.clone(), public_key, &caller, key).await?;
    let (id, public_key) = (AgentId::of_key(&public_key).to_string(), public_key.to_string());
    Ok(Done::of(&executed, StatusCode::CREATED, RegisteredView { id, name, public_key }))
}

/// An agent revoked.
#[derive(Debug, Serialize, ToSchema)]
pub struct RevokedAgentView {
    /// The agent.
    id: String,
    /// What it signs counts for nothing any more.
    revoked: bool,
}

/// Revokes an agent, and every token of it
#[utoipa::path(
    delete, path = "/api/access/agents/{id}", tag = "access", operation_id = "revoke_agent",
    params(
        ("id" = String, Path, description = "The agent"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 200, description = "What it signs counts for nothing any more, on any instance", body = RevokedAgentView),
        (status = 404, description = "None was registered with this id"),
    ),
)]
async fn revoke(
    State(state): State<ApiState>,
    Path(id): Path<String>,
    ask: Ask<AgentsWrite, Nothing>,
) -> Result<Done<RevokedAgentView>, Problem> {
    let agent = known(&id)?;
    let executed = state.tokens().agents().revoke(&agent, &ask.caller, ask.key).await?;
    Ok(Done::of(&executed, StatusCode::OK, RevokedAgentView { id, revoked: true }))
}

/// What is no id is nobody's.
fn known(id: &str) -> Result<AgentId, Problem> {
    id.parse().map_err(|fault| Problem::new(&NO_SUCH_AGENT, format!("this is no agent: {fault}")))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Unknown => Self::new(&NO_SUCH_AGENT, words),
            Refusal::Exists { .. } | Refusal::Gone(_) => Self::new(&AGENT_EXISTS, words),
            Refusal::BadName => Self::of_field(&AGENT_REFUSED, "name", words),
            Refusal::BadKey(_) => Self::of_field(&AGENT_REFUSED, "public_key", words),
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_aggregates::access::agent::KeyFault;

    use super::*;

    #[test]
    fn a_refusal_names_the_field() {
        for (refusal, status, begins) in [
            (Refusal::BadName, 422, "name: "),
            (Refusal::BadKey(KeyFault::Weak), 422, "public_key: this key is weak"),
            (Refusal::Unknown, 404, "there is no such agent"),
            (Refusal::Gone(AgentId::new([0; 32])), 409, "agent 0000"),
        ] {
            let problem = Problem::from(refusal);
            assert_eq!(problem.status(), status);
            assert!(problem.detail().starts_with(begins), "{}", problem.detail());
        }
    }

    #[test]
    fn what_is_no_id_is_nobodys() {
        for bad in ["", "x", &"A".repeat(64), &"0".repeat(63)] {
            assert_eq!(known(bad).unwrap_err().status(), 404);
        }
        assert!(known(&"0a".repeat(32)).is_ok());
    }
}
