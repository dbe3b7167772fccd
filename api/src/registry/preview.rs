//! What a rule would hit, before there is the rule.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::{check, rule::CompiledRule, version::Version};
use weir_events::{
    registry::{Ecosystem, Mask, Rule},
    timestamp::Timestamp,
};
use weir_projections::registry::seen_versions::{self, SeenRow};

use super::rules::every_version;
use crate::{ask::Ask, auth::needs::RulesRead, problem::Problem, state::ApiState};

/// Versions that are looked at.
const AT_MOST: usize = 1_000;

/// The route of previews.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(preview))
}

/// A rule that may come to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PreviewRequest {
    /// The ecosystem it is about: `pypi`, `npm`, `cargo`, `go` or `docker`.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// A version constraint in the ecosystem's own syntax; every version, without.
    #[serde(default = "every_version")]
    versions: String,
    /// What a person is told; looked at only if it is there.
    #[serde(default)]
    reason: Option<String>,
    /// How the versions look in lists: `mark` (without one), `hide` or `deny-only`.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    mask: Mask,
}

/// What a list of versions is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ListOf {
    /// Versions of which a file was asked for here, whether it was let through or refused. There
    /// may be others upstream.
    AskedForHere,
}

/// What a rule would hit. Only this rule is asked: what else forbids a version is not said.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preview {
    /// What the list is of: `asked_for_here`, versions of which a file was asked for through this
    /// Weir, whether it was let through or refused. There may be others upstream.
    of: ListOf,
    /// Whether all of those were looked at; otherwise the 1000 asked for last.
    complete: bool,
    /// The versions that it would forbid, the one asked for last first.
    hit: Vec<SeenView>,
    /// The versions of the same packages that it would leave, the one asked for last first.
    left: Vec<SeenView>,
}

/// A version that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeenView {
    /// The package, by its normalised name.
    package: String,
    /// The version.
    version: String,
    /// How many of its files were let through so far.
    n_allowed: u64,
    /// How many of its files were refused so far.
    n_blocked: u64,
    /// When one was last asked for.
    #[schema(value_type = String, format = DateTime)]
    last_seen: Timestamp,
}

impl From<SeenRow> for SeenView {
    fn from(row: SeenRow) -> Self {
        let SeenRow { package, version, n_allowed, n_blocked, last_seen } = row;
        Self { package, version, n_allowed, n_blocked, last_seen }
    }
}

/// Says which versions a rule would hit; records nothing
#[utoipa::path(
    post, path = "/api/registry/rules/preview", tag = "registry", operation_id = "preview_rule",
    request_body = PreviewRequest,
    responses(
        (status = 200, description = "What it would hit, and what it would leave", body = Preview),
        (status = 422, description = "The rule makes no sense"),
    ),
)]
async fn preview(
    State(state): State<ApiState>,
    Ask { body, .. }: Ask<RulesRead, PreviewRequest>,
) -> Result<Json<Preview>, Problem> {
    let PreviewRequest { ecosystem, package, versions, reason, mask } = body;
    let id = state.door().new_id().to_string();
    // Who still thinks about the words may look at the versions already.
    let reason = reason.unwrap_or_else(|| "not said yet".to_owned());
    let rule = Rule { id, ecosystem, package, versions, reason, mask };
    check(&rule)?;
    let rule = CompiledRule::new(&rule);
    let names = rule.pattern().spellings();
    let mut rows = seen_versions::list(state.database(), ecosystem, &names, AT_MOST).await?;
    let complete = rows.len() < AT_MOST;
    rows.retain(|row| rule.pattern().matches(&row.package));
    let hits = |row: &SeenRow| rule.constraint().matches(&Version::parse(ecosystem, &row.version));
    let (hit, left): (Vec<_>, Vec<_>) = rows.into_iter().partition(hits);
    let views = |rows: Vec<SeenRow>| rows.into_iter().map(SeenView::from).collect();
    Ok(Json(Preview { of: ListOf::AskedForHere, complete, hit: views(hit), left: views(left) }))
}
