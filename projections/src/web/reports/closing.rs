//! The end of a cycle. The hash of the portal's state stands as of that event. Its report is made when
//! all that was admitted in it has ended, too: that counts in the cycle it was admitted in. What is
//! still open when the next cycle ends is not waited for any longer. Whatever comes after the report
//! makes another one of it, the next revision.

use sqlx::{PgConnection, Row};
use weir_events::{
    envelope::Recorded, nexus::CycleStarted, position::Position, web::PortalReportPublished,
};

use super::{
    super::{number, unsigned},
    EARLY_DAYS, digest,
};
use crate::engine::ApplyFault;

const LAST: &str = "SELECT max(cycle) AS cycle FROM cycle_totals WHERE ended";

/// The cycle that was announced before has a report, whether anybody asked for anything or not.
const BEGUN: &str = "
    INSERT INTO cycle_totals (cycle, n_requests, n_completed, n_cached, n_blocked, n_failed,
        n_stripped, ticks, spark, tax, ended)
    VALUES ($1, 0, 0, 0, 0, 0, 0, 0, 0, 0, false) ON CONFLICT (cycle) DO NOTHING";

const UNREPORTED: &str = "
    SELECT cycle, ended FROM cycle_totals WHERE NOT reported AND cycle < $1 ORDER BY cycle";

const END: &str = "
    UPDATE cycle_totals SET ended = true, ended_at = $2, end_recorded_at = $3, state_hash = $4
    WHERE cycle = $1";

const BEFORE: &str = "
    SELECT state_hash FROM cycle_totals WHERE ended ORDER BY ended_at DESC, cycle DESC LIMIT 1";

const STATE: &str = "
    SELECT (SELECT sha256(coalesce(string_agg(digest, ''::bytea ORDER BY id, agent), ''::bytea))
            FROM request_digests) AS requests,
        (SELECT sha256(coalesce(string_agg(digest, ''::bytea ORDER BY key, variant, owner),
            ''::bytea)) FROM cache_digests) AS pages";

const COVERED: &str = "DELETE FROM request_digests";

/// Unless something is open that is still waited for.
const DUE: &str = "
    UPDATE cycle_totals SET reported = true
    WHERE cycle = $1 AND ended AND ($2 OR n_requests <= n_completed + n_blocked + n_failed)
    RETURNING cycle";

/// A report that would say nothing new is none.
const REPORT: &str = "
    INSERT INTO reports AS old (cycle, total_requests, cache_hit_rate, domains_accessed, top_users,
        top_requests, code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash,
        ended_at, revision)
    SELECT t.cycle, t.n_requests,
        CASE WHEN t.n_completed = 0 THEN 0 ELSE t.n_cached::float8 / t.n_completed END,
        ARRAY(SELECT host FROM cycle_hosts WHERE cycle = $1 ORDER BY host),
        ARRAY(SELECT agent FROM cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10),
        ARRAY(SELECT n_requests FROM cycle_agents WHERE cycle = $1 AND n_requests > 0
            ORDER BY n_requests DESC, agent LIMIT 10),
        t.n_stripped, t.n_blocked, t.ticks, t.spark, t.tax, t.state_hash, t.ended_at, 0
    FROM cycle_totals AS t WHERE t.cycle = $1
    ON CONFLICT (cycle) DO UPDATE SET
        total_requests = excluded.total_requests, cache_hit_rate = excluded.cache_hit_rate,
        domains_accessed = excluded.domains_accessed, top_users = excluded.top_users,
        top_requests = excluded.top_requests, code_filter_hits = excluded.code_filter_hits,
        blocked_requests = excluded.blocked_requests, tick_cost = excluded.tick_cost,
        spark_cost = excluded.spark_cost, tax = excluded.tax, ended_at = excluded.ended_at,
        revision = old.revision + 1, published_at = NULL
    WHERE (old.total_requests, old.cache_hit_rate, old.domains_accessed, old.top_users,
            old.top_requests, old.code_filter_hits, old.blocked_requests, old.tick_cost,
            old.spark_cost, old.tax)
        IS DISTINCT FROM (excluded.total_requests, excluded.cache_hit_rate,
            excluded.domains_accessed, excluded.top_users, excluded.top_requests,
            excluded.code_filter_hits, excluded.blocked_requests, excluded.tick_cost,
            excluded.spark_cost, excluded.tax)";

/// The last cycle that has ended.
pub(super) async fn last(tx: &mut PgConnection) -> Result<Option<u64>, ApplyFault> {
    let rows = sqlx::query(LAST).fetch_all(tx).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let cycle: Option<i64> = row.try_get("cycle")?;
    Ok(cycle.map(i64::unsigned_abs))
}

/// By the time of the events, which a replay finds as it was.
const FORGET_EARLY: &str = "
    DELETE FROM early_requests WHERE cycle <= (
        SELECT max(cycle) FROM cycle_totals WHERE ended AND end_recorded_at <= $1)";

/// Ends all cycles before one that began, reports those that nothing more is waited for of, and forgets
/// which requests were too early in those that are long over.
pub(super) async fn end(
    started: &CycleStarted,
    event: &Recorded,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    if let Some(before) = started.after.filter(|before| *before < started.cycle) {
        sqlx::query(BEGUN).bind(number(before)).execute(&mut *tx).await?;
    }
    let rows = sqlx::query(UNREPORTED).bind(number(started.cycle)).fetch_all(&mut *tx).await?;
    for row in &rows {
        let (cycle, had_ended) = (unsigned(row, "cycle")?, row.try_get::<bool, _>("ended")?);
        if !had_ended {
            let hash = state_hash(cycle, tx).await?;
            sqlx::query(END)
                .bind(number(cycle))
                .bind(event.position.0)
                .bind(event.recorded_at.datetime())
                .bind(hash.as_slice())
                .execute(&mut *tx)
                .await?;
        }
        report(cycle, had_ended, tx).await?;
    }
    let over = event.recorded_at.plus_seconds(-i64::from(EARLY_DAYS) * 24 * 3_600);
    sqlx::query(FORGET_EARLY).bind(over.datetime()).execute(tx).await?;
    Ok(())
}

/// Something of a cycle came after its end.
pub(super) async fn late(cycle: u64, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    report(cycle, false, tx).await
}

/// Reports a cycle that has ended: with what is still open only if `anyway`.
async fn report(cycle: u64, anyway: bool, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let due = sqlx::query(DUE).bind(number(cycle)).bind(anyway).fetch_all(&mut *tx).await?;
    if !due.is_empty() {
        sqlx::query(REPORT).bind(number(cycle)).execute(tx).await?;
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

/// Of two revisions the later one stands, in whatever order they come.
const PUBLISH: &str = "
    INSERT INTO reports AS old (cycle, total_requests, cache_hit_rate, domains_accessed, top_users,
        top_requests, code_filter_hits, blocked_requests, tick_cost, spark_cost, tax, state_hash,
        ended_at, published_at, revision)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $12, $12, $13)
    ON CONFLICT (cycle) DO UPDATE SET
        total_requests = excluded.total_requests, cache_hit_rate = excluded.cache_hit_rate,
        domains_accessed = excluded.domains_accessed, top_users = excluded.top_users,
        top_requests = excluded.top_requests, code_filter_hits = excluded.code_filter_hits,
        blocked_requests = excluded.blocked_requests, tick_cost = excluded.tick_cost,
        spark_cost = excluded.spark_cost, state_hash = excluded.state_hash,
        published_at = excluded.published_at, revision = excluded.revision
    WHERE old.revision <= excluded.revision";

/// The hashes that come are made of the one that was published.
const PROVE: &str = "UPDATE cycle_totals SET state_hash = $2 WHERE cycle = $1 AND ended";

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
        .bind(i64::from(published.revision))
        .execute(&mut *tx)
        .await?;
    sqlx::query(PROVE)
        .bind(number(report.cycle))
        .bind(published.state_hash.as_bytes().as_slice())
        .execute(tx)
        .await?;
    Ok(())
}
