//! What is done for a request that was admitted: fetched, filtered, kept, settled.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;
use tracing::warn;
use weir_aggregates::web::gateway::{Answer, BackOff, Command, Failure, Given};
use weir_events::{
    position::Position,
    web::{
        Asked, Event, WebCacheStored, WebRedirect, WebRequestCompleted, WebRequestSubmitted,
        request::{Hash256, PortalError},
    },
};
use weir_projections::web::request_log::Unsettled;

use super::{
    Portal,
    admit::{Submission, given},
    fetch::{Brought, Fetched},
    gateway::of_door,
    outside::{Changed, Page, Trouble},
    rendering::{Made, Rendering},
    settle::{Beside, Settlement, settled},
};
use crate::{
    chain::chain,
    outbound::web::{address::WebUrl, places::Seat},
    web::pages::{self, Cached, CycleTime, Moment, Names},
};

/// The pause before it is said once more what has changed.
const AGAIN: Duration = Duration::from_millis(500);

/// What a request has come to.
pub(super) type Ended = Result<(Arc<WebRequestCompleted>, Bytes), PortalError>;

/// A page as its agent gets it.
struct Rendered {
    page: Arc<Page>,
    rendering: Rendering,
    /// The same, as all have it who want it.
    made: Arc<Made>,
    /// Whether it was fetched for this request.
    mine: bool,
}

impl Portal {
    /// All of it, in the time that a request has from its admission on. Whatever happens, the request
    /// is settled, or left to be settled as failed.
    pub(super) async fn work(
        self,
        submission: Submission,
        submitted: WebRequestSubmitted,
        seat: Option<Arc<Seat>>,
    ) -> Ended {
        let brought = self.brought(&submission).await;
        let until = Instant::now() + self.parts().settings.timeout;
        let fetched = match brought {
            Some(Brought::Cached(cached)) => {
                drop(seat);
                return self.answered_from_the_cache(&submission, &submitted, &cached).await;
            }
            Some(Brought::AtHand(fetched)) => {
                drop(seat);
                fetched
            }
            None => self.fetched(&submission, seat, until).await,
        };
        let Asked { agent, request, .. } = submission.asked;
        let outcome = fetched.outcome.clone();
        let changed = match &outcome {
            Ok(page) => page.changed.as_ref(),
            Err(trouble) => trouble.changed.as_ref(),
        };
        let changed = changed.filter(|_| fetched.by == (agent, request));
        if let Some(changed) = changed {
            self.parts().pages.change(&changed.pages);
        }
        let ended = self.ended(&submission, &submitted, (fetched, changed), until).await;
        match changed {
            Some(changed) if !changed.is_said.load(Ordering::Relaxed) => {
                self.say(&submission, changed);
            }
            _ => {}
        }
        ended
    }

    /// What came of it, on record.
    async fn ended(
        &self,
        submission: &Submission,
        submitted: &WebRequestSubmitted,
        (fetched, changed): (Fetched, Option<&Changed>),
        until: Instant,
    ) -> Ended {
        let Asked { agent, request, .. } = submission.asked;
        let mine = fetched.by == (agent, request);
        let failure = |error, left: bool, hosts: &[String], redirects: &[WebRedirect]| {
            // Where the outcome is shared, nothing left for this one.
            let (hosts, redirects) = own(mine, hosts, redirects);
            Failure { request, error, left: left && mine, hosts, redirects }
        };
        let page = match fetched.outcome {
            Ok(page) => page,
            Err(trouble) => {
                let Trouble { error, left, hosts, redirects, .. } = &*trouble;
                let failure = failure(error.clone(), *left, hosts, redirects);
                return self.failed(submission, failure, changed).await;
            }
        };
        let rendered = self.rendered(submission, &page, until).await;
        if mine {
            page.make_room();
        }
        match rendered {
            Ok((rendering, made)) => {
                let rendered = Rendered { page, rendering, made, mine };
                self.answered(submission, submitted, rendered, changed).await
            }
            Err(error) => {
                let failure = failure(error, true, &page.hosts, &page.redirects);
                let ended = self.failed(submission, failure, changed).await;
                if mine {
                    self.let_go(submission, &page);
                }
                ended
            }
        }
    }

    /// Where in the cycle one is, and for how many cycles a page is kept.
    async fn keeping(&self) -> Result<(CycleTime, u32), PortalError> {
        let parts = self.parts();
        let state = parts.nexus.state().await.map_err(of_door)?;
        Ok((CycleTime::of(&state, parts.door.now()), parts.pages.settings().ttl))
    }

    async fn answered_from_the_cache(
        &self,
        submission: &Submission,
        submitted: &WebRequestSubmitted,
        cached: &Cached,
    ) -> Ended {
        let answer = Answer {
            request: submission.asked.request,
            given: given(cached),
            cached: true,
            hosts: Vec::new(),
            redirects: Vec::new(),
            tick: self.parts().nexus.now().await.map_err(of_door)?.tick,
            carried: BackOff::default(),
        };
        let cost = answer.cost(submitted);
        let command = Command::Complete(Box::new(answer), self.parts().settings.tax);
        let (done, _) = self.end(submission, &command, cost.spark, Beside::default()).await?;
        done.map(|done| (Arc::new(done), cached.body.clone())).ok_or_else(settled_otherwise)
    }

    async fn answered(
        &self,
        submission: &Submission,
        submitted: &WebRequestSubmitted,
        rendered: Rendered,
        changed: Option<&Changed>,
    ) -> Ended {
        let pages = &self.parts().pages;
        let Asked { request, cycle, agent, method, .. } = submission.asked;
        let Rendered { page, rendering, made, mine } = rendered;
        let Rendering { content: bytes, content_type, filtered, title } = rendering;
        let n_outages = pages.n_outages();
        let content = pages.keep(&bytes).await?;
        let asks_for_a_pause = mine && matches!(page.status, 429 | 503);
        let carried =
            if asks_for_a_pause { self.carried(&agent, cycle).await? } else { BackOff::default() };
        let (hosts, redirects) = own(mine, &page.hosts, &page.redirects);
        let given = Given {
            variant: submission.variant,
            status: page.status,
            content_type: content_type.clone(),
            content,
            content_size: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
            filtered: filtered.clone(),
        };
        let content_size = given.content_size;
        let answer = Answer {
            request,
            given,
            cached: !mine,
            hosts,
            redirects,
            tick: self.parts().nexus.now().await.map_err(of_door)?.tick,
            carried,
        };
        let cost = answer.cost(submitted);
        let kind = (method, submission.interaction);
        let policy = page.plan(submission.key, kind, self.keeping().await?);
        let asked = |key: &Hash256| Names::asked(&submission.url, key, method);
        let policy = policy.filter(|policy| {
            let forgotten = pages.forgotten(&asked(&policy.key)).max(pages.forgotten(&page.way));
            !forgotten.is_since(page.asked_at)
        });
        let is_for_now = policy.is_none();
        // Of those who wait for one page, one stores it.
        let stored = policy.filter(|_| made.claim()).map(|policy| WebCacheStored {
            key: policy.key,
            variant: submission.variant,
            // What a human let one agent see is that agent's (A29).
            owner: (!policy.shared || submission.approved).then_some(agent),
            url: submission.url.as_str().to_owned(),
            method,
            status: page.status,
            content_type,
            content,
            content_size,
            filtered,
            title,
            request,
            cycle,
            ttl: policy.ttl,
            redirected: page.redirected.clone(),
            also: also(&submission.url, &policy.key, &page.hops),
            // What it has changed itself, it knows.
            asked_at: page.changed.is_none().then(|| page.asked_at.position()),
        });
        let command = Command::Complete(Box::new(answer), self.parts().settings.tax);
        let beside = Beside { changed, stored: stored.as_ref() };
        let done = self.end(submission, &command, cost.spark, beside).await;
        pages.keep_again(&bytes, n_outages).await;
        match (&stored, &done) {
            // Whoever stores it is not always the one it was fetched for, and others may want it in
            // another way.
            (Some(stored), Ok((_, position))) => {
                pages.remember(stored, *position, bytes.clone());
                let names = [asked(&stored.key), page.way.clone()];
                self.recheck(submission, (stored, *position), names, page.asked_at).await;
                made.mark_stored();
                if page.renderings.are_stored() {
                    self.let_go(submission, &page);
                }
            }
            (Some(_), Err(_)) => made.give_back(),
            (None, _) if is_for_now => self.let_go(submission, &page),
            (None, _) => {}
        }
        let (done, _) = done?;
        done.map(|done| (Arc::new(done), bytes)).ok_or_else(settled_otherwise)
    }

    /// What was stored is forgotten again, where it was forgotten while it was under way. What another
    /// instance said of it before it was stored is known when that is heard of, and nobody waits for it.
    async fn recheck(
        &self,
        submission: &Submission,
        (stored, position): (&WebCacheStored, Position),
        names: [Names; 2],
        asked_at: Moment,
    ) {
        let pages = &self.parts().pages;
        let all_is_heard = pages.has_heard(position);
        let caller = &submission.caller;
        if pages.recheck(stored, &names, asked_at, caller).await || all_is_heard {
            return;
        }
        let (pages, stored, caller) = (pages.clone(), stored.clone(), caller.clone());
        let soft = self.parts().lifecycle.soft().clone();
        self.parts().lifecycle.run("pages, looked at again", async move {
            match soft.run_until_cancelled(pages.hear(position)).await {
                Some(true) => drop(pages.recheck(&stored, &names, asked_at, &caller).await),
                // It is not known, nor will it be.
                Some(false) | None => pages.take_back(&stored, &caller).await,
            }
        });
    }

    /// Puts on record what was changed, where the end of the request could not say so: it is settled
    /// otherwise, or not yet.
    fn say(&self, submission: &Submission, changed: &Changed) {
        let (pages, url) = (self.parts().pages.clone(), submission.url.shown());
        let (cycle, caller) = (submission.asked.cycle, submission.caller.clone());
        let changed = changed.pages.clone();
        let soft = self.parts().lifecycle.soft().clone();
        self.parts().lifecycle.run("changed pages", async move {
            loop {
                let changed = changed.clone();
                let Err(fault) = pages.invalidate(changed, cycle, &caller).await else { return };
                warn!(url, error = %chain(&fault), "pages may be shown that a request has changed");
                if soft.run_until_cancelled(tokio::time::sleep(AGAIN)).await.is_none() {
                    return;
                }
            }
        });
    }

    async fn failed(
        &self,
        submission: &Submission,
        failure: Failure,
        changed: Option<&Changed>,
    ) -> Ended {
        let (error, cost) = (failure.error.clone(), failure.cost());
        let command = Command::Fail(Box::new(failure), self.parts().settings.tax);
        self.end(submission, &command, cost.spark, Beside { changed, stored: None }).await?;
        Err(error)
    }

    /// Puts the end of a request on record; answers what it says, where it was answered, and where it
    /// stands.
    async fn end(
        &self,
        submission: &Submission,
        command: &Command,
        spark: u64,
        beside: Beside<'_>,
    ) -> Result<(Option<WebRequestCompleted>, Position), PortalError> {
        let Asked { request, agent, cycle, .. } = submission.asked;
        let settlement = Settlement {
            of: Unsettled { agent, request, cycle },
            request_hash: submission.request_hash,
            command,
            spark,
            tax: self.parts().settings.tax,
            beside,
            caller: &submission.caller,
        };
        // Or it was given up meanwhile, and settled as that.
        let said = settled(self.settle(settlement).await?)?;
        let (events, position) = said.ok_or_else(settled_otherwise)?;
        let done = events.into_iter().find_map(|event| match event {
            Event::WebRequestCompleted(done) => Some(done),
            _ => None,
        });
        Ok((done, position))
    }
}

/// What was seen on the way, where it was seen for this very request.
fn own(mine: bool, hosts: &[String], redirects: &[WebRedirect]) -> (Vec<String>, Vec<WebRedirect>) {
    if mine { (hosts.to_vec(), redirects.to_vec()) } else { (Vec::new(), Vec::new()) }
}

/// The other addresses that a page comes from, by the keys that GET has there.
fn also(url: &WebUrl, key: &Hash256, hops: &[Hash256]) -> Vec<Hash256> {
    let all: BTreeSet<Hash256> = hops.iter().copied().chain([pages::address(url)]).collect();
    all.into_iter().filter(|address| address != key).collect()
}

fn settled_otherwise() -> PortalError {
    let words = "it took so long that it was settled as failed; ask again with a new id";
    PortalError::FetchFailed(words.to_owned())
}
