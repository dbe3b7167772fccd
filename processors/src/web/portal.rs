//! The portal: the one road of a web request, in the order that `web.md`, section 3, gives it.
//!
//! Signature and shape, then one judgement of everything that is known before a packet leaves: the
//! epoch, the agent's pace, its quota, the host, the cache. What is admitted has its quota and its
//! spark reserved in the same append, then it is fetched, filtered and kept, and its end, its charge
//! and what is cached of it are one append again. The work goes on when the one who asked goes away.

mod admit;
mod at_hand;
mod fetch;
mod foresight;
mod gateway;
mod outside;
mod read;
mod record;
mod rendering;
mod repeat;
mod settle;
mod work;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::sync::Semaphore;
use weir_aggregates::{mint::Tax, nexus::Moment};
use weir_events::web::{
    Asked, WebRequestCompleted,
    request::{AgentId, Hash256, PortalError, PortalRequest, PortalResponse, Refused},
};
use weir_log::lifecycle::Lifecycle;

use self::{admit::Judged, gateway::internal, read::Read};
pub use self::{
    foresight::{Foresight, Gate, Question, Said, Step},
    gateway::PortalGateway,
    settle::start as start_settling,
};
use super::{approvals::Approvals, pages::Pages, rules::Rules, signature::Agents};
use crate::{
    caller::Caller, door::Door, flights::Flights, nexus::Live, outbound::web::Egress,
    web::filter::Caps,
};

/// How many pages are filtered at once: it is work for processors.
const MAX_FILTERING: usize = 2;

/// How the portal is set up.
#[derive(Debug, Clone)]
pub struct PortalSettings {
    /// How many requests an agent may make in one tick.
    pub requests_per_tick: u32,
    /// What comes on top of a charge.
    pub tax: Tax,
    /// The bounds of the filter.
    pub caps: Caps,
    /// How many decoded bytes of a page are taken in.
    pub max_page_bytes: usize,
    /// How long a request may take from its admission to its answer.
    pub timeout: Duration,
    /// How long a tick is, where the wall clock moves it.
    pub tick: Option<Duration>,
}

/// What the portal is made of.
#[derive(Debug)]
pub struct PortalParts {
    /// The door to the log.
    pub door: Door,
    /// The world's time.
    pub nexus: Live,
    /// The agents and their keys.
    pub agents: Agents,
    /// The rules about hosts.
    pub rules: Rules,
    /// What humans are asked about.
    pub approvals: Approvals,
    /// The cache.
    pub pages: Pages,
    /// The way out.
    pub egress: Egress,
    /// How it is set up.
    pub settings: PortalSettings,
    /// Whose stop it heeds.
    pub lifecycle: Lifecycle,
}

/// Why a request is not answered.
#[derive(Debug)]
enum Stop {
    /// For a reason of today.
    Error(PortalError),
    /// For the reason it was told the first time.
    Recorded(Refused),
}

impl From<PortalError> for Stop {
    fn from(error: PortalError) -> Self {
        Self::Error(error)
    }
}

/// How far a request has come on its road.
#[derive(Debug, Clone)]
enum Reached {
    /// It is answered.
    Answer(Arc<WebRequestCompleted>, Bytes),
    /// It was asked before, for the same.
    Before(record::Recorded),
}

/// The portal. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Portal {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    parts: PortalParts,
    /// The pages under way, so that whoever asks for the same at the same time waits for it.
    fetches: Flights<fetch::Wanted, fetch::Fetched>,
    /// The pages that came, and are not in the cache yet.
    at_hand: at_hand::AtHand<outside::Page>,
    /// The requests that are judged, by their ids and what was signed: none of them is lost between its
    /// judgement and its work when the one who asked goes away.
    judged: Flights<(AgentId, Hash256, [u8; 32]), Result<Reached, PortalError>>,
    /// The requests under way, so that one that comes again waits for its first answer.
    requests: Flights<(AgentId, Hash256), work::Ended>,
    filtering: Arc<Semaphore>,
}

impl Portal {
    /// Puts it together.
    #[must_use]
    pub fn new(parts: PortalParts) -> Self {
        let lifecycle = &parts.lifecycle;
        let inner = Inner {
            fetches: Flights::new("web page", lifecycle.clone()),
            at_hand: at_hand::AtHand::default(),
            judged: Flights::new("web admission", lifecycle.clone()),
            requests: Flights::new("web request", lifecycle.clone()),
            filtering: Arc::new(Semaphore::new(MAX_FILTERING)),
            parts,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Answers a request.
    async fn handle(
        &self,
        request: PortalRequest,
        caller: &Caller,
    ) -> Result<PortalResponse, Stop> {
        let read = self.read(request, caller).await?;
        let submission = read.submission.clone();
        let Asked { agent, request, .. } = submission.asked;
        let (portal, key) = (self.clone(), (agent, request, submission.request_hash));
        let reached = self.inner.judged.join(key, || portal.judged(read)).await;
        match reached.map_err(internal)?? {
            Reached::Answer(done, content) => Ok(admit::response(&done, &content)),
            Reached::Before(recorded) => self.again(&submission, recorded).await,
        }
    }

    /// Has a request judged, and done where it is admitted.
    async fn judged(self, read: Read) -> Result<Reached, PortalError> {
        let Read { submission, admission, hit, seat } = read;
        match self.admit(&submission, admission, hit).await? {
            Judged::Hit(done, cached) => Ok(Reached::Answer(Arc::new(*done), cached.body.clone())),
            Judged::Before(recorded) => Ok(Reached::Before(recorded)),
            Judged::Admitted(submitted) => {
                let key = (submitted.asked.agent, submitted.asked.request);
                let portal = self.clone();
                let work = || async move { portal.work(submission, *submitted, seat).await };
                let ended = self.inner.requests.join(key, work).await.map_err(internal)?;
                let (done, content) = ended?;
                Ok(Reached::Answer(done, content))
            }
        }
    }

    /// What time it is in the world.
    pub async fn now(&self) -> Result<Moment, PortalError> {
        self.parts().nexus.now().await.map_err(gateway::of_door)
    }

    /// How long so many ticks are, where the wall clock moves them.
    #[must_use]
    pub fn length(&self, ticks: u64) -> Option<Duration> {
        let ticks = u32::try_from(ticks).unwrap_or(u32::MAX);
        self.parts().settings.tick.map(|tick| tick.saturating_mul(ticks))
    }

    /// The rules about hosts.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.parts().rules
    }

    /// What is cached.
    #[must_use]
    pub fn pages(&self) -> &Pages {
        &self.parts().pages
    }

    /// What humans are asked about.
    #[must_use]
    pub fn approvals(&self) -> &Approvals {
        &self.parts().approvals
    }

    fn parts(&self) -> &PortalParts {
        &self.inner.parts
    }
}
