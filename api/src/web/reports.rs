//! What cycles added up to, and the hash of the portal's state at their ends.

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{
    position::Position,
    web::request::{AgentId, Hash256, PortalError, PortalReport},
};
use weir_processors::{access::Principal, nexus, web::portal::PortalGateway as _};
use weir_projections::web::reports::{self, ReportRow};

use super::requests::{of_refused, portal};
use crate::{
    ask::Params,
    auth::{By, needs::WebRead},
    problem::{Problem, table::NO_SUCH_REPORT},
    state::ApiState,
    wait::{self, MinPosition},
};

/// Reports of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The routes of reports.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(state_hash))
}

/// Reports of cycles that have ended, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportPage {
    reports: Vec<ReportView>,
    /// The cycle to go on before (`before=`), where there are more.
    next: Option<u64>,
}

/// What a cycle added up to.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportView {
    /// The cycle.
    cycle: u64,
    /// Whether it has ended, and with it all that was admitted in it; if not, this is what it has added
    /// up to so far.
    ended: bool,
    /// How many requests there were, however they ended.
    total_requests: u64,
    /// What part of those that were answered came from the cache, from 0 to 1.
    cache_hit_rate: f64,
    /// The hosts that were contacted, or whose pages were shown, in order of their names; an agent is
    /// not told where others were.
    domains_accessed: Vec<String>,
    /// Who asked most, most first; an agent is told of itself alone.
    top_users: Vec<TopUserView>,
    /// How many answers had code taken out of them.
    code_filter_hits: u64,
    /// How many requests were refused.
    blocked_requests: u64,
    /// What it all cost, in ticks.
    tick_cost: u64,
    /// What it all cost, in spark.
    spark_cost: u64,
    /// The tax on that, in spark; `null` as long as the cycle has not ended.
    tax: Option<u64>,
    /// The hash of the portal's state at its end.
    #[schema(value_type = Option<String>)]
    state_hash: Option<Hash256>,
    /// The event that ended it.
    #[schema(value_type = Option<i64>)]
    ended_position: Option<Position>,
    /// The event that published this.
    #[schema(value_type = Option<i64>)]
    published_position: Option<Position>,
    /// How often it was reported before, and something of it came later.
    revision: u32,
}

/// An agent, and how much it asked.
#[derive(Debug, Serialize, ToSchema)]
pub struct TopUserView {
    /// The agent: 64 hexadecimal digits.
    #[schema(value_type = String)]
    agent: AgentId,
    /// How many requests it made.
    requests: u64,
}

impl ReportView {
    /// As it is shown to who asks: what one agent asks is nothing for another.
    fn shown_to(mut self, principal: &Principal) -> Self {
        if let Some(agent) = principal.agent {
            self.domains_accessed.clear();
            self.top_users.retain(|user| user.agent == agent);
        }
        self
    }
}

impl From<PortalReport> for ReportView {
    fn from(report: PortalReport) -> Self {
        let users = report.top_users.into_iter();
        Self {
            cycle: report.cycle,
            ended: false,
            total_requests: report.total_requests,
            cache_hit_rate: report.cache_hit_rate,
            domains_accessed: report.domains_accessed,
            top_users: users
                .map(|user| TopUserView { agent: user.agent, requests: user.requests })
                .collect(),
            code_filter_hits: report.code_filter_hits,
            blocked_requests: report.blocked_requests,
            tick_cost: report.total_cost.ticks,
            spark_cost: report.total_cost.spark,
            tax: None,
            state_hash: None,
            ended_position: None,
            published_position: None,
            revision: 0,
        }
    }
}

impl From<ReportRow> for ReportView {
    fn from(row: ReportRow) -> Self {
        Self {
            ended: true,
            tax: Some(row.tax),
            state_hash: Some(row.state_hash),
            ended_position: Some(row.ended_at),
            published_position: row.published_at,
            revision: row.revision,
            ..row.report.into()
        }
    }
}

/// Lists the reports of cycles that have ended, the newest first
#[utoipa::path(
    get, path = "/api/web/reports", tag = "web", operation_id = "web_reports",
    params(
        ("before" = Option<u64>, Query, description = "Of the cycles before this one"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The reports", body = ReportPage)),
)]
async fn list(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<ReportPage>, Problem> {
    let before: Option<u64> = params.take("before")?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    wait::projection(&state, "reports", &mut params).await?;
    params.done()?;
    let rows = reports::list(state.database(), before, limit).await?;
    let next = rows.last().filter(|_| rows.len() == limit).map(|row| row.report.cycle);
    let reports = rows.into_iter().map(|row| ReportView::from(row).shown_to(&by.principal));
    Ok(Json(ReportPage { reports: reports.collect(), next }))
}

/// Shows what a cycle added up to, or has added up to so far
#[utoipa::path(
    get, path = "/api/web/reports/{cycle}", tag = "web", operation_id = "web_report",
    params(
        ("cycle" = u64, Path, description = "The cycle"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The report", body = ReportView),
        (status = 404, description = "The cycle has not begun"),
    ),
)]
async fn show(
    State(state): State<ApiState>,
    by: By<WebRead>,
    Path(cycle): Path<String>,
    mut params: Params,
) -> Result<Json<ReportView>, Problem> {
    wait::projection(&state, "reports", &mut params).await?;
    params.done()?;
    let missing = || {
        let shown: String = cycle.chars().take(20).collect();
        Problem::new(&NO_SUCH_REPORT, format!("there is no report of cycle `{shown}`"))
    };
    let number: u64 = cycle.parse().map_err(|_| missing())?;
    if let Some(row) = reports::find(state.database(), number).await? {
        return Ok(Json(ReportView::from(row).shown_to(&by.principal)));
    }
    if number > nexus::now(state.door()).await?.cycle {
        return Err(missing());
    }
    let told = |error: PortalError| of_refused(&error.refused(None));
    let report = portal(&state)?.generate_report(number).await.map_err(told)?;
    Ok(Json(ReportView::from(report).shown_to(&by.principal)))
}

/// The hash of the portal's state at the end of a cycle.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateHashView {
    /// The cycle.
    cycle: u64,
    /// SHA-256 over the log of requests and what was cached, and over the hash before it.
    #[schema(value_type = String)]
    state_hash: Hash256,
    /// The event that ended the cycle.
    #[schema(value_type = i64)]
    ended_position: Position,
}

/// Gives the hash of the portal's state at the end of a cycle: whoever replays the log gets the same
#[utoipa::path(
    get, path = "/api/web/state-hash", tag = "web", operation_id = "web_state_hash",
    params(
        ("cycle" = Option<u64>, Query, description = "At the end of this cycle; of the last that has ended, where none is named"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The hash", body = StateHashView),
        (status = 404, description = "No such cycle has ended"),
    ),
)]
async fn state_hash(
    State(state): State<ApiState>,
    _: By<WebRead>,
    mut params: Params,
) -> Result<Json<StateHashView>, Problem> {
    let cycle: Option<u64> = params.take("cycle")?;
    wait::projection(&state, "reports", &mut params).await?;
    params.done()?;
    let row = match cycle {
        Some(cycle) => reports::find(state.database(), cycle).await?,
        None => reports::latest(state.database()).await?,
    };
    let row = row.ok_or_else(|| match cycle {
        Some(cycle) => Problem::new(&NO_SUCH_REPORT, format!("cycle {cycle} has not ended")),
        None => Problem::new(&NO_SUCH_REPORT, "no cycle has ended yet"),
    })?;
    let ReportRow { report, state_hash, ended_at, .. } = row;
    Ok(Json(StateHashView { cycle: report.cycle, state_hash, ended_position: ended_at }))
}
