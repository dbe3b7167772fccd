//! An agent's own gates: what the epoch allows, how often it asks, what its quota has left. Whoever only
//! wants to know what would become of a request asks the same ones.

use weir_events::web::request::{
    AccessLevel, ApiInteractionKind, Cost, HttpMethod, PortalError, quota,
};

use super::{BackOff, State};

/// What of a request an agent's own gates look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Knock {
    /// The method.
    pub method: HttpMethod,
    /// What kind of interaction it is.
    pub interaction: ApiInteractionKind,
    /// The tick it comes in.
    pub tick: u64,
    /// The epoch.
    pub epoch: u32,
    /// How many requests an agent may make in one tick.
    pub requests_per_tick: u32,
    /// The pause that the cycle before left over.
    pub carried: BackOff,
}

impl Knock {
    /// Whether the epoch allows it.
    ///
    /// # Errors
    /// Where it does not.
    pub fn is_in_epoch(&self) -> Result<(), PortalError> {
        let epoch = self.epoch;
        match AccessLevel::at(epoch) {
            AccessLevel::Closed => Err(PortalError::PortalClosed { epoch }),
            AccessLevel::ReadOnly => self.only_reads(),
            AccessLevel::ReadWrite => Ok(()),
        }
    }

    /// Whether the agent asks no more often than it may, and does not pause.
    ///
    /// # Errors
    /// Where it has to wait; for how long.
    pub fn is_in_pace(&self, state: &State) -> Result<(), PortalError> {
        // Another instance's clock may be ahead: ticks never go back.
        let tick = self.tick.max(state.admitted.0);
        let crowded = state.admitted.0 == tick && state.admitted.1 >= self.requests_per_tick;
        let next = if crowded { tick.saturating_add(1) } else { tick };
        let until = next.max(state.back_off.until).max(self.carried.until);
        if until > tick {
            return Err(PortalError::RateLimited { retry_ticks: until - tick });
        }
        Ok(())
    }

    /// The quota it is within.
    ///
    /// # Errors
    /// Where it is used up.
    pub fn is_in_quota(&self, state: &State) -> Result<u32, PortalError> {
        let (used, max) = (state.used, self.quota(state));
        if used >= max { Err(PortalError::QuotaExceeded { used, max }) } else { Ok(max) }
    }

    /// The quota of the agent in this cycle.
    #[must_use]
    pub fn quota(&self, state: &State) -> u32 {
        state.quota.max(quota(self.epoch))
    }

    /// The most it may cost, which is what an answer costs (ruling A17).
    #[must_use]
    pub const fn worst(&self) -> Cost {
        match self.interaction {
            // Ruling A25.
            ApiInteractionKind::WebsocketSnap => Cost::POST,
            _ => Cost::of(self.method),
        }
    }

    /// Whether it only reads pages (A25, A26: a websocket and GraphQL are interactions, JSON is not).
    fn only_reads(&self) -> Result<(), PortalError> {
        let refuse = |what| Err(PortalError::ReadOnlyEpoch { epoch: self.epoch, what });
        match self.interaction {
            ApiInteractionKind::RestGet if AccessLevel::ReadOnly.allows(self.method) => Ok(()),
            ApiInteractionKind::RestGet | ApiInteractionKind::RestPost => refuse("POST"),
            ApiInteractionKind::GraphQL => refuse("GraphQL"),
            ApiInteractionKind::WebsocketSnap => refuse("a websocket"),
        }
    }
}
