//! A policy that may come to be, tried on what was asked for: a stream of lines that says how far it
//! came, and ends with the difference. Nothing is recorded; who stops listening ends it.

mod lines;
mod view;

use std::time::Duration;

use axum::{
    body::Body,
    extract::State,
    response::{IntoResponse as _, Response},
};
use http::{HeaderValue, header::CACHE_CONTROL, header::CONTENT_TYPE};
use serde::Deserialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_processors::registry::what_if::{
    By, Trying, WhatIf, WhatIfFault,
    candidate::{self, MAX_BYTES},
};

use self::{lines::Lines, view::WhatIfLine};
use crate::{
    ask::Ask,
    auth::needs::RulesRead,
    problem::{
        Problem,
        table::{BAD_BODY, BUSY, INTERNAL, NO_PACKAGES, POLICY_REFUSED},
    },
    state::ApiState,
};

/// How far back one may ask.
const MAX_DAYS: u16 = 366;

/// How many rows of each table are kept, and how many are answered where nobody says.
const MAX_ROWS: usize = 10_000;
const ROWS: usize = 100;

/// How long a trial may take. One that takes longer says how far it came.
const PATIENCE: Duration = Duration::from_mins(15);

const SECONDS_A_DAY: i64 = 86_400;

const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// Trials at once: each reads as much of the log as it can.
static PLACES: Semaphore = Semaphore::const_new(1);

/// The route of trials.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(what_if))
}

/// What is tried, and on how much of the past.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WhatIfRequest {
    /// How many days back: 1 to 366.
    days: u16,
    /// The policy as YAML, at most 256 KiB: `policy` and `registries` with the keys that the
    /// configuration has for judging, `rules` beside those in force (as in a blocklist), and `without`,
    /// the ids of rules that would not be there any more: such as are in force, or of `then` such as
    /// were. What is not named stays as it is.
    #[serde(default)]
    policy: String,
    /// By which facts: `today`, what is known now (without one), or `then`, what was known when each
    /// was asked for.
    #[serde(default)]
    facts: Option<String>,
    /// How many rows of each table are answered, those with most decisions first: 1 to 10000, 100
    /// without.
    #[serde(default)]
    limit: Option<usize>,
}

/// Says what a policy would change about what was asked for; records nothing
#[utoipa::path(
    post, path = "/api/registry/what-if", tag = "registry", operation_id = "what_if",
    request_body = WhatIfRequest,
    responses(
        (status = 200, description = "Lines of JSON: how far it came, about four times a second, and \
            at the end the difference", body = WhatIfLine, content_type = "application/x-ndjson"),
        (status = 422, description = "The policy makes no sense"),
    ),
)]
async fn what_if(
    State(state): State<ApiState>,
    Ask { body, .. }: Ask<RulesRead, WhatIfRequest>,
) -> Result<Response, Problem> {
    let days = within("days", usize::from(body.days), 1, usize::from(MAX_DAYS))?;
    let limit = within("limit", body.limit.unwrap_or(ROWS), 1, MAX_ROWS)?;
    let by = body.facts.as_deref().map_or(Ok(By::Today), |name| {
        By::find(name)
            .ok_or_else(|| Problem::of_field(&BAD_BODY, "facts", "there are: today, then"))
    })?;
    within("policy", body.policy.len(), 0, MAX_BYTES)?;
    let trial = candidate::parse("policy", &body.policy)
        .map_err(|fault| Problem::of_field(&POLICY_REFUSED, fault.place, fault.what))?;
    let place = PLACES.try_acquire().map_err(|_| {
        Problem::new(&BUSY, "another policy is being tried at this moment").retry_after(5)
    })?;
    let now = state.door().now();
    let since = now.plus_seconds(-SECONDS_A_DAY * i64::try_from(days).unwrap_or_default());
    let what = WhatIf { trial, by, since, now, max_rows: MAX_ROWS };
    let trying = Trying::begin(state.door(), state.packages().policy()?, what).await?;
    let told = lines::Told { days, since, by, limit };
    let lines = Lines::of(state, trying, told, place);
    let mut answer = Body::from_stream(lines.stream()).into_response();
    answer.headers_mut().insert(CONTENT_TYPE, LINES);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(answer)
}

fn within(field: &str, number: usize, least: usize, most: usize) -> Result<usize, Problem> {
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    let detail = format!("{number} is not within {least} to {most}");
    Err(Problem::of_field(&BAD_BODY, field, detail))
}

impl From<WhatIfFault> for Problem {
    fn from(fault: WhatIfFault) -> Self {
        match fault {
            WhatIfFault::Read(fault) => fault.into(),
            WhatIfFault::Sightings(fault) => fault.into(),
            WhatIfFault::Policy(unreadable) => Self::new(&NO_PACKAGES, unreadable.to_string()),
            fault @ WhatIfFault::Undecodable { .. } => Self::new(&NO_PACKAGES, fault.to_string()),
            fault @ WhatIfFault::NoSuchRule { .. } => {
                Self::of_field(&POLICY_REFUSED, "without", fault.to_string())
            }
            fault @ WhatIfFault::Broken => Self::new(&INTERNAL, fault.to_string()),
        }
    }
}
