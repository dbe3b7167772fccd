//! The web gateway: what agents ask of the outside, what is kept of it, what it adds up to, and the
//! rules about hosts.

pub mod approvals;
pub mod cached;
pub mod check;
pub mod history;
pub mod messages;
pub mod preview;
pub mod quotas;
pub mod reports;
pub mod requests;
pub mod rules;
pub mod search;
pub mod waivers;

use std::time::Duration;

use utoipa_axum::router::OpenApiRouter;
use weir_events::{
    position::Position,
    web::request::{AccessLevel, AgentId, PortalError},
};
use weir_processors::{
    access::Principal,
    web::{
        portal::{Portal, PortalGateway as _},
        rules::{NotThereYet, Rules},
    },
};

use crate::{
    problem::{
        Problem,
        table::{MISSING_SCOPE, NOT_REACHED},
    },
    state::ApiState,
};

/// How long the answer to a command on rules waits until this instance goes by them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The routes of the gateway.
pub fn routes() -> OpenApiRouter<ApiState> {
    requests::routes()
        .merge(messages::routes())
        .merge(approvals::routes())
        .merge(history::routes())
        .merge(quotas::routes())
        .merge(cached::routes())
        .merge(reports::routes())
        .merge(search::routes())
        .merge(rules::routes())
        .merge(check::routes())
        .merge(preview::routes())
        .merge(waivers::routes())
}

/// The rules about hosts that this process goes by.
fn rules_of(state: &ApiState) -> Result<&Rules, Problem> {
    requests::portal(state).map(Portal::rules)
}

/// Waits until this instance goes by what stands at a position: who was answered that a rule or a
/// waiver is in force finds it in force.
async fn go_by(state: &ApiState, position: Position) -> Result<(), Problem> {
    Ok(rules_of(state)?.reaches(position, PATIENCE).await?)
}

impl From<NotThereYet> for Problem {
    fn from(late: NotThereYet) -> Self {
        Self::new(&NOT_REACHED, format!("it is on record, but {late}")).retry_after(1)
    }
}

/// Whose requests somebody sees: all of them, those of the agent that was asked for, or, with a token
/// of an agent, those of that agent.
fn whose(principal: &Principal, asked: Option<AgentId>) -> Result<Option<AgentId>, Problem> {
    match (principal.agent, asked) {
        (Some(own), Some(asked)) if own != asked => {
            let words = "a token of an agent shows what that agent asked, and nobody else's";
            Err(Problem::new(&MISSING_SCOPE, words))
        }
        (Some(own), _) => Ok(Some(own)),
        (None, asked) => Ok(asked),
    }
}

/// What is kept of the outside is nothing that an agent sees in an epoch that is closed.
async fn open_for(state: &ApiState, principal: &Principal) -> Result<(), Problem> {
    if principal.agent.is_none() {
        return Ok(());
    }
    let told = |error: PortalError| requests::of_refused(&error.refused(None));
    let portal = requests::portal(state)?;
    if portal.access_level().await.map_err(told)? != AccessLevel::Closed {
        return Ok(());
    }
    let epoch = portal.now().await.map_err(told)?.epoch;
    Err(told(PortalError::PortalClosed { epoch }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_an_agent_shows_its_own() {
        let (ann, bob) = (AgentId::new([1; 32]), AgentId::new([2; 32]));
        let operator = Principal::without_token("op", &[]);
        assert_eq!(whose(&operator, None).unwrap(), None);
        assert_eq!(whose(&operator, Some(ann)).unwrap(), Some(ann));
        let agent = Principal { agent: Some(ann), ..operator };
        assert_eq!(whose(&agent, None).unwrap(), Some(ann));
        assert_eq!(whose(&agent, Some(ann)).unwrap(), Some(ann));
        assert_eq!(whose(&agent, Some(bob)).unwrap_err().kind().code, "missing_scope");
    }
}
