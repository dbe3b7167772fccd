//! Where this instance and its log stand, for people.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{position::Position, timestamp::Timestamp};

use crate::{
    ask::Params,
    auth::{By, needs::Anybody},
    problem::Problem,
    state::ApiState,
};

/// The route of the status.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(show))
}

/// Where this instance and its log stand.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatusView {
    /// The version of this build.
    version: &'static str,
    /// The life of the log.
    incarnation: String,
    /// The head of the log.
    #[schema(value_type = i64)]
    head: Position,
    /// Up to where the log is sealed.
    #[schema(value_type = i64)]
    sealed_to: Position,
    /// How long ago the database last confirmed the head.
    head_age_seconds: f64,
    /// When this instance started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// How long it has been running.
    uptime_seconds: f64,
    /// Event streams open here.
    sse_clients: usize,
    /// The ecosystems served here.
    ecosystems: Vec<&'static str>,
    /// Whether this instance is on its way out.
    stopping: bool,
}

/// Shows where this instance and its log stand
#[utoipa::path(
    get, path = "/api/status", tag = "system", operation_id = "status",
    responses((status = 200, description = "Where they stand", body = StatusView)),
)]
async fn show(
    State(state): State<ApiState>,
    _: By<Anybody>,
    params: Params,
) -> Result<Json<StatusView>, Problem> {
    params.done()?;
    let log = state.log();
    let sealed_to = log.last_seal().await?.map_or(Position::START, |seal| seal.last);
    let ecosystems = state.packages().served().iter().map(|s| s.ecosystem.as_str()).collect();
    Ok(Json(StatusView {
        version: env!("CARGO_PKG_VERSION"),
        incarnation: log.incarnation().to_string(),
        head: log.head(),
        sealed_to,
        head_age_seconds: log.hub().age().as_secs_f64(),
        started_at: state.started_at(),
        uptime_seconds: state.started_at().seconds_until(state.door().now()).max(0.0),
        sse_clients: state.streams().open(),
        ecosystems,
        stopping: state.stopping(),
    }))
}
