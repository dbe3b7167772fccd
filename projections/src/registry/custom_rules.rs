//! The operator's rules that are in force.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    registry::{Ecosystem, Event, Mask, Rule, RuleAdded, RuleChanged, RuleRemoved},
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `registry.custom_rules`.
#[derive(Debug)]
pub struct CustomRules;

const VIEW: &str = "registry.custom_rules";

/// A rule in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleRow {
    /// The rule.
    #[serde(flatten)]
    pub rule: Rule,
    /// The event that made it what it is.
    pub position: Position,
    /// When that was.
    pub changed_at: Timestamp,
    /// Who did it.
    pub changed_by: String,
}

const LIST: &str = "
    SELECT id, ecosystem, package, versions, reason, mask, position, changed_at, changed_by
    FROM registry.custom_rules WHERE id > $1 ORDER BY id LIMIT $2";

const ONE: &str = "
    SELECT id, ecosystem, package, versions, reason, mask, position, changed_at, changed_by
    FROM registry.custom_rules WHERE id = $1";

/// Rules after an id, oldest first (ids tell when a rule was added).
pub async fn list(
    database: &Database,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<RuleRow>, QueryFault> {
    let query = sqlx::query(LIST).bind(after.unwrap_or("")).bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

/// A rule by its id.
pub async fn find(database: &Database, id: &str) -> Result<Option<RuleRow>, QueryFault> {
    Ok(query::rows(database, VIEW, sqlx::query(ONE).bind(id), from_row).await?.pop())
}

fn from_row(row: &PgRow) -> Result<RuleRow, sqlx::Error> {
    Ok(RuleRow {
        rule: Rule {
            id: row.try_get("id")?,
            ecosystem: query::word(row, "ecosystem", Ecosystem::find)?,
            package: row.try_get("package")?,
            versions: row.try_get("versions")?,
            reason: row.try_get("reason")?,
            mask: query::word(row, "mask", Mask::find)?,
        },
        position: query::position(row, "position")?,
        changed_at: query::moment(row, "changed_at")?,
        changed_by: row.try_get("changed_by")?,
    })
}

const UPSERT: &str = "
    INSERT INTO custom_rules (id, position, changed_at, changed_by, ecosystem, package, versions,
        reason, mask)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[],
        $6::text[], $7::text[], $8::text[], $9::text[])
    ON CONFLICT (id) DO UPDATE SET
        position = excluded.position, changed_at = excluded.changed_at,
        changed_by = excluded.changed_by, ecosystem = excluded.ecosystem,
        package = excluded.package, versions = excluded.versions, reason = excluded.reason,
        mask = excluded.mask";

const REMOVE: &str = "DELETE FROM custom_rules WHERE id = ANY ($1)";

/// The last word on each rule, or none where it is gone.
type LastWords<'a> = BTreeMap<String, Option<(&'a Recorded, Rule)>>;

/// What a batch leaves of each rule it is about.
fn last_words(batch: &[Arc<Recorded>]) -> Result<LastWords<'_>, ApplyFault> {
    let mut rules = LastWords::new();
    for event in decode::events::<Event>(batch) {
        match event? {
            (
                at,
                Event::RuleAdded(RuleAdded { rule }) | Event::RuleChanged(RuleChanged { rule }),
            ) => {
                rules.insert(rule.id.clone(), Some((at, rule)));
            }
            (_, Event::RuleRemoved(RuleRemoved { id })) => {
                rules.insert(id, None);
            }
            _ => {}
        }
    }
    Ok(rules)
}

async fn upsert(rules: Vec<(&Recorded, Rule)>, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let (mut ids, mut positions, mut ats, mut bys) = (vec![], vec![], vec![], vec![]);
    let (mut ecosystems, mut packages, mut versions) = (vec![], vec![], vec![]);
    let (mut reasons, mut masks) = (vec![], vec![]);
    for (event, rule) in rules {
        ids.push(rule.id);
        positions.push(event.position.0);
        ats.push(event.recorded_at.datetime());
        bys.push(decode::principal(event)?);
        ecosystems.push(rule.ecosystem.as_str());
        packages.push(rule.package);
        versions.push(rule.versions);
        reasons.push(rule.reason);
        masks.push(rule.mask.as_str());
    }
    sqlx::query(UPSERT)
        .bind(ids)
        .bind(positions)
        .bind(ats)
        .bind(bys)
        .bind(ecosystems)
        .bind(packages)
        .bind(versions)
        .bind(reasons)
        .bind(masks)
        .execute(tx)
        .await?;
    Ok(())
}

impl Projection for CustomRules {
    fn name(&self) -> &'static str {
        "custom_rules"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x4005), Kind(0x4006), Kind(0x4007)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/registry/custom_rules.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["custom_rules"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut removed, mut kept) = (Vec::new(), Vec::new());
            for (id, last) in last_words(batch)? {
                match last {
                    Some(rule) => kept.push(rule),
                    None => removed.push(id),
                }
            }
            if !kept.is_empty() {
                upsert(kept, tx).await?;
            }
            if !removed.is_empty() {
                sqlx::query(REMOVE).bind(removed).execute(tx).await?;
            }
            Ok(())
        })
    }
}
