//! What becomes of a request that was admitted.

use weir_events::web::{
    Asked, ContentFiltered, Event, WebCacheHit, WebRedirect, WebRequestBlocked,
    WebRequestCompleted, WebRequestFailed, WebRequestSubmitted,
    request::{Cost, Hash256, PortalError},
};

use super::{BackOff, Given, Refusal, State, admission::domain};
use crate::{machine::Decision, mint::Tax};

/// An admitted request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which request.
    pub request: Hash256,
    /// What its agent is given.
    pub given: Given,
    /// Whether another request had fetched it: nothing left for this one.
    pub cached: bool,
    /// The hosts that were contacted, in order.
    pub hosts: Vec<String>,
    /// The addresses that redirects led to, in order.
    pub redirects: Vec<WebRedirect>,
    /// The tick it is answered in.
    pub tick: u64,
    /// The pause that the cycles before left over.
    pub carried: BackOff,
}

/// An admitted request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which request.
    pub request: Hash256,
    /// What went wrong.
    pub error: PortalError,
    /// Whether anything left for it.
    pub left: bool,
    /// The hosts that were contacted, in order.
    pub hosts: Vec<String>,
    /// The addresses that redirects led to, in order.
    pub redirects: Vec<WebRedirect>,
}

impl Answer {
    /// What it costs.
    #[must_use]
    pub const fn cost(&self, submitted: &WebRequestSubmitted) -> Cost {
        if self.cached { Cost::CACHE_HIT } else { submitted.reserved }
    }

    pub(super) fn settle(&self, state: &State, tax: Tax) -> Decision<Event, Refusal> {
        let Some(submitted) = state.pending.get(&self.request) else {
            return Decision::refuse(Refusal::NotUnderWay(self.request));
        };
        let Asked { request, agent, cycle, .. } = submitted.asked;
        let cost = self.cost(submitted);
        let Self { given, cached, .. } = self;
        let too_much = matches!(given.status, 429 | 503) && !cached;
        let done = WebRequestCompleted {
            cached: *cached,
            hosts: self.hosts.clone(),
            redirects: self.redirects.clone(),
            back_off: too_much.then(|| state.back_off_after(self.carried).next()),
            paused_at: Some(self.tick).filter(|tick| too_much && submitted.asked.tick < *tick),
            ..given.answers(submitted.asked.clone(), cost, tax.on(cost.spark))
        };
        let mut events: Vec<Event> = Vec::with_capacity(3);
        // Ruling A33: also where there is only something to say about it.
        let filtered = &given.filtered;
        if filtered.code_blocks_removed > 0 || !filtered.warnings.is_empty() {
            let report = filtered.clone();
            events.push(ContentFiltered { request, agent, cycle, report }.into());
        }
        // Ruling A13.
        if *cached {
            let (key, variant) = (submitted.key, given.variant);
            events.push(WebCacheHit { request, agent, cycle, key, variant }.into());
        }
        events.push(done.into());
        Decision { events, refusal: None }
    }
}

impl Failure {
    /// What it costs: nothing, where nothing left (rulings A15, A16).
    #[must_use]
    pub const fn cost(&self) -> Cost {
        if self.left { Cost::FAILED } else { Cost::NONE }
    }

    pub(super) fn settle(&self, state: &State, tax: Tax) -> Decision<Event, Refusal> {
        let Some(submitted) = state.pending.get(&self.request) else {
            return Decision::refuse(Refusal::NotUnderWay(self.request));
        };
        let (cost, hosts, error) = (self.cost(), self.hosts.clone(), self.error.name().to_owned());
        let redirects = self.redirects.clone();
        let (asked, code, reason) =
            (submitted.asked.clone(), self.error.code(), self.error.to_string());
        let tax = tax.on(cost.spark);
        match self.error {
            // It was refused rather than tried in vain.
            PortalError::DomainBlocked { .. }
            | PortalError::RateLimited { .. }
            | PortalError::InvalidUrl(_)
            | PortalError::PermissionDenied(_) => {
                let domain = domain(&self.error);
                Decision::accept(WebRequestBlocked {
                    asked,
                    code,
                    error,
                    reason,
                    domain,
                    cost,
                    tax,
                    hosts,
                    redirects,
                })
            }
            _ => Decision::accept(WebRequestFailed {
                asked,
                code,
                error,
                reason,
                cost,
                tax,
                hosts,
                redirects,
            }),
        }
    }
}
