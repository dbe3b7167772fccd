//! Projections, as the HTTP contract writes them.

use serde::Serialize;
use utoipa::ToSchema;
use weir_events::{position::Position, timestamp::Timestamp};
use weir_projections::engine::{
    dead_letter::DeadLetter,
    status::{ProjectionStatus, ReplayState, ReplayStatus},
};

/// Where the log and its projections stand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Projections {
    /// The log's head.
    #[schema(value_type = i64)]
    pub(super) head: Position,
    /// Every projection of this build.
    pub(super) projections: Vec<ProjectionView>,
}

/// Where a projection stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ProjectionView {
    /// Its name.
    name: &'static str,
    /// Its subsystem.
    subsystem: &'static str,
    /// The version of the live build.
    version: i32,
    /// Its actor path, which dead letters are addressed by.
    actor: String,
    /// `live`, `stopped` (no worker holds it) or `halted`.
    state: &'static str,
    /// Why it is halted.
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_by: Option<String>,
    /// Contiguous up to here.
    #[schema(value_type = i64)]
    position: Position,
    /// Events between its position and the head.
    lag_events: u64,
    /// How long ago the first event it has not applied was recorded.
    lag_seconds: f64,
    /// Events a second it has been moving at.
    rate: f64,
    /// The worker that holds it.
    owner: Option<String>,
    /// Events it could not apply.
    dead_letters: u64,
    /// The build being made beside it.
    replay: Option<ReplayingView>,
}

/// A build in the making.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReplayingView {
    /// Its id.
    build: i64,
    /// How far it is.
    #[schema(value_type = i64)]
    position: Position,
    /// Where it must come to.
    #[schema(value_type = i64)]
    target: Position,
    /// Events a second.
    rate: f64,
    /// Seconds left at this rate.
    eta_seconds: Option<f64>,
    /// When it was begun.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// `running`, `interrupted` (the next worker goes on with it) or `halted`.
    state: &'static str,
    /// Why it is halted.
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_by: Option<String>,
}

/// What a projection could not apply, in the order of the log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetterPage {
    /// The dead letters.
    pub(super) dead_letters: Vec<DeadLetterView>,
    /// Where the list goes on.
    pub(super) next: Option<String>,
}

/// An event a projection could not apply.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeadLetterView {
    /// The projection.
    projection: String,
    /// The event.
    #[schema(value_type = i64)]
    position: Position,
    /// Its stream.
    stream: String,
    /// Its kind.
    kind: String,
    /// The projection's actor path.
    actor: String,
    /// Why it could not be applied.
    error: String,
    /// How often it was tried.
    attempts: i32,
    /// When it was parked.
    #[schema(value_type = String, format = DateTime)]
    parked_at: Timestamp,
}

impl From<ProjectionStatus> for ProjectionView {
    fn from(status: ProjectionStatus) -> Self {
        Self {
            name: status.name,
            subsystem: status.subsystem.as_str(),
            version: status.version,
            actor: status.actor,
            state: status.state.as_str(),
            halted_by: status.halted_by,
            position: status.position,
            lag_events: status.lag_events,
            lag_seconds: status.lag_seconds,
            rate: status.rate,
            owner: status.owner,
            dead_letters: status.dead_letters,
            replay: status.replay.map(ReplayingView::from),
        }
    }
}

impl From<ReplayStatus> for ReplayingView {
    fn from(replay: ReplayStatus) -> Self {
        let ReplayStatus { build, position, target, rate, eta_seconds, started_at, .. } = replay;
        let (state, halted_by) = match replay.state {
            ReplayState::Running => ("running", None),
            ReplayState::Interrupted => ("interrupted", None),
            ReplayState::Halted(error) => ("halted", Some(error)),
        };
        Self { build, position, target, rate, eta_seconds, started_at, state, halted_by }
    }
}

impl From<DeadLetter> for DeadLetterView {
    fn from(letter: DeadLetter) -> Self {
        let DeadLetter { projection, position, stream, kind, actor, error, attempts, parked_at } =
            letter;
        let kind = kind.name();
        Self { projection, position, stream, kind, actor, error, attempts, parked_at }
    }
}
