//! The world's time: what agents may do (the epoch), what quotas are for (the cycle), and the tick.

use axum::{Json, extract::State};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::nexus::{Command, Nexus, Refusal};
use weir_events::{nexus::Pace, timestamp::Timestamp};
use weir_processors::nexus;

use crate::{
    answer::Done,
    ask::{Ask, Params},
    auth::{
        By,
        needs::{Anybody, NexusWrite},
    },
    problem::{
        Problem,
        table::{CLOCK_NOT_DRIVEN, EPOCH_REFUSED},
    },
    state::ApiState,
};

/// The routes of the world's time.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(show)).routes(routes!(advance)).routes(routes!(drive))
}

/// What time it is in the world.
#[derive(Debug, Serialize, ToSchema)]
pub struct NexusView {
    /// The epoch: what agents may do.
    epoch: u32,
    /// The cycle: what quotas are for.
    cycle: u64,
    /// The tick.
    tick: u64,
    /// What moves the clock: `wall` or `driven`; `null` until a worker has set it.
    clock: Option<&'static str>,
    /// How long a tick is, where the wall clock moves it.
    tick_seconds: Option<f64>,
    /// How many ticks a cycle has.
    ticks_per_cycle: Option<u32>,
    /// When the next cycle begins, where the wall clock says so.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_cycle_at: Option<Timestamp>,
}

async fn view(state: &ApiState) -> Result<NexusView, Problem> {
    let known = nexus::state(state.door()).await?;
    let now = state.door().now();
    let moment = known.at(now);
    let schedule = known.schedule();
    let (clock, tick_seconds) = match schedule.map(|schedule| schedule.pace) {
        Some(Pace::Wall { tick_micros }) => {
            let length = std::time::Duration::from_micros(tick_micros);
            (Some("wall"), Some(length.as_secs_f64()))
        }
        Some(Pace::Driven) => (Some("driven"), None),
        None => (None, None),
    };
    Ok(NexusView {
        epoch: moment.epoch,
        cycle: moment.cycle,
        tick: moment.tick,
        clock,
        tick_seconds,
        ticks_per_cycle: schedule.map(|schedule| schedule.ticks_per_cycle),
        next_cycle_at: known.next_cycle_at(now),
    })
}

/// Says what time it is in the world
#[utoipa::path(
    get, path = "/api/nexus", tag = "nexus", operation_id = "nexus",
    responses((status = 200, description = "Epoch, cycle and tick", body = NexusView)),
)]
async fn show(
    State(state): State<ApiState>,
    _: By<Anybody>,
    params: Params,
) -> Result<Json<NexusView>, Problem> {
    params.done()?;
    view(&state).await.map(Json)
}

/// An epoch to advance to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EpochRequest {
    /// The epoch; later than the one that is, by at most 100.
    epoch: u32,
    /// Why: 1 to 500 characters.
    reason: String,
}

/// Advances the epoch: agents may do more from then on
#[utoipa::path(
    post, path = "/api/nexus/epoch", tag = "nexus", operation_id = "advance_epoch",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = EpochRequest,
    responses(
        (status = 200, description = "What time it is now", body = NexusView),
        (status = 422, description = "The epoch is there already, or nobody says why"),
    ),
)]
async fn advance(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<NexusWrite, EpochRequest>,
) -> Result<Done<NexusView>, Problem> {
    let command = Command::Advance { to: body.epoch, reason: body.reason };
    let stream = nexus::stream().map_err(|fault| Problem::internal(&fault))?;
    let executed = state.door().execute::<Nexus>(&stream, &command, &caller, key).await?;
    Ok(Done::of(&executed, StatusCode::OK, view(&state).await?))
}

/// How far to drive the clock.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TicksRequest {
    /// By how many ticks: 1 to 1,000,000.
    ticks: u64,
}

/// Moves a driven clock on
#[utoipa::path(
    post, path = "/api/nexus/ticks", tag = "nexus", operation_id = "drive_clock",
    params(("idempotency-key" = Option<String>, Header, description = "Makes a repetition known")),
    request_body = TicksRequest,
    responses(
        (status = 200, description = "What time it is now", body = NexusView),
        (status = 409, description = "The clock follows the wall clock"),
    ),
)]
async fn drive(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<NexusWrite, TicksRequest>,
) -> Result<Done<NexusView>, Problem> {
    let command = Command::Drive { ticks: body.ticks };
    let stream = nexus::stream().map_err(|fault| Problem::internal(&fault))?;
    let executed = state.door().execute::<Nexus>(&stream, &command, &caller, key).await?;
    Ok(Done::of(&executed, StatusCode::OK, view(&state).await?))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::NotAfter { .. } | Refusal::TooFar { .. } => {
                Self::of_field(&EPOCH_REFUSED, "epoch", words)
            }
            Refusal::BadReason => Self::of_field(&EPOCH_REFUSED, "reason", words),
            Refusal::BadTicks => Self::of_field(&EPOCH_REFUSED, "ticks", words),
            Refusal::NotDriven | Refusal::BadSchedule => Self::new(&CLOCK_NOT_DRIVEN, words),
        }
    }
}
