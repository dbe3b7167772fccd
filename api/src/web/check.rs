//! What would become of a request: by which rule, and what every other gate says.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::web::{
    request::{AgentId, ErrorClass, HttpMethod, PortalError},
    rule::Action,
};
use weir_processors::web::{
    portal::{Foresight, Question, Said, Step},
    rules::{Check, Verdict},
};

use super::{
    requests::{of_refused, portal},
    rules::RuleSaid,
    whose,
};
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
    /// Whether a request would pass now: no gate refuses it. What a gate says `later` of is still open.
    passes: bool,
    /// The address in its one spelling.
    url: String,
    /// Its host in its one spelling, which is what rules are about.
    host: String,
    /// The port.
    port: u16,
    /// The method that was asked about.
    method: &'static str,
    /// The agent that was asked about.
    #[schema(value_type = Option<String>)]
    agent: Option<AgentId>,
    /// `allow` or `block`: what rules and waivers say of the host.
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
    /// The epoch it was judged in.
    epoch: u32,
    /// The cycle.
    cycle: u64,
    /// The tick.
    tick: u64,
    /// What every gate says, in the order in which a request comes to them.
    gates: Vec<GateView>,
    /// Whether the cache would answer; `null` where no agent is named.
    cached: Option<bool>,
    /// Whether a waiver lets the agent have the page's code; `null` where no agent is named.
    keeps_code: Option<bool>,
}

/// A gate, and what it says.
#[derive(Debug, Serialize, ToSchema)]
pub struct GateView {
    /// `agent`, `epoch`, `pace`, `quota`, `host`, `spark` or `address`.
    gate: &'static str,
    /// `passes`, `refuses`, `later` (when the request is made) or `unneeded`.
    outcome: &'static str,
    /// Why.
    detail: String,
    /// The error that a request would be answered with, where it refuses.
    error: Option<&'static str>,
    /// Its code on the wire.
    wire_code: Option<u16>,
}

impl From<Step> for GateView {
    fn from(step: Step) -> Self {
        let (outcome, detail, error) = match step.said {
            Said::Passes(why) => ("passes", why, None),
            Said::Later(why) => ("later", why, None),
            Said::Unneeded(why) => ("unneeded", why, None),
            Said::Refuses(error) => ("refuses", error.to_string(), Some(error)),
        };
        let (error, wire_code) = error.map(|error| (error.name(), error.code())).unzip();
        Self { gate: step.gate.as_str(), outcome, detail, error, wire_code }
    }
}

impl CheckView {
    fn of(foresight: Foresight, question: &Question) -> Self {
        let passes = foresight.passes();
        let Foresight { check, moment, steps, cached, keeps_code } = foresight;
        let Check { url, host, port, verdict, matching, waivers } = check;
        let Verdict { action, rule, category, reason, waived_by } = verdict;
        Self {
            passes,
            url,
            host,
            port,
            method: question.method.as_str(),
            agent: question.agent,
            action,
            rule,
            category,
            reason,
            waived_by,
            matching: matching.into_iter().map(RuleSaid::from).collect(),
            waivers,
            epoch: moment.epoch,
            cycle: moment.cycle,
            tick: moment.tick,
            gates: steps.into_iter().map(GateView::from).collect(),
            cached,
            keeps_code,
        }
    }
}

/// Says what would become of a request now, and by which rule
///
/// The host is judged, and what the epoch allows; where an agent is named, also whether it is known,
/// its pace, its quota, and whether it can pay. It is judged as a request without headers and body, by
/// the default filter, that no human was asked about. Nothing is asked of the outside, and nothing goes
/// on record.
#[utoipa::path(
    get, path = "/api/web/check", tag = "web", operation_id = "web_check",
    params(
        ("url" = String, Query, description = "The address"),
        ("agent" = Option<String>, Query, description = "The agent that would ask"),
        ("method" = Option<String>, Query, description = "GET, HEAD or POST; GET by default"),
    ),
    responses(
        (status = 200, description = "The verdict", body = CheckView),
        (status = 400, description = "The address is none that a request may have"),
    ),
)]
async fn check(
    State(state): State<ApiState>,
    by: By<WebRead>,
    mut params: Params,
) -> Result<Json<CheckView>, Problem> {
    let url: Option<String> = params.take("url")?;
    let agent = whose(&by.principal, params.take("agent")?)?;
    let method = method(params.take::<String>("method")?)?;
    params.done()?;
    let url = url.ok_or_else(|| bad_parameter("url", "name the address: `?url=https://…`"))?;
    let question = Question { url, method, agent };
    let foresight = portal(&state)?.foresee(&question).await.map_err(|error| told(&error))?;
    Ok(Json(CheckView::of(foresight, &question)))
}

fn method(name: Option<String>) -> Result<HttpMethod, Problem> {
    let Some(name) = name else { return Ok(HttpMethod::Get) };
    let found = HttpMethod::ALL.into_iter().find(|method| method.as_str() == name);
    found.ok_or_else(|| bad_parameter("method", "there are: GET, HEAD, POST"))
}

fn told(error: &PortalError) -> Problem {
    match error.class() {
        ErrorClass::InvalidRequest => bad_parameter("url", error.to_string()),
        _ => of_refused(&error.refused(None)),
    }
}

#[cfg(test)]
mod tests {
    use weir_processors::web::portal::Gate;

    use super::*;

    #[test]
    fn a_gate_that_refuses_says_what_a_request_would_be_answered() {
        let refused = Said::Refuses(PortalError::QuotaExceeded { used: 5, max: 5 });
        let view = GateView::from(Step { gate: Gate::Quota, said: refused });
        assert_eq!((view.gate, view.outcome), ("quota", "refuses"));
        assert_eq!((view.error, view.wire_code), (Some("QuotaExceeded"), Some(0x0701)));
        let later = Step { gate: Gate::Address, said: Said::Later("when it is asked".to_owned()) };
        let view = GateView::from(later);
        assert_eq!((view.gate, view.outcome), ("address", "later"));
        assert_eq!((view.error, view.wire_code), (None, None));
    }

    #[test]
    fn what_is_wrong_with_the_question_is_said_at_its_field() {
        assert_eq!(method(None).unwrap(), HttpMethod::Get);
        assert_eq!(method(Some("POST".to_owned())).unwrap(), HttpMethod::Post);
        assert_eq!(method(Some("get".to_owned())).unwrap_err().status(), 400);
        let bad = told(&PortalError::InvalidUrl("it has no host".to_owned()));
        assert_eq!(bad.status(), 400);
        assert_eq!(told(&PortalError::Database("away".to_owned())).status(), 503);
    }
}
