//! What was refused: once per version and source, with how often, since when and until when.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    registry::{Ecosystem, Event},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.blocked_packages`.
#[derive(Debug)]
pub struct BlockedPackages;

const VIEW: &str = "registry.blocked_packages";

/// A refused version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockedPackageRow {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where a file's name told.
    pub version: Option<String>,
    /// Which source said no.
    pub source: String,
    /// What the last client was told.
    pub reason: String,
    /// How often it was refused.
    pub n_blocks: u64,
    /// When it was first refused.
    pub first_seen: Timestamp,
    /// When it was last refused.
    pub last_seen: Timestamp,
    /// The event that records the last refusal; the cursor of lists.
    pub last_position: Position,
}

const LIST: &str = "
    SELECT ecosystem, package, nullif(version, '') AS version, source, reason, n_blocks,
        first_seen, last_seen, last_position
    FROM registry.blocked_packages WHERE last_position < $1
    ORDER BY last_position DESC LIMIT $2";

/// The versions refused last before a position, newest first.
pub async fn list(
    database: &Database,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<BlockedPackageRow>, QueryFault> {
    let before = before.map_or(i64::MAX, |before| before.0);
    let query = sqlx::query(LIST).bind(before).bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

const TALLY: &str = "
    SELECT ecosystem, count(*) AS n FROM registry.blocked_packages
    GROUP BY ecosystem ORDER BY ecosystem LIMIT $1";

/// How many versions were refused, by ecosystem.
pub async fn tally(database: &Database) -> Result<Vec<(Ecosystem, u64)>, QueryFault> {
    let query = sqlx::query(TALLY).bind(query::limit(Ecosystem::ALL.len()));
    query::rows(database, VIEW, query, |row| {
        let n: i64 = row.try_get("n")?;
        Ok((query::word(row, "ecosystem", Ecosystem::find)?, n.unsigned_abs()))
    })
    .await
}

fn from_row(row: &PgRow) -> Result<BlockedPackageRow, sqlx::Error> {
    Ok(BlockedPackageRow {
        ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
        package: row.try_get("package")?,
        version: row.try_get("version")?,
        source: row.try_get("source")?,
        reason: row.try_get("reason")?,
        n_blocks: row.try_get::<i64, _>("n_blocks")?.unsigned_abs(),
        first_seen: query::moment(row, "first_seen")?,
        last_seen: query::moment(row, "last_seen")?,
        last_position: query::position(row, "last_position")?,
    })
}

const COUNT: &str = "
    INSERT INTO blocked_packages AS b (first_position, last_position, first_seen, last_seen,
        n_blocks, ecosystem, package, version, source, reason)
    SELECT min(position), max(position), min(at), max(at), count(*),
        ecosystem, package, version, source, (array_agg(reason ORDER BY position DESC))[1]
    FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[],
        $7::text[]) AS e (position, at, ecosystem, package, version, source, reason)
    GROUP BY ecosystem, package, version, source
    ON CONFLICT (package, ecosystem, version, source) DO UPDATE SET
        n_blocks = b.n_blocks + excluded.n_blocks,
        first_position = least(b.first_position, excluded.first_position),
        last_position = greatest(b.last_position, excluded.last_position),
        first_seen = least(b.first_seen, excluded.first_seen),
        last_seen = greatest(b.last_seen, excluded.last_seen),
        reason = CASE WHEN b.last_position < excluded.last_position
            THEN excluded.reason ELSE b.reason END";

impl Projection for BlockedPackages {
    fn name(&self) -> &'static str {
        "blocked_packages"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4003)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/blocked_packages.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["blocked_packages"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut positions, mut ats) = (Vec::new(), Vec::new());
            let (mut ecosystems, mut packages, mut versions) = (Vec::new(), Vec::new(), Vec::new());
            let (mut sources, mut reasons) = (Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                let (recorded, Event::PackageBlocked(blocked)) = event? else { continue };
                positions.push(recorded.position.0);
                ats.push(recorded.recorded_at.datetime());
                ecosystems.push(blocked.ecosystem.as_str());
                packages.push(blocked.package);
                versions.push(blocked.version.unwrap_or_default());
                sources.push(blocked.source);
                reasons.push(blocked.reason);
            }
            sqlx::query(COUNT)
                .bind(positions)
                .bind(ats)
                .bind(ecosystems)
                .bind(packages)
                .bind(versions)
                .bind(sources)
                .bind(reasons)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}
