//! What the gateway does for others, by the names of its contract.

use tracing::warn;
use weir_aggregates::web::gateway::Gateway;
use weir_events::web::{
    Event, agent_stream,
    request::{
        AccessLevel, AgentId, ErrorClass, PortalError, PortalReport, PortalRequest, PortalResponse,
        Refused, quota,
    },
    rule::DomainRule,
};

use super::{Portal, Stop};
use crate::{
    caller::Caller,
    chain::chain,
    door::{Executed, IdempotencyKey},
    web::rules::{Check, UpdateFault},
};

/// The web gateway.
pub trait PortalGateway: Send + Sync {
    /// Answers a request, or says why not. A request that comes again gets its first answer.
    fn handle_request(
        &self,
        request: PortalRequest,
        caller: &Caller,
    ) -> impl Future<Output = Result<PortalResponse, Refused>> + Send;

    /// What becomes of an address, and by which rule.
    fn check_domain(&self, url: &str) -> Result<Check, PortalError>;

    /// How many requests an agent has left in this cycle.
    fn remaining_quota(
        &self,
        agent: &AgentId,
    ) -> impl Future<Output = Result<u32, PortalError>> + Send;

    /// What a cycle has added up to so far.
    fn generate_report(
        &self,
        cycle: u64,
    ) -> impl Future<Output = Result<PortalReport, PortalError>> + Send;

    /// Forgets the pages whose time has come; answers how many.
    fn evict_cache(&self) -> impl Future<Output = Result<u64, PortalError>> + Send;

    /// Has a rule hold from now on.
    fn update_domain_rule(
        &self,
        rule: DomainRule,
        caller: &Caller,
        key: Option<IdempotencyKey>,
    ) -> impl Future<Output = Result<Executed<Event>, UpdateFault>> + Send;

    /// What agents may do now.
    fn access_level(&self) -> impl Future<Output = Result<AccessLevel, PortalError>> + Send;
}

impl PortalGateway for Portal {
    async fn handle_request(
        &self,
        request: PortalRequest,
        caller: &Caller,
    ) -> Result<PortalResponse, Refused> {
        let id = request.id;
        self.handle(request, caller).await.map_err(|stop| match stop {
            Stop::Error(error) => {
                if matches!(error.class(), ErrorClass::Internal) {
                    warn!(request = %id, %error, "a web request came to nothing");
                }
                error.refused(Some(id))
            }
            Stop::Recorded(refused) => refused,
        })
    }

    fn check_domain(&self, url: &str) -> Result<Check, PortalError> {
        self.parts().rules.explain(url)
    }

    async fn remaining_quota(&self, agent: &AgentId) -> Result<u32, PortalError> {
        let moment = self.parts().nexus.now().await.map_err(internal)?;
        let stream = agent_stream(agent, moment.cycle).map_err(internal)?;
        let (state, _) = self.parts().door.load::<Gateway>(&stream).await.map_err(internal)?;
        Ok(state.quota().max(quota(moment.epoch)).saturating_sub(state.used()))
    }

    async fn generate_report(&self, cycle: u64) -> Result<PortalReport, PortalError> {
        self.parts().pages.report(cycle).await
    }

    async fn evict_cache(&self) -> Result<u64, PortalError> {
        let moment = self.parts().nexus.now().await.map_err(internal)?;
        self.parts().pages.evict(moment.cycle).await
    }

    async fn update_domain_rule(
        &self,
        rule: DomainRule,
        caller: &Caller,
        key: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, UpdateFault> {
        self.parts().rules.update(rule, caller, key).await
    }

    async fn access_level(&self) -> Result<AccessLevel, PortalError> {
        let moment = self.parts().nexus.now().await.map_err(internal)?;
        Ok(AccessLevel::at(moment.epoch))
    }
}

/// What failed within.
pub(super) fn internal(fault: impl std::error::Error) -> PortalError {
    PortalError::Internal(chain(&fault))
}

/// The log or the database was not there.
pub(super) fn of_door(fault: impl std::error::Error) -> PortalError {
    PortalError::Database(chain(&fault))
}
