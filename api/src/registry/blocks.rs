//! What was refused, to whom, and why.

use std::collections::BTreeSet;

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::name::normalise;
use weir_events::{
    position::Position,
    registry::{Ecosystem, Mask, advisory::Severity},
    timestamp::Timestamp,
};
use weir_projections::registry::block_log::{self, AdvisoryRow, BlockRow, Filter};

use crate::{
    ask::Params,
    auth::{By, needs::RulesRead},
    problem::Problem,
    state::ApiState,
    wait::{self, MinPosition},
};

/// The name of the list, in cursors.
const LIST: &str = "blocks";
/// Blocks of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The routes of blocks.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// Refused downloads, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct BlockPage {
    blocks: Vec<BlockView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A refused download.
#[derive(Debug, Serialize, ToSchema)]
pub struct BlockView {
    /// The event that records it.
    #[schema(value_type = i64)]
    position: Position,
    /// When.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version, where the file's name tells.
    version: Option<String>,
    /// The file's name.
    file: String,
    /// Which source said no.
    source: String,
    /// The rule that said no.
    rule_id: Option<String>,
    /// What the client was told.
    reason: String,
    /// How the version looks in lists.
    #[schema(value_type = String)]
    mask: Mask,
    /// Who asked.
    principal: String,
    /// The advisory that said no, where one did.
    advisory: Option<AdvisoryView>,
}

/// The advisory behind a refused download, as it was then.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdvisoryView {
    /// Its id.
    id: String,
    /// How bad it is.
    #[schema(value_type = String)]
    severity: Severity,
    /// What of it the version falls under.
    hit: String,
    /// The lowest later version that is said to fix it.
    fixed_by: Option<String>,
}

impl From<AdvisoryRow> for AdvisoryView {
    fn from(row: AdvisoryRow) -> Self {
        let AdvisoryRow { id, severity, hit, fixed_by } = row;
        Self { id, severity, hit, fixed_by }
    }
}

impl From<BlockRow> for BlockView {
    fn from(row: BlockRow) -> Self {
        Self {
            position: row.position,
            at: row.at,
            ecosystem: row.ecosystem,
            package: row.package,
            version: row.version,
            file: row.file,
            source: row.source,
            rule_id: row.rule_id,
            reason: row.reason,
            mask: row.mask,
            principal: row.principal,
            advisory: row.advisory.map(AdvisoryView::from),
        }
    }
}

/// Lists refused downloads, the newest first
#[utoipa::path(
    get, path = "/api/blocks", tag = "registry", operation_id = "blocks",
    params(
        ("ecosystem" = Option<String>, Query, description = "Of this ecosystem"),
        ("package" = Option<String>, Query, description = "Of this package, in any spelling"),
        ("version" = Option<String>, Query, description = "Of this version"),
        ("source" = Option<String>, Query, description = "By this source"),
        ("rule" = Option<String>, Query, description = "By the rule with this id"),
        ("advisory" = Option<String>, Query, description = "Because of the advisory with this id"),
        ("principal" = Option<String>, Query, description = "Asked for by this principal"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The blocks", body = BlockPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<BlockPage>, Problem> {
    let filter = filter(&mut params)?;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let key = format!("{filter:?}");
    let before = cursor.map(|cursor| state.cursors().read(LIST, &key, &cursor)).transpose()?;
    wait::projection(&state, "block_log", &mut params).await?;
    params.done()?;
    let rows = block_log::list(state.database(), &filter, before.map(Position), limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, &key, last.0));
    Ok(Json(BlockPage { blocks: rows.into_iter().map(BlockView::from).collect(), next }))
}

fn filter(params: &mut Params) -> Result<Filter, Problem> {
    let ecosystem = super::ecosystem(params)?;
    let package = params.take::<String>("package")?;
    let packages = package.map(|package| {
        let possible = Ecosystem::ALL.into_iter().filter(|it| ecosystem.is_none_or(|e| e == *it));
        let spelt: BTreeSet<_> = possible.map(|it| normalise(it, &package).into_owned()).collect();
        spelt.into_iter().collect()
    });
    Ok(Filter {
        ecosystem,
        packages,
        version: params.take("version")?,
        source: params.take("source")?,
        rule_id: params.take("rule")?,
        advisory_id: params.take("advisory")?,
        principal: params.take("principal")?,
    })
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
    async fn a_package_is_found_in_any_spelling() {
        let filter =
            asked("ecosystem=pypi&package=Foo_Bar&principal=ci&rule=7&advisory=G-1").await.unwrap();
        let wanted = Filter {
            ecosystem: Some(Ecosystem::Pypi),
            packages: Some(vec!["foo-bar".to_owned()]),
            principal: Some("ci".to_owned()),
            rule_id: Some("7".to_owned()),
            advisory_id: Some("G-1".to_owned()),
            ..Filter::default()
        };
        assert_eq!(filter, wanted);
        let anywhere = asked("package=Foo_Bar").await.unwrap().packages.unwrap();
        assert_eq!(anywhere, ["Foo_Bar", "foo-bar", "foo_bar", "library/Foo_Bar"]);
        assert_eq!(asked("ecosystem=gems").await.unwrap_err().status(), 400);
    }
}
