//! npm packages end to end, against an upstream in this process.

mod beside;
mod outside;
mod packages;
mod registry;
mod tarballs;

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;
use weir_aggregates::registry::rule::RuleSet;
use weir_events::registry::{Ecosystem, Event, Rule};
use weir_log::lifecycle::Lifecycle;

use self::registry::{Registry, content, integrity};
use super::{Config, Npm};
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

/// Who we are to clients.
const BASE: &str = "https://weir.example";

/// A registry with its own upstream, cache and rules.
struct Weir {
    npm: Arc<Npm<FileCache>>,
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
        let mut config = Config::of(Some(upstream.url("/registry")));
        adjust(&mut config);
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = FileCache::open(root.path().to_owned(), 1 << 30).await.unwrap();
        let (policy, set_rules) = Policy::by_hand(RuleSet::default());
        let outbound = Outbound::new(INSTANCE, Limits::default()).unwrap();
        let ledger = Ledger::in_memory_of(Ecosystem::Npm);
        let npm = Npm::new(&config, policy, ledger, outbound.clone(), cache, &lifecycle).unwrap();
        let set_rules = Box::new(set_rules);
        Self { npm: Arc::new(npm), upstream, set_rules, outbound, lifecycle, _root: root }
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
        self.send(method, path, headers, Bytes::new()).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, &str)],
        body: Bytes,
    ) -> Answer {
        let (path, query) = path.split_once('?').map_or((path, None), |(p, q)| (p, Some(q)));
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let asked =
            Asked { method: &method, path, query, headers: &headers, base: BASE, body: &body };
        match self.npm.parse_request(&asked) {
            Ok(request) => self.npm.handle_request(request, &Caller::principal("ci", "ci")).await,
            Err(answer) => *answer,
        }
    }

    async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&text(self.get(path).await).await).unwrap()
    }

    fn events(&self) -> Vec<Event> {
        self.npm.gate.ledger().events()
    }

    /// The names of what was recorded, in order.
    fn recorded(&self) -> Vec<&'static str> {
        names(&self.events())
    }

    /// Waits until a fact holds.
    async fn until(&self, what: &str, fact: impl Fn() -> bool) {
        crate::registry::testing::until(|| self.events(), what, fact).await;
    }
}

/// What a refusal says to npm.
async fn error(answer: Answer) -> String {
    let body: Value = serde_json::from_str(&text(answer).await).unwrap();
    body["error"].as_str().unwrap().to_owned()
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}
