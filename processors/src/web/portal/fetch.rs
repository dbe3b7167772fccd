//! A page from the outside, for all who want it at the same time.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::time::{Instant, timeout_at};
use weir_events::web::{
    Asked,
    request::{AgentId, Hash256},
};

use super::{
    Portal,
    admit::Submission,
    gateway::internal,
    outside::{Page, Trouble},
};
use crate::{
    flights::GivenUp,
    outbound::web::{ask::Terms, places::Seat},
    web::pages::{Cached, Moment},
};

/// What a fetch is known by: whoever wants the same at the same time waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) key: Hash256,
    /// The headers that may have the outside answer otherwise.
    pub(super) headers: Vec<(String, String)>,
    /// Where it was forgotten last: who asks after that is not given what was asked for before.
    pub(super) forgotten: Moment,
}

/// What the outside gave, and for whom it was asked.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    pub(super) by: (AgentId, Hash256),
    pub(super) outcome: Result<Arc<Page>, Arc<Trouble>>,
}

impl Fetched {
    /// Whether a request may be answered with it: it was fetched for that, or is for everybody.
    fn is_for(&self, submission: &Submission) -> bool {
        let Asked { agent, request, method, .. } = submission.asked;
        let everybodys = match &self.outcome {
            // Who asked before it came had it asked for, too.
            Ok(page) if submission.came <= page.came => {
                page.is_shareable(method, submission.interaction)
            }
            Ok(page) => page.is_reusable(method, submission.interaction),
            Err(_) => true,
        };
        self.by == (agent, request) || everybodys
    }
}

/// What another request has brought.
#[derive(Debug)]
pub(super) enum Brought {
    /// It is in the cache.
    Cached(Arc<Cached>),
    /// It is about to be.
    AtHand(Fetched),
}

impl Portal {
    /// The page that is asked for, before the time of the request is up.
    pub(super) async fn fetched(
        &self,
        submission: &Submission,
        seat: Option<Arc<Seat>>,
        until: Instant,
    ) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let fetched = match &submission.wanted {
            Some(wanted) => match self.shared(submission, wanted, seat, until).await {
                // What was meant for another one's eyes only, or is over, is asked for again, in the time
                // that is left.
                Ok(fetched) if !self.may_have(&fetched, submission) => {
                    self.alone(submission, None, until).await
                }
                fetched => fetched,
            },
            None => self.alone(submission, seat, until).await,
        };
        fetched.unwrap_or_else(|trouble| Fetched {
            by: (agent, request),
            outcome: Err(Arc::new(trouble)),
        })
    }

    /// The page that is asked for, for all who want it at the same time. Who waits for another one needs
    /// no seat; who has it fetched has one first, so that nobody waits for another one's.
    async fn shared(
        &self,
        submission: &Submission,
        wanted: &Wanted,
        seat: Option<Arc<Seat>>,
        until: Instant,
    ) -> Result<Fetched, Trouble> {
        if seat.is_none() {
            let under_way = timeout_at(until, self.inner.fetches.under_way(wanted)).await;
            let under_way = under_way.map_err(|_| Trouble::nothing_left(self.timeout()))?;
            if let Some(landed) = under_way {
                return landed.map_err(|given_up| lost(given_up, false));
            }
        }
        let terms = self.terms(submission, seat, until).await?;
        let (portal, mine, started) = (self.clone(), submission.clone(), AtomicBool::new(false));
        let joined = self.inner.fetches.join(wanted.clone(), || {
            started.store(true, Ordering::Relaxed);
            portal.fetch_once(wanted.clone(), mine, terms)
        });
        self.joined(joined, until, &started).await
    }

    /// The page that is asked for, for nobody else.
    async fn alone(
        &self,
        submission: &Submission,
        seat: Option<Arc<Seat>>,
        until: Instant,
    ) -> Result<Fetched, Trouble> {
        let terms = self.terms(submission, seat, until).await?;
        Ok(self.clone().fetch(submission.clone(), terms).await)
    }

    /// What is agreed before anything leaves. Who was let in without a seat waits for one, for as long as
    /// there is time (ruling A23).
    async fn terms(
        &self,
        submission: &Submission,
        seat: Option<Arc<Seat>>,
        until: Instant,
    ) -> Result<Terms, Trouble> {
        let seat = if let Some(seat) = seat {
            seat
        } else {
            let agent = *submission.asked.agent.as_bytes();
            let seat = timeout_at(until, self.parts().egress.seat_when_free(agent)).await;
            Arc::new(seat.map_err(|_| Trouble::nothing_left(self.timeout()))?)
        };
        Ok(Terms { seat: Some(seat), until: Some(until) })
    }

    /// Waits for a fetch, for as long as there is time. Who has started it waits for its end, which is
    /// in time.
    async fn joined(
        &self,
        fetch: impl Future<Output = Result<Fetched, GivenUp>>,
        until: Instant,
        started: &AtomicBool,
    ) -> Result<Fetched, Trouble> {
        let mut fetch = std::pin::pin!(fetch);
        let started = || started.load(Ordering::Relaxed);
        let landed = match timeout_at(until, &mut fetch).await {
            Ok(landed) => landed,
            Err(_) if started() => fetch.await,
            Err(_) => return Err(Trouble::nothing_left(self.timeout())),
        };
        landed.map_err(|given_up| lost(given_up, started()))
    }

    /// Fetches it, unless one who did is still about to store it.
    async fn fetch_once(self, wanted: Wanted, submission: Submission, terms: Terms) -> Fetched {
        if let Some(fetched) = self.at_hand(&wanted, &submission) {
            return fetched;
        }
        let inner = Arc::clone(&self.inner);
        let fetched = self.fetch(submission, terms).await;
        if let Ok(page) = &fetched.outcome {
            inner.at_hand.put(wanted, fetched.by, page);
        }
        fetched
    }

    /// Whether a request may be given what was fetched for another one, now: what redirects led to may have
    /// been blocked, or forgotten, since that one was judged on its way.
    fn may_have(&self, fetched: &Fetched, submission: &Submission) -> bool {
        let Asked { agent, request, .. } = submission.asked;
        let is_good = match &fetched.outcome {
            Ok(page) if fetched.by != (agent, request) => {
                let (rules, pages) = (&self.parts().rules, &self.parts().pages);
                rules.all_allowed(&page.redirected)
                    && !pages.forgotten(&page.way).is_since(page.asked_at)
            }
            _ => true,
        };
        is_good && fetched.is_for(submission)
    }

    /// A page that is still worked with, where a request may be given it. What a redirect led to may be
    /// blocked by now: then who asks anew is refused on the way.
    fn at_hand(&self, wanted: &Wanted, submission: &Submission) -> Option<Fetched> {
        let (by, page) = self.inner.at_hand.of(wanted, self.parts().settings.timeout)?;
        let fetched = Fetched { by, outcome: Ok(page) };
        self.may_have(&fetched, submission).then_some(fetched)
    }

    /// What another request may have brought while this one was judged. What is in neither place is
    /// asked of the outside.
    pub(super) async fn brought(&self, submission: &Submission) -> Option<Brought> {
        let Submission { key, variant, asked, wanted, filter, .. } = submission;
        let wanted = wanted.as_ref()?;
        // In the order of a page's life: under way, at hand before it has landed, and in the cache before
        // it is let go. Who finds it at hand holds it, for it may be gone from there a moment later.
        let is_under_way = self.inner.fetches.is_under_way(wanted);
        if let Some(fetched) = self.at_hand(wanted, submission) {
            return Some(Brought::AtHand(fetched));
        }
        if is_under_way {
            return None;
        }
        let found = self.parts().pages.lookup(key, variant, &asked.agent, asked.cycle).await;
        let found = found.ok().flatten();
        found.filter(|it| self.may_show(&asked.agent, filter, it)).map(Brought::Cached)
    }

    /// The page that a request wanted is in the cache by now, as all want it, or will never be; unless
    /// somebody is about to store it still, who lets it go then.
    pub(super) fn let_go(&self, submission: &Submission, page: &Arc<Page>) {
        if page.renderings.are_being_stored() {
            return;
        }
        if let Some(wanted) = &submission.wanted {
            self.inner.at_hand.forget(wanted, page);
        }
    }

    async fn fetch(self, submission: Submission, terms: Terms) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let outcome = self.outside(&submission, terms).await.map(Arc::new).map_err(Arc::new);
        Fetched { by: (agent, request), outcome }
    }
}

/// Nobody knows how far a fetch came that was dropped, or broke down.
fn lost(given_up: GivenUp, left: bool) -> Trouble {
    Trouble { left, ..Trouble::nothing_left(internal(given_up)) }
}
