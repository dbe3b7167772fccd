//! What becomes of a request that was admitted.

use weir_events::web::{
    Asked, ContentFiltered, Event, WebCacheHit, WebRequestBlocked, WebRequestCompleted,
    WebRequestFailed, WebRequestSubmitted,
    content::FilterReport,
    request::{Cost, Hash256, PortalError},
};

use super::{BackOff, Refusal, State, admission::domain};
use crate::{machine::Decision, mint::Tax};

/// An admitted request was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Which request.
    pub request: Hash256,
    /// The status of the answer.
    pub status: u16,
    /// The type of the content.
    pub content_type: String,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// How many bytes it has.
    pub content_size: u64,
    /// Whether another request had fetched it: nothing left for this one.
    pub cached: bool,
    /// The rendering of the page.
    pub variant: Hash256,
    /// What was done to the page.
    pub filtered: FilterReport,
    /// The hosts that were contacted, in order.
    pub hosts: Vec<String>,
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
        let too_much = matches!(self.status, 429 | 503) && !self.cached;
        let done = WebRequestCompleted {
            asked: submitted.asked.clone(),
            status: self.status,
            content_type: self.content_type.clone(),
            content: self.content,
            content_size: self.content_size,
            cached: self.cached,
            cost,
            tax: tax.on(cost.spark),
            filtered: self.filtered.clone(),
            hosts: self.hosts.clone(),
            back_off: too_much.then(|| state.back_off_after(self.carried).next()),
            paused_at: Some(self.tick).filter(|tick| too_much && submitted.asked.tick < *tick),
        };
        let mut events: Vec<Event> = Vec::with_capacity(3);
        // Ruling A33: also where there is only something to say about it.
        if self.filtered.code_blocks_removed > 0 || !self.filtered.warnings.is_empty() {
            let report = self.filtered.clone();
            events.push(ContentFiltered { request, agent, cycle, report }.into());
        }
        // Ruling A13.
        if self.cached {
            let (key, variant) = (submitted.key, self.variant);
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
                let blocked =
                    WebRequestBlocked { asked, code, error, reason, domain, cost, tax, hosts };
                Decision::accept(blocked)
            }
            _ => {
                Decision::accept(WebRequestFailed { asked, code, error, reason, cost, tax, hosts })
            }
        }
    }
}
