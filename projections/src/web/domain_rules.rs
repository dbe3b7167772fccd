//! The rules about hosts that are in force.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    timestamp::Timestamp,
    web::{
        Event,
        rule::{Action, DomainRule, DomainRuleUpdated},
    },
};
use weir_log::database::Database;

use super::VIEWS;
use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `portal.domain_rules`.
#[derive(Debug)]
pub struct DomainRules;

const VIEW: &str = "portal.domain_rules";

/// A rule in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DomainRuleRow {
    /// The rule.
    #[serde(flatten)]
    pub rule: DomainRule,
    /// Since when there is one for its pattern.
    pub created_at: Timestamp,
    /// When it became what it is.
    pub updated_at: Timestamp,
    /// The event that made it what it is.
    pub position: Position,
    /// Who did it.
    pub updated_by: String,
}

/// Which rules are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// With this somewhere in their pattern.
    pub search: Option<String>,
    /// Of this action.
    pub action: Option<Action>,
    /// Of this category.
    pub category: Option<String>,
}

const COLUMNS: &str = "
    SELECT pattern, action, category, reason, created_at, updated_at, position, updated_by
    FROM portal.domain_rules WHERE ";

/// The rules that were changed before a position, those that were changed last first. The last
/// row's position is the cursor of the next page.
pub async fn list(
    database: &Database,
    filter: &Filter,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<DomainRuleRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push("position < ").push_bind(before.map_or(i64::MAX, |before| before.0));
    if let Some(search) = &filter.search {
        query.push(" AND strpos(pattern, ").push_bind(search).push(") > 0");
    }
    if let Some(action) = filter.action {
        query.push(" AND action = ").push_bind(number(action));
    }
    if let Some(category) = &filter.category {
        query.push(" AND category = ").push_bind(category);
    }
    query.push(" ORDER BY position DESC LIMIT ").push_bind(query::limit(limit));
    query::rows(database, VIEW, query.build(), from_row).await
}

/// The rule of a pattern in its one spelling.
pub async fn find(database: &Database, pattern: &str) -> Result<Option<DomainRuleRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push("pattern = ").push_bind(pattern);
    Ok(query::rows(database, VIEW, query.build(), from_row).await?.pop())
}

fn from_row(row: &PgRow) -> Result<DomainRuleRow, sqlx::Error> {
    Ok(DomainRuleRow {
        rule: DomainRule {
            pattern: row.try_get("pattern")?,
            action: match row.try_get::<i16, _>("action")? {
                0 => Action::Allow,
                _ => Action::Block,
            },
            category: row.try_get("category")?,
            reason: row.try_get("reason")?,
        },
        created_at: query::moment(row, "created_at")?,
        updated_at: query::moment(row, "updated_at")?,
        position: query::position(row, "position")?,
        updated_by: row.try_get("updated_by")?,
    })
}

const fn number(action: Action) -> i16 {
    match action {
        Action::Allow => 0,
        Action::Block => 1,
    }
}

const UPSERT: &str = "
    INSERT INTO domain_rules (pattern, action, category, reason, created_at, updated_at, position,
        updated_by)
    SELECT * FROM unnest($1::text[], $2::smallint[], $3::text[], $4::text[], $5::timestamptz[],
        $6::timestamptz[], $7::bigint[], $8::text[])
    ON CONFLICT (pattern) DO UPDATE SET
        action = excluded.action, category = excluded.category, reason = excluded.reason,
        updated_at = excluded.updated_at, position = excluded.position,
        updated_by = excluded.updated_by";

const REMOVE: &str = "DELETE FROM domain_rules WHERE pattern = ANY ($1)";

/// What a batch leaves of a pattern.
#[derive(Default)]
struct Left<'a> {
    /// Whether there was none of it for a while.
    removed: bool,
    /// The event that began what is there now, the one that made it what it is, and what that is.
    rule: Option<(&'a Recorded, &'a Recorded, DomainRule)>,
}

fn left(batch: &[Arc<Recorded>]) -> Result<BTreeMap<String, Left<'_>>, ApplyFault> {
    let mut patterns = BTreeMap::<String, Left<'_>>::new();
    for event in decode::events::<Event>(batch) {
        let (at, Event::DomainRuleUpdated(DomainRuleUpdated { pattern, rule })) = event? else {
            continue;
        };
        let known = patterns.entry(pattern).or_default();
        match rule {
            Some(rule) => {
                let began = known.rule.as_ref().map_or(at, |(began, ..)| *began);
                known.rule = Some((began, at, rule));
            }
            None => *known = Left { removed: true, rule: None },
        }
    }
    Ok(patterns)
}

async fn write(
    patterns: BTreeMap<String, Left<'_>>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut removed, mut names, mut actions) = (vec![], vec![], vec![]);
    let (mut categories, mut reasons, mut began) = (vec![], vec![], vec![]);
    let (mut updated, mut positions, mut bys) = (vec![], vec![], vec![]);
    for (pattern, left) in patterns {
        if left.removed {
            removed.push(pattern.clone());
        }
        let Some((first, last, rule)) = left.rule else { continue };
        names.push(pattern);
        actions.push(number(rule.action));
        categories.push(rule.category);
        reasons.push(rule.reason);
        began.push(first.recorded_at.datetime());
        updated.push(last.recorded_at.datetime());
        positions.push(last.position.0);
        bys.push(decode::principal(last)?);
    }
    if !removed.is_empty() {
        sqlx::query(REMOVE).bind(removed).execute(&mut *tx).await?;
    }
    if !names.is_empty() {
        sqlx::query(UPSERT)
            .bind(names)
            .bind(actions)
            .bind(categories)
            .bind(reasons)
            .bind(began)
            .bind(updated)
            .bind(positions)
            .bind(bys)
            .execute(tx)
            .await?;
    }
    Ok(())
}

impl Projection for DomainRules {
    fn name(&self) -> &'static str {
        "domain_rules"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Web
    }

    fn views(&self) -> &'static str {
        VIEWS
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x6030)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/web/domain_rules.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["domain_rules"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move { write(left(batch)?, tx).await })
    }
}
