//! What becomes of an address, and by which rule.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::{request::PortalError, rule::Action};
use weir_processors::web::rules::{Check, Verdict};

use super::{rules::RuleSaid, rules_of};
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::WebRead},
    problem::Problem,
    state::ApiState,
};

/// The route of explanations.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(check))
}

/// What is said of an address, and why.
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckView {
    /// The address in its one spelling.
    url: String,
    /// Its host in its one spelling, which is what rules are about.
    host: String,
    /// The port.
    port: u16,
    /// `allow` or `block`. What its address is, is judged when it is asked.
    #[schema(value_type = String)]
    action: Action,
    /// The pattern of the rule that decides; none where no rule names the host.
    rule: Option<String>,
    /// What kind of host it is.
    category: Option<String>,
    /// What an agent is told.
    reason: String,
    /// The waiver that lets it through in spite of the rule, by its id.
    waived_by: Option<String>,
    /// Every rule that matches, the one that decides first.
    matching: Vec<RuleSaid>,
    /// The waivers of hosts that are in force for it, by id.
    waivers: Vec<String>,
}

impl From<Check> for CheckView {
    fn from(check: Check) -> Self {
        let Check { url, host, port, verdict, matching, waivers } = check;
        let Verdict { action, rule, category, reason, waived_by } = verdict;
        let matching = matching.into_iter().map(RuleSaid::from).collect();
        Self { url, host, port, action, rule, category, reason, waived_by, matching, waivers }
    }
}

/// Says what becomes of an address, and by which rule
///
/// Nothing is asked of the outside. The epoch, quotas and what the host's name resolves to are not
/// looked at.
#[utoipa::path(
    get, path = "/api/web/check", tag = "web", operation_id = "web_check",
    params(("url" = String, Query, description = "The address")),
    responses(
        (status = 200, description = "The verdict", body = CheckView),
        (status = 400, description = "The address is none that a request may have"),
    ),
)]
async fn check(
    State(state): State<ApiState>,
    _: By<WebRead>,
    mut params: Params,
) -> Result<Json<CheckView>, Problem> {
    let url: Option<String> = params.take("url")?;
    params.done()?;
    let url = url.ok_or_else(|| bad_parameter("url", "name the address: `?url=https://…`"))?;
    let told = |fault: PortalError| bad_parameter("url", fault.to_string());
    Ok(Json(rules_of(&state)?.explain(&url).map_err(told)?.into()))
}
