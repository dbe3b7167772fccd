//! Every agent ever registered, and whether what it signs still counts.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::Serialize;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    access::{AgentRegistered, AgentRevoked, Event},
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    timestamp::Timestamp,
    web::request::AgentId,
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `access.agents`.
#[derive(Debug)]
pub struct Agents;

const VIEW: &str = "access.agents";

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentRow {
    /// SHA-256 of its public key, 64 hexadecimal digits.
    pub id: String,
    /// The event that records its registration; the cursor of lists.
    pub position: Position,
    /// What the operator called it.
    pub name: String,
    /// Its ed25519 public key, 64 hexadecimal digits.
    pub public_key: String,
    /// When it was registered.
    pub registered_at: Timestamp,
    /// In whose name.
    pub registered_by: String,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// In whose name.
    pub revoked_by: Option<String>,
}

const LIST: &str = "
    SELECT id, position, name, public_key, registered_at, registered_by, revoked_at, revoked_by
    FROM access.agents WHERE position < $1 ORDER BY position DESC LIMIT $2";

const ONE: &str = "
    SELECT id, position, name, public_key, registered_at, registered_by, revoked_at, revoked_by
    FROM access.agents WHERE id = $1";

/// The agents registered last before a position, newest first.
pub async fn list(
    database: &Database,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<AgentRow>, QueryFault> {
    let before = before.map_or(i64::MAX, |before| before.0);
    let query = sqlx::query(LIST).bind(before).bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

/// An agent by its id.
pub async fn find(database: &Database, agent: &AgentId) -> Result<Option<AgentRow>, QueryFault> {
    let query = sqlx::query(ONE).bind(agent.to_string());
    Ok(query::rows(database, VIEW, query, from_row).await?.pop())
}

fn from_row(row: &PgRow) -> Result<AgentRow, sqlx::Error> {
    Ok(AgentRow {
        id: row.try_get("id")?,
        position: query::position(row, "position")?,
        name: row.try_get("name")?,
        public_key: row.try_get("public_key")?,
        registered_at: query::moment(row, "registered_at")?,
        registered_by: row.try_get("registered_by")?,
        revoked_at: query::moment_if_any(row, "revoked_at")?,
        revoked_by: row.try_get("revoked_by")?,
    })
}

const REGISTER: &str = "
    INSERT INTO agents (id, position, name, public_key, registered_at, registered_by)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[],
        $6::text[])";

/// An agent is revoked at most once; the first word counts.
const REVOKE: &str = "
    UPDATE agents a SET revoked_at = e.at, revoked_by = e.by
    FROM (SELECT DISTINCT ON (id) id, at, by
          FROM unnest($1::text[], $2::timestamptz[], $3::text[]) WITH ORDINALITY
              AS u (id, at, by, n)
          ORDER BY id, n) e
    WHERE a.id = e.id AND a.revoked_at IS NULL";

async fn register(
    registered: Vec<(&Recorded, AgentRegistered)>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut ids, mut positions, mut names) = (vec![], vec![], vec![]);
    let (mut keys, mut ats, mut bys) = (vec![], vec![], vec![]);
    for (event, agent) in registered {
        ids.push(agent.agent.to_string());
        positions.push(event.position.0);
        names.push(agent.name);
        keys.push(agent.public_key.to_string());
        ats.push(event.recorded_at.datetime());
        bys.push(decode::principal(event)?);
    }
    sqlx::query(REGISTER)
        .bind(ids)
        .bind(positions)
        .bind(names)
        .bind(keys)
        .bind(ats)
        .bind(bys)
        .execute(tx)
        .await?;
    Ok(())
}

async fn revoke(
    revoked: Vec<(&Recorded, AgentRevoked)>,
    tx: &mut PgConnection,
) -> Result<(), ApplyFault> {
    let (mut ids, mut ats, mut bys) = (vec![], vec![], vec![]);
    for (event, AgentRevoked { agent }) in revoked {
        ids.push(agent.to_string());
        ats.push(event.recorded_at.datetime());
        bys.push(decode::principal(event)?);
    }
    sqlx::query(REVOKE).bind(ids).bind(ats).bind(bys).execute(tx).await?;
    Ok(())
}

impl Projection for Agents {
    fn name(&self) -> &'static str {
        "agents"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Access
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x1105), Kind(0x1106)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/access/agents.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["agents"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let (mut registered, mut revoked) = (Vec::new(), Vec::new());
            for event in decode::events::<Event>(batch) {
                match event? {
                    (at, Event::AgentRegistered(agent)) => registered.push((at, agent)),
                    (at, Event::AgentRevoked(agent)) => revoked.push((at, agent)),
                    (_, _) => {}
                }
            }
            if !registered.is_empty() {
                register(registered, tx).await?;
            }
            // An agent is registered before it is revoked, in a batch too.
            if !revoked.is_empty() {
                revoke(revoked, tx).await?;
            }
            Ok(())
        })
    }
}
