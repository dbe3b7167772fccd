//! All routes, and what stands around them.

use axum::{
    Router,
    extract::Extension,
    middleware::{from_fn, from_fn_with_state},
    routing::get,
};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

use crate::{
    agents, events, health, metrics, mint, nexus,
    openapi::{self, Document, Frame},
    outer, problem, projections, registry, session,
    state::ApiState,
    status, tokens, ui, web,
};

/// Everything this API answers.
pub fn router(state: ApiState) -> Router {
    let (json, document) = routes().split_for_parts();
    let document = openapi::with_problems(document);
    let json = json
        .route("/api/openapi.json", get(openapi::show))
        .route("/metrics", get(metrics::show))
        .route("/problems/{code}", get(problem::page))
        .layer(Extension(Document::new(&document)))
        .layer(from_fn(outer::in_time));
    let packages = state.packages().routes();
    let packages = packages.layer(from_fn_with_state(state.clone(), metrics::around_packages));
    json.merge(packages)
        .fallback(ui::show)
        .layer(from_fn_with_state(state.clone(), outer::around))
        .with_state(state)
}

/// The routes that are described, in the order of the document.
fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::with_openapi(Frame::openapi())
        .merge(session::routes())
        .merge(events::routes())
        .merge(projections::routes())
        .merge(tokens::routes())
        .merge(agents::routes())
        .merge(nexus::routes())
        .merge(mint::routes())
        .merge(web::routes())
        .merge(registry::routes())
        .merge(status::routes())
        .merge(health::routes())
}

/// The OpenAPI document.
pub fn document() -> utoipa::openapi::OpenApi {
    openapi::with_problems(routes().into_openapi())
}
