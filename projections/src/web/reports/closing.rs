//! The end of a cycle: its report as it stands at that event, and the hash of the portal's state.

use sqlx::{PgConnection, Row};
use weir_events::{nexus::CycleStarted, position::Position, web::PortalReportPublished};

use super::{super::number, digest};
use crate::engine::ApplyFault;

/// The cycle that was announced before has a report, whether anybody asked for anything or not.
const BEGUN: &str = "
    INSERT INTO cycle_totals (cycle, n_requests, n_completed, n_cached, n_blocked, n_failed,
        n_stripped, ticks, spark, tax, ended)
    VALUES ($1, 0, 0, 0, 0, 0, 0, 0, 0, 0, false) ON CONFLICT (cycle) DO NOTHING";

const END: &str = "
    UPDATE cycle_totals SET ended = true WHERE NOT ended AND cycle < $1 RETURNING cycle";

const BEFORE: &str = "SELECT state_hash FROM reports ORDER BY ended_at DESC, cycle DESC LIMIT 1";

const STATE: &str = "
    SELECT (SELECT sha256(coalesce(string_agg(digest, ''::bytea ORDER BY id, agent), ''::bytea))
            FROM request_digests) AS requests,
        (SELECT sha256(coalesce(string_agg(digest, ''::bytea ORDER BY key, variant, owner),
            ''::bytea)) FROM cache_digests) AS pages";

const COVERED: &str = "DELETE FROM request_digests";

const REPORT: &str = "
    INSERT INTO reports (cycle, total_requests, cache_hit_rate, domains_accessed, top_users,
        top_requests, code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash,
        ended_at)
    SELECT t.cycle, t.n_requests,
        CASE WHEN t.n_completed = 0 THEN 0 ELSE t.n_cached::float8 / t.n_completed END,
        ARRAY(SELECT host FROM cycle_hosts WHERE cycle = $1 ORDER BY host),
        ARRAY(SELECT agent FROM cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10),
        ARRAY(SELECT n_requests FROM cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10),
        t.n_stripped, t.n_blocked, t.ticks, t.spark, t.tax, $2, $3
    FROM cycle_totals AS t WHERE t.cycle = $1";

/// Ends all cycles before one that began.
pub(super) async fn end(
    started: &CycleStarted,
    position: Position,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    if let Some(before) = started.after.filter(|before| *before < started.cycle) {
        sqlx::query(BEGUN).bind(number(before)).execute(&mut *tx).await?;
    }
    let rows = sqlx::query(END).bind(number(started.cycle)).fetch_all(&mut *tx).await?;
    let mut ended = Vec::new();
    for row in rows {
        ended.push(row.try_get::<i64, _>("cycle")?);
    }
    ended.sort_unstable();
    for cycle in ended {
        let hash = state_hash(cycle.unsigned_abs(), tx).await?;
        sqlx::query(REPORT)
            .bind(cycle)
            .bind(hash.as_slice())
            .bind(position.0)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn state_hash(cycle: u64, tx: &mut PgConnection) -> Result<digest::Digest, ApplyFault> {
    let before = sqlx::query(BEFORE).fetch_all(&mut *tx).await?;
    let before = match before.first() {
        Some(row) => bytes(row.try_get("state_hash")?)?,
        None => [0; 32],
    };
    let rows = sqlx::query(STATE).fetch_all(&mut *tx).await?;
    let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
    let (requests, pages) = (bytes(row.try_get("requests")?)?, bytes(row.try_get("pages")?)?);
    sqlx::query(COVERED).execute(&mut *tx).await?;
    Ok(digest::state(cycle, before, requests, pages))
}

fn bytes(bytes: &[u8]) -> Result<digest::Digest, ApplyFault> {
    bytes.try_into().map_err(|_| ApplyFault::Refused("a hash that is not of 32 bytes".to_owned()))
}

const PUBLISH: &str = "
    INSERT INTO reports (cycle, total_requests, cache_hit_rate, domains_accessed, top_users,
        top_requests, code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash,
        ended_at, published_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $12, $12)
    ON CONFLICT (cycle) DO UPDATE SET
        total_requests = excluded.total_requests, cache_hit_rate = excluded.cache_hit_rate,
        domains_accessed = excluded.domains_accessed, top_users = excluded.top_users,
        top_requests = excluded.top_requests, code_filter_hits = excluded.code_filter_hits,
        blocked_requests = excluded.blocked_requests, tick_cost = excluded.tick_cost,
        spark_cost = excluded.spark_cost, state_hash = excluded.state_hash,
        published_at = excluded.published_at";

/// What was published stands, in the words it was published in.
pub(super) async fn publish(
    published: &PortalReportPublished,
    position: Position,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let report = &published.report;
    sqlx::query(PUBLISH)
        .bind(number(report.cycle))
        .bind(number(report.total_requests))
        .bind(report.cache_hit_rate)
        .bind(&report.domains_accessed)
        .bind(report.top_users.iter().map(|user| user.agent.to_string()).collect::<Vec<_>>())
        .bind(report.top_users.iter().map(|user| number(user.requests)).collect::<Vec<_>>())
        .bind(number(report.code_filter_hits))
        .bind(number(report.blocked_requests))
        .bind(number(report.total_cost.ticks))
        .bind(number(report.total_cost.spark))
        .bind(published.state_hash.as_bytes().as_slice())
        .bind(position.0)
        .execute(tx)
        .await?;
    Ok(())
}
