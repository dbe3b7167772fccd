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
use crate::{flights::GivenUp, outbound::web::ask::Terms, web::pages::Cached};

/// What a fetch is known by: whoever wants the same at the same time waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    pub(super) key: Hash256,
    /// The headers that may have the outside answer otherwise.
    pub(super) headers: Vec<(String, String)>,
}

/// What the outside gave, and for whom it was asked.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    pub(super) by: (AgentId, Hash256),
    pub(super) outcome: Result<Arc<Page>, Arc<Trouble>>,
}

impl Portal {
    /// The page that is asked for, before the time of the request is up.
    pub(super) async fn fetched(&self, submission: &Submission, terms: Terms) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let until = terms.until;
        let Some(wanted) = submission.wanted.clone() else {
            return self.clone().fetch(submission.clone(), terms).await;
        };
        let (portal, mine, started) = (self.clone(), submission.clone(), AtomicBool::new(false));
        let joined = self.inner.fetches.join(wanted.clone(), || {
            started.store(true, Ordering::Relaxed);
            portal.fetch_once(wanted, mine, terms)
        });
        let joined = self.joined(joined, until, &started).await;
        let fetched = joined.unwrap_or_else(|trouble| Fetched {
            by: (agent, request),
            outcome: Err(Arc::new(trouble)),
        });
        let everybodys = match &fetched.outcome {
            Ok(page) => page.is_shareable(submission.asked.method, submission.interaction),
            Err(_) => true,
        };
        if fetched.by == (agent, request) || everybodys {
            return fetched;
        }
        // What was meant for another one's eyes only is asked for again, in the time that is left.
        self.clone().fetch(submission.clone(), Terms { seat: None, until }).await
    }

    /// Waits for a fetch, for as long as there is time. Who has started it waits for its end, which is
    /// in time.
    async fn joined(
        &self,
        fetch: impl Future<Output = Result<Fetched, GivenUp>>,
        until: Option<Instant>,
        started: &AtomicBool,
    ) -> Result<Fetched, Trouble> {
        let mut fetch = std::pin::pin!(fetch);
        let started = || started.load(Ordering::Relaxed);
        let landed = match until {
            Some(until) => match timeout_at(until, &mut fetch).await {
                Ok(landed) => landed,
                Err(_) if started() => fetch.await,
                Err(_) => return Err(Trouble::nothing_left(self.timeout())),
            },
            None => fetch.await,
        };
        // Nobody knows how far a fetch came that was dropped, or broke down.
        landed.map_err(|given_up| Trouble {
            error: internal(given_up),
            left: started(),
            hosts: Vec::new(),
            redirects: Vec::new(),
        })
    }

    /// Fetches it, unless one who did is still about to store it.
    async fn fetch_once(self, wanted: Wanted, submission: Submission, terms: Terms) -> Fetched {
        // What a redirect led to may be blocked by now: then who asks anew is refused on the way.
        let at_hand = self.inner.at_hand.of(&wanted);
        let rules = &self.parts().rules;
        if let Some((by, page)) = at_hand.filter(|(_, page)| rules.all_allowed(&page.redirected)) {
            return Fetched { by, outcome: Ok(page) };
        }
        let inner = Arc::clone(&self.inner);
        let fetched = self.fetch(submission, terms).await;
        if let Ok(page) = &fetched.outcome {
            inner.at_hand.put(wanted, fetched.by, page);
        }
        fetched
    }

    /// What the cache has by now: another request may have brought it while this one was judged. What
    /// the cache does not say is asked of the outside.
    pub(super) async fn brought(&self, submission: &Submission) -> Option<Arc<Cached>> {
        let Submission { key, variant, asked, wanted, filter, .. } = submission;
        let wanted = wanted.as_ref()?;
        // A page is at hand until it is in the cache, and shared as long.
        if self.inner.fetches.is_under_way(wanted) || self.inner.at_hand.of(wanted).is_some() {
            return None;
        }
        let found = self.parts().pages.lookup(key, variant, &asked.agent, asked.cycle).await;
        found.ok().flatten().filter(|found| self.may_show(&asked.agent, filter, found))
    }

    async fn fetch(self, submission: Submission, terms: Terms) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let outcome = self.outside(&submission, terms).await.map(Arc::new).map_err(Arc::new);
        Fetched { by: (agent, request), outcome }
    }
}
