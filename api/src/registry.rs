//! The package firewall: its rules, what they blocked, the ecosystems it serves, and the sources of
//! advisories.

pub mod blocks;
pub mod cache;
pub mod check;
pub mod dashboard;
pub mod explain;
pub mod holds;
pub mod impact;
pub mod preview;
pub mod profiles;
pub mod reserved;
pub mod rules;
pub mod sources;
pub mod waivers;
pub mod what_if;

use std::{
    collections::{BTreeMap, HashSet},
    io,
    sync::{Arc, RwLockReadGuard},
    time::Duration,
};

use axum::Router;
use futures_util::future::BoxFuture;
use utoipa_axum::router::OpenApiRouter;
use weir_aggregates::{access::Scope, registry::facts::Facts};
use weir_events::{
    position::Position,
    registry::{CachePurged, Ecosystem, Event},
    timestamp::Timestamp,
};
use weir_processors::{
    caller::Caller,
    door::Executed,
    registry::{
        cache::{ArtifactCache, CacheKey, CacheStats, Census, Kept, RedisCache},
        plugin::RegistryPlugin,
        policy::Policy,
        purging::{PurgeFault, Purging, Request},
        shelves::Shelves,
        stats::Stats,
    },
};

use self::sources::SourceInfo;
use crate::{
    ask::{Params, bad_parameter},
    problem::{
        Problem,
        table::{NO_PACKAGES, NOT_REACHED},
    },
    state::ApiState,
};

/// How long the answer to a command on rules waits until this instance goes by them.
const PATIENCE: Duration = Duration::from_secs(2);

/// The ecosystems this process serves, and the rules it goes by.
#[derive(Clone, Default)]
pub struct Packages {
    policy: Option<Policy>,
    served: Vec<Served>,
    cache: Option<Cache>,
    shelves: Shelves,
    sources: Vec<SourceInfo>,
    routes: Router<ApiState>,
}

/// A cache, whichever it is.
type Cache = Arc<dyn AnyCache>;

type Purged = Result<Executed<CachePurged>, PurgeFault>;

/// What is asked of a cache.
trait AnyCache: Send + Sync {
    /// How full it is, as far as this process knows.
    fn stats(&self) -> CacheStats;

    /// Of these artifacts, those that it holds.
    fn held(&self, keys: Vec<CacheKey>) -> BoxFuture<'_, io::Result<HashSet<CacheKey>>>;

    /// What it keeps of each ecosystem.
    fn census(&self) -> BoxFuture<'_, io::Result<Census>>;

    /// Has some of it forgotten.
    fn purge(&self, request: Request, caller: Caller) -> BoxFuture<'_, Purged>;
}

impl<C: ArtifactCache> AnyCache for Purging<C> {
    fn stats(&self) -> CacheStats {
        self.cache().stats()
    }

    fn held(&self, keys: Vec<CacheKey>) -> BoxFuture<'_, io::Result<HashSet<CacheKey>>> {
        Box::pin(self.cache().held(keys))
    }

    fn census(&self) -> BoxFuture<'_, io::Result<Census>> {
        Box::pin(self.cache().census())
    }

    fn purge(&self, request: Request, caller: Caller) -> BoxFuture<'_, Purged> {
        Box::pin(Self::purge(self, request, caller))
    }
}

/// An ecosystem that is served.
#[derive(Clone)]
pub(crate) struct Served {
    /// Which.
    pub(crate) ecosystem: Ecosystem,
    /// Where its addresses begin.
    pub(crate) prefix: &'static str,
    /// What happened since the process started.
    pub(crate) stats: Arc<dyn Fn() -> Stats + Send + Sync>,
}

impl Packages {
    /// Goes by these rules, and serves nothing yet.
    pub fn new(policy: Policy) -> Self {
        Self { policy: Some(policy), ..Self::default() }
    }

    /// Keeps artifacts in a cache, and lists on shelves, which can both be purged.
    #[must_use]
    pub fn keeping<C: ArtifactCache>(self, purging: Purging<C>) -> Self {
        let shelves = purging.shelves().clone();
        Self { cache: Some(Arc::new(purging)), shelves, ..self }
    }

    /// Knows of these sources of advisories.
    #[must_use]
    pub fn advised_by(self, sources: Vec<SourceInfo>) -> Self {
        Self { sources, ..self }
    }

    /// Serves one more ecosystem, to those who have the scope.
    #[must_use]
    pub fn serving<P: RegistryPlugin>(mut self, plugin: Arc<P>, scope: Scope) -> Self {
        let (ecosystem, prefix) = (plugin.name(), plugin.path_prefix());
        let counted = Arc::clone(&plugin);
        self.served.push(Served { ecosystem, prefix, stats: Arc::new(move || counted.stats()) });
        self.routes = self.routes.merge(crate::packages::router(plugin, scope));
        self
    }

    #[cfg(test)]
    pub(crate) fn with_served(mut self, served: Served) -> Self {
        self.served.push(served);
        self
    }

    pub(crate) fn served(&self) -> &[Served] {
        &self.served
    }

    /// How full the cache is, where there is one.
    pub(crate) fn cache(&self) -> Option<CacheStats> {
        self.cache.as_ref().map(|cache| cache.stats())
    }

    /// Where instances share lists, if anywhere.
    pub(crate) const fn redis(&self) -> Option<&RedisCache> {
        self.shelves.shared()
    }

    /// What the cache keeps of each ecosystem, where there is one.
    fn census(&self) -> Option<BoxFuture<'_, io::Result<Census>>> {
        self.cache.as_ref().map(|cache| cache.census())
    }

    /// What lists are kept of each ecosystem.
    fn shelved(&self, now: Timestamp) -> BTreeMap<Ecosystem, Kept> {
        self.shelves.kept(now)
    }

    /// Has some of the cache forgotten, where there is one.
    fn purge(&self, request: Request, caller: Caller) -> Option<BoxFuture<'_, Purged>> {
        self.cache.as_ref().map(|cache| cache.purge(request, caller))
    }

    /// Of these artifacts, those that this instance's cache holds; none where there is none.
    async fn held(&self, keys: Vec<CacheKey>) -> io::Result<HashSet<CacheKey>> {
        match &self.cache {
            Some(cache) => cache.held(keys).await,
            None => Ok(HashSet::new()),
        }
    }

    pub(crate) fn sources(&self) -> &[SourceInfo] {
        &self.sources
    }

    pub(crate) fn routes(&self) -> Router<ApiState> {
        self.routes.clone()
    }

    /// All that packages are judged by now. Not to be held while anything is waited for.
    fn facts(&self) -> Result<RwLockReadGuard<'_, Facts>, Problem> {
        let facts = self.policy()?.facts();
        facts.map_err(|unreadable| Problem::new(&NO_PACKAGES, unreadable.to_string()))
    }

    /// What packages are judged by.
    fn policy(&self) -> Result<&Policy, Problem> {
        self.policy.as_ref().ok_or_else(|| {
            let detail = "this process serves no packages; ask one that does";
            Problem::new(&NO_PACKAGES, detail)
        })
    }

    /// Waits until this instance goes by what a command changed, if it changed anything.
    async fn go_by_if_new(&self, executed: &Executed<Event>) -> Result<(), Problem> {
        if executed.events.is_empty() {
            return Ok(());
        }
        self.go_by(executed.position).await
    }

    /// Waits until this instance goes by what stands at a position: who was answered that a rule or
    /// a waiver is in force finds it in force.
    async fn go_by(&self, position: Position) -> Result<(), Problem> {
        let Some(policy) = &self.policy else { return Ok(()) };
        policy.reaches(position, PATIENCE).await.map_err(|late| {
            let detail = format!("it is on record, but {late}");
            Problem::new(&NOT_REACHED, detail).retry_after(1)
        })
    }
}

/// The routes of the package firewall.
pub fn routes() -> OpenApiRouter<ApiState> {
    rules::routes()
        .merge(blocks::routes())
        .merge(cache::routes())
        .merge(explain::routes())
        .merge(holds::routes())
        .merge(impact::routes())
        .merge(preview::routes())
        .merge(profiles::routes())
        .merge(reserved::routes())
        .merge(check::routes())
        .merge(dashboard::routes())
        .merge(sources::routes())
        .merge(waivers::routes())
        .merge(what_if::routes())
}

/// The ecosystem that was asked for, if one was.
fn ecosystem(params: &mut Params) -> Result<Option<Ecosystem>, Problem> {
    let named = params.take::<String>("ecosystem")?.map(|name| {
        Ecosystem::find(&name).ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            bad_parameter("ecosystem", format!("no ecosystem is called `{shown}`"))
        })
    });
    named.transpose()
}
