//! What is asked of the log of requests.

use sqlx::{Postgres, QueryBuilder, Row, postgres::PgRow};
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::{
        WebRedirect,
        content::FilterReport,
        request::{AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod},
    },
};
use weir_log::database::Database;

use super::super::{agent, hash, hash_if_any, method, unpacked, unsigned, wrong};
use crate::query::{self, QueryFault};

const VIEW: &str = "portal.request_log";

/// How far a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// It was admitted.
    Submitted,
    /// It was answered.
    Completed,
    /// It was refused.
    Blocked,
    /// It came to nothing.
    Failed,
}

impl RequestState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Submitted, Self::Completed, Self::Blocked, Self::Failed];

    /// The name used in addresses and in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }

    /// Finds a state by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// The name of a kind of interaction.
pub(super) const fn interaction(kind: ApiInteractionKind) -> &'static str {
    match kind {
        ApiInteractionKind::RestGet => "rest-get",
        ApiInteractionKind::RestPost => "rest-post",
        ApiInteractionKind::GraphQL => "graphql",
        ApiInteractionKind::WebsocketSnap => "websocket-snap",
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRow {
    /// Its id.
    pub id: Hash256,
    /// Who asked.
    pub agent: AgentId,
    /// The address, as it was asked for.
    pub url: String,
    /// The host of it.
    pub host: String,
    /// The method.
    pub method: HttpMethod,
    /// Why it was asked.
    pub purpose: String,
    /// How far it is.
    pub state: RequestState,
    /// What the outside answered.
    pub status_code: Option<u16>,
    /// How many bytes the agent got.
    pub content_size: u64,
    /// Whether nothing left for it.
    pub cached: bool,
    /// What it cost.
    pub cost: Cost,
    /// The tax on that, in spark.
    pub tax: u64,
    /// The cycle it counts in.
    pub cycle: u64,
    /// The tick it came in.
    pub created_at: u64,
    /// The hosts that were contacted, in order.
    pub hosts: Vec<String>,
    /// The addresses that redirects led to, in order.
    pub redirects: Vec<WebRedirect>,
    /// What a human was asked and has allowed.
    pub approval: Option<Hash256>,
    /// The host that was refused.
    pub domain: Option<String>,
    /// Why it was not answered.
    pub error: Option<ErrorRow>,
    /// What the agent got, by its BLAKE3 in the content store.
    pub content: Option<Hash256>,
    /// The type of that.
    pub content_type: Option<String>,
    /// What was done to the page.
    pub filtered: Option<FilterReport>,
    /// What kind of interaction it was, where it was admitted.
    pub interaction: Option<String>,
    /// Whether code was taken out, where it was admitted.
    pub strips_code: Option<bool>,
    /// The epoch it was admitted in.
    pub epoch: Option<u32>,
    /// The event it begins with.
    pub position: Position,
    /// The event it ends with.
    pub settled: Option<Position>,
    /// When it began.
    pub recorded_at: Timestamp,
}

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorRow {
    /// The code on the wire.
    pub code: u16,
    /// The name.
    pub name: String,
    /// In words.
    pub reason: String,
}

/// Which requests to list. Empty lists them all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this agent.
    pub agent: Option<AgentId>,
    /// In this state.
    pub state: Option<RequestState>,
    /// For a page of this host.
    pub host: Option<String>,
    /// Of this cycle.
    pub cycle: Option<u64>,
    /// Answered without anything leaving for it, or not.
    pub cached: Option<bool>,
    /// With these words in address or purpose, in this order.
    pub q: Option<String>,
}

const COLUMNS: &str = "SELECT id, agent, url, host, method, purpose, state, status_code, \
    content_size, cached, tick_cost, spark_cost, tax, cycle, created_at, hosts, domain, error_code, \
    error, error_reason, content, content_type, filter_report, interaction, strips_code, epoch, \
    position, settled, recorded_at, redirects, approval FROM portal.request_log WHERE ";

/// The newest requests that began before a position, newest first. The last row's position is the
/// cursor of the next page.
pub async fn list(
    database: &Database,
    filter: &Filter,
    before: Option<Position>,
    limit: usize,
) -> Result<Vec<RequestRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push("position < ").push_bind(before.map_or(i64::MAX, |before| before.0));
    if let Some(agent) = &filter.agent {
        query.push(" AND agent = ").push_bind(agent.to_string());
    }
    if let Some(state) = filter.state {
        query.push(" AND state = ").push_bind(state.as_str());
    }
    if let Some(host) = &filter.host {
        query.push(" AND host = ").push_bind(host.as_str());
    }
    if let Some(cycle) = filter.cycle {
        query.push(" AND cycle = ").push_bind(super::number(cycle));
    }
    if let Some(cached) = filter.cached {
        query.push(" AND cached = ").push_bind(cached);
    }
    if let Some(words) = &filter.q {
        let like = like(words);
        query.push(" AND (url ILIKE ").push_bind(like.clone());
        query.push(" OR purpose ILIKE ").push_bind(like).push(")");
    }
    query.push(" ORDER BY position DESC LIMIT ").push_bind(query::limit(limit));
    query::rows(database, VIEW, query.build(), from_row).await
}

/// What is anywhere in a text, with what LIKE takes for more than itself.
fn like(words: &str) -> String {
    let mut like = String::from("%");
    for c in words.chars() {
        if matches!(c, '%' | '_' | '\\') {
            like.push('\\');
        }
        like.push(c);
    }
    like.push('%');
    like
}

/// The requests of an id, the first one first: each agent chooses its ids by itself.
pub async fn find(
    database: &Database,
    id: &Hash256,
    agent: Option<&AgentId>,
) -> Result<Vec<RequestRow>, QueryFault> {
    let mut query = QueryBuilder::<Postgres>::new(COLUMNS);
    query.push("id = ").push_bind(id.as_bytes().as_slice());
    if let Some(agent) = agent {
        query.push(" AND agent = ").push_bind(agent.to_string());
    }
    query.push(" ORDER BY position LIMIT ").push_bind(query::limit(query::MAX_ROWS));
    query::rows(database, VIEW, query.build(), from_row).await
}

/// A request that was admitted, and is not settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsettled {
    /// Whose it is.
    pub agent: AgentId,
    /// Its id.
    pub request: Hash256,
    /// The cycle it counts in.
    pub cycle: u64,
}

/// One that may never be settled, for its instance may be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOver {
    /// Which one.
    pub of: Unsettled,
    /// The method.
    pub method: HttpMethod,
    /// The address, as it was sent.
    pub url: String,
}

const UNSETTLED: &str = "
    SELECT agent, id, cycle, method, url FROM portal.request_log
    WHERE state = 'submitted' AND submitted_at < $1 ORDER BY submitted_at, position LIMIT $2";

/// Requests that were admitted before a time, and are not settled, the oldest first.
pub async fn unsettled(
    database: &Database,
    before: Timestamp,
    limit: usize,
) -> Result<Vec<LeftOver>, QueryFault> {
    let query = sqlx::query(UNSETTLED).bind(before.datetime()).bind(query::limit(limit));
    query::rows(database, VIEW, query, |row| {
        let of = Unsettled {
            agent: agent(row, "agent")?,
            request: hash(row, "id")?,
            cycle: unsigned(row, "cycle")?,
        };
        Ok(LeftOver { of, method: query::word(row, "method", method)?, url: row.try_get("url")? })
    })
    .await
}

fn from_row(row: &PgRow) -> Result<RequestRow, sqlx::Error> {
    let status: Option<i32> = row.try_get("status_code")?;
    let packed: Option<&[u8]> = row.try_get("filter_report")?;
    let epoch: Option<i64> = row.try_get("epoch")?;
    let settled: Option<i64> = row.try_get("settled")?;
    let redirects: Option<&[u8]> = row.try_get("redirects")?;
    let redirects = redirects.map(|_| unpacked(row, "redirects", "WebRedirects")).transpose()?;
    Ok(RequestRow {
        id: hash(row, "id")?,
        agent: agent(row, "agent")?,
        url: row.try_get("url")?,
        host: row.try_get("host")?,
        method: query::word(row, "method", method)?,
        purpose: row.try_get("purpose")?,
        state: query::word(row, "state", RequestState::find)?,
        status_code: status.map(|status| u16::try_from(status).map_err(wrong)).transpose()?,
        content_size: unsigned(row, "content_size")?,
        cached: row.try_get("cached")?,
        cost: Cost { ticks: unsigned(row, "tick_cost")?, spark: unsigned(row, "spark_cost")? },
        tax: unsigned(row, "tax")?,
        cycle: unsigned(row, "cycle")?,
        created_at: unsigned(row, "created_at")?,
        hosts: row.try_get("hosts")?,
        redirects: redirects.unwrap_or_default(),
        approval: hash_if_any(row, "approval")?,
        domain: row.try_get("domain")?,
        error: error(row)?,
        content: hash_if_any(row, "content")?,
        content_type: row.try_get("content_type")?,
        filtered: packed.map(|_| unpacked(row, "filter_report", "FilterReport")).transpose()?,
        interaction: row.try_get("interaction")?,
        strips_code: row.try_get("strips_code")?,
        epoch: epoch.map(|epoch| u32::try_from(epoch).map_err(wrong)).transpose()?,
        position: query::position(row, "position")?,
        settled: settled.map(Position),
        recorded_at: query::moment(row, "recorded_at")?,
    })
}

fn error(row: &PgRow) -> Result<Option<ErrorRow>, sqlx::Error> {
    let Some(code) = row.try_get::<Option<i32>, _>("error_code")? else { return Ok(None) };
    Ok(Some(ErrorRow {
        code: u16::try_from(code).map_err(wrong)?,
        name: row.try_get("error")?,
        reason: row.try_get("error_reason")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_for_as_they_are() {
        assert_eq!(like(r"50%_a\b"), r"%50\%\_a\\b%");
    }

    #[test]
    fn states_are_found_by_their_names() {
        for state in RequestState::ALL {
            assert_eq!(RequestState::find(state.as_str()), Some(state));
        }
        assert_eq!(RequestState::find("done"), None);
    }
}
