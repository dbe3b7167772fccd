//! An ecosystem with an upstream, a cache and rules of its own.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version};
use tempfile::TempDir;
use uuid::Uuid;
use weir_aggregates::registry::{facts::Facts, selection::Selection};
use weir_events::{
    registry::{Ecosystem, Event, Rule},
    timestamp::Timestamp,
};
use weir_log::lifecycle::Lifecycle;

use super::{Fake, facts, names, until};
use crate::{
    caller::Caller,
    outbound::{Limits, Outbound, ReachFault},
    registry::{
        answer::Answer,
        cache::FileCache,
        ledger::Ledger,
        patience::Patience,
        plugin::{Asked, RegistryPlugin},
        policy::Policy,
        setup::{Config, Parts},
        shelves::Shelves,
    },
};

/// Who we are to upstreams.
pub(crate) const INSTANCE: Uuid = Uuid::from_u128(0x1_2345);

/// Where this Weir is for its clients.
const BASE: &str = "https://weir.example";

/// What a test needs to know of an ecosystem.
pub(crate) trait Tested: RegistryPlugin + Sized {
    /// Which one it is.
    const ECOSYSTEM: Ecosystem;

    /// Where its upstream's lists lie.
    const LISTS: &'static str;

    /// Its defaults.
    fn defaults(config: Config) -> Config;

    /// Puts it together.
    fn made(config: &Config, parts: Parts<'_, FileCache>) -> Result<Self, ReachFault>;

    /// Where it records.
    fn ledger(&self) -> &Ledger;
}

/// An ecosystem, and what is around it.
pub(crate) struct World<P> {
    pub(crate) plugin: Arc<P>,
    pub(crate) upstream: Fake,
    pub(crate) set_facts: Box<dyn Fn(Facts) + Send + Sync>,
    pub(crate) outbound: Outbound,
    pub(crate) lifecycle: Lifecycle,
    shelves: Shelves,
    root: TempDir,
}

impl<P: Tested> World<P> {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    pub(crate) async fn start_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let lifecycle = Lifecycle::new();
        let upstream = Fake::start(&lifecycle).await;
        let mut config = P::defaults(Config::of(Some(upstream.url(P::LISTS))));
        adjust(&mut config);
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = FileCache::open(root.path().to_owned(), 1 << 30).await.unwrap();
        let (policy, set_facts) = Policy::by_hand(Facts::default());
        let outbound = Outbound::new(INSTANCE, Limits::default()).unwrap();
        let ledger = Ledger::in_memory_of(P::ECOSYSTEM);
        let (ours, shelves) = (outbound.clone(), Shelves::default());
        let parts = Parts {
            policy,
            ledger,
            outbound: ours,
            cache,
            shelves: shelves.clone(),
            patience: Patience::none(),
            lifecycle: &lifecycle,
        };
        let plugin = Arc::new(P::made(&config, parts).unwrap());
        let set_facts = Box::new(set_facts);
        Self { plugin, upstream, set_facts, outbound, lifecycle, shelves, root }
    }

    /// Where files are kept.
    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Sets the rules, as of a revision.
    pub(crate) fn rules(&self, revision: i64, rules: &[Rule]) {
        (self.set_facts)(facts(revision, rules));
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[]).await
    }

    pub(crate) async fn head(&self, path: &str) -> Answer {
        self.ask(Method::HEAD, path, &[]).await
    }

    pub(crate) async fn get_with(&self, path: &str, name: HeaderName, value: &str) -> Answer {
        self.ask(Method::GET, path, &[(name, value)]).await
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
    ) -> Answer {
        self.send(method, path, headers, Bytes::new()).await
    }

    /// Gets something in somebody's name.
    pub(crate) async fn get_by(&self, caller: &Caller, path: &str) -> Answer {
        self.sent((Method::GET, Version::HTTP_11), path, &[], Bytes::new(), None, caller).await
    }

    /// Gets something by HTTP/1.0.
    pub(crate) async fn get_by_1_0(&self, path: &str) -> Answer {
        self.sent((Method::GET, Version::HTTP_10), path, &[], Bytes::new(), None, &ci()).await
    }

    /// Gets something as of a time.
    pub(crate) async fn get_as_of(&self, path: &str, as_of: &str) -> Answer {
        let as_of = Some(as_of.parse().unwrap());
        self.sent((Method::GET, Version::HTTP_11), path, &[], Bytes::new(), as_of, &ci()).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
    ) -> Answer {
        self.sent((method, Version::HTTP_11), path, headers, body, None, &ci()).await
    }

    async fn sent(
        &self,
        (method, version): (Method, Version),
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
        as_of: Option<Timestamp>,
        caller: &Caller,
    ) -> Answer {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let asked = Asked {
            method: &method,
            version,
            path,
            query,
            headers: &headers,
            base: BASE,
            body: &body,
            as_of,
        };
        self.plugin.answer(&asked, caller).await
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.plugin.ledger().events()
    }

    /// The digests that were pinned, in order.
    pub(crate) fn pinned(&self) -> Vec<String> {
        self.plugin.ledger().digests()
    }

    /// Asks for what is reserved: each is refused on record, and the upstream hears nothing.
    pub(crate) async fn keeps_to_itself(&self, paths: &[&str]) {
        for path in paths {
            let refused = self.get(path).await;
            assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path}");
            let told = super::text(refused).await;
            assert!(told.contains("is reserved") && told.contains("recorded as event"), "{told}");
            assert_eq!(self.head(path).await.status, StatusCode::FORBIDDEN, "{path}");
        }
        assert_eq!(self.recorded(), vec!["blocked"; paths.len()]);
        assert_eq!(self.upstream.asked(), Vec::<String>::new());
    }

    /// Forgets all lists.
    pub(crate) fn forget_lists(&self) {
        self.shelves.forget(&Selection::all());
    }

    /// From now on it is so many hours into the year 2026.
    pub(crate) fn set_hour(&self, hours: i64) {
        let at = Timestamp::from_micros(1_767_225_600_000_000).plus_seconds(hours * 3_600);
        self.plugin.ledger().set_now(at);
    }

    /// The names of what was recorded, in order.
    pub(crate) fn recorded(&self) -> Vec<&'static str> {
        names(&self.events())
    }

    /// Waits until a fact holds.
    pub(crate) async fn until(&self, what: &str, fact: impl Fn() -> bool) {
        until(|| self.events(), what, fact).await;
    }
}

/// Who asks, where nothing else is said.
fn ci() -> Caller {
    Caller::principal("ci", "ci")
}
