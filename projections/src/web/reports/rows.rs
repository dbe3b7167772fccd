//! What is asked of the reports and the counters.

use sqlx::{
    Postgres, Row,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use weir_events::{
    position::Position,
    web::request::{AgentId, Cost, Hash256, PortalReport, TopUser},
};
use weir_log::database::Database;

use super::super::{agent, hash, number, unsigned, wrong};
use crate::query::{self, QueryFault};

const VIEW: &str = "portal.reports";

/// The report of a cycle that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportRow {
    /// The report.
    pub report: PortalReport,
    /// The tax on what it cost, in spark.
    pub tax: u64,
    /// The hash of the portal's state at the cycle's end.
    pub state_hash: Hash256,
    /// The event that ended the cycle.
    pub ended_at: Position,
    /// How often the cycle was reported before, and something of it came later.
    pub revision: u32,
    /// The event that published the report.
    pub published_at: Option<Position>,
}

const FIND: &str = "
    SELECT cycle, total_requests, cache_hit_rate, domains_accessed, top_users, top_requests,
        code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash, ended_at,
        revision, published_at
    FROM portal.reports WHERE cycle = $1";

const LIST: &str = "
    SELECT cycle, total_requests, cache_hit_rate, domains_accessed, top_users, top_requests,
        code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash, ended_at,
        revision, published_at
    FROM portal.reports WHERE cycle < $1 ORDER BY cycle DESC LIMIT $2";

const UNPUBLISHED: &str = "
    SELECT cycle, total_requests, cache_hit_rate, domains_accessed, top_users, top_requests,
        code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash, ended_at,
        revision, published_at
    FROM portal.reports WHERE published_at IS NULL ORDER BY cycle LIMIT $1";

/// The report of a cycle, once it has ended.
pub async fn find(database: &Database, cycle: u64) -> Result<Option<ReportRow>, QueryFault> {
    reports(database, sqlx::query(FIND).bind(number(cycle))).await.map(|mut rows| rows.pop())
}

/// The reports of cycles before one, the newest first.
pub async fn list(
    database: &Database,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<ReportRow>, QueryFault> {
    let before = before.map_or(i64::MAX, number);
    reports(database, sqlx::query(LIST).bind(before).bind(query::limit(limit))).await
}

/// The report of the last cycle that has ended.
pub async fn latest(database: &Database) -> Result<Option<ReportRow>, QueryFault> {
    Ok(list(database, None, 1).await?.pop())
}

/// Reports that nobody has published, the oldest first.
pub async fn unpublished(database: &Database, limit: usize) -> Result<Vec<ReportRow>, QueryFault> {
    reports(database, sqlx::query(UNPUBLISHED).bind(query::limit(limit))).await
}

async fn reports(
    database: &Database,
    query: Query<'_, Postgres, PgArguments>,
) -> Result<Vec<ReportRow>, QueryFault> {
    query::rows(database, VIEW, query, |row| {
        let published_at: Option<i64> = row.try_get("published_at")?;
        Ok(ReportRow {
            report: report(row)?,
            tax: unsigned(row, "tax")?,
            state_hash: hash(row, "state_hash")?,
            ended_at: query::position(row, "ended_at")?,
            revision: u32::try_from(unsigned(row, "revision")?).map_err(wrong)?,
            published_at: published_at.map(Position),
        })
    })
    .await
}

fn report(row: &PgRow) -> Result<PortalReport, sqlx::Error> {
    let (users, requests): (Vec<String>, Vec<i64>) =
        (row.try_get("top_users")?, row.try_get("top_requests")?);
    let top_users = users.iter().zip(requests).map(|(agent, requests)| {
        Ok(TopUser { agent: agent.parse().map_err(wrong)?, requests: requests.unsigned_abs() })
    });
    Ok(PortalReport {
        cycle: unsigned(row, "cycle")?,
        total_requests: unsigned(row, "total_requests")?,
        cache_hit_rate: row.try_get("cache_hit_rate")?,
        domains_accessed: row.try_get("domains_accessed")?,
        top_users: top_users.collect::<Result<_, sqlx::Error>>()?,
        code_filter_hits: unsigned(row, "code_filter_hits")?,
        blocked_requests: unsigned(row, "blocked_requests")?,
        total_cost: Cost {
            ticks: unsigned(row, "tick_cost")?,
            spark: unsigned(row, "spark_cost")?,
        },
    })
}

const SO_FAR: &str = "
    SELECT $1::bigint AS cycle, coalesce(t.n_requests, 0) AS total_requests,
        CASE WHEN coalesce(t.n_completed, 0) = 0 THEN 0
            ELSE t.n_cached::float8 / t.n_completed END AS cache_hit_rate,
        ARRAY(SELECT host FROM portal.cycle_hosts WHERE cycle = $1 ORDER BY host)
            AS domains_accessed,
        ARRAY(SELECT agent FROM portal.cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10) AS top_users,
        ARRAY(SELECT n_requests FROM portal.cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10) AS top_requests,
        coalesce(t.n_stripped, 0) AS code_filter_hits, coalesce(t.n_blocked, 0) AS blocked_requests,
        coalesce(t.ticks, 0) AS tick_cost, coalesce(t.spark, 0) AS spark_cost
    FROM (SELECT) AS one LEFT JOIN portal.cycle_totals AS t ON t.cycle = $1";

/// What a cycle has added up to so far, whether it has ended or not.
pub async fn so_far(database: &Database, cycle: u64) -> Result<PortalReport, QueryFault> {
    let query = sqlx::query(SO_FAR).bind(number(cycle));
    let found = query::rows(database, VIEW, query, report).await?.pop();
    Ok(found.unwrap_or(PortalReport {
        cycle,
        total_requests: 0,
        cache_hit_rate: 0.0,
        domains_accessed: Vec::new(),
        top_users: Vec::new(),
        code_filter_hits: 0,
        blocked_requests: 0,
        total_cost: Cost::NONE,
    }))
}

/// What an agent has used of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaRow {
    /// The cycle.
    pub cycle: u64,
    /// The agent.
    pub agent: AgentId,
    /// How many requests it made, however they ended.
    pub n_requests: u64,
    /// How many of its quota are used.
    pub n_used: u64,
    /// The quota it was judged by; 0 where nothing was admitted.
    pub quota: u64,
    /// Whether it asked for more.
    pub exhausted: bool,
    /// How many the cache answered.
    pub n_cached: u64,
    /// How many were refused.
    pub n_blocked: u64,
    /// How many came to nothing.
    pub n_failed: u64,
    /// What it all cost.
    pub cost: Cost,
    /// The tax on that, in spark.
    pub tax: u64,
}

const QUOTAS_OF: &str = "
    SELECT cycle, agent, n_requests, n_used, quota, exhausted, n_cached, n_blocked, n_failed, ticks,
        spark, tax
    FROM portal.cycle_agents WHERE agent = $1 AND cycle < $2 ORDER BY cycle DESC LIMIT $3";

const QUOTAS_IN: &str = "
    SELECT cycle, agent, n_requests, n_used, quota, exhausted, n_cached, n_blocked, n_failed, ticks,
        spark, tax
    FROM portal.cycle_agents WHERE cycle = $1 AND agent > $2 ORDER BY agent LIMIT $3";

/// What an agent has used of the cycles before one, the newest first.
pub async fn quotas_of(
    database: &Database,
    agent: &AgentId,
    before: Option<u64>,
    limit: usize,
) -> Result<Vec<QuotaRow>, QueryFault> {
    let query = sqlx::query(QUOTAS_OF)
        .bind(agent.to_string())
        .bind(before.map_or(i64::MAX, number))
        .bind(query::limit(limit));
    query::rows(database, VIEW, query, quota).await
}

/// What agents have used of a cycle, by their ids, after one of them.
pub async fn quotas_in(
    database: &Database,
    cycle: u64,
    after: Option<&AgentId>,
    limit: usize,
) -> Result<Vec<QuotaRow>, QueryFault> {
    let query = sqlx::query(QUOTAS_IN)
        .bind(number(cycle))
        .bind(after.map(AgentId::to_string).unwrap_or_default())
        .bind(query::limit(limit));
    query::rows(database, VIEW, query, quota).await
}

fn quota(row: &PgRow) -> Result<QuotaRow, sqlx::Error> {
    Ok(QuotaRow {
        cycle: unsigned(row, "cycle")?,
        agent: agent(row, "agent")?,
        n_requests: unsigned(row, "n_requests")?,
        n_used: unsigned(row, "n_used")?,
        quota: unsigned(row, "quota")?,
        exhausted: row.try_get("exhausted")?,
        n_cached: unsigned(row, "n_cached")?,
        n_blocked: unsigned(row, "n_blocked")?,
        n_failed: unsigned(row, "n_failed")?,
        cost: Cost { ticks: unsigned(row, "ticks")?, spark: unsigned(row, "spark")? },
        tax: unsigned(row, "tax")?,
    })
}
