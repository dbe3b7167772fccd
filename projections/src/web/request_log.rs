//! Every request of an agent: those that were answered, those that were refused, those that came to
//! nothing, and those that are under way.

mod rows;

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    web::{
        Asked, Event, WebRedirect,
        request::{AgentId, Cost, Hash256},
    },
};

pub use self::rows::{
    ErrorRow, Filter, LeftOver, RequestRow, RequestState, Unsettled, find, list, unsettled,
};
use super::{VIEWS, host_of, number, packed};
use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
};

/// The read model `portal.request_log`.
#[derive(Debug)]
pub struct RequestLog;

/// What a batch says of a request.
#[derive(Debug, Clone)]
struct Line {
    asked: Asked,
    state: RequestState,
    status: Option<i32>,
    content: Option<Hash256>,
    content_size: i64,
    content_type: Option<String>,
    filter_report: Option<Vec<u8>>,
    code_blocks_removed: i64,
    bytes_stripped: i64,
    cached: bool,
    cost: Cost,
    tax: u64,
    hosts: Vec<String>,
    redirects: Option<Vec<u8>>,
    approval: Option<Hash256>,
    domain: Option<String>,
    error: Option<(u16, String, String)>,
    admitted: Option<Admitted>,
    position: i64,
    settled: Option<i64>,
    recorded_at: time::OffsetDateTime,
}

/// What is known of those that were admitted only.
#[derive(Debug, Clone)]
struct Admitted {
    interaction: String,
    strips_code: bool,
    epoch: u32,
    at: time::OffsetDateTime,
}

impl Line {
    fn new(event: &Recorded, asked: Asked, state: RequestState) -> Self {
        Self {
            asked,
            state,
            status: None,
            content: None,
            content_size: 0,
            content_type: None,
            filter_report: None,
            code_blocks_removed: 0,
            bytes_stripped: 0,
            cached: false,
            cost: Cost::NONE,
            tax: 0,
            hosts: Vec::new(),
            redirects: None,
            approval: None,
            domain: None,
            error: None,
            admitted: None,
            position: event.position.0,
            settled: (state != RequestState::Submitted).then_some(event.position.0),
            recorded_at: event.recorded_at.datetime(),
        }
    }

    /// The same after what came before it in the batch. One that was refused for its pace may come
    /// again, and be answered then.
    fn after(mut self, before: Self) -> Self {
        self.position = before.position;
        self.recorded_at = before.recorded_at;
        self.admitted = self.admitted.or(before.admitted);
        self.approval = self.approval.or(before.approval);
        self
    }
}

/// What an event says of a request.
fn line(at: &Recorded, event: Event) -> Result<Option<Line>, ApplyFault> {
    Ok(Some(match event {
        Event::WebRequestSubmitted(it) => Line {
            approval: it.approval,
            admitted: Some(Admitted {
                interaction: rows::interaction(it.interaction).to_owned(),
                strips_code: it.filter.strip_code_blocks,
                epoch: it.epoch,
                at: at.recorded_at.datetime(),
            }),
            ..Line::new(at, it.asked, RequestState::Submitted)
        },
        Event::WebRequestCompleted(it) => Line {
            status: Some(i32::from(it.status)),
            content: Some(it.content),
            content_size: number(it.content_size),
            content_type: Some(it.content_type),
            filter_report: Some(packed(at, "FilterReport", &it.filtered)?),
            code_blocks_removed: i64::from(it.filtered.code_blocks_removed),
            bytes_stripped: number(it.filtered.bytes_stripped),
            cached: it.cached,
            cost: it.cost,
            tax: it.tax,
            hosts: it.hosts,
            redirects: redirects(at, &it.redirects)?,
            approval: it.approval,
            ..Line::new(at, it.asked, RequestState::Completed)
        },
        Event::WebRequestBlocked(it) => Line {
            cost: it.cost,
            tax: it.tax,
            hosts: it.hosts,
            redirects: redirects(at, &it.redirects)?,
            domain: it.domain,
            error: Some((it.code, it.error, it.reason)),
            ..Line::new(at, it.asked, RequestState::Blocked)
        },
        Event::WebRequestFailed(it) => Line {
            cost: it.cost,
            tax: it.tax,
            hosts: it.hosts,
            redirects: redirects(at, &it.redirects)?,
            error: Some((it.code, it.error, it.reason)),
            ..Line::new(at, it.asked, RequestState::Failed)
        },
        _ => return Ok(None),
    }))
}

/// None, where there were none: as almost always.
fn redirects(at: &Recorded, all: &[WebRedirect]) -> Result<Option<Vec<u8>>, ApplyFault> {
    if all.is_empty() { Ok(None) } else { packed(at, "WebRedirects", &all).map(Some) }
}

const UPSERT: &str = "
    INSERT INTO request_log AS old (
        id, agent, url, host, method, purpose, state, status_code, content_size, cached, blocked,
        block_reason, tick_cost, spark_cost, tax, code_blocks_removed, bytes_stripped, cycle,
        created_at, hosts, domain, error_code, error, error_reason, content, content_type,
        filter_report, interaction, strips_code, epoch, submitted_at, position, settled, recorded_at,
        redirects, approval)
    SELECT id, agent, url, host, method, purpose, state, status_code, content_size, cached,
        state = 'blocked', CASE WHEN state = 'blocked' THEN error_reason END, tick_cost, spark_cost,
        tax, code_blocks_removed, bytes_stripped, cycle, created_at,
        string_to_array(hosts, E'\\n'), domain, error_code, error, error_reason, content,
        content_type, filter_report, interaction, strips_code, epoch, submitted_at, position, settled,
        recorded_at, redirects, approval
    FROM unnest($1::bytea[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::integer[], $9::bigint[], $10::boolean[], $11::bigint[], $12::bigint[], $13::bigint[],
        $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::text[], $19::text[],
        $20::integer[], $21::text[], $22::text[], $23::bytea[], $24::text[], $25::bytea[],
        $26::text[], $27::boolean[], $28::bigint[], $29::timestamptz[], $30::bigint[],
        $31::bigint[], $32::timestamptz[], $33::bytea[], $34::bytea[])
        AS new (id, agent, url, host, method, purpose, state, status_code, content_size, cached,
            tick_cost, spark_cost, tax, code_blocks_removed, bytes_stripped, cycle, created_at,
            hosts, domain, error_code, error, error_reason, content, content_type, filter_report,
            interaction, strips_code, epoch, submitted_at, position, settled, recorded_at, redirects,
            approval)
    ON CONFLICT (id, agent) DO UPDATE SET
        state = excluded.state, cycle = excluded.cycle, created_at = excluded.created_at,
        status_code = excluded.status_code,
        content_size = excluded.content_size, cached = excluded.cached, blocked = excluded.blocked,
        block_reason = excluded.block_reason, tick_cost = excluded.tick_cost,
        spark_cost = excluded.spark_cost, tax = excluded.tax,
        code_blocks_removed = excluded.code_blocks_removed,
        bytes_stripped = excluded.bytes_stripped, hosts = excluded.hosts, domain = excluded.domain,
        error_code = excluded.error_code, error = excluded.error,
        error_reason = excluded.error_reason, content = excluded.content,
        content_type = excluded.content_type, filter_report = excluded.filter_report,
        interaction = coalesce(excluded.interaction, old.interaction),
        strips_code = coalesce(excluded.strips_code, old.strips_code),
        epoch = coalesce(excluded.epoch, old.epoch),
        submitted_at = coalesce(excluded.submitted_at, old.submitted_at), settled = excluded.settled,
        redirects = excluded.redirects, approval = coalesce(excluded.approval, old.approval)";

async fn upsert(lines: &[Line], tx: &mut PgConnection) -> Result<(), ApplyFault> {
    fn column<'a, T>(lines: &'a [Line], of: impl Fn(&'a Line) -> T) -> Vec<T> {
        lines.iter().map(of).collect()
    }
    sqlx::query(UPSERT)
        .bind(column(lines, |l| l.asked.request.as_bytes().as_slice()))
        .bind(column(lines, |l| l.asked.agent.to_string()))
        .bind(column(lines, |l| l.asked.url.as_str()))
        .bind(column(lines, |l| host_of(&l.asked.url)))
        .bind(column(lines, |l| l.asked.method.as_str()))
        .bind(column(lines, |l| l.asked.purpose.as_str()))
        .bind(column(lines, |l| l.state.as_str()))
        .bind(column(lines, |l| l.status))
        .bind(column(lines, |l| l.content_size))
        .bind(column(lines, |l| l.cached))
        .bind(column(lines, |l| number(l.cost.ticks)))
        .bind(column(lines, |l| number(l.cost.spark)))
        .bind(column(lines, |l| number(l.tax)))
        .bind(column(lines, |l| l.code_blocks_removed))
        .bind(column(lines, |l| l.bytes_stripped))
        .bind(column(lines, |l| number(l.asked.cycle)))
        .bind(column(lines, |l| number(l.asked.tick)))
        .bind(column(lines, |l| l.hosts.join("\n")))
        .bind(column(lines, |l| l.domain.as_deref()))
        .bind(column(lines, |l| l.error.as_ref().map(|(code, ..)| i32::from(*code))))
        .bind(column(lines, |l| l.error.as_ref().map(|(_, name, _)| name.as_str())))
        .bind(column(lines, |l| l.error.as_ref().map(|(.., reason)| reason.as_str())))
        .bind(column(lines, |l| l.content.as_ref().map(|hash| hash.as_bytes().as_slice())))
        .bind(column(lines, |l| l.content_type.as_deref()))
        .bind(column(lines, |l| l.filter_report.as_deref()))
        .bind(column(lines, |l| l.admitted.as_ref().map(|it| it.interaction.as_str())))
        .bind(column(lines, |l| l.admitted.as_ref().map(|it| it.strips_code)))
        .bind(column(lines, |l| l.admitted.as_ref().map(|it| i64::from(it.epoch))))
        .bind(column(lines, |l| l.admitted.as_ref().map(|it| it.at)))
        .bind(column(lines, |l| l.position))
        .bind(column(lines, |l| l.settled))
        .bind(column(lines, |l| l.recorded_at))
        .bind(column(lines, |l| l.redirects.as_deref()))
        .bind(column(lines, |l| l.approval.as_ref().map(|hash| hash.as_bytes().as_slice())))
        .execute(tx)
        .await?;
    Ok(())
}

impl Projection for RequestLog {
    fn name(&self) -> &'static str {
        "request_log"
    }

    fn version(&self) -> i32 {
        3
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Web
    }

    fn views(&self) -> &'static str {
        VIEWS
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x6000), Kind(0x6001), Kind(0x6002), Kind(0x6003)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/web/request_log.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["request_log"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut lines: BTreeMap<(Hash256, AgentId), Line> = BTreeMap::new();
            for event in decode::events::<Event>(batch) {
                let (at, event) = event?;
                let Some(line) = line(at, event)? else { continue };
                let key = (line.asked.request, line.asked.agent);
                let line = match lines.remove(&key) {
                    Some(before) => line.after(before),
                    None => line,
                };
                lines.insert(key, line);
            }
            let lines: Vec<Line> = lines.into_values().collect();
            if lines.is_empty() { Ok(()) } else { upsert(&lines, tx).await }
        })
    }
}
