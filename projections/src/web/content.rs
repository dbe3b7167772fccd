//! What read models know of the content store: which of it is still needed, and which pages in it
//! have some words. The store itself is no read model (`processors/src/web/content.rs`).

use std::time::Duration;

use sqlx::{PgConnection, Row, postgres::PgRow};
use weir_events::{
    position::Position,
    web::request::{AgentId, Hash256},
};
use weir_log::database::Database;

use super::{agent_if_any, cache::Identity, hash, number, unsigned};
use crate::query::{self, QueryFault};

const VIEW: &str = "portal.cache";

/// What is pointed at by what is cached, or by an answer of a cycle that is not long ago, is needed.
const FORGIVE: &str = "
    UPDATE portal.content SET unneeded_since = NULL
    WHERE unneeded_since IS NOT NULL AND hash IN (
        SELECT content FROM portal.cache UNION ALL
        SELECT content FROM portal.request_log WHERE cycle >= $1 AND content IS NOT NULL)";

const MARK: &str = "
    UPDATE portal.content AS c SET unneeded_since = now()
    WHERE unneeded_since IS NULL AND stored_at < now() - make_interval(secs => $2)
        AND NOT EXISTS (SELECT FROM (
            SELECT content FROM portal.cache UNION ALL
            SELECT content FROM portal.request_log WHERE cycle >= $1 AND content IS NOT NULL)
            AS needed WHERE needed.content = c.hash)";

const SWEEP: &str = "
    DELETE FROM portal.content WHERE unneeded_since < now() - make_interval(secs => $1) AND hash IN (
        SELECT hash FROM portal.content
        WHERE unneeded_since < now() - make_interval(secs => $1) LIMIT $2)";

/// Contents deleted in one transaction.
const SWEEP_AT_ONCE: usize = 1_000;

/// Deletes what nothing points at: neither what is cached, nor an answer of `since` or a later cycle.
/// It must have been so twice, `grace` apart, and not have been stored within `grace`: whoever is
/// about to point at something has that long. Answers how many are gone.
pub async fn sweep(database: &Database, since: u64, grace: Duration) -> Result<u64, QueryFault> {
    let (since, grace) = (number(since), grace.as_secs_f64());
    query::execute(database, VIEW, sqlx::query(FORGIVE).bind(since)).await?;
    let mut n_swept = 0;
    loop {
        let statement = sqlx::query(SWEEP).bind(grace).bind(query::limit(SWEEP_AT_ONCE));
        let n = query::execute(database, VIEW, statement).await?;
        n_swept += n;
        if n < SWEEP_AT_ONCE as u64 {
            break;
        }
    }
    query::execute(database, VIEW, sqlx::query(MARK).bind(since).bind(grace)).await?;
    Ok(n_swept)
}

const READ: &str = "
    UPDATE portal.content SET unread = NULL,
        words = to_tsvector('english', convert_from(substring(bytes FROM 1 FOR unread), 'UTF8'))
    WHERE hash = ANY ($1) AND unread IS NOT NULL";

/// Looks up the words of contents that were not looked into yet. What is in them is a function of the
/// content alone, so it does not matter who does it, or how often.
pub(super) async fn read(contents: &[&[u8]], tx: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(READ).bind(contents).execute(tx).await.map(drop)
}

/// A page in which something was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundRow {
    /// What it is known by.
    pub identity: Identity,
    /// The address.
    pub url: String,
    /// What the page is called.
    pub title: Option<String>,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// The type of it.
    pub content_type: String,
    /// The request that fetched it.
    pub request: Hash256,
    /// The origins that redirects led to on the way.
    pub redirected: Vec<String>,
    /// The cycle from which on it is not shown any more.
    pub expires_at: u64,
    /// How well it fits.
    pub rank: f32,
    /// Where it fits, in plain text, with what fits between `**`.
    pub snippet: String,
    /// The event that stored it.
    pub position: Position,
}

/// Of each page the rendering that fits best. One that holds code, by a waiver, is not looked into.
const SEARCH: &str = "
    WITH asked AS (SELECT websearch_to_tsquery('english', $1) AS words),
    fitting AS (
        SELECT DISTINCT ON (c.key) c.key, c.variant, c.owner, c.url, c.title, c.content,
            c.content_type, c.request, c.expires_at, c.position, c.redirected,
            ts_rank_cd(s.words, asked.words) AS rank
        FROM asked, portal.content AS s JOIN portal.cache AS c ON c.content = s.hash
        WHERE s.words @@ asked.words AND c.expires_at > $2 AND coalesce(c.owner, '') IN ('', $3)
            AND (SELECT bool_and(r.strips_code) FROM portal.request_log AS r WHERE r.id = c.request)
        ORDER BY c.key, rank DESC, c.position DESC),
    best AS (SELECT * FROM fitting ORDER BY rank DESC, position DESC OFFSET $5 LIMIT $4)
    SELECT best.*, ts_headline('english', left(regexp_replace(
            convert_from(s.bytes, 'UTF8'), '<[^>]*>', ' ', 'g'), 65536), asked.words,
            'MaxFragments=2, MaxWords=24, MinWords=8, StartSel=**, StopSel=**') AS snippet
    FROM asked, best JOIN portal.content AS s ON s.hash = best.content
    ORDER BY best.rank DESC, best.position DESC";

/// The cached pages that some words are in, as a search engine takes them; everybody's, and an
/// agent's own. Only those that may still be shown in a cycle, without the best `skip`.
pub async fn search(
    database: &Database,
    words: &str,
    agent: Option<&AgentId>,
    cycle: u64,
    limit: usize,
    skip: usize,
) -> Result<Vec<FoundRow>, QueryFault> {
    let query = sqlx::query(SEARCH)
        .bind(words)
        .bind(number(cycle))
        .bind(agent.map(AgentId::to_string).unwrap_or_default())
        .bind(query::limit(limit))
        .bind(query::limit(skip));
    query::rows(database, VIEW, query, from_row).await
}

fn from_row(row: &PgRow) -> Result<FoundRow, sqlx::Error> {
    Ok(FoundRow {
        identity: Identity {
            key: hash(row, "key")?,
            variant: hash(row, "variant")?,
            owner: agent_if_any(row, "owner")?,
        },
        url: row.try_get("url")?,
        title: row.try_get("title")?,
        content: hash(row, "content")?,
        content_type: row.try_get("content_type")?,
        request: hash(row, "request")?,
        redirected: row.try_get("redirected")?,
        expires_at: unsigned(row, "expires_at")?,
        rank: row.try_get("rank")?,
        snippet: row.try_get("snippet")?,
        position: query::position(row, "position")?,
    })
}
