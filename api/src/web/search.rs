//! Words in the pages that are cached.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::request::{AgentId, Hash256};
use weir_processors::{nexus, web::portal::Portal};
use weir_projections::web::content::{self, FoundRow};

use super::{open_for, requests::portal, whose};
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::WebRead},
    problem::Problem,
    state::ApiState,
    wait::{self, MinPosition},
};

/// Pages of an answer when nobody says how many, and at most.
const PAGE: (usize, usize) = (10, 50);
/// How often one looks further where pages were found that are blocked by now.
const MAX_ROUNDS: usize = 10;
/// The longest question, in characters.
const MAX_WORDS_CHARS: usize = 500;

/// The routes of the search.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(search))
}

/// The pages that words were found in, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundPages {
    pages: Vec<FoundView>,
}

/// A page that words were found in.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundView {
    /// The address.
    url: String,
    /// What the page is called.
    title: Option<String>,
    /// Where the words are, in plain text; what was found stands between `**`.
    snippet: String,
    /// How well it fits; only to be compared with the others of this answer.
    rank: f32,
    /// The type of the content.
    content_type: String,
    /// The request that fetched it: its content is at `/api/web/requests/{id}/content`. `null` where
    /// an agent asks, and the page is not its own alone: it is another one's request, and a request for
    /// the address is answered from the cache.
    #[schema(value_type = Option<String>)]
    request: Option<Hash256>,
    /// The agent whose own it is, where it is not everybody's.
    #[schema(value_type = Option<String>)]
    owner: Option<AgentId>,
    /// The cycle from which on it is not shown any more.
    expires_at: u64,
}

impl FoundView {
    /// As the agent sees it that asks; as everybody else does, where none asks.
    fn of(row: FoundRow, asking: Option<&AgentId>) -> Self {
        let FoundRow { url, title, snippet, rank, content_type, request, expires_at, .. } = row;
        let owner = row.identity.owner;
        let request = (asking.is_none() || owner.as_ref() == asking).then_some(request);
        Self { url, title, snippet, rank, content_type, request, owner, expires_at }
    }
}

/// Looks for words in the pages that are cached
///
/// Everybody's pages, and those that are the named agent's own; for an agent, as far as no rule blocks
/// them by now, and nothing in an epoch that is closed. Words are looked for in all their forms; `"…"`
/// keeps them together, `or` and `-` mean what they do elsewhere. Pages that hold code, by a waiver, are
/// not looked into.
#[utoipa::path(
    get, path = "/api/web/search", tag = "web", operation_id = "web_search",
    params(
        ("q" = String, Query, description = "The words: 1 to 500 characters"),
        ("agent" = Option<String>, Query, description = "In this agent's own pages, too"),
        ("limit" = Option<usize>, Query, description = "1 to 50, 10 by default"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "The pages", body = FoundPages),
        (status = 403, description = "An agent asks, and the epoch is closed"),
    ),
)]
async fn search(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<FoundPages>, Problem> {
    let words = params.take::<String>("q")?.unwrap_or_default();
    let n_chars = words.trim().chars().count();
    if n_chars == 0 || n_chars > MAX_WORDS_CHARS {
        return Err(bad_parameter("q", format!("say words, 1 to {MAX_WORDS_CHARS} characters")));
    }
    let agent = whose(&by.principal, params.take("agent")?)?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    wait::projection(&state, "cache", &mut params).await?;
    params.done()?;
    open_for(&state, &by.principal).await?;
    let asking = by.principal.agent.as_ref();
    let cycle = nexus::now(state.door()).await?.cycle;
    let rules = agent.map(|_| portal(&state).map(Portal::rules)).transpose()?;
    let (mut pages, mut skip) = (Vec::new(), 0);
    for _ in 0..MAX_ROUNDS {
        let (database, agent) = (state.database(), agent.as_ref());
        let rows = content::search(database, &words, agent, cycle, limit, skip).await?;
        let n_rows = rows.len();
        // What is blocked by now is not shown to agents any more (A31).
        let shown = rows
            .into_iter()
            .filter(|row| rules.is_none_or(|rules| rules.may_be_shown(&row.url, &row.redirected)));
        let shown = shown.map(|row| FoundView::of(row, asking));
        pages.extend(shown.take(limit - pages.len()));
        if n_rows < limit || pages.len() == limit {
            break;
        }
        skip += n_rows;
    }
    Ok(Json(FoundPages { pages }))
}
