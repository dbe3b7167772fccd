//! Where an agent stands in a cycle.

use std::{collections::BTreeMap, sync::Arc};

use weir_events::web::{
    Asked, Event, WebRequestSubmitted,
    request::{Cost, Hash256},
};

use super::MAX_BACK_OFF;

/// Until when an agent pauses, and how long the next pause is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackOff {
    /// The first tick in which it may ask again.
    pub until: u64,
    /// How long the last pause was, in ticks; 0 after an answer that did not ask for one.
    pub length: u64,
}

impl BackOff {
    /// Until when one pauses who has both: what was said later counts for the next pause.
    #[must_use]
    pub fn before(self, later: &State) -> Self {
        let Self { length, .. } = later.back_off_after(self);
        Self { until: self.until.max(later.back_off.until), length }
    }

    /// How long the pause is when the outside says once more that it is too much.
    #[must_use]
    pub fn next(self) -> u64 {
        self.length.saturating_mul(2).clamp(1, MAX_BACK_OFF)
    }
}

/// Where an agent stands in a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub(super) used: u32,
    pub(super) quota: u32,
    pub(super) exhausted: bool,
    /// The last tick in which something was admitted, and how much.
    pub(super) admitted: (u64, u32),
    /// The last tick in which something was refused, and how much of that is on record.
    pub(super) refused: (u64, u32),
    pub(super) back_off: BackOff,
    /// Whether the outside has answered in this cycle.
    heard: bool,
    pub(super) pending: BTreeMap<Hash256, Arc<WebRequestSubmitted>>,
}

impl State {
    /// How many requests were admitted and left, or may still leave.
    #[must_use]
    pub const fn used(&self) -> u32 {
        self.used
    }

    /// The greatest quota that anybody was judged by in this cycle (ruling A35).
    #[must_use]
    pub const fn quota(&self) -> u32 {
        self.quota
    }

    /// What the outside has said: the next cycle goes on with it.
    #[must_use]
    pub const fn back_off(&self) -> BackOff {
        self.back_off
    }

    /// The same, where the outside has not answered in this cycle yet and the cycles before left a
    /// pause over.
    #[must_use]
    pub const fn back_off_after(&self, carried: BackOff) -> BackOff {
        if self.heard { self.back_off } else { carried }
    }

    /// An admitted request that is not settled.
    #[must_use]
    pub fn pending(&self, request: &Hash256) -> Option<&Arc<WebRequestSubmitted>> {
        self.pending.get(request)
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::WebRequestSubmitted(submitted) => {
                self.used = self.used.saturating_add(1);
                self.quota = self.quota.max(submitted.quota);
                self.admit(submitted.asked.tick);
                self.pending.insert(submitted.asked.request, Arc::new(submitted.clone()));
            }
            Event::WebRequestCompleted(done) => {
                if self.pending.remove(&done.asked.request).is_none() {
                    // The cache had it before anything was reserved.
                    self.admit(done.asked.tick);
                } else if done.cached {
                    self.used = self.used.saturating_sub(1);
                }
                if !done.cached {
                    self.pause(done.paused_at.unwrap_or(done.asked.tick), done.back_off);
                }
            }
            Event::WebRequestBlocked(blocked) => self.give_back(&blocked.asked, blocked.cost),
            Event::WebRequestFailed(failed) => self.give_back(&failed.asked, failed.cost),
            Event::QuotaExhausted(exhausted) => {
                self.exhausted = true;
                self.quota = self.quota.max(exhausted.max);
            }
            Event::ContentFiltered(_)
            | Event::WebCacheHit(_)
            | Event::WebCacheStored(_)
            | Event::WebCacheEvicted(_)
            | Event::WebCacheExpired(_)
            | Event::WebCacheInvalidated(_)
            | Event::DomainRuleUpdated(_)
            | Event::PortalReportPublished(_)
            | Event::WebApprovalRequested(_)
            | Event::WebApprovalAnswered(_)
            | Event::WebApprovalCounted(_)
            | Event::WebWaiverRequested(_)
            | Event::WebWaiverGranted(_)
            | Event::WebWaiverRevoked(_)
            | Event::WebWaiverExpired(_) => {}
        }
    }

    fn admit(&mut self, tick: u64) {
        self.admitted = counted(self.admitted, tick);
    }

    fn pause(&mut self, tick: u64, length: Option<u64>) {
        self.heard = true;
        self.back_off = match length {
            // A whole tick lies between a pause of one and what came before it.
            Some(length) => {
                let until = tick.saturating_add(length).saturating_add(1);
                BackOff { until: until.max(self.back_off.until), length }
            }
            None => BackOff { length: 0, ..self.back_off },
        };
    }

    /// A request is over without an answer: what cost nothing has not left, and gives its place in
    /// the quota back.
    fn give_back(&mut self, asked: &Asked, cost: Cost) {
        if self.pending.remove(&asked.request).is_none() {
            self.refused = counted(self.refused, asked.tick);
        } else if cost == Cost::NONE {
            self.used = self.used.saturating_sub(1);
        }
    }
}

/// One more in a tick. Another instance's clock may be behind: ticks never go back.
const fn counted((last, n): (u64, u32), tick: u64) -> (u64, u32) {
    if tick <= last { (last, n.saturating_add(1)) } else { (tick, 1) }
}
