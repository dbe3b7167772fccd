//! The judgement of a request.

use weir_events::web::{
    Asked, Event, QuotaExhausted, WebCacheHit, WebRequestBlocked, WebRequestCompleted,
    WebRequestSubmitted,
    content::{ContentFilter, FilterReport},
    request::{ApiInteractionKind, Cost, Hash256, PortalError},
    transfer,
};

use super::{BackOff, Knock, MAX_REFUSALS_PER_TICK, Refusal, State};
use crate::machine::Decision;

/// A request whose signature and shape are right, and all that is known of it outside its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The request, with the tick and the cycle it came in.
    pub asked: Asked,
    /// What kind of interaction it is.
    pub interaction: ApiInteractionKind,
    /// What is to be done to the page.
    pub filter: ContentFilter,
    /// What is cached of it, by all who ask for the same.
    pub key: Hash256,
    /// The epoch.
    pub epoch: u32,
    /// How many requests an agent may make in one tick.
    pub requests_per_tick: u32,
    /// The pause that the cycles before left over.
    pub carried: BackOff,
    /// Why it may not be asked, where something else than its stream says so.
    pub ban: Option<PortalError>,
    /// What a human was asked and has allowed, where a rule would have blocked it.
    pub approval: Option<Hash256>,
    /// What the cache has.
    pub hit: Option<Given>,
}

/// What an agent is given of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The rendering.
    pub variant: Hash256,
    /// The status of the answer.
    pub status: u16,
    /// The type of the content.
    pub content_type: String,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// How many bytes it has.
    pub content_size: u64,
    /// What was done to the page.
    pub filtered: FilterReport,
}

impl Admission {
    pub(super) fn judge(&self, state: &State) -> Decision<Event, Refusal> {
        if state.pending.contains_key(&self.asked.request) {
            return Decision::refuse(Refusal::UnderWay(self.asked.request));
        }
        match self.check(state) {
            Err(error) => self.refuse(state, error),
            Ok(quota) => match &self.hit {
                Some(hit) => Decision::accept(self.hit_on(hit)).recording(self.answered_by(hit)),
                None => Decision::accept(WebRequestSubmitted {
                    asked: self.asked.clone(),
                    interaction: self.interaction,
                    key: self.key,
                    filter: self.filter,
                    epoch: self.epoch,
                    quota,
                    transfer: transfer(&self.asked.request),
                    reserved: self.worst(),
                    approval: self.approval,
                }),
            },
        }
    }

    /// The most it may cost.
    #[must_use]
    pub fn worst(&self) -> Cost {
        self.knock().worst()
    }

    /// The quota it is within, or why it is not admitted.
    fn check(&self, state: &State) -> Result<u32, PortalError> {
        let knock = self.knock();
        knock.is_in_epoch()?;
        knock.is_in_pace(state)?;
        let max = knock.is_in_quota(state)?;
        self.ban.clone().map_or(Ok(max), Err)
    }

    const fn knock(&self) -> Knock {
        Knock {
            method: self.asked.method,
            interaction: self.interaction,
            tick: self.asked.tick,
            epoch: self.epoch,
            requests_per_tick: self.requests_per_tick,
            carried: self.carried,
        }
    }

    /// No, on record: once for each request, up to a bound in each tick.
    pub(super) fn refuse(&self, state: &State, error: PortalError) -> Decision<Event, Refusal> {
        let (tick, n) = state.refused;
        if tick >= self.asked.tick && n >= MAX_REFUSALS_PER_TICK {
            return Decision::refuse(Refusal::No(error));
        }
        let exhausted = match error {
            PortalError::QuotaExceeded { used, max } if !state.exhausted => {
                let Asked { agent, cycle, tick, .. } = self.asked;
                Some(QuotaExhausted { agent, cycle, tick, used, max })
            }
            _ => None,
        };
        let blocked = WebRequestBlocked {
            asked: self.asked.clone(),
            code: error.code(),
            error: error.name().to_owned(),
            reason: error.to_string(),
            domain: domain(&error),
            cost: Cost::NONE,
            tax: 0,
            hosts: Vec::new(),
            redirects: Vec::new(),
        };
        let decision = Decision::refuse(Refusal::No(error));
        match exhausted {
            Some(exhausted) => decision.recording(exhausted).recording(blocked),
            None => decision.recording(blocked),
        }
    }

    const fn hit_on(&self, hit: &Given) -> WebCacheHit {
        let Asked { request, agent, cycle, .. } = self.asked;
        WebCacheHit { request, agent, cycle, key: self.key, variant: hit.variant }
    }

    fn answered_by(&self, hit: &Given) -> WebRequestCompleted {
        let answered = hit.answers(self.asked.clone(), Cost::CACHE_HIT, 0);
        WebRequestCompleted { cached: true, approval: self.approval, ..answered }
    }
}

impl Given {
    /// That a request is answered with it: by the outside, and by nobody on the way.
    pub(super) fn answers(&self, asked: Asked, cost: Cost, tax: u64) -> WebRequestCompleted {
        WebRequestCompleted {
            asked,
            status: self.status,
            content_type: self.content_type.clone(),
            content: self.content,
            content_size: self.content_size,
            cached: false,
            cost,
            tax,
            filtered: self.filtered.clone(),
            hosts: Vec::new(),
            redirects: Vec::new(),
            approval: None,
            variant: Some(self.variant),
            back_off: None,
            paused_at: None,
        }
    }
}

/// The host that an error is about.
pub(super) fn domain(error: &PortalError) -> Option<String> {
    match error {
        PortalError::DomainBlocked { domain, .. } => Some(domain.clone()),
        _ => None,
    }
}
