//! What is asked of the cache.

use sqlx::{Postgres, QueryBuilder, Row, postgres::PgRow};
use weir_events::{
    position::Position,
    web::{
        Invalidated,
        content::FilterReport,
        request::{AgentId, Hash256, HttpMethod},
    },
};
use weir_log::database::Database;

use super::{
    super::{agent_if_any, hash, method, number, status, unpacked, unsigned},
    Identity,
};
use crate::query::{self, QueryFault};

const VIEW: &str = "portal.cache";

/// A rendering that is cached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheRow {
    /// What it is known by.
    pub identity: Identity,
    /// The address.
    pub url: String,
    /// The host of it.
    pub host: String,
    /// The method.
    pub method: HttpMethod,
    /// What the outside answered.
    pub status: u16,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// How many bytes that has.
    pub content_size: u64,
    /// The type of it.
    pub content_type: String,
    /// What was done to the page.
    pub filtered: FilterReport,
    /// What the page is called.
    pub title: Option<String>,
    /// The origins that redirects led to on the way.
    pub redirected: Vec<String>,
    /// The keys, in hexadecimal digits, that GET has of the other addresses it comes from.
    pub also: Vec<String>,
    /// The request that fetched it.
    pub request: Hash256,
    /// The cycle it was stored in.
    pub created_at: u64,
    /// The cycle from which on it is not shown any more.
    pub expires_at: u64,
    /// How often it was shown.
    pub n_hits: u64,
    /// The event that stored it.
    pub position: Position,
    /// Where the log stood when it was asked for.
    pub asked_at: Position,
}

const COLUMNS: &str = "SELECT key, variant, owner, url, host, method, status, content, \
    content_size, content_type, filter_report, title, request, created_at, expires_at, n_hits, \
    position, redirected, also, asked_at FROM portal.cache WHERE ";

/// Which renderings to list. Empty lists them all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of pages of this host.
    pub host: Option<String>,
    /// Of the page at this address.
    pub url: Option<String>,
    /// Of this agent alone.
    pub owner: Option<AgentId>,
    /// For everybody, or not.
    pub shared: Option<bool>,
}

/// The newest renderings that were stored before a position, newest first. The last row's position is
/// the cursor of the next page.
pub async fn list(
    database: &Database,
    filter: &Filter,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<CacheRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push("position < ").push_bind(before.map_or(i64::MAX, |before| before.0));
    if let Some(host) = &filter.host {
        query.push(" AND host = ").push_bind(host.as_str());
    }
    if let Some(url) = &filter.url {
        query.push(" AND url = ").push_bind(url.as_str());
    }
    if let Some(owner) = &filter.owner {
        query.push(" AND owner = ").push_bind(owner.to_string());
    }
    if let Some(shared) = filter.shared {
        query.push(" AND shared = ").push_bind(shared);
    }
    query.push(" ORDER BY position DESC LIMIT ").push_bind(query::limit(limit));
    query::rows(database, VIEW, query.build(), from_row).await
}

const FIND: &str = "
    SELECT key, variant, owner, url, host, method, status, content, content_size, content_type,
        filter_report, title, request, created_at, expires_at, n_hits, position, redirected, also,
        asked_at
    FROM portal.cache
    WHERE key = $1 AND variant = $2 AND coalesce(owner, '') IN ('', $3) ORDER BY position DESC";

/// A rendering as an agent may see it: everybody's, and its own.
pub async fn find(
    database: &Database,
    key: &Hash256,
    variant: &Hash256,
    agent: &AgentId,
) -> Result<Vec<CacheRow>, QueryFault> {
    let query = sqlx::query(FIND)
        .bind(key.as_bytes().as_slice())
        .bind(variant.as_bytes().as_slice())
        .bind(agent.to_string());
    query::rows(database, VIEW, query, from_row).await
}

const EXPIRED: &str = "SELECT count(*) AS n_pages FROM portal.cache WHERE expires_at <= $1";

/// How many renderings are not shown any more in a cycle.
pub async fn n_expired(database: &Database, cycle: u64) -> Result<u64, QueryFault> {
    let query = sqlx::query(EXPIRED).bind(number(cycle));
    let rows = query::rows(database, VIEW, query, |row| unsigned(row, "n_pages")).await?;
    Ok(rows.into_iter().sum())
}

const BEYOND: &str = "
    SELECT key, variant, owner FROM (
        SELECT key, variant, owner, used_at, position,
            sum(content_size) OVER (ORDER BY used_at, position) - content_size AS before
        FROM (SELECT key, variant, owner, used_at, position, content_size
            FROM portal.cache ORDER BY used_at, position LIMIT $2) AS oldest) AS c
    WHERE before < $1 ORDER BY used_at, position";

/// Renderings for which there is no room within a bound, those first that were not used for longest.
pub async fn beyond(
    database: &Database,
    max_bytes: u64,
    limit: usize,
) -> Result<Vec<Identity>, QueryFault> {
    let excess = totals(database).await?.n_bytes.saturating_sub(max_bytes);
    if excess == 0 {
        return Ok(Vec::new());
    }
    let query = sqlx::query(BEYOND).bind(number(excess)).bind(number(limit as u64));
    query::rows(database, VIEW, query, identity).await
}

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purge {
    /// All of a page.
    Url(String),
    /// All of a host, and what redirects led to by way of it. An address of version 6 stands in
    /// brackets, as it does in addresses of pages.
    Host(String),
}

impl From<&Purge> for Invalidated {
    fn from(purge: &Purge) -> Self {
        match purge.clone() {
            Purge::Url(url) => Self::Url(url),
            Purge::Host(host) => Self::Host(host),
        }
    }
}

const OF_URL: &str = "SELECT key, variant, owner FROM portal.cache WHERE url = $1 LIMIT $2";

/// An origin is a scheme, a host, perhaps a port, and a slash. Few pages have any.
const OF_HOST: &str = "
    SELECT key, variant, owner FROM (
        SELECT key, variant, owner FROM portal.cache WHERE host = $1
        UNION ALL
        SELECT key, variant, owner FROM portal.cache
        WHERE host <> $1 AND EXISTS (SELECT FROM unnest(redirected) AS origin
            WHERE regexp_replace(split_part(origin, '/', 3), ':[0-9]+$', '') = $1)) AS c
    LIMIT $2";

/// Renderings that an operator means, in no order.
pub async fn purgeable(
    database: &Database,
    purge: &Purge,
    limit: usize,
) -> Result<Vec<Identity>, QueryFault> {
    let query = match purge {
        Purge::Url(url) => sqlx::query(OF_URL).bind(url.as_str()),
        Purge::Host(host) => sqlx::query(OF_HOST).bind(host.as_str()),
    };
    query::rows(database, VIEW, query.bind(number(limit as u64)), identity).await
}

/// How much is cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// How many renderings.
    pub n_pages: u64,
    /// How many bytes of content.
    pub n_bytes: u64,
}

const TOTALS: &str = "SELECT n_pages, n_bytes FROM portal.cache_totals";

/// How much is cached.
pub async fn totals(database: &Database) -> Result<Totals, QueryFault> {
    let rows = query::rows(database, VIEW, sqlx::query(TOTALS), |row| {
        Ok(Totals { n_pages: unsigned(row, "n_pages")?, n_bytes: unsigned(row, "n_bytes")? })
    });
    Ok(rows.await?.pop().unwrap_or_default())
}

fn identity(row: &PgRow) -> Result<Identity, sqlx::Error> {
    Ok(Identity {
        key: hash(row, "key")?,
        variant: hash(row, "variant")?,
        owner: agent_if_any(row, "owner")?,
    })
}

fn from_row(row: &PgRow) -> Result<CacheRow, sqlx::Error> {
    Ok(CacheRow {
        identity: identity(row)?,
        url: row.try_get("url")?,
        host: row.try_get("host")?,
        method: query::word(row, "method", method)?,
        status: status(row, "status")?,
        content: hash(row, "content")?,
        content_size: unsigned(row, "content_size")?,
        content_type: row.try_get("content_type")?,
        filtered: unpacked(row, "filter_report", "FilterReport")?,
        title: row.try_get("title")?,
        redirected: row.try_get("redirected")?,
        also: row.try_get("also")?,
        request: hash(row, "request")?,
        created_at: unsigned(row, "created_at")?,
        expires_at: unsigned(row, "expires_at")?,
        n_hits: unsigned(row, "n_hits")?,
        position: query::position(row, "position")?,
        asked_at: query::position(row, "asked_at")?,
    })
}
