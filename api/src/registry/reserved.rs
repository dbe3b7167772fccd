//! Reserved names: what no public registry is ever asked for. Those of the configuration, and those
//! that were reserved here.

use axum::{Json, extract::State};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::reserved::{
    listing::{Command, Refusal, Reserving},
    spelt,
};
use weir_events::{
    registry::{
        Ecosystem,
        policy::{RESERVED, Reserved},
    },
    stream::StreamName,
};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params, bad_parameter},
    auth::{
        By,
        needs::{RulesRead, RulesWrite},
    },
    problem::{
        Problem,
        table::{NO_SUCH_RESERVATION, RESERVATION_REFUSED},
    },
    state::ApiState,
};

/// The routes of reserved names.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list, reserve, release))
}

/// The names that are reserved.
#[derive(Debug, Serialize, ToSchema)]
struct ReservedPage {
    /// Those of the configuration first, each in its order.
    reserved: Vec<ReservedView>,
}

/// A name, or many, that no public registry is ever asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
struct ReservedView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    package: String,
    /// `configuration`, where only the configuration can release it, or `api`.
    origin: &'static str,
}

impl ReservedView {
    fn of(origin: &'static str) -> impl Fn(&Reserved) -> Self {
        move |Reserved { ecosystem, package }| Self {
            ecosystem: *ecosystem,
            package: package.clone(),
            origin,
        }
    }
}

/// Lists reserved names
#[utoipa::path(
    get, path = "/api/registry/reserved", tag = "registry", operation_id = "reserved",
    responses((status = 200, description = "The names", body = ReservedPage)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    params: Params,
) -> Result<Json<ReservedPage>, Problem> {
    params.done()?;
    let (ours, _) = state.door().load::<Reserving>(&stream()?).await?;
    let facts = state.packages().facts()?;
    let configured = facts.settings().reserved.iter().map(ReservedView::of("configuration"));
    let reserved = configured.chain(ours.names().map(ReservedView::of("api"))).collect();
    Ok(Json(ReservedPage { reserved }))
}

/// What is to be reserved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReservedRequest {
    /// `pypi`, `npm`, `cargo`, `go` or `docker`.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters: `@acme/*`. A module's path, and the name of
    /// a repository, reserve what is below them too.
    package: String,
}

/// Reserves a name, or many: no public registry is asked for it from now on
#[utoipa::path(
    post, path = "/api/registry/reserved", tag = "registry", operation_id = "reserve",
    params(
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = ReservedRequest,
    responses(
        (status = 201, description = "It is reserved, on this instance", body = ReservedView),
        (status = 422, description = "It is no name, or there are too many"),
    ),
)]
async fn reserve(
    State(state): State<ApiState>,
    Ask { body, caller, key, .. }: Ask<RulesWrite, ReservedRequest>,
) -> Result<Done<ReservedView>, Problem> {
    let ReservedRequest { ecosystem, package } = body;
    let reserved = Reserved { ecosystem, package };
    let view = ReservedView::of("api")(&spelt(&reserved));
    let command = Command::Reserve(reserved);
    let executed = state.door().execute::<Reserving>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by_if_new(&executed).await?;
    Ok(Done::of(&executed, StatusCode::CREATED, view))
}

/// Releases a name: whoever asks for it is given what a public registry has under it
#[utoipa::path(
    delete, path = "/api/registry/reserved", tag = "registry", operation_id = "release",
    params(
        ("ecosystem" = String, Query, description = "pypi, npm, cargo, go or docker"),
        ("package" = String, Query, description = "The name, in any spelling"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    responses(
        (status = 204, description = "It is released, on this instance"),
        (status = 404, description = "It is not reserved, or by the configuration only"),
    ),
)]
async fn release(
    State(state): State<ApiState>,
    mut params: Params,
    Ask { caller, key, .. }: Ask<RulesWrite, Nothing>,
) -> Result<Done<()>, Problem> {
    let missing = |name| bad_parameter(name, "without it nothing is released");
    let ecosystem = super::ecosystem(&mut params)?.ok_or_else(|| missing("ecosystem"))?;
    let package: String = params.take("package")?.ok_or_else(|| missing("package"))?;
    params.done()?;
    let command = Command::Release(Reserved { ecosystem, package });
    let executed = state.door().execute::<Reserving>(&stream()?, &command, &caller, key).await?;
    state.packages().go_by_if_new(&executed).await?;
    Ok(Done::silently(&executed))
}

fn stream() -> Result<StreamName, Problem> {
    StreamName::new(RESERVED).map_err(|fault| Problem::internal(&fault))
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let words = refusal.to_string();
        match refusal {
            Refusal::Bad { .. } => Self::of_field(&RESERVATION_REFUSED, "package", words),
            Refusal::TooMany => Self::new(&RESERVATION_REFUSED, words),
            Refusal::Unknown { .. } => Self::new(&NO_SUCH_RESERVATION, words),
        }
    }
}
