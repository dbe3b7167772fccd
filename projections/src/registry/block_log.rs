//! Every refused download, with the reason its client was told.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row, postgres::PgRow};
use time::OffsetDateTime;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    registry::{Ecosystem, Event, Mask, PackageBlocked, advisory::Severity},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.block_log`.
#[derive(Debug)]
pub struct BlockLog;

const VIEW: &str = "registry.block_log";

/// A refused download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockRow {
    /// The event that records it.
    pub position: Position,
    /// When.
    pub at: Timestamp,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where the file's name tells.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// Which source said no.
    pub source: String,
    /// The rule that said no.
    pub rule_id: Option<String>,
    /// What the client was told.
    pub reason: String,
    /// How the version looks in lists.
    pub mask: Mask,
    /// Who asked.
    pub principal: String,
    /// The advisory that said no.
    pub advisory: Option<AdvisoryRow>,
}

/// The advisory behind a refused download, as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdvisoryRow {
    /// Its id.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// What of it the version falls under.
    pub hit: String,
    /// The lowest later version that is said to fix it.
    pub fixed_by: Option<String>,
}

/// Which blocks to list. Empty lists them all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this ecosystem.
    pub ecosystem: Option<Ecosystem>,
    /// Of a package of one of these normalised names: each ecosystem has its own normal form.
    pub packages: Option<Vec<String>>,
    /// Of this version.
    pub version: Option<String>,
    /// By this source.
    pub source: Option<String>,
    /// By this rule.
    pub rule_id: Option<String>,
    /// Because of this advisory.
    pub advisory_id: Option<String>,
    /// Asked for by this principal.
    pub principal: Option<String>,
}

/// The newest blocks before a position, newest first. The last row's position is the cursor of the
/// next page.
pub async fn list(
    database: &Database,
    filter: &Filter,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<BlockRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(
        "SELECT position, at, ecosystem, package, version, file, source, rule_id, reason, mask, \
         principal, advisory_id, severity, hit, fixed_by FROM registry.block_log WHERE position < ",
    );
    query.push_bind(before.map_or(i64::MAX, |before| before.0));
    let words = [
        (" AND ecosystem = ", filter.ecosystem.map(Ecosystem::as_str)),
        (" AND version = ", filter.version.as_deref()),
        (" AND source = ", filter.source.as_deref()),
        (" AND rule_id = ", filter.rule_id.as_deref()),
        (" AND advisory_id = ", filter.advisory_id.as_deref()),
        (" AND principal = ", filter.principal.as_deref()),
    ];
    for (condition, word) in words {
        if let Some(word) = word {
            query.push(condition).push_bind(word);
        }
    }
    if let Some(packages) = &filter.packages {
        query.push(" AND package = ANY (").push_bind(packages.as_slice()).push(")");
    }
    query.push(" ORDER BY position DESC LIMIT ").push_bind(query::limit(limit));
    query::rows(database, VIEW, query.build(), from_row).await
}

fn from_row(row: &PgRow) -> Result<BlockRow, sqlx::Error> {
    Ok(BlockRow {
        position: query::position(row, "position")?,
        at: query::moment(row, "at")?,
        ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
        package: row.try_get("package")?,
        version: row.try_get("version")?,
        file: row.try_get("file")?,
        source: row.try_get("source")?,
        rule_id: row.try_get("rule_id")?,
        reason: row.try_get("reason")?,
        mask: query::word(row, "mask", Mask::find)?,
        principal: row.try_get("principal")?,
        advisory: advisory(row)?,
    })
}

fn advisory(row: &PgRow) -> Result<Option<AdvisoryRow>, sqlx::Error> {
    let Some(id) = row.try_get("advisory_id")? else { return Ok(None) };
    Ok(Some(AdvisoryRow {
        id,
        severity: query::word(row, "severity", Severity::find)?,
        hit: row.try_get("hit")?,
        fixed_by: row.try_get("fixed_by")?,
    }))
}

const INSERT: &str = "
    INSERT INTO block_log (position, at, ecosystem, package, version, file, source, rule_id,
        reason, mask, principal, advisory_id, severity, hit, fixed_by)
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[],
        $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[],
        $13::text[], $14::text[], $15::text[])";

/// The columns of a batch.
#[derive(Default)]
struct Columns<'a> {
    position: Vec<i64>,
    at: Vec<OffsetDateTime>,
    ecosystem: Vec<&'static str>,
    package: Vec<String>,
    version: Vec<Option<String>>,
    file: Vec<String>,
    source: Vec<String>,
    rule_id: Vec<Option<String>>,
    reason: Vec<String>,
    mask: Vec<&'static str>,
    principal: Vec<&'a str>,
    advisory_id: Vec<Option<String>>,
    severity: Vec<Option<&'static str>>,
    hit: Vec<Option<String>>,
    fixed_by: Vec<Option<String>>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, event: &'a Recorded, blocked: PackageBlocked) -> Result<(), ApplyFault> {
        self.principal.push(decode::principal(event)?);
        self.position.push(event.position.0);
        self.at.push(event.recorded_at.datetime());
        self.ecosystem.push(blocked.ecosystem.as_str());
        self.package.push(blocked.package);
        self.version.push(blocked.version);
        self.file.push(blocked.file);
        self.source.push(blocked.source);
        self.rule_id.push(blocked.rule_id);
        self.reason.push(blocked.reason);
        self.mask.push(blocked.mask.as_str());
        let evidence = blocked.evidence;
        self.severity.push(evidence.as_ref().map(|it| it.severity.as_str()));
        let (advisory_id, hit, fixed_by) = match evidence {
            Some(it) => (Some(it.advisory_id), Some(it.hit), it.fixed_by),
            None => (None, None, None),
        };
        self.advisory_id.push(advisory_id);
        self.hit.push(hit);
        self.fixed_by.push(fixed_by);
        Ok(())
    }
}

impl Projection for BlockLog {
    fn name(&self) -> &'static str {
        "block_log"
    }

    fn version(&self) -> i32 {
        2
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4003)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/block_log.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["block_log"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut columns = Columns::default();
            for event in decode::events::<Event>(batch) {
                if let (recorded, Event::PackageBlocked(blocked)) = event? {
                    columns.push(recorded, blocked)?;
                }
            }
            sqlx::query(INSERT)
                .bind(columns.position)
                .bind(columns.at)
                .bind(columns.ecosystem)
                .bind(columns.package)
                .bind(columns.version)
                .bind(columns.file)
                .bind(columns.source)
                .bind(columns.rule_id)
                .bind(columns.reason)
                .bind(columns.mask)
                .bind(columns.principal)
                .bind(columns.advisory_id)
                .bind(columns.severity)
                .bind(columns.hit)
                .bind(columns.fixed_by)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}
