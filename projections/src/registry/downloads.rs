//! Who was let through to what: which version of which package, as whom, how often, since when and
//! until when. What an advisory of today means for the past is asked of this.

use std::sync::Arc;

use futures_util::future::BoxFuture;
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

/// The read model `registry.downloads` with `registry.downloaded_files`.
#[derive(Debug)]
pub struct Downloads;

const DOWNLOADS: &str = "registry.downloads";
const FILES: &str = "registry.downloaded_files";

/// A file of a version that somebody was let through to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRow {
    /// The package, by its normalised name.
    pub package: String,
    /// The version; empty where the file's name does not tell.
    pub version: String,
    /// The file's name.
    pub file: String,
}

const LIST_FILES: &str = "
    SELECT package, version, file FROM registry.downloaded_files
    WHERE ecosystem = $1 AND package = ANY ($2) AND (package, version, file) > ($3, $4, $5)
    ORDER BY package, version, file LIMIT $6";

/// The files of packages that somebody was let through to, after one of them, in their order.
pub async fn files(
    database: &Database,
    ecosystem: Ecosystem,
    packages: &[String],
    after: Option<&FileRow>,
    limit: usize,
) -> Result<Vec<FileRow>, QueryFault> {
    let (package, version, file) =
        after.map_or(("", "", ""), |after| (&*after.package, &*after.version, &*after.file));
    let query = sqlx::query(LIST_FILES)
        .bind(ecosystem.as_str())
        .bind(packages)
        .bind(package)
        .bind(version)
        .bind(file)
        .bind(query::limit(limit));
    query::rows(database, FILES, query, |row| {
        Ok(FileRow {
            package: row.try_get("package")?,
            version: row.try_get("version")?,
            file: row.try_get("file")?,
        })
    })
    .await
}

const LIST_PACKAGES: &str = "
    WITH RECURSIVE known (package) AS (
        (SELECT package FROM registry.downloaded_files
            WHERE ecosystem = $1 AND package > $2 ORDER BY package LIMIT 1)
        UNION ALL
        SELECT (SELECT f.package FROM registry.downloaded_files f
            WHERE f.ecosystem = $1 AND f.package > known.package ORDER BY f.package LIMIT 1)
        FROM known WHERE known.package IS NOT NULL
    )
    SELECT package FROM known WHERE package IS NOT NULL LIMIT $3";

/// The packages of an ecosystem that somebody was let through to, after one of them, in their order.
/// Steps from one to the next in the index, however many files lie between them.
pub async fn packages(
    database: &Database,
    ecosystem: Ecosystem,
    after: &str,
    limit: usize,
) -> Result<Vec<String>, QueryFault> {
    let query =
        sqlx::query(LIST_PACKAGES).bind(ecosystem.as_str()).bind(after).bind(query::limit(limit));
    query::rows(database, FILES, query, |row| row.try_get("package")).await
}

/// Versions of packages, by position: the n-th package with the n-th version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Versions {
    /// The ecosystems.
    pub ecosystems: Vec<&'static str>,
    /// The packages.
    pub packages: Vec<String>,
    /// Their versions.
    pub versions: Vec<String>,
}

impl Versions {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.packages.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    /// Adds one.
    pub fn push(&mut self, ecosystem: Ecosystem, package: &str, version: &str) {
        self.ecosystems.push(ecosystem.as_str());
        self.packages.push(package.to_owned());
        self.versions.push(version.to_owned());
    }
}

/// Somebody was let through to a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DownloadRow {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where a file's name told.
    pub version: Option<String>,
    /// Who.
    pub principal: String,
    /// The id of their token, which may be gone by now: two tokens may have one name.
    pub token: Option<String>,
    /// How many files they were let through to.
    pub n_downloads: u64,
    /// When first.
    pub first_at: Timestamp,
    /// When last.
    pub last_at: Timestamp,
    /// The event that records the last of them; the cursor of lists.
    pub last_position: Position,
}

const LIST: &str = "
    SELECT d.ecosystem, d.package, nullif(d.version, '') AS version, d.principal,
        nullif(d.token, '') AS token, d.n_downloads, d.first_at, d.last_at, d.last_position
    FROM unnest($1::text[], $2::text[], $3::text[]) AS v (ecosystem, package, version)
        JOIN registry.downloads d USING (ecosystem, package, version)
    WHERE d.last_position < $4 ORDER BY d.last_position DESC LIMIT $5";

/// Who was let through to these versions last before a position, newest first.
pub async fn list(
    database: &Database,
    of: &Versions,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<DownloadRow>, QueryFault> {
    let query = sqlx::query(LIST)
        .bind(&of.ecosystems)
        .bind(&of.packages)
        .bind(&of.versions)
        .bind(before.map_or(i64::MAX, |before| before.0))
        .bind(query::limit(limit));
    query::rows(database, DOWNLOADS, query, from_row).await
}

fn from_row(row: &PgRow) -> Result<DownloadRow, sqlx::Error> {
    Ok(DownloadRow {
        ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
        package: row.try_get("package")?,
        version: row.try_get("version")?,
        principal: row.try_get("principal")?,
        token: row.try_get("token")?,
        n_downloads: row.try_get::<i64, _>("n_downloads")?.unsigned_abs(),
        first_at: query::moment(row, "first_at")?,
        last_at: query::moment(row, "last_at")?,
        last_position: query::position(row, "last_position")?,
    })
}

/// What was downloaded of one version, by everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalRow {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version; empty where a file's name does not tell.
    pub version: String,
    /// By how many principals, each token for itself.
    pub n_principals: u64,
    /// How many files they were let through to.
    pub n_downloads: u64,
    /// When first.
    pub first_at: Timestamp,
    /// When last.
    pub last_at: Timestamp,
}

const TOTALS: &str = "
    SELECT d.ecosystem, d.package, d.version, count(*) AS n_principals,
        sum(d.n_downloads)::bigint AS n_downloads, min(d.first_at) AS first_at,
        max(d.last_at) AS last_at
    FROM unnest($1::text[], $2::text[], $3::text[]) AS v (ecosystem, package, version)
        JOIN registry.downloads d USING (ecosystem, package, version)
    GROUP BY d.ecosystem, d.package, d.version
    ORDER BY d.ecosystem, d.package, d.version LIMIT $4";

/// What was downloaded of each of these versions, by everybody.
pub async fn totals(database: &Database, of: &Versions) -> Result<Vec<TotalRow>, QueryFault> {
    let query = sqlx::query(TOTALS)
        .bind(&of.ecosystems)
        .bind(&of.packages)
        .bind(&of.versions)
        .bind(query::limit(of.packages.len()));
    query::rows(database, DOWNLOADS, query, |row| {
        Ok(TotalRow {
            ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
            package: row.try_get("package")?,
            version: row.try_get("version")?,
            n_principals: row.try_get::<i64, _>("n_principals")?.unsigned_abs(),
            n_downloads: row.try_get::<i64, _>("n_downloads")?.unsigned_abs(),
            first_at: query::moment(row, "first_at")?,
            last_at: query::moment(row, "last_at")?,
        })
    })
    .await
}

const COUNT_PRINCIPALS: &str = "
    SELECT count(*) AS n FROM (
        SELECT DISTINCT d.token, d.principal
        FROM unnest($1::text[], $2::text[], $3::text[]) AS v (ecosystem, package, version)
            JOIN registry.downloads d USING (ecosystem, package, version)
    ) AS who";

/// How many principals were let through to any of these versions.
pub async fn n_principals(database: &Database, of: &Versions) -> Result<u64, QueryFault> {
    let query =
        sqlx::query(COUNT_PRINCIPALS).bind(&of.ecosystems).bind(&of.packages).bind(&of.versions);
    let rows = query::rows(database, DOWNLOADS, query, |row| row.try_get::<i64, _>("n")).await?;
    Ok(rows.first().copied().unwrap_or_default().unsigned_abs())
}

const COUNT: &str = "
    INSERT INTO downloads AS d (ecosystem, package, version, token, principal, n_downloads,
        first_at, last_at, last_position)
    SELECT ecosystem, package, version, token, principal, count(*), min(at), max(at), max(position)
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[],
        $7::bigint[]) AS e (ecosystem, package, version, token, principal, at, position)
    GROUP BY ecosystem, package, version, token, principal
    ON CONFLICT (ecosystem, package, version, token, principal) DO UPDATE SET
        n_downloads = d.n_downloads + excluded.n_downloads,
        first_at = least(d.first_at, excluded.first_at),
        last_at = greatest(d.last_at, excluded.last_at),
        last_position = greatest(d.last_position, excluded.last_position)";

const KEEP_FILES: &str = "
    INSERT INTO downloaded_files (ecosystem, package, version, file)
    SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
    ON CONFLICT (ecosystem, package, version, file) DO NOTHING";

impl Projection for Downloads {
    fn name(&self) -> &'static str {
        "downloads"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4002)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/downloads.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["downloads", "downloaded_files"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut ecosystems, mut packages, mut versions) = (Vec::new(), Vec::new(), Vec::new());
            let (mut tokens, mut principals, mut files) = (Vec::new(), Vec::new(), Vec::new());
            let (mut ats, mut positions) = (Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                let (recorded, Event::PackageAllowed(allowed)) = event? else { continue };
                let (principal, token) = decode::who(recorded)?;
                principals.push(principal);
                tokens.push(token);
                ecosystems.push(allowed.ecosystem.as_str());
                packages.push(allowed.package);
                versions.push(allowed.version.unwrap_or_default());
                files.push(allowed.file);
                ats.push(recorded.recorded_at.datetime());
                positions.push(recorded.position.0);
            }
            sqlx::query(COUNT)
                .bind(&ecosystems)
                .bind(&packages)
                .bind(&versions)
                .bind(tokens)
                .bind(principals)
                .bind(ats)
                .bind(positions)
                .execute(&mut *tx)
                .await?;
            sqlx::query(KEEP_FILES)
                .bind(ecosystems)
                .bind(packages)
                .bind(versions)
                .bind(files)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}
