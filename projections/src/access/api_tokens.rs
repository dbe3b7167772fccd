//! Every token ever issued, and whether it still opens something.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    access::{Event, TokenIssued, TokenRevoked},
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    timestamp::Timestamp,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `access.api_tokens`.
#[derive(Debug)]
pub struct ApiTokens;

const VIEW: &str = "access.api_tokens";

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenRow {
    /// 16 hexadecimal digits, the part of the token that is no secret.
    pub id: String,
    /// The event that records its issue; the cursor of lists.
    pub position: Position,
    /// What the operator called it.
    pub name: String,
    /// What it may do, by name.
    pub scopes: Vec<String>,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// In whose name.
    pub issued_by: String,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The profile that it is judged by.
    pub profile: Option<String>,
    /// The agent whose own it is.
    pub agent: Option<String>,
}

const LIST: &str = "
    SELECT id, position, name, scopes, issued_at, issued_by, expires_at, revoked_at, profile, agent
    FROM access.api_tokens WHERE position < $1 ORDER BY position DESC LIMIT $2";

const ONE: &str = "
    SELECT id, position, name, scopes, issued_at, issued_by, expires_at, revoked_at, profile, agent
    FROM access.api_tokens WHERE id = $1";

/// The tokens issued last before a position, newest first.
pub async fn list(
    database: &Database,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<TokenRow>, QueryFault> {
    let before = before.map_or(i64::MAX, |before| before.0);
    let query = sqlx::query(LIST).bind(before).bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

/// A token by its id.
pub async fn find(database: &Database, id: &str) -> Result<Option<TokenRow>, QueryFault> {
    Ok(query::rows(database, VIEW, sqlx::query(ONE).bind(id), from_row).await?.pop())
}

fn from_row(row: &PgRow) -> Result<TokenRow, sqlx::Error> {
    Ok(TokenRow {
        id: row.try_get("id")?,
        position: query::position(row, "position")?,
        name: row.try_get("name")?,
        scopes: row.try_get("scopes")?,
        issued_at: query::moment(row, "issued_at")?,
        issued_by: row.try_get("issued_by")?,
        expires_at: query::moment_if_any(row, "expires_at")?,
        revoked_at: query::moment_if_any(row, "revoked_at")?,
        profile: row.try_get("profile")?,
        agent: row.try_get("agent")?,
    })
}

/// Scopes travel as JSON: arrays of arrays must be rectangular.
const ISSUE: &str = "
    INSERT INTO api_tokens (id, position, name, scopes, issued_at, issued_by, expires_at, profile,
        agent)
    SELECT id, position, name, ARRAY(SELECT jsonb_array_elements_text(scopes::jsonb)), issued_at,
        issued_by, expires_at, profile, agent
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::text[],
        $7::timestamptz[], $8::text[], $9::text[])
        AS e (id, position, name, scopes, issued_at, issued_by, expires_at, profile, agent)";

/// A token is revoked at most once; the first word counts.
const REVOKE: &str = "
    UPDATE api_tokens t SET revoked_at = e.at
    FROM (SELECT id, min(at) AS at FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at)
          GROUP BY id) e
    WHERE t.id = e.id AND t.revoked_at IS NULL";

async fn issue(
    issued: Vec<(&Recorded, TokenIssued)>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut ids, mut positions, mut names, mut scopes) = (vec![], vec![], vec![], vec![]);
    let (mut ats, mut bys, mut ends) = (vec![], vec![], vec![]);
    let (mut profiles, mut agents) = (vec![], vec![]);
    for (event, token) in issued {
        ids.push(token.token_id);
        positions.push(event.position.0);
        names.push(token.name);
        scopes.push(serde_json::Value::from(token.scopes).to_string());
        ats.push(event.recorded_at.datetime());
        bys.push(decode::principal(event)?);
        ends.push(token.expires_at.map(Timestamp::datetime));
        profiles.push(token.profile);
        agents.push(token.agent.map(|agent| agent.to_string()));
    }
    sqlx::query(ISSUE)
        .bind(ids)
        .bind(positions)
        .bind(names)
        .bind(scopes)
        .bind(ats)
        .bind(bys)
        .bind(ends)
        .bind(profiles)
        .bind(agents)
        .execute(tx)
        .await?;
    Ok(())
}

impl Projection for ApiTokens {
    fn name(&self) -> &'static str {
        "api_tokens"
    }

    fn version(&self) -> i32 {
        3
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Access
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x1101), Kind(0x1102)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/access/api_tokens.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["api_tokens"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut issued = Vec::new();
            let (mut revoked, mut revoked_at) = (Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                match event? {
                    (at, Event::TokenIssued(token)) => issued.push((at, token)),
                    (at, Event::TokenRevoked(TokenRevoked { token_id })) => {
                        revoked.push(token_id);
                        revoked_at.push(at.recorded_at.datetime());
                    }
                    (_, _) => {}
                }
            }
            if !issued.is_empty() {
                issue(issued, tx).await?;
            }
            // A token is issued before it is revoked, in a batch too.
            if !revoked.is_empty() {
                sqlx::query(REVOKE).bind(revoked).bind(revoked_at).execute(tx).await?;
            }
            Ok(())
        })
    }
}
