//! How the sources of advisories stand: the last visits to each, and how much it says.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use time::OffsetDateTime;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    registry::{
        Ecosystem, Event, blocklist,
        sync::{SyncFailed, SyncSucceeded},
    },
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.sync_status`, with `registry.sync_requests`,
/// `registry.sync_advisories` and `registry.sync_history`.
#[derive(Debug)]
pub struct SyncStatus;

const VIEW: &str = "registry.sync_status";

/// How a part of a source stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRow {
    /// The source.
    pub source: String,
    /// Its part, or `None`: all it has.
    pub ecosystem: Option<Ecosystem>,
    /// When the last visit began.
    pub started_at: Option<Timestamp>,
    /// When the last visit that succeeded ended.
    pub succeeded_at: Option<Timestamp>,
    /// When the last visit that failed ended.
    pub failed_at: Option<Timestamp>,
    /// Why the last visit failed, if it did.
    pub cause: Option<String>,
    /// What the source called its state when it was read last.
    pub revision: Option<String>,
    /// Records read by the last visit that read any.
    pub n_records: u64,
    /// Those of them that could not be read.
    pub n_unreadable: u64,
    /// The event that made this what it is.
    pub position: Position,
}

/// A visit that ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VisitRow {
    /// The event that records it.
    pub position: Position,
    /// The part, or `None`: all the source has.
    pub ecosystem: Option<Ecosystem>,
    /// When it ended.
    pub ended_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// Why it failed, if it did.
    pub cause: Option<String>,
    /// What the source calls its state.
    pub revision: Option<String>,
    /// Records read; 0 when nothing had changed.
    pub n_records: u64,
    /// Those of them that could not be read.
    pub n_unreadable: u64,
    /// Advisories that were new.
    pub n_published: u64,
    /// Advisories that said something else.
    pub n_changed: u64,
    /// Advisories that were withdrawn.
    pub n_withdrawn: u64,
}

const LIST: &str = "
    SELECT source, ecosystem, started_at, succeeded_at, failed_at, cause, revision,
        n_records, n_unreadable, position
    FROM registry.sync_status ORDER BY source, ecosystem LIMIT $1";

const TALLY: &str = "
    SELECT source, ecosystem, n_advisories FROM registry.sync_advisories
    WHERE n_advisories <> 0 ORDER BY source, ecosystem LIMIT $1";

const REQUESTS: &str = "
    SELECT source, asked_at FROM registry.sync_requests ORDER BY source LIMIT $1";

const HISTORY: &str = "
    SELECT position, ecosystem, ended_at, duration_ms, cause, revision, n_records, n_unreadable,
        n_published, n_changed, n_withdrawn
    FROM registry.sync_history WHERE source = $1 AND position < $2
    ORDER BY position DESC LIMIT $3";

/// How all parts of all sources stand.
pub async fn list(database: &Database) -> Result<Vec<StatusRow>, QueryFault> {
    let query = sqlx::query(LIST).bind(query::limit(query::MAX_ROWS));
    query::rows(database, VIEW, query, status_row).await
}

/// How much each source says about each ecosystem; `None` where it says it about none in particular.
pub async fn tally(
    database: &Database,
) -> Result<Vec<(String, Option<Ecosystem>, u64)>, QueryFault> {
    let query = sqlx::query(TALLY).bind(query::limit(query::MAX_ROWS));
    let row = |row: &PgRow| Ok((row.try_get("source")?, part(row)?, count(row, "n_advisories")?));
    query::rows(database, VIEW, query, row).await
}

/// When somebody last asked for a visit to each source.
pub async fn requests(database: &Database) -> Result<Vec<(String, Timestamp)>, QueryFault> {
    let query = sqlx::query(REQUESTS).bind(query::limit(query::MAX_ROWS));
    let row = |row: &PgRow| Ok((row.try_get("source")?, query::moment(row, "asked_at")?));
    query::rows(database, VIEW, query, row).await
}

/// The newest visits to a source before a position, newest first.
pub async fn history(
    database: &Database,
    source: &str,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<VisitRow>, QueryFault> {
    let before = before.map_or(i64::MAX, |before| before.0);
    let query = sqlx::query(HISTORY).bind(source).bind(before).bind(query::limit(limit));
    query::rows(database, VIEW, query, visit_row).await
}

fn status_row(row: &PgRow) -> Result<StatusRow, sqlx::Error> {
    Ok(StatusRow {
        source: row.try_get("source")?,
        ecosystem: part(row)?,
        started_at: query::moment_if_any(row, "started_at")?,
        succeeded_at: query::moment_if_any(row, "succeeded_at")?,
        failed_at: query::moment_if_any(row, "failed_at")?,
        cause: row.try_get("cause")?,
        revision: row.try_get("revision")?,
        n_records: count(row, "n_records")?,
        n_unreadable: count(row, "n_unreadable")?,
        position: query::position(row, "position")?,
    })
}

fn visit_row(row: &PgRow) -> Result<VisitRow, sqlx::Error> {
    Ok(VisitRow {
        position: query::position(row, "position")?,
        ecosystem: part(row)?,
        ended_at: query::moment(row, "ended_at")?,
        duration_ms: count(row, "duration_ms")?,
        cause: row.try_get("cause")?,
        revision: row.try_get("revision")?,
        n_records: count(row, "n_records")?,
        n_unreadable: count(row, "n_unreadable")?,
        n_published: count(row, "n_published")?,
        n_changed: count(row, "n_changed")?,
        n_withdrawn: count(row, "n_withdrawn")?,
    })
}

fn part(row: &PgRow) -> Result<Option<Ecosystem>, sqlx::Error> {
    let text: &str = row.try_get("ecosystem")?;
    if text.is_empty() {
        return Ok(None);
    }
    query::word(row, "ecosystem", Ecosystem::find).map(Some)
}

fn count(row: &PgRow, column: &str) -> Result<u64, sqlx::Error> {
    Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
}

/// A column that a batch says nothing about stays as it is. The cause is that of the last visit, so
/// a success takes it away.
const UPSERT: &str = "
    INSERT INTO sync_status AS old (source, ecosystem, started_at, succeeded_at, failed_at, cause,
        revision, n_records, n_unreadable, position)
    SELECT source, ecosystem, started_at, succeeded_at, failed_at, cause, revision,
        coalesce(n_records, 0), coalesce(n_unreadable, 0), position
    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[],
        $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[])
        AS new (source, ecosystem, started_at, succeeded_at, failed_at, cause, revision, n_records,
            n_unreadable, position)
    ON CONFLICT (source, ecosystem) DO UPDATE SET
        started_at = coalesce(excluded.started_at, old.started_at),
        succeeded_at = coalesce(excluded.succeeded_at, old.succeeded_at),
        failed_at = coalesce(excluded.failed_at, old.failed_at),
        cause = CASE WHEN excluded.succeeded_at IS NULL AND excluded.failed_at IS NULL
            THEN old.cause ELSE excluded.cause END,
        revision = CASE WHEN excluded.succeeded_at IS NULL
            THEN old.revision ELSE excluded.revision END,
        n_records = CASE WHEN excluded.n_records = 0
            THEN old.n_records ELSE excluded.n_records END,
        n_unreadable = CASE WHEN excluded.n_records = 0
            THEN old.n_unreadable ELSE excluded.n_unreadable END,
        position = excluded.position";

const ASKED: &str = "
    INSERT INTO sync_requests (source, asked_at)
    SELECT * FROM unnest($1::text[], $2::timestamptz[])
    ON CONFLICT (source) DO UPDATE SET asked_at = excluded.asked_at";

const COUNT: &str = "
    INSERT INTO sync_advisories AS old (source, ecosystem, n_advisories)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
    ON CONFLICT (source, ecosystem) DO UPDATE SET
        n_advisories = old.n_advisories + excluded.n_advisories";

const REMEMBER: &str = "
    INSERT INTO sync_history (position, source, ecosystem, ended_at, duration_ms, cause, revision,
        n_records, n_unreadable, n_published, n_changed, n_withdrawn)
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[], $5::bigint[],
        $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
        $12::bigint[])";

/// What a batch says of one part.
#[derive(Default)]
struct Change {
    started_at: Option<OffsetDateTime>,
    succeeded_at: Option<OffsetDateTime>,
    failed_at: Option<OffsetDateTime>,
    cause: Option<String>,
    revision: Option<String>,
    counts: Option<(i64, i64)>,
    position: i64,
}

/// A visit that ended, as its row.
struct PastVisit {
    position: Position,
    source: String,
    ecosystem: &'static str,
    ended_at: OffsetDateTime,
    duration_ms: i64,
    cause: Option<String>,
    revision: Option<String>,
    counts: [i64; 5],
}

/// What a batch says.
#[derive(Default)]
struct Batch {
    parts: BTreeMap<(String, &'static str), Change>,
    asked: BTreeMap<String, OffsetDateTime>,
    advisories: BTreeMap<(String, String), i64>,
    ended: Vec<PastVisit>,
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

impl Batch {
    fn of(batch: &[Arc<Recorded>]) -> Result<Self, ApplyFault> {
        let mut this = Self::default();
        for event in batch {
            // Of advisories only the number counts: their streams and kinds say enough.
            let by = match event.kind.0 {
                0x4010 | 0x4018 => 1,
                0x4012 | 0x4019 => -1,
                _ => continue,
            };
            let key = match event.stream.as_str().split('/').collect::<Vec<_>>()[..] {
                ["registry", "advisories", source, ecosystem] => (source, ecosystem),
                _ if event.stream.as_str() == blocklist::STREAM => ("blocklist", ""),
                _ => continue,
            };
            let key = (key.0.to_owned(), key.1.to_owned());
            *this.advisories.entry(key).or_default() += by;
        }
        let visits = batch.iter().filter(|event| matches!(event.kind.0, 0x4013..=0x4015 | 0x4028));
        for event in decode::events::<Event>(&visits.cloned().collect::<Vec<_>>()) {
            let (at, event) = event?;
            this.visit(at, event);
        }
        Ok(this)
    }

    fn visit(&mut self, at: &Recorded, event: Event) {
        let now = at.recorded_at.datetime();
        match event {
            Event::SyncRequested(it) => {
                self.asked.insert(it.source, now);
            }
            Event::SyncStarted(it) => {
                self.part(&it.source, it.ecosystem, at.position).started_at = Some(now);
            }
            Event::SyncSucceeded(it) => self.succeeded(at, it),
            Event::SyncFailed(it) => self.failed(at, it),
            _ => {}
        }
    }

    fn part(&mut self, source: &str, part: Option<Ecosystem>, at: Position) -> &mut Change {
        let key = (source.to_owned(), part.map_or("", Ecosystem::as_str));
        let change = self.parts.entry(key).or_default();
        change.position = at.0;
        change
    }

    fn succeeded(&mut self, at: &Recorded, it: SyncSucceeded) {
        let ended_at = at.recorded_at.datetime();
        let change = self.part(&it.source, it.ecosystem, at.position);
        change.succeeded_at = Some(ended_at);
        change.cause = None;
        change.revision.clone_from(&it.revision);
        if it.n_records > 0 {
            change.counts = Some((signed(it.n_records), signed(it.n_unreadable)));
        }
        let counts = [it.n_records, it.n_unreadable, it.n_published, it.n_changed, it.n_withdrawn];
        self.ended.push(PastVisit {
            position: at.position,
            source: it.source,
            ecosystem: it.ecosystem.map_or("", Ecosystem::as_str),
            ended_at,
            duration_ms: signed(it.duration_ms),
            cause: None,
            revision: it.revision,
            counts: counts.map(signed),
        });
    }

    fn failed(&mut self, at: &Recorded, it: SyncFailed) {
        let ended_at = at.recorded_at.datetime();
        let change = self.part(&it.source, it.ecosystem, at.position);
        change.failed_at = Some(ended_at);
        change.cause = Some(it.cause.clone());
        self.ended.push(PastVisit {
            position: at.position,
            source: it.source,
            ecosystem: it.ecosystem.map_or("", Ecosystem::as_str),
            ended_at,
            duration_ms: signed(it.duration_ms),
            cause: Some(it.cause),
            revision: None,
            counts: [0; 5],
        });
    }
}

async fn upsert(
    parts: BTreeMap<(String, &'static str), Change>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut sources, mut ecosystems, mut positions) = (vec![], vec![], vec![]);
    let (mut started, mut succeeded, mut failed) = (vec![], vec![], vec![]);
    let (mut causes, mut revisions) = (vec![], vec![]);
    let (mut records, mut unreadable) = (vec![], vec![]);
    for ((source, ecosystem), change) in parts {
        sources.push(source);
        ecosystems.push(ecosystem);
        started.push(change.started_at);
        succeeded.push(change.succeeded_at);
        failed.push(change.failed_at);
        causes.push(change.cause);
        revisions.push(change.revision);
        records.push(change.counts.map(|counts| counts.0));
        unreadable.push(change.counts.map(|counts| counts.1));
        positions.push(change.position);
    }
    sqlx::query(UPSERT)
        .bind(sources)
        .bind(ecosystems)
        .bind(started)
        .bind(succeeded)
        .bind(failed)
        .bind(causes)
        .bind(revisions)
        .bind(records)
        .bind(unreadable)
        .bind(positions)
        .execute(tx)
        .await?;
    Ok(())
}

async fn remember(ended: Vec<PastVisit>, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let (mut positions, mut sources, mut ecosystems) = (vec![], vec![], vec![]);
    let (mut ats, mut durations, mut causes, mut revisions) = (vec![], vec![], vec![], vec![]);
    let mut counts: [Vec<i64>; 5] = Default::default();
    for visit in ended {
        positions.push(visit.position.0);
        sources.push(visit.source);
        ecosystems.push(visit.ecosystem);
        ats.push(visit.ended_at);
        durations.push(visit.duration_ms);
        causes.push(visit.cause);
        revisions.push(visit.revision);
        for (column, n) in counts.iter_mut().zip(visit.counts) {
            column.push(n);
        }
    }
    let mut query = sqlx::query(REMEMBER)
        .bind(positions)
        .bind(sources)
        .bind(ecosystems)
        .bind(ats)
        .bind(durations)
        .bind(causes)
        .bind(revisions);
    for column in counts {
        query = query.bind(column);
    }
    query.execute(tx).await?;
    Ok(())
}

impl Projection for SyncStatus {
    fn name(&self) -> &'static str {
        "sync_status"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[
            Kind(0x4010),
            Kind(0x4012),
            Kind(0x4013),
            Kind(0x4014),
            Kind(0x4015),
            Kind(0x4018),
            Kind(0x4019),
            Kind(0x4028),
        ])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/sync_status.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["sync_status", "sync_requests", "sync_advisories", "sync_history"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let Batch { parts, asked, advisories, ended } = Batch::of(batch)?;
            if !parts.is_empty() {
                upsert(parts, &mut *tx).await?;
            }
            if !asked.is_empty() {
                let (sources, ats): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
                sqlx::query(ASKED).bind(sources).bind(ats).execute(&mut *tx).await?;
            }
            if !advisories.is_empty() {
                let (mut sources, mut ecosystems, mut by) = (vec![], vec![], vec![]);
                for ((source, ecosystem), n) in advisories {
                    sources.push(source);
                    ecosystems.push(ecosystem);
                    by.push(n);
                }
                let query = sqlx::query(COUNT).bind(sources).bind(ecosystems).bind(by);
                query.execute(&mut *tx).await?;
            }
            if !ended.is_empty() {
                remember(ended, tx).await?;
            }
            Ok(())
        })
    }
}
