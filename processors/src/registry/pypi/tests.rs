//! Python packages end to end, against an upstream in this process.

mod files;
mod index;
mod outside;
mod pages;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tempfile::TempDir;
use uuid::Uuid;
use weir_aggregates::registry::rule::RuleSet;
use weir_events::registry::{Event, Rule};
use weir_log::lifecycle::Lifecycle;

pub(super) use self::index::{Index, content};
use super::{Config, Pypi};
use crate::{
    caller::Caller,
    outbound::{Limits, Outbound, Url},
    registry::{
        answer::{Answer, Body},
        cache::FileCache,
        ledger::Ledger,
        plugin::{Asked, RegistryPlugin},
        policy::Policy,
        testing::{Canned, Fake, body, names, text},
    },
};

/// Who we are to upstreams.
const INSTANCE: Uuid = Uuid::from_u128(0x1_2345);

/// A registry with its own upstream, cache and rules.
struct Weir {
    pypi: Arc<Pypi<FileCache>>,
    upstream: Fake,
    set_rules: Box<dyn Fn(RuleSet) + Send + Sync>,
    outbound: Outbound,
    lifecycle: Lifecycle,
    _root: TempDir,
}

impl Weir {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let lifecycle = Lifecycle::new();
        let upstream = Fake::start(&lifecycle).await;
        let mut config = Config::of(Some(upstream.url("/simple")));
        adjust(&mut config);
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = FileCache::open(root.path().to_owned(), 1 << 30).await.unwrap();
        let (policy, set_rules) = Policy::by_hand(RuleSet::default());
        let outbound = Outbound::new(INSTANCE, Limits::default()).unwrap();
        let ledger = Ledger::in_memory();
        let pypi = Pypi::new(&config, policy, ledger, outbound.clone(), cache, &lifecycle).unwrap();
        Self {
            pypi: Arc::new(pypi),
            upstream,
            set_rules: Box::new(set_rules),
            outbound,
            lifecycle,
            _root: root,
        }
    }

    /// Sets the rules, as of a revision.
    fn rules(&self, revision: i64, rules: &[Rule]) {
        (self.set_rules)(RuleSet::compile(revision, rules));
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[]).await
    }

    async fn head(&self, path: &str) -> Answer {
        self.ask(Method::HEAD, path, &[]).await
    }

    async fn get_with(&self, path: &str, name: HeaderName, value: &str) -> Answer {
        self.ask(Method::GET, path, &[(name, value)]).await
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(HeaderName, &str)]) -> Answer {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let (base, body) = ("", &Bytes::new());
        let asked = Asked { method: &method, path, query, headers: &headers, base, body };
        match self.pypi.parse_request(&asked) {
            Ok(request) => self.pypi.handle_request(request, &Caller::principal("ci", "ci")).await,
            Err(answer) => *answer,
        }
    }

    fn events(&self) -> Vec<Event> {
        self.pypi.gate.ledger().events()
    }

    /// The names of what was recorded, in order.
    fn recorded(&self) -> Vec<&'static str> {
        names(&self.events())
    }
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}
