//! What agents have asked humans about, and what became of it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    position::Position,
    timestamp::Timestamp,
    web::{
        Event,
        approval::Said,
        request::{AgentId, Hash256},
    },
};
use weir_log::database::Database;

use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
    query::{self, QueryFault},
};

/// The read model `portal.approvals`.
#[derive(Debug)]
pub struct Approvals;

const VIEW: &str = "portal.approvals";

/// What an agent has asked a human about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRow {
    /// What it is for.
    pub approval: Hash256,
    /// Who asks.
    pub agent: AgentId,
    /// The address.
    pub url: String,
    /// The method.
    pub method: String,
    /// Why the agent asks.
    pub purpose: String,
    /// The host that is blocked.
    pub host: String,
    /// Why it is.
    pub reason: String,
    /// What else the request says; none in questions from before it was recorded.
    pub said: Option<Said>,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When nobody has to answer any more.
    pub expires_at: Timestamp,
    /// The answer, where there is one.
    pub answer: Option<AnswerRow>,
    /// The event that made it what it is.
    pub position: Position,
}

/// What a human has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerRow {
    /// `allow` or `deny`.
    pub word: String,
    /// Why.
    pub reason: String,
    /// Who.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Until when it holds.
    pub until: Timestamp,
}

const LIST: &str = "
    SELECT approval, agent, url, method, purpose, host, reason, said, asked_at, expires_at, word,
        answer, answered_by, answered_at, until, position
    FROM portal.approvals
    WHERE position < $1 AND (NOT $2 OR word IS NULL AND expires_at > $3)
        AND ($4::bytea IS NULL OR agent = $4)
    ORDER BY position DESC LIMIT $5";

/// Which approvals are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Only those before a position.
    pub before: Option<Position>,
    /// Only those that wait for an answer at a time.
    pub open_at: Option<Timestamp>,
    /// Only those of an agent.
    pub agent: Option<AgentId>,
}

/// Approvals, newest first.
pub async fn list(
    database: &Database,
    asked: &Asked,
    limit: usize,
) -> Result<Vec<ApprovalRow>, QueryFault> {
    let query = sqlx::query(LIST)
        .bind(asked.before.map_or(i64::MAX, |before| before.0))
        .bind(asked.open_at.is_some())
        .bind(asked.open_at.unwrap_or(Timestamp::EPOCH).datetime())
        .bind(asked.agent.as_ref().map(|agent| agent.as_bytes().as_slice()))
        .bind(query::limit(limit));
    query::rows(database, VIEW, query, from_row).await
}

fn bytes(row: &PgRow, column: &str) -> Result<[u8; 32], sqlx::Error> {
    let bytes: Vec<u8> = row.try_get(column)?;
    bytes.try_into().map_err(|_| sqlx::Error::ColumnDecode {
        index: column.to_owned(),
        source: "expected 32 bytes".into(),
    })
}

fn from_row(row: &PgRow) -> Result<ApprovalRow, sqlx::Error> {
    let word: Option<String> = row.try_get("word")?;
    let answer = match word {
        Some(word) => Some(AnswerRow {
            word,
            reason: row.try_get("answer")?,
            by: row.try_get("answered_by")?,
            at: query::moment(row, "answered_at")?,
            until: query::moment(row, "until")?,
        }),
        None => None,
    };
    let said: Option<String> = row.try_get("said")?;
    let said = said.map(|text| {
        serde_json::from_str(&text).map_err(|fault| sqlx::Error::ColumnDecode {
            index: "said".to_owned(),
            source: Box::new(fault),
        })
    });
    Ok(ApprovalRow {
        approval: bytes(row, "approval")?.into(),
        agent: bytes(row, "agent")?.into(),
        url: row.try_get("url")?,
        method: row.try_get("method")?,
        purpose: row.try_get("purpose")?,
        host: row.try_get("host")?,
        reason: row.try_get("reason")?,
        said: said.transpose()?,
        asked_at: query::moment(row, "asked_at")?,
        expires_at: query::moment(row, "expires_at")?,
        answer,
        position: query::position(row, "position")?,
    })
}

const ASK: &str = "
    INSERT INTO approvals
        (approval, agent, url, method, purpose, host, reason, asked_at, expires_at, position, said)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (approval) DO UPDATE SET
        agent = excluded.agent, url = excluded.url, method = excluded.method,
        purpose = excluded.purpose, host = excluded.host, reason = excluded.reason,
        asked_at = excluded.asked_at, expires_at = excluded.expires_at, word = NULL, answer = NULL,
        answered_by = NULL, answered_at = NULL, until = NULL, position = excluded.position,
        said = excluded.said";

const ANSWER: &str = "
    UPDATE approvals SET word = $2, answer = $3, answered_by = $4, answered_at = $5, until = $6,
        position = $7
    WHERE approval = $1";

/// Humans are asked and answer one at a time: a statement each is enough.
async fn apply(at: &Recorded, event: Event, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    match event {
        Event::WebApprovalRequested(asked) => {
            let said = asked.said.as_ref().map(serde_json::to_string).transpose();
            let said = said.map_err(|fault| ApplyFault::Refused(fault.to_string()))?;
            sqlx::query(ASK)
                .bind(asked.approval.as_bytes().as_slice())
                .bind(asked.agent.as_bytes().as_slice())
                .bind(asked.url)
                .bind(asked.method.as_str())
                .bind(asked.purpose)
                .bind(asked.host)
                .bind(asked.reason)
                .bind(at.recorded_at.datetime())
                .bind(asked.expires_at.datetime())
                .bind(at.position.0)
                .bind(said)
                .execute(tx)
                .await?;
        }
        Event::WebApprovalAnswered(answered) => {
            sqlx::query(ANSWER)
                .bind(answered.approval.as_bytes().as_slice())
                .bind(answered.word.as_str())
                .bind(answered.reason)
                .bind(answered.by)
                .bind(at.recorded_at.datetime())
                .bind(answered.until.datetime())
                .bind(at.position.0)
                .execute(tx)
                .await?;
        }
        _ => {}
    }
    Ok(())
}

impl Projection for Approvals {
    fn name(&self) -> &'static str {
        "web_approvals"
    }

    fn version(&self) -> i32 {
        2
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Web
    }

    fn views(&self) -> &'static str {
        "portal"
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x6060), Kind(0x6061)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/web/approvals.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["approvals"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            for event in decode::events::<Event>(batch) {
                let (at, event) = event?;
                apply(at, event, tx).await?;
            }
            Ok(())
        })
    }
}
