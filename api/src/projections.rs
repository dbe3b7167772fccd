//! Projections: where they stand, their replays, what they could not apply.
//!
//! Operators' commands are events; the worker that holds the projection carries them out, once, and
//! the answer waits a moment for what came of it.

mod views;

use std::time::Duration;

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::log::{Command, Operations, Refusal};
use weir_events::{log::Event, position::Position, stream::StreamName};
use weir_processors::door::{Executed, IdempotencyKey};
use weir_projections::engine::{operations::Outcome, status::ProjectionStatus};

use self::views::{DeadLetterPage, DeadLetterView, ProjectionView, Projections};
use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params},
    auth::{
        By,
        needs::{ProjectionsRead, ProjectionsWrite},
    },
    events::position_of,
    problem::{
        Problem,
        table::{
            NO_REPLAY, NO_SUCH_DEAD_LETTER, NO_SUCH_PROJECTION, NO_WORKER, OPERATION_REFUSED,
            POSITION_REFUSED, REPLAY_RUNNING,
        },
    },
    state::ApiState,
};

/// The name of the list of dead letters, in cursors.
const LIST: &str = "dead-letters";
/// Dead letters of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);
/// How long an answer waits for a worker to carry the command out.
const PATIENCE: Duration = Duration::from_secs(2);

/// The routes of projections.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(replay, cancel))
        .routes(routes!(dead_letters))
        .routes(routes!(redeliver))
}

/// Shows where every projection stands
#[utoipa::path(
    get, path = "/api/projections", tag = "projections", operation_id = "projections",
    responses((status = 200, description = "Every projection of this build", body = Projections)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<ProjectionsRead>,
    params: Params,
) -> Result<Json<Projections>, Problem> {
    params.done()?;
    let status = state.engine().status().await?;
    let projections = status.projections.into_iter().map(ProjectionView::from).collect();
    Ok(Json(Projections { head: status.head, projections }))
}

/// Where a replay begins.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReplayRequest {
    /// From after this position; from the start of the log without it.
    #[schema(value_type = Option<i64>)]
    from: Option<Position>,
}

/// A replay that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReplayView {
    /// The build being made; `null` when no worker has taken it up yet.
    build: Option<i64>,
    /// Why there is none yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

/// Rebuilds a projection beside the live one
#[utoipa::path(
    post, path = "/api/projections/{name}/replay", tag = "projections", operation_id = "start_replay",
    params(
        ("name" = String, Path, description = "The projection"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = ReplayRequest,
    responses(
        (status = 202, description = "It is being rebuilt", body = ReplayView),
        (status = 409, description = "A replay is running"),
    ),
)]
async fn replay(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    ask: Ask<ProjectionsWrite, ReplayRequest>,
) -> Result<Done<ReplayView>, Problem> {
    let projection = projection(&state, &name).await?;
    if let Some(running) = &projection.replay
        && !known(&state, ask.key.as_ref()).await?
    {
        let detail = format!("build {} of `{name}` is being made already", running.build);
        return Err(Problem::new(&REPLAY_RUNNING, detail));
    }
    let (from, head) = (ask.body.from.unwrap_or_default(), state.log().ask_head().await?.position);
    let command = Command::Replay { projection: name.clone(), from, head };
    let executed = command_on(&state, &name, &command, &ask).await?;
    let build = outcome(&state, &name, &executed).await?;
    let waiting = "it is on record; the next worker to hold the projection begins";
    let detail = build.is_none().then_some(waiting);
    let view = ReplayView { build: build.flatten(), detail };
    Ok(Done::of(&executed, StatusCode::ACCEPTED, view))
}

/// Calls a replay off
#[utoipa::path(
    delete, path = "/api/projections/{name}/replay", tag = "projections", operation_id = "cancel_replay",
    params(
        ("name" = String, Path, description = "The projection"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is called off"),
        (status = 409, description = "No replay is running"),
    ),
)]
async fn cancel(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    ask: Ask<ProjectionsWrite, Nothing>,
) -> Result<Response, Problem> {
    let projection = projection(&state, &name).await?;
    if projection.replay.is_none() && !known(&state, ask.key.as_ref()).await? {
        return Err(Problem::new(&NO_REPLAY, format!("no replay of `{name}` is running")));
    }
    let command = Command::CancelReplay { projection: name.clone() };
    let executed = command_on(&state, &name, &command, &ask).await?;
    outcome(&state, &name, &executed).await?.ok_or_else(no_worker)?;
    Ok(Done::silently(&executed).into_response())
}

/// Lists what a projection could not apply
#[utoipa::path(
    get, path = "/api/projections/{name}/dead-letters", tag = "projections",
    params(
        ("name" = String, Path, description = "The projection"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
    ),
    responses((status = 200, description = "In the order of the log", body = DeadLetterPage)),
)]
async fn dead_letters(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    _: By<ProjectionsRead>,
    mut params: Params,
) -> Result<Json<DeadLetterPage>, Problem> {
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    params.done()?;
    let after = cursor.map(|cursor| state.cursors().read(LIST, &name, &cursor)).transpose()?;
    let after = Position(after.unwrap_or_default());
    let letters = state.engine().dead_letters(&name, after, limit).await?;
    let last = letters.last().filter(|_| letters.len() == limit).map(|letter| letter.position);
    let next = last.map(|last| state.cursors().make(LIST, &name, last.0));
    let dead_letters = letters.into_iter().map(DeadLetterView::from).collect();
    Ok(Json(DeadLetterPage { dead_letters, next }))
}

/// A dead letter was handed over once more.
#[derive(Debug, Serialize, ToSchema)]
pub struct Redelivered {
    /// It was applied.
    redelivered: bool,
}

/// Hands a dead letter to its projection once more
#[utoipa::path(
    post, path = "/api/projections/{name}/dead-letters/{position}/redeliver", tag = "projections",
    params(
        ("name" = String, Path, description = "The projection"),
        ("position" = i64, Path, description = "The event it could not apply"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 200, description = "It was applied", body = Redelivered),
        (status = 409, description = "It failed again"),
    ),
)]
async fn redeliver(
    State(state): State<ApiState>,
    Path((name, position)): Path<(String, String)>,
    ask: Ask<ProjectionsWrite, Nothing>,
) -> Result<Done<Redelivered>, Problem> {
    let position = position_of(&position)?;
    let parked = state.engine().dead_letters(&name, position.plus(-1), 1).await?;
    if parked.first().is_none_or(|letter| letter.position != position)
        && !known(&state, ask.key.as_ref()).await?
    {
        let detail = format!("nothing is parked for `{name}` at {position}");
        return Err(Problem::new(&NO_SUCH_DEAD_LETTER, detail));
    }
    let command = Command::Redeliver { projection: name.clone(), position };
    let executed = command_on(&state, &name, &command, &ask).await?;
    outcome(&state, &name, &executed).await?.ok_or_else(no_worker)?;
    Ok(Done::of(&executed, StatusCode::OK, Redelivered { redelivered: true }))
}

async fn projection(state: &ApiState, name: &str) -> Result<ProjectionStatus, Problem> {
    let status = state.engine().status().await?;
    let found = status.projections.into_iter().find(|projection| projection.name == name);
    found.ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        Problem::new(&NO_SUCH_PROJECTION, format!("no projection is called `{shown}`"))
    })
}

/// Whether this very command is on record already, and only its answer is asked for again.
async fn known(state: &ApiState, key: Option<&IdempotencyKey>) -> Result<bool, Problem> {
    match key {
        Some(key) => Ok(state.log().remembered(key.key).await?.is_some()),
        None => Ok(false),
    }
}

async fn command_on<T>(
    state: &ApiState,
    name: &str,
    command: &Command,
    ask: &Ask<ProjectionsWrite, T>,
) -> Result<Executed<Event>, Problem> {
    let stream = StreamName::new(format!("log/projections/{name}"))
        .map_err(|fault| Problem::internal(&fault))?;
    Ok(state.door().execute::<Operations>(&stream, command, &ask.caller, ask.key).await?)
}

/// What came of a command; `None` when no worker took it up in time.
async fn outcome(
    state: &ApiState,
    name: &str,
    executed: &Executed<Event>,
) -> Result<Option<Option<i64>>, Problem> {
    match state.engine().await_operation(name, executed.position, PATIENCE).await? {
        Some(Outcome::Done { build }) => Ok(Some(build)),
        Some(Outcome::Refused(why)) => Err(Problem::new(&OPERATION_REFUSED, why)),
        None => Ok(None),
    }
}

fn no_worker() -> Problem {
    let detail =
        format!("it is on record, and no worker took it up within {} s", PATIENCE.as_secs());
    Problem::new(&NO_WORKER, detail).retry_after(5)
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::of_field(&POSITION_REFUSED, "from", refusal.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_outside_the_log_names_its_field() {
        let refusal = Refusal::NotInTheLog { from: Position(9), head: Position(3) };
        let problem = Problem::from(refusal);
        assert_eq!((problem.status().as_u16(), problem.kind().code), (422, "position_refused"));
        assert!(problem.detail().starts_with("from:"), "{}", problem.detail());
    }
}
