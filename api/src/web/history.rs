//! Requests of agents: what they asked, what became of it, and what they were given.

use axum::{
    Json,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, header};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{
    position::Position,
    timestamp::Timestamp,
    web::{
        WebRedirect,
        request::{AgentId, Hash256},
        rule::Action,
    },
};
use weir_processors::web::content::{ContentFault, Contents};
use weir_projections::web::request_log::{self, ErrorRow, Filter, RequestRow, RequestState};

use super::whose;
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::WebRead},
    problem::{
        Problem,
        table::{NO_SUCH_WEB_REQUEST, NO_WEB_CONTENT},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "web-requests";
/// Requests of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);
/// The longest words that are looked for, in characters.
const MAX_WORDS_CHARS: usize = 200;
/// What a content was said to be; it is given out as plain text, so that no browser runs it.
const WEIR_CONTENT_TYPE: HeaderName = HeaderName::from_static("weir-content-type");

/// The routes of requests.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(show)).routes(routes!(content))
}

/// Requests, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebRequestPage {
    requests: Vec<WebRequestView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A request of an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebRequestView {
    /// Its id: 64 hexadecimal digits, which its agent chose.
    #[schema(value_type = String)]
    id: Hash256,
    /// The agent: 64 hexadecimal digits.
    #[schema(value_type = String)]
    agent: AgentId,
    /// The address, as it was asked for.
    url: String,
    /// The host of it.
    host: String,
    /// `GET`, `POST` or `HEAD`.
    method: &'static str,
    /// Why the agent asked.
    purpose: String,
    /// `submitted`, `completed`, `blocked` or `failed`.
    state: &'static str,
    /// What the outside answered; `null` where it did not.
    status_code: Option<u16>,
    /// How many bytes the agent was given.
    content_size: u64,
    /// The type of them.
    content_type: Option<String>,
    /// Whether nothing left for it.
    cached: bool,
    /// Whether it was refused.
    blocked: bool,
    /// Why it was refused.
    block_reason: Option<String>,
    /// The host that was refused, where it was one.
    domain: Option<String>,
    /// Why it was not answered.
    error: Option<WebErrorView>,
    /// What it cost, in ticks.
    tick_cost: u64,
    /// What it cost, in spark.
    spark_cost: u64,
    /// The tax on that, in spark.
    tax: u64,
    /// How many blocks and spans of code were taken out.
    code_blocks_removed: u32,
    /// How many bytes that were.
    bytes_stripped: u64,
    /// What a reader should know of the content.
    warnings: Vec<String>,
    /// Whether code was to be taken out; `null` where it was not admitted.
    strips_code: Option<bool>,
    /// `rest-get`, `rest-post`, `graphql` or `websocket-snap`; `null` where it was not admitted.
    interaction: Option<String>,
    /// The hosts that were contacted, in order.
    hosts: Vec<String>,
    /// The addresses that redirects led to, in order, without their queries: each was judged as the
    /// first one was.
    redirects: Vec<WebRedirectView>,
    /// The approval of a human that it was let through by.
    #[schema(value_type = Option<String>)]
    approval: Option<Hash256>,
    /// The epoch it was admitted in.
    epoch: Option<u32>,
    /// The cycle it counts in.
    cycle: u64,
    /// The tick it came in.
    created_at: u64,
    /// When that was.
    #[schema(value_type = String, format = DateTime)]
    recorded_at: Timestamp,
    /// The event it begins with.
    #[schema(value_type = i64)]
    position: Position,
    /// The event it ends with.
    #[schema(value_type = Option<i64>)]
    settled_position: Option<Position>,
}

/// An address that a redirect led to.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebRedirectView {
    /// The address, without its query.
    url: String,
    /// `allow` or `block`: what became of it.
    #[schema(value_type = String)]
    action: Action,
    /// The pattern of the rule that said so, where one did.
    rule: Option<String>,
    /// Why.
    reason: String,
}

impl From<WebRedirect> for WebRedirectView {
    fn from(redirect: WebRedirect) -> Self {
        let WebRedirect { url, action, rule, reason } = redirect;
        Self { url, action, rule, reason }
    }
}

/// Why a request was not answered.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebErrorView {
    /// The code on the wire.
    code: u16,
    /// The name.
    name: String,
    /// In words.
    reason: String,
}

impl From<ErrorRow> for WebErrorView {
    fn from(row: ErrorRow) -> Self {
        let ErrorRow { code, name, reason } = row;
        Self { code, name, reason }
    }
}

impl From<RequestRow> for WebRequestView {
    fn from(row: RequestRow) -> Self {
        let blocked = row.state == RequestState::Blocked;
        let filtered = row.filtered.unwrap_or_default();
        Self {
            id: row.id,
            agent: row.agent,
            url: row.url,
            host: row.host,
            method: row.method.as_str(),
            purpose: row.purpose,
            state: row.state.as_str(),
            status_code: row.status_code,
            content_size: row.content_size,
            content_type: row.content_type,
            cached: row.cached,
            blocked,
            block_reason: row.error.as_ref().filter(|_| blocked).map(|error| error.reason.clone()),
            domain: row.domain,
            error: row.error.map(WebErrorView::from),
            tick_cost: row.cost.ticks,
            spark_cost: row.cost.spark,
            tax: row.tax,
            code_blocks_removed: filtered.code_blocks_removed,
            bytes_stripped: filtered.bytes_stripped,
            warnings: filtered.warnings,
            strips_code: row.strips_code,
            interaction: row.interaction,
            hosts: row.hosts,
            redirects: row.redirects.into_iter().map(WebRedirectView::from).collect(),
            approval: row.approval,
            epoch: row.epoch,
            cycle: row.cycle,
            created_at: row.created_at,
            recorded_at: row.recorded_at,
            position: row.position,
            settled_position: row.settled,
        }
    }
}

/// Lists requests of agents, the newest first
#[utoipa::path(
    get, path = "/api/web/requests", tag = "web", operation_id = "web_requests",
    params(
        ("agent" = Option<String>, Query, description = "Of this agent"),
        ("state" = Option<String>, Query, description = "`submitted`, `completed`, `blocked` or `failed`"),
        ("host" = Option<String>, Query, description = "For a page of this host"),
        ("cycle" = Option<u64>, Query, description = "Of this cycle"),
        ("cached" = Option<bool>, Query, description = "Answered without anything leaving for it, or not"),
        ("q" = Option<String>, Query, description = "With these words in address or purpose, as they stand"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The requests", body = WebRequestPage)),
)]
async fn list(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<WebRequestPage>, Problem> {
    let asked = filter(&mut params)?;
    let filter = Filter { agent: whose(&by.principal, asked.agent)?, ..asked };
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let key = format!("{filter:?}");
    let before = cursor.map(|cursor| state.cursors().read(LIST, &key, &cursor)).transpose()?;
    wait::projection(&state, "request_log", &mut params).await?;
    params.done()?;
    let rows = request_log::list(state.database(), &filter, before.map(Position), limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, &key, last.0));
    Ok(Json(WebRequestPage {
        requests: rows.into_iter().map(WebRequestView::from).collect(),
        next,
    }))
}

fn filter(params: &mut Params) -> Result<Filter, Problem> {
    let state = params.take::<String>("state")?.map(|name| {
        RequestState::find(&name).ok_or_else(|| {
            let all = RequestState::ALL.map(RequestState::as_str).join(", ");
            bad_parameter("state", format!("a request is one of {all}"))
        })
    });
    let q: Option<String> = params.take("q")?;
    if q.as_ref().is_some_and(|q| q.chars().count() > MAX_WORDS_CHARS) {
        let words = format!("at most {MAX_WORDS_CHARS} characters are looked for");
        return Err(bad_parameter("q", words));
    }
    Ok(Filter {
        agent: params.take("agent")?,
        state: state.transpose()?,
        host: params.take::<String>("host")?.map(|host| host.to_ascii_lowercase()),
        cycle: params.take("cycle")?,
        cached: params.take("cached")?,
        q,
    })
}

/// Shows a request
///
/// Agents choose the ids of their requests: where two chose the same, `agent` says whose is meant, and
/// the older one is shown where nobody says.
#[utoipa::path(
    get, path = "/api/web/requests/{id}", tag = "web", operation_id = "web_request_shown",
    params(
        ("id" = String, Path, description = "The request: 64 hexadecimal digits"),
        ("agent" = Option<String>, Query, description = "Of this agent"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The request", body = WebRequestView),
        (status = 404, description = "There is none of this id"),
    ),
)]
async fn show(
    State(state): State<ApiState>,
    by: By<WebRead>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Json<WebRequestView>, Problem> {
    let row = found(&state, &by, &id, &mut params).await?;
    params.done()?;
    Ok(Json(row.into()))
}

async fn found(
    state: &ApiState,
    by: &By<WebRead>,
    id: &str,
    params: &mut Params,
) -> Result<RequestRow, Problem> {
    let agent = whose(&by.principal, params.take("agent")?)?;
    wait::projection(state, "request_log", params).await?;
    let missing = || {
        let shown: String = id.chars().take(64).collect();
        Problem::new(&NO_SUCH_WEB_REQUEST, format!("there is no request `{shown}`"))
    };
    let id: Hash256 = id.parse().map_err(|_| missing())?;
    let rows = request_log::find(state.database(), &id, agent.as_ref()).await?;
    rows.into_iter().next().ok_or_else(missing)
}

/// Gives what an agent was given
///
/// It is sent as plain text, whatever it is, so that no browser runs it; `weir-content-type` says what
/// it is.
#[utoipa::path(
    get, path = "/api/web/requests/{id}/content", tag = "web", operation_id = "web_request_content",
    params(
        ("id" = String, Path, description = "The request: 64 hexadecimal digits"),
        ("agent" = Option<String>, Query, description = "Of this agent"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The content", body = String, content_type = "text/plain"),
        (status = 404, description = "There is no such request, or its content is no longer kept"),
    ),
)]
async fn content(
    State(state): State<ApiState>,
    by: By<WebRead>,
    Path(id): Path<String>,
    mut params: Params,
) -> Result<Response, Problem> {
    let row = found(&state, &by, &id, &mut params).await?;
    params.done()?;
    let Some(hash) = row.content else {
        let words = format!("the request is {}: nothing was given for it", row.state.as_str());
        return Err(Problem::new(&NO_WEB_CONTENT, words));
    };
    let contents = Contents::new(state.log().clone());
    let content = contents.get(&hash).await?.ok_or_else(|| {
        let words = "what was given for this request is no longer kept";
        Problem::new(&NO_WEB_CONTENT, words)
    })?;
    let kind = HeaderValue::from_str(row.content_type.as_deref().unwrap_or_default());
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'")),
        (WEIR_CONTENT_TYPE, kind.unwrap_or(HeaderValue::from_static(""))),
    ];
    Ok((headers, content).into_response())
}

impl From<ContentFault> for Problem {
    fn from(fault: ContentFault) -> Self {
        match fault {
            ContentFault::Database(fault) => fault.into(),
            ContentFault::TooLarge(_) => Self::internal(&fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::FromRequestParts;

    use super::*;

    async fn asked(query: &str) -> Result<Filter, Problem> {
        let request = http::Request::builder().uri(format!("/x?{query}")).body(()).unwrap();
        let mut parts = request.into_parts().0;
        filter(&mut Params::from_request_parts(&mut parts, &()).await?)
    }

    #[tokio::test]
    async fn a_filter_is_read_and_what_makes_no_sense_is_named() {
        let agent = AgentId::new([1; 32]);
        let query = format!("agent={agent}&state=blocked&host=Docs.RS&cycle=7&cached=true&q=how");
        let wanted = Filter {
            agent: Some(agent),
            state: Some(RequestState::Blocked),
            host: Some("docs.rs".to_owned()),
            cycle: Some(7),
            cached: Some(true),
            q: Some("how".to_owned()),
        };
        assert_eq!(asked(&query).await.unwrap(), wanted);
        let long = format!("q={}", "x".repeat(201));
        for (query, field) in [
            ("state=done", "state"),
            ("agent=ann", "agent"),
            ("cycle=-1", "cycle"),
            ("cached=maybe", "cached"),
            (&long, "q"),
        ] {
            let refused = asked(query).await.unwrap_err();
            assert!(refused.detail().starts_with(field), "{}", refused.detail());
        }
    }
}
