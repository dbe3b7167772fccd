//! What the gateway answers from without asking the outside: renderings of pages, each for everybody
//! or for the one agent that it was fetched for.
//!
//! A rendering is found by its page ([`key()`]) and by what was done to it ([`variant()`]), and shown
//! while the cycle is before the one it expires in. What was used lately is in memory; the rest is in
//! the read model and the content store. What is stored or forgotten here is known here at once, what
//! another instance does as soon as the log's tail has it. Nobody is ever shown what is another
//! agent's own, nor another rendering than the one that was asked for.

mod follow;
mod forgotten;
mod freshness;
mod key;
mod memory;
mod plan;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::watch, time::Instant};
use tracing::{debug, warn};
use weir_events::{
    position::Position,
    web::{
        WebCacheStored,
        content::FilterReport,
        request::{AgentId, Hash256, HttpMethod, PortalError, PortalReport},
    },
};
use weir_log::lifecycle::Lifecycle;
use weir_projections::{
    engine::Engine,
    query::QueryFault,
    web::{
        cache::{self, CacheRow, Identity},
        reports,
    },
};

use self::{forgotten::Forgotten, memory::Memory};
pub use self::{
    forgotten::{Moment, Names, address, changed},
    freshness::Came,
    key::{FILTER_VERSION, key, variant},
    plan::{Answered, CycleTime, is_reusable, is_shareable, plan},
};
use super::content::{ContentFault, Contents};
use crate::{chain::chain, door::Door};

/// How long after this process began requests wait for the read model of pages to come so far. Where
/// no worker runs it may never come: from then on whoever asks only looks, and fetches.
const CATCHING_UP: Duration = Duration::from_secs(1);

/// How pages are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagesSettings {
    /// For how many cycles a page is shown, unless the outside says less.
    pub ttl: u32,
    /// How many bytes of content all pages together have.
    pub max_bytes: u64,
    /// How many bytes of them this process has in memory.
    pub max_memory_bytes: u64,
    /// For how many cycles an answer can be had again, whatever became of the page.
    pub keep_answers: u64,
}

impl Default for PagesSettings {
    fn default() -> Self {
        Self { ttl: 4, max_bytes: 1 << 30, max_memory_bytes: 64 << 20, keep_answers: 4 }
    }
}

/// A rendering, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    /// The page.
    pub key: Hash256,
    /// The rendering of it.
    pub variant: Hash256,
    /// Whose it is, where it is not shared.
    pub owner: Option<AgentId>,
    /// The address.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// What the outside answered.
    pub status: u16,
    /// The type of the content.
    pub content_type: String,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// What was done to the page.
    pub filtered: FilterReport,
    /// The origins that redirects led to on the way: whoever shows it asks whether they are to be
    /// asked still.
    pub redirected: Vec<String>,
    /// The cycle from which on it is not shown any more.
    pub expires_at: u64,
    /// The event that stored it.
    pub position: Position,
    /// Where the log stood when it was asked for.
    pub asked_at: Position,
    /// What it is forgotten by.
    pub names: Names,
    /// The content.
    pub body: Bytes,
}

impl Cached {
    /// How many bytes the content has.
    pub fn size(&self) -> u64 {
        self.body.len() as u64
    }
}

/// The pages. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Pages {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    door: Door,
    engine: Engine,
    contents: Contents,
    settings: PagesSettings,
    memory: Mutex<Memory>,
    forgotten: Forgotten,
    /// Up to where all that is stored and forgotten is heard of.
    heard: watch::Sender<Position>,
    /// What is not known yet, of what was stored and forgotten.
    gap: watch::Sender<Option<Gap>>,
}

/// Where the tail began, as long as the read model is not known to have come so far: what was forgotten
/// in between is in neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Gap {
    began: Position,
    since: Instant,
}

impl Pages {
    /// Begins to follow what is stored and forgotten.
    #[must_use]
    pub fn start(
        door: &Door,
        engine: &Engine,
        settings: PagesSettings,
        lifecycle: &Lifecycle,
    ) -> Self {
        let inner = Inner {
            door: door.clone(),
            engine: engine.clone(),
            contents: Contents::new(door.log().clone()),
            settings,
            memory: Mutex::new(Memory::new(settings.max_memory_bytes)),
            forgotten: Forgotten::new(),
            heard: watch::Sender::new(Position::START),
            gap: watch::Sender::new(None),
        };
        let pages = Self { inner: Arc::new(inner) };
        follow::start(&pages, lifecycle);
        pages
    }

    /// How they are kept.
    #[must_use]
    pub fn settings(&self) -> &PagesSettings {
        &self.inner.settings
    }

    /// A rendering, as an agent may see it in a cycle.
    pub async fn lookup(
        &self,
        key: &Hash256,
        variant: &Hash256,
        agent: &AgentId,
        cycle: u64,
    ) -> Result<Option<Arc<Cached>>, PortalError> {
        let forgotten = &self.inner.forgotten;
        let seen = self.memory().lookup((key, variant), agent, cycle, forgotten);
        let row = match seen {
            memory::Seen::Whole(cached) => return Ok(Some(cached)),
            memory::Seen::Gone => return Ok(None),
            memory::Seen::Bare(row) => Some(row),
            memory::Seen::Unknown => {
                self.ask(key, variant, agent, cycle).await.map_err(|fault| of_query(&fault))?
            }
        };
        let Some(row) = row else { return Ok(None) };
        let Some(body) = self.content(&row.content).await? else {
            warn!(url = row.url, content = %row.content, "the content of a cached page is gone");
            return Ok(None);
        };
        let cached = Arc::new(Cached { body, ..(*row).clone() });
        self.memory().fill(&cached);
        Ok(Some(cached))
    }

    /// What the read model has, unless what this process has heard since says otherwise.
    async fn ask(
        &self,
        key: &Hash256,
        variant: &Hash256,
        agent: &AgentId,
        cycle: u64,
    ) -> Result<Option<Arc<Cached>>, QueryFault> {
        if !self.is_gapless().await {
            return Ok(None);
        }
        let rows = match cache::find(self.inner.door.log().database(), key, variant, agent).await {
            // No worker has run yet: nothing is cached.
            Err(QueryFault::NotBuilt(_)) => return Ok(None),
            rows => rows?,
        };
        let mut memory = self.memory();
        for owner in [None, Some(*agent)] {
            let identity = Identity { key: *key, variant: *variant, owner };
            match rows.iter().find(|row| row.identity == identity) {
                Some(row) => memory.learn(&identity, row.position, Some(Arc::new(bare(row)))),
                None => memory.learn(&identity, Position::START, None),
            }
        }
        Ok(memory.current((key, variant), agent, cycle, &self.inner.forgotten))
    }

    /// Whether the read model and the tail know all between them: at first one waits a little for the
    /// read model to come to where the tail began.
    async fn is_gapless(&self) -> bool {
        let Some(gap) = *self.inner.gap.borrow() else { return true };
        self.closes(gap, CATCHING_UP.saturating_sub(gap.since.elapsed())).await
    }

    /// Whether the read model comes to where the tail began, before one has no more patience.
    async fn closes(&self, gap: Gap, patience: Duration) -> bool {
        if let Err(fault) = self.inner.engine.wait_for("cache", gap.began, patience).await {
            debug!(%fault, "a page is fetched anew: what is cached is not known yet");
            return false;
        }
        // The tail may have begun again meanwhile.
        let closed = |known: &mut Option<Gap>| known.take_if(|known| *known == gap).is_some();
        self.inner.gap.send_if_modified(closed);
        self.inner.gap.borrow().is_none()
    }

    /// Content by its hash, as far as it is still kept.
    pub async fn content(&self, hash: &Hash256) -> Result<Option<Bytes>, PortalError> {
        let known = self.memory().content(hash);
        if known.is_some() {
            return Ok(known);
        }
        let read = self.inner.contents.get(hash).await.map_err(|fault| of_content(&fault))?;
        if let Some(content) = &read {
            self.memory().keep(*hash, content.clone());
        }
        Ok(read)
    }

    /// Keeps content, for whatever is about to point at it. Nobody is shown it because of that.
    pub async fn keep(&self, content: &Bytes) -> Result<Hash256, PortalError> {
        self.inner.contents.put(content).await.map_err(|fault| of_content(&fault))
    }

    /// How often the database may have been away: asked before content is kept, for
    /// [`Pages::keep_again`].
    pub fn n_outages(&self) -> u64 {
        self.inner.door.log().hub().n_outages()
    }

    /// Keeps content again that something points at by now, where the database was away since: it may
    /// have come back without the content, and then taken what points at it.
    pub async fn keep_again(&self, content: &Bytes, n_outages: u64) {
        if self.n_outages() == n_outages {
            return;
        }
        if let Err(fault) = self.inner.contents.put(content).await {
            warn!(error = %chain(&fault), "content may be lost that was kept when the database went away");
        }
    }

    /// A rendering was stored by this process, just now, at a position: it is shown from here on, unless
    /// the tail has said something of it since.
    pub fn remember(&self, stored: &WebCacheStored, position: Position, content: Bytes) {
        let mut memory = self.memory();
        let page = Some(Arc::new(of_event(stored, position)));
        memory.learn(&Identity::from(stored), position, page);
        memory.keep(stored.content, content);
    }

    /// What a cycle has added up to so far.
    pub async fn report(&self, cycle: u64) -> Result<PortalReport, PortalError> {
        reports::so_far(self.inner.door.log().database(), cycle)
            .await
            .map_err(|fault| of_query(&fault))
    }

    /// Forgets what is not shown any more in a cycle, and what there is no room for. Answers how much.
    pub async fn evict(&self, cycle: u64) -> Result<u64, PortalError> {
        let evicted = self.evictions().due(cycle, self.settings().max_bytes).await;
        evicted.map_err(|fault| PortalError::Database(chain(&fault)))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.inner.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A rendering without its content.
fn bare(row: &CacheRow) -> Cached {
    Cached {
        key: row.identity.key,
        variant: row.identity.variant,
        owner: row.identity.owner,
        url: row.url.clone(),
        method: row.method,
        status: row.status,
        content_type: row.content_type.clone(),
        content: row.content,
        filtered: row.filtered.clone(),
        redirected: row.redirected.clone(),
        expires_at: row.expires_at,
        position: row.position,
        asked_at: row.asked_at,
        names: Names::cached((&row.url, &row.identity.key), &row.redirected, &row.also),
        body: Bytes::new(),
    }
}

fn of_event(stored: &WebCacheStored, position: Position) -> Cached {
    Cached {
        key: stored.key,
        variant: stored.variant,
        owner: stored.owner,
        url: stored.url.clone(),
        method: stored.method,
        status: stored.status,
        content_type: stored.content_type.clone(),
        content: stored.content,
        filtered: stored.filtered.clone(),
        redirected: stored.redirected.clone(),
        expires_at: stored.expires_at(),
        position,
        asked_at: stored.asked_at.unwrap_or(position),
        names: Names::cached((&stored.url, &stored.key), &stored.redirected, &stored.also),
        body: Bytes::new(),
    }
}

fn of_query(fault: &QueryFault) -> PortalError {
    PortalError::Database(chain(fault))
}

fn of_content(fault: &ContentFault) -> PortalError {
    let words = chain(fault);
    match fault {
        ContentFault::TooLarge(_) => PortalError::Internal(words),
        ContentFault::Database(_) => PortalError::Database(words),
    }
}
