//! What is cached of the outside, and to have some of it forgotten.

use std::net::Ipv6Addr;

use axum::{Json, extract::State};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{
    position::Position,
    web::request::{AgentId, Hash256},
};
use weir_processors::{
    door::Executed,
    nexus,
    outbound::web::address::WebUrl,
    web::{
        eviction::{EvictionFault, Evictions, Purged},
        portal::PortalGateway as _,
    },
};
use weir_projections::web::cache::{self, CacheRow, Filter, Purge};

use super::{
    open_for,
    requests::{of_refused, portal},
    whose,
};
use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params, bad_parameter},
    auth::{
        By,
        needs::{WebRead, WebWrite},
    },
    problem::{Problem, table::BAD_PARAMETER},
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "web-cache";
/// Renderings of a page of the list when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The routes of what is cached.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(purge))
}

/// What is cached, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebCachePage {
    /// How many renderings of pages are cached, all in all; an agent is not told.
    n_pages: Option<u64>,
    /// How many bytes of content they have.
    n_bytes: Option<u64>,
    pages: Vec<CachedView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A rendering of a page.
#[derive(Debug, Serialize, ToSchema)]
pub struct CachedView {
    /// The page: SHA-256 of its address without fragment, its method and its body.
    #[schema(value_type = String)]
    key: Hash256,
    /// The rendering: SHA-256 of the filter and its version.
    #[schema(value_type = String)]
    variant: Hash256,
    /// The agent that it was fetched for, where nobody else is shown it.
    #[schema(value_type = Option<String>)]
    owner: Option<AgentId>,
    /// Whether everybody is shown it.
    shared: bool,
    /// The address.
    url: String,
    /// The host of it.
    host: String,
    /// `GET`, `POST` or `HEAD`.
    method: &'static str,
    /// What the outside answered.
    status: u16,
    /// What the page is called.
    title: Option<String>,
    /// The type of the content.
    content_type: String,
    /// How many bytes it has.
    content_size: u64,
    /// How many blocks and spans of code were taken out.
    code_blocks_removed: u32,
    /// The request that fetched it; `null` where an agent asks, and the page is not its own alone.
    #[schema(value_type = Option<String>)]
    request: Option<Hash256>,
    /// The cycle it was stored in.
    created_at: u64,
    /// The cycle from which on it is not shown any more.
    expires_at: u64,
    /// How often it was shown.
    n_hits: u64,
    /// The event that stored it.
    #[schema(value_type = i64)]
    position: Position,
}

impl CachedView {
    /// As the agent sees it that asks; as everybody else does, where none asks.
    fn of(row: CacheRow, asking: Option<&AgentId>) -> Self {
        let mine = asking.is_none() || row.identity.owner.as_ref() == asking;
        Self {
            key: row.identity.key,
            variant: row.identity.variant,
            owner: row.identity.owner,
            shared: row.identity.owner.is_none(),
            url: row.url,
            host: row.host,
            method: row.method.as_str(),
            status: row.status,
            title: row.title,
            content_type: row.content_type,
            content_size: row.content_size,
            code_blocks_removed: row.filtered.code_blocks_removed,
            request: mine.then_some(row.request),
            created_at: row.created_at,
            expires_at: row.expires_at,
            n_hits: row.n_hits,
            position: row.position,
        }
    }
}

/// Lists what is cached, the newest first
///
/// With a token of an agent, what everybody is shown, as far as no rule blocks it by now; with `owner`, what is that agent's own.
#[utoipa::path(
    get, path = "/api/web/cache", tag = "web", operation_id = "web_cache",
    params(
        ("host" = Option<String>, Query, description = "Of pages of this host"),
        ("url" = Option<String>, Query, description = "Of the page at this address"),
        ("owner" = Option<String>, Query, description = "This agent's own"),
        ("shared" = Option<bool>, Query, description = "`true`: what everybody is shown; `false`: the rest"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "What is cached", body = WebCachePage)),
)]
async fn list(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<WebCachePage>, Problem> {
    let mut filter = Filter {
        host: host(&mut params)?,
        url: url(&mut params)?,
        owner: params.take("owner")?,
        shared: params.take("shared")?,
    };
    open_for(&state, &by.principal).await?;
    if by.principal.agent.is_some() {
        whose(&by.principal, filter.owner)?;
        if filter.owner.is_none() {
            filter.shared = Some(true);
        }
    }
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let key = format!("{filter:?}");
    let before = cursor.map(|cursor| state.cursors().read(LIST, &key, &cursor)).transpose()?;
    wait::projection(&state, "cache", &mut params).await?;
    params.done()?;
    let rows = cache::list(state.database(), &filter, before.map(Position), limit).await?;
    let totals = match by.principal.agent {
        Some(_) => None,
        None => Some(cache::totals(state.database()).await?),
    };
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, &key, last.0));
    // What is blocked by now is not shown to agents any more (A31).
    let rules = match by.principal.agent {
        Some(_) => Some(portal(&state)?.rules()),
        None => None,
    };
    let shown = rows
        .into_iter()
        .filter(|row| rules.is_none_or(|rules| rules.may_be_shown(&row.url, &row.redirected)));
    let asking = by.principal.agent.as_ref();
    let pages = shown.map(|row| CachedView::of(row, asking)).collect();
    let (n_pages, n_bytes) = (totals.map(|it| it.n_pages), totals.map(|it| it.n_bytes));
    Ok(Json(WebCachePage { n_pages, n_bytes, pages, next }))
}

/// What was forgotten.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebPurgeView {
    /// How many renderings of pages.
    n_pages: u64,
}

/// Has pages forgotten, on every instance: who asks for them next has them fetched anew
#[utoipa::path(
    delete, path = "/api/web/cache", tag = "web", operation_id = "purge_web_cache",
    params(
        ("url" = Option<String>, Query, description = "The page at this address"),
        ("host" = Option<String>, Query, description = "All pages of this host"),
        ("expired" = Option<bool>, Query, description = "`true`: what is not shown any more, and what there is no room for"),
    ),
    responses(
        (status = 200, description = "What was forgotten", body = WebPurgeView),
        (status = 400, description = "It is not said what, or two things are said"),
    ),
)]
async fn purge(
    State(state): State<ApiState>,
    mut params: Params,
    Ask { caller, .. }: Ask<WebWrite, Nothing>,
) -> Result<Done<WebPurgeView>, Problem> {
    if params.take::<bool>("expired")? == Some(true) {
        params.done()?;
        let gone = portal(&state)?.evict_cache().await;
        let n_pages = gone.map_err(|error| of_refused(&error.refused(None)))?;
        return Ok(forgotten(Purged { n_pages, position: state.door().log().head() }));
    }
    let purge = meant(&mut params)?;
    params.done()?;
    let cycle = nexus::now(state.door()).await?.cycle;
    let evictions = Evictions::new(state.door(), state.engine());
    let evictions = match state.portal() {
        Some(portal) => evictions.of(portal.pages()),
        None => evictions,
    };
    Ok(forgotten(evictions.purge(&purge, cycle, &caller).await?))
}

fn forgotten(purged: Purged) -> Done<WebPurgeView> {
    let executed =
        Executed::<()> { position: purged.position, events: Vec::new(), replayed: false };
    Done::of(&executed, StatusCode::OK, WebPurgeView { n_pages: purged.n_pages })
}

/// The address that is named, in its one spelling: in that it is cached.
fn url(params: &mut Params) -> Result<Option<String>, Problem> {
    let Some(text) = params.take::<String>("url")? else { return Ok(None) };
    let url = WebUrl::parse(&text).map_err(|fault| bad_parameter("url", fault.to_string()))?;
    Ok(Some(url.as_str().to_owned()))
}

/// The host that is named, in its one spelling, as it stands in addresses.
fn host(params: &mut Params) -> Result<Option<String>, Problem> {
    let Some(text) = params.take::<String>("host")? else { return Ok(None) };
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(&text);
    let written = match bare.parse::<Ipv6Addr>() {
        Ok(_) => format!("[{bare}]"),
        Err(_) if text.contains(['/', '?', '#', '@', ':']) => {
            let words = "a host is a name or an address, without a scheme, a port or a path";
            return Err(bad_parameter("host", words));
        }
        Err(_) => text,
    };
    let url = WebUrl::parse(&format!("https://{written}/"));
    let url = url.map_err(|fault| bad_parameter("host", fault.to_string()))?;
    Ok(Some(url.written_host().to_owned()))
}

fn meant(params: &mut Params) -> Result<Purge, Problem> {
    match (url(params)?, host(params)?) {
        (Some(url), None) => Ok(Purge::Url(url)),
        (None, Some(host)) => Ok(Purge::Host(host)),
        (Some(_), Some(_)) => Err(bad_parameter("host", "one page, or one host? name one of them")),
        (None, None) => Err(Problem::new(
            &BAD_PARAMETER,
            "say which page (url), which host, or what has expired",
        )),
    }
}

impl From<EvictionFault> for Problem {
    fn from(fault: EvictionFault) -> Self {
        match fault {
            EvictionFault::Query(fault) => fault.into(),
            EvictionFault::Door(fault) => fault.into(),
            EvictionFault::Wait(fault) => fault.into(),
            EvictionFault::Stream(fault) => Self::internal(&fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::FromRequestParts;

    use super::*;

    #[tokio::test]
    async fn one_thing_is_forgotten_at_a_time_and_never_everything_by_mistake() {
        for (query, wanted) in [
            ("url=https://docs.rs/a", Some(Purge::Url("https://docs.rs/a".to_owned()))),
            ("host=Docs.RS", Some(Purge::Host("docs.rs".to_owned()))),
            ("url=HTTPS://Docs.RS.", Some(Purge::Url("https://docs.rs/".to_owned()))),
            ("url=https://docs.rs:443/a%23top", Some(Purge::Url("https://docs.rs/a".to_owned()))),
            ("host=docs.rs.", Some(Purge::Host("docs.rs".to_owned()))),
            ("host=b%C3%BCcher.example", Some(Purge::Host("xn--bcher-kva.example".to_owned()))),
            ("host=0x7f.1", Some(Purge::Host("127.0.0.1".to_owned()))),
            ("host=2001:DB8::1", Some(Purge::Host("[2001:db8::1]".to_owned()))),
            ("host=%5B::1%5D", Some(Purge::Host("[::1]".to_owned()))),
            ("", None),
            ("url=a&host=b", None),
            ("url=docs.rs", None),
            ("url=ftp://docs.rs/", None),
            ("url=https://ann@docs.rs/", None),
            ("host=", None),
            ("host=https://docs.rs", None),
            ("host=docs.rs:443", None),
            ("host=docs.rs/a", None),
            ("host=ann@docs.rs", None),
            ("host=docs..rs", None),
            ("host=%5B::1%5D:443", None),
        ] {
            let request = http::Request::builder().uri(format!("/x?{query}")).body(()).unwrap();
            let mut parts = request.into_parts().0;
            let mut params = Params::from_request_parts(&mut parts, &()).await.unwrap();
            assert_eq!(meant(&mut params).ok(), wanted, "{query}");
        }
    }
}
