//! Which versions were asked for here: each once, with how often it was let through and refused.
//! What a rule would hit is asked of it before there is the rule.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    registry::{Ecosystem, Event},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.seen_versions`.
#[derive(Debug)]
pub struct SeenVersions;

const VIEW: &str = "registry.seen_versions";

/// A version that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRow {
    /// The package, by its normalised name.
    pub package: String,
    /// The version.
    pub version: String,
    /// Files of it let through.
    pub n_allowed: u64,
    /// Files of it refused.
    pub n_blocked: u64,
    /// When it was last asked for.
    pub last_seen: Timestamp,
}

const LIST: &str = "
    SELECT package, version, n_allowed, n_blocked, last_seen FROM registry.seen_versions
    WHERE ecosystem = $1 AND package LIKE ANY ($2) ORDER BY last_position DESC LIMIT $3";

/// The versions of all packages whose name fits one of these, with `*` for any run of characters;
/// the one asked for last comes first.
pub async fn list(
    database: &Database,
    ecosystem: Ecosystem,
    names: &[String],
    limit: usize,
) -> Result<Vec<SeenRow>, QueryFault> {
    let likes: Vec<String> = names.iter().map(|name| like(name)).collect();
    let query = sqlx::query(LIST).bind(ecosystem.as_str()).bind(likes).bind(query::limit(limit));
    query::rows(database, VIEW, query, |row| {
        Ok(SeenRow {
            package: row.try_get("package")?,
            version: row.try_get("version")?,
            n_allowed: row.try_get::<i64, _>("n_allowed")?.unsigned_abs(),
            n_blocked: row.try_get::<i64, _>("n_blocked")?.unsigned_abs(),
            last_seen: query::moment(row, "last_seen")?,
        })
    })
    .await
}

/// A pattern as SQL has it.
fn like(pattern: &str) -> String {
    let mut like = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        match c {
            '*' => like.push('%'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            _ => like.push(c),
        }
    }
    like
}

const COUNT: &str = "
    INSERT INTO seen_versions AS s (last_position, last_seen, n_allowed, n_blocked, ecosystem,
        package, version)
    SELECT max(position), max(at), count(*) FILTER (WHERE allowed),
        count(*) FILTER (WHERE NOT allowed), ecosystem, package, version
    FROM unnest($1::bigint[], $2::timestamptz[], $3::boolean[], $4::text[], $5::text[], $6::text[])
        AS e (position, at, allowed, ecosystem, package, version)
    GROUP BY ecosystem, package, version
    ON CONFLICT (ecosystem, package, version) DO UPDATE SET
        n_allowed = s.n_allowed + excluded.n_allowed,
        n_blocked = s.n_blocked + excluded.n_blocked,
        last_position = greatest(s.last_position, excluded.last_position),
        last_seen = greatest(s.last_seen, excluded.last_seen)";

impl Projection for SeenVersions {
    fn name(&self) -> &'static str {
        "seen_versions"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4002), Kind(0x4003)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/seen_versions.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["seen_versions"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut positions, mut ats, mut alloweds) = (Vec::new(), Vec::new(), Vec::new());
            let (mut ecosystems, mut packages, mut versions) = (Vec::new(), Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                let (recorded, event) = event?;
                let (allowed, ecosystem, package, version) = match event {
                    Event::PackageAllowed(it) => (true, it.ecosystem, it.package, it.version),
                    Event::PackageBlocked(it) => (false, it.ecosystem, it.package, it.version),
                    _ => continue,
                };
                let Some(version) = version else { continue };
                positions.push(recorded.position.0);
                ats.push(recorded.recorded_at.datetime());
                alloweds.push(allowed);
                ecosystems.push(ecosystem.as_str());
                packages.push(package);
                versions.push(version);
            }
            sqlx::query(COUNT)
                .bind(positions)
                .bind(ats)
                .bind(alloweds)
                .bind(ecosystems)
                .bind(packages)
                .bind(versions)
                .execute(tx)
                .await?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_pattern_only_the_star_stands_for_others() {
        assert_eq!(like("@a/*_b"), r"@a/%\_b");
        assert_eq!(like(r"50%\"), r"50\%\\");
    }
}
