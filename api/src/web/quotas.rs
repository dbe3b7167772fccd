//! What agents have used of their quotas.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::request::AgentId;
use weir_processors::nexus;
use weir_projections::web::reports::{self, QuotaRow};

use super::whose;
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::WebRead},
    problem::Problem,
    state::ApiState,
    wait::{self, MinPosition},
};

/// Rows of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The routes of quotas.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// What agents have used: of one agent by cycle, the newest first; of one cycle by agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuotaPage {
    quotas: Vec<QuotaView>,
    /// The cycle to go on before (`before=`), or the agent to go on after (`after=`), where there are
    /// more.
    next: Option<String>,
}

/// What an agent has used of a cycle.
#[derive(Debug, Serialize, ToSchema)]
pub struct QuotaView {
    /// The cycle.
    cycle: u64,
    /// The agent: 64 hexadecimal digits.
    #[schema(value_type = String)]
    agent: AgentId,
    /// How many of its quota are used.
    used: u64,
    /// The quota it was judged by; 0 where nothing was admitted.
    max: u64,
    /// Whether it asked for more.
    exhausted: bool,
    /// How many requests it made, however they ended.
    n_requests: u64,
    /// How many the cache answered.
    n_cached: u64,
    /// How many were refused.
    n_blocked: u64,
    /// How many came to nothing.
    n_failed: u64,
    /// What it all cost, in ticks.
    tick_cost: u64,
    /// What it all cost, in spark.
    spark_cost: u64,
    /// The tax on that, in spark.
    tax: u64,
}

impl From<QuotaRow> for QuotaView {
    fn from(row: QuotaRow) -> Self {
        Self {
            cycle: row.cycle,
            agent: row.agent,
            used: row.n_used,
            max: row.quota,
            exhausted: row.exhausted,
            n_requests: row.n_requests,
            n_cached: row.n_cached,
            n_blocked: row.n_blocked,
            n_failed: row.n_failed,
            tick_cost: row.cost.ticks,
            spark_cost: row.cost.spark,
            tax: row.tax,
        }
    }
}

/// Lists what agents have used of their quotas
#[utoipa::path(
    get, path = "/api/web/quotas", tag = "web", operation_id = "web_quotas",
    params(
        ("agent" = Option<String>, Query, description = "Of this agent, in all cycles"),
        ("before" = Option<u64>, Query, description = "With `agent`: in the cycles before this one"),
        ("cycle" = Option<u64>, Query, description = "In this cycle, of all agents; the present one, where neither is named"),
        ("after" = Option<String>, Query, description = "With `cycle`: of the agents after this one"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 100 by default"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "What they have used", body = QuotaPage)),
)]
async fn list(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<QuotaPage>, Problem> {
    let agent = whose(&by.principal, params.take("agent")?)?;
    let (before, cycle): (Option<u64>, Option<u64>) =
        (params.take("before")?, params.take("cycle")?);
    let after: Option<AgentId> = params.take("after")?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    wait::projection(&state, "reports", &mut params).await?;
    params.done()?;
    let database = state.database();
    let rows = match (agent, cycle) {
        (Some(agent), None) if after.is_none() => {
            reports::quotas_of(database, &agent, before, limit).await?
        }
        (Some(agent), Some(cycle)) if before.is_none() && after.is_none() => {
            let rows = reports::quotas_of(database, &agent, cycle.checked_add(1), 1).await?;
            rows.into_iter().filter(|row| row.cycle == cycle).collect()
        }
        (None, cycle) if before.is_none() => {
            let cycle = match cycle {
                Some(cycle) => cycle,
                None => nexus::now(state.door()).await?.cycle,
            };
            reports::quotas_in(database, cycle, after.as_ref(), limit).await?
        }
        (Some(_), _) if after.is_some() => {
            return Err(bad_parameter("after", "it goes with `cycle`, for all agents"));
        }
        _ => return Err(bad_parameter("before", "it goes with `agent`, for all cycles")),
    };
    let last = rows.last().filter(|_| rows.len() == limit);
    let next = last.map(|row| match agent {
        Some(_) => row.cycle.to_string(),
        None => row.agent.to_string(),
    });
    Ok(Json(QuotaPage { quotas: rows.into_iter().map(QuotaView::from).collect(), next }))
}
