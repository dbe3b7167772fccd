//! What is done for a request that was admitted: fetched, filtered, kept, settled.

use std::sync::Arc;

use bytes::Bytes;
use weir_aggregates::{
    mint::{self, Account},
    web::gateway::{Answer, Command, Failure, Gateway, Refusal},
};
use weir_events::{
    mint::stream as account_stream,
    web::{
        Asked, Event, WebCacheStored, WebRequestCompleted, WebRequestSubmitted, agent_stream,
        cache_stream,
        content::FilterReport,
        request::{AgentId, ApiInteractionKind, Hash256, HttpMethod, PortalError},
    },
};

use super::{
    Portal,
    admit::Submission,
    gateway::{internal, of_door},
    outside::{Page, Trouble},
    record::{Recorded, settlement_key},
};
use crate::{
    door::{Once, Pair, Paired},
    web::{
        filter::{Filtered, filter},
        pages::{CycleTime, Plan},
    },
};

/// What a request has come to.
pub(super) type Ended = Result<(Arc<WebRequestCompleted>, Bytes), PortalError>;

/// What a fetch is known by: whoever wants the same at the same time waits for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    key: Hash256,
    /// The headers that may have the outside answer otherwise.
    headers: Vec<(String, String)>,
}

/// What the outside gave, and for whom it was asked.
#[derive(Debug, Clone)]
pub(super) struct Fetched {
    by: (AgentId, Hash256),
    outcome: Result<Arc<Page>, Arc<Trouble>>,
}

/// A page as its agent gets it.
struct Rendered {
    status: u16,
    content: Bytes,
    content_type: String,
    filtered: FilterReport,
    title: Option<String>,
    /// Whether another request had fetched it.
    cached: bool,
    hosts: Vec<String>,
    plan: Option<Plan>,
}

impl Portal {
    /// All of it. Whatever happens, the request is settled, or left to be settled as failed.
    pub(super) async fn work(
        self,
        submission: Submission,
        submitted: WebRequestSubmitted,
    ) -> Ended {
        let fetched = self.fetched(&submission).await;
        let Asked { agent, request, .. } = submission.asked;
        let mine = fetched.by == (agent, request);
        let rendered = match &fetched.outcome {
            Ok(page) => self.rendered(&submission, page, mine).await,
            Err(trouble) => {
                let (left, hosts) = if mine {
                    (trouble.left, trouble.hosts.clone())
                } else {
                    // The outcome is shared, and nothing left for this one.
                    (false, Vec::new())
                };
                Err(Failure { request, error: trouble.error.clone(), left, hosts })
            }
        };
        match rendered {
            Ok(rendered) => self.answered(&submission, &submitted, rendered).await,
            Err(failure) => self.failed(&submission, failure).await,
        }
    }

    async fn fetched(&self, submission: &Submission) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let alone = self.clone().fetch(submission.clone());
        if submission.interaction != ApiInteractionKind::RestGet {
            return alone.await;
        }
        let headers = submission.request.headers.as_map().clone().into_iter().collect();
        let wanted = Wanted { key: submission.key, headers };
        let portal = self.clone();
        let joined = self.inner.fetches.join(wanted, || portal.fetch(submission.clone())).await;
        match joined {
            Ok(fetched) => {
                let shared = match &fetched.outcome {
                    Ok(page) => self.is_everybodys(page, submission).await,
                    Err(_) => true,
                };
                // What was meant for another one's eyes only is asked for again.
                if fetched.by == (agent, request) || shared { fetched } else { alone.await }
            }
            Err(given_up) => Fetched {
                by: (agent, request),
                outcome: Err(Arc::new(Trouble::nothing_left(internal(given_up)))),
            },
        }
    }

    /// Whether whoever asks for the same may be given it.
    async fn is_everybodys(&self, page: &Page, submission: &Submission) -> bool {
        match self.keeping().await {
            Ok(keeping) => page
                .plan(submission.asked.method, submission.interaction, keeping)
                .is_some_and(|plan| plan.shared),
            Err(_) => false,
        }
    }

    /// Where in the cycle one is, and for how many cycles a page is kept.
    async fn keeping(&self) -> Result<(CycleTime, u32), PortalError> {
        let parts = self.parts();
        let state = parts.nexus.state().await.map_err(of_door)?;
        Ok((CycleTime::of(&state, parts.door.now()), parts.pages.settings().ttl))
    }

    async fn fetch(self, submission: Submission) -> Fetched {
        let Asked { agent, request, .. } = submission.asked;
        let outcome = self.outside(&submission).await.map(Arc::new).map_err(Arc::new);
        Fetched { by: (agent, request), outcome }
    }

    /// The page without its code, and how long it may be kept.
    async fn rendered(
        &self,
        submission: &Submission,
        page: &Arc<Page>,
        mine: bool,
    ) -> Result<Rendered, Failure> {
        let request = submission.asked.request;
        let hosts = if mine { page.hosts.clone() } else { Vec::new() };
        let failure = |error| Failure { request, error, left: mine, hosts: hosts.clone() };
        let filtered = if submission.asked.method == HttpMethod::Head || page.body.is_empty() {
            let content_type = page.content_type.clone().unwrap_or_default();
            (Bytes::new(), content_type, FilterReport::default(), None)
        } else {
            let Filtered { content, content_type, report, title, .. } =
                self.filter(submission, page).await.map_err(failure)?;
            (Bytes::from(content), content_type.to_owned(), report, title)
        };
        let (content, content_type, filtered, title) = filtered;
        let keeping = self.keeping().await.map_err(failure)?;
        let plan = page.plan(submission.asked.method, submission.interaction, keeping);
        Ok(Rendered {
            status: page.status,
            title,
            content,
            content_type,
            filtered,
            cached: !mine,
            hosts,
            plan,
        })
    }

    /// It is work for processors: not on the threads that everybody waits on, and not too much of it.
    async fn filter(
        &self,
        submission: &Submission,
        page: &Arc<Page>,
    ) -> Result<Filtered, PortalError> {
        let permit = Arc::clone(&self.inner.filtering).acquire_owned().await.map_err(internal)?;
        let (page, wanted) = (Arc::clone(page), submission.filter);
        let caps = self.parts().settings.caps;
        let filtered = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            filter(&page.body, page.content_type.as_deref(), &wanted, caps)
        });
        let filtered = filtered.await.map_err(internal)?;
        filtered.map_err(|unfit| PortalError::FetchFailed(unfit.to_string()))
    }

    async fn answered(
        &self,
        submission: &Submission,
        submitted: &WebRequestSubmitted,
        rendered: Rendered,
    ) -> Ended {
        let pages = &self.parts().pages;
        let Asked { request, cycle, agent, method, .. } = submission.asked;
        let content = pages.keep(&rendered.content).await?;
        let answer = Answer {
            request,
            status: rendered.status,
            content_type: rendered.content_type.clone(),
            content,
            content_size: u64::try_from(rendered.content.len()).unwrap_or(u64::MAX),
            cached: rendered.cached,
            filtered: rendered.filtered.clone(),
            hosts: rendered.hosts,
        };
        let cost = answer.cost(submitted);
        let stored = rendered.plan.map(|plan| WebCacheStored {
            key: submission.key,
            variant: submission.variant,
            owner: (!plan.shared).then_some(agent),
            url: submission.url.as_str().to_owned(),
            method,
            status: rendered.status,
            content_type: rendered.content_type,
            content,
            content_size: answer.content_size,
            filtered: rendered.filtered,
            title: rendered.title,
            request,
            cycle,
            ttl: plan.ttl,
        });
        let facts: Vec<Event> = stored.clone().map(Event::from).into_iter().collect();
        let command = Command::Complete(Box::new(answer), self.parts().settings.tax);
        let done = self.settle(submission, &command, cost.spark, &facts).await?;
        if let Some(stored) = &stored {
            pages.remember(stored, rendered.content.clone());
        }
        done.map(|done| (Arc::new(done), rendered.content)).ok_or_else(settled_otherwise)
    }

    async fn failed(&self, submission: &Submission, failure: Failure) -> Ended {
        let (error, cost) = (failure.error.clone(), failure.cost());
        let command = Command::Fail(Box::new(failure), self.parts().settings.tax);
        self.settle(submission, &command, cost.spark, &[]).await?;
        Err(error)
    }

    /// The end of a request, its charge and what is cached of it, in one append.
    async fn settle(
        &self,
        submission: &Submission,
        command: &Command,
        spark: u64,
        facts: &[Event],
    ) -> Result<Option<WebRequestCompleted>, PortalError> {
        let Asked { request, agent, cycle, .. } = submission.asked;
        let stream = agent_stream(&agent, cycle).map_err(internal)?;
        let account = account_stream(&agent.to_string()).map_err(internal)?;
        let cached = cache_stream(&submission.key).map_err(internal)?;
        let pay = mint::Command::Settle {
            account: agent.to_string(),
            transfer: Hash256::of(&[request.as_bytes(), b"cost"]).to_string(),
            amount: spark,
            tax: self.parts().settings.tax,
        };
        let once = Once::<Gateway> {
            key: settlement_key(&agent, &request),
            request_hash: submission.request_hash,
            answer: &Recorded::of_settlement,
        };
        let pair = Pair::<Gateway, Account> {
            first: (&stream, command),
            second: Some((&account, &pay)),
            facts: (!facts.is_empty()).then_some((&cached, facts)),
            once: Some(once),
        };
        let said = self.parts().door.execute_pair(&pair, &submission.caller).await;
        match said.map_err(of_door)? {
            Paired::Done(events, _) => Ok(events.into_iter().find_map(|event| match event {
                Event::WebRequestCompleted(done) => Some(done),
                _ => None,
            })),
            // It was given up meanwhile, and settled as that.
            Paired::FirstRefused(Refusal::NotUnderWay(_)) | Paired::Before(_) => {
                Err(settled_otherwise())
            }
            Paired::FirstRefused(refusal) => Err(internal(refusal)),
            Paired::SecondRefused(refusal) => Err(internal(refusal)),
        }
    }
}

fn settled_otherwise() -> PortalError {
    let words = "it took so long that it was settled as failed; ask again with a new id";
    PortalError::FetchFailed(words.to_owned())
}
