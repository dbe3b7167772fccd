//! The web gateway: what agents ask of the outside.

pub mod approvals;
pub mod messages;
pub mod requests;

use utoipa_axum::router::OpenApiRouter;

use crate::state::ApiState;

/// The routes of the gateway.
pub fn routes() -> OpenApiRouter<ApiState> {
    requests::routes().merge(messages::routes()).merge(approvals::routes())
}
