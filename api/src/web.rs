//! The web gateway: what agents ask of the outside, and the rules about hosts.

pub mod approvals;
pub mod check;
pub mod messages;
pub mod requests;
pub mod rules;
pub mod waivers;

use std::time::Duration;

use utoipa_axum::router::OpenApiRouter;
use weir_events::position::Position;
use weir_processors::web::{portal::Portal, rules::Rules};

use crate::{
    problem::{Problem, table::NOT_REACHED},
    state::ApiState,
};

/// How long the answer to a command on rules waits until this instance goes by them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The routes of the gateway.
pub fn routes() -> OpenApiRouter<ApiState> {
    requests::routes()
        .merge(messages::routes())
        .merge(approvals::routes())
        .merge(rules::routes())
        .merge(check::routes())
        .merge(waivers::routes())
}

/// The rules about hosts that this process goes by.
fn rules_of(state: &ApiState) -> Result<&Rules, Problem> {
    requests::portal(state).map(Portal::rules)
}

/// Waits until this instance goes by what stands at a position: who was answered that a rule or a
/// waiver is in force finds it in force.
async fn go_by(state: &ApiState, position: Position) -> Result<(), Problem> {
    rules_of(state)?.reaches(position, PATIENCE).await.map_err(|late| {
        let detail = format!("it is on record, but {late}");
        Problem::new(&NOT_REACHED, detail).retry_after(1)
    })
}
