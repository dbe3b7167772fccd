//! Crates end to end, against an upstream in this process.

mod files;
mod lists;
mod outside;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use tempfile::TempDir;
use uuid::Uuid;
use weir_aggregates::registry::rule::RuleSet;
use weir_events::registry::{Ecosystem, Event, Rule};
use weir_log::lifecycle::Lifecycle;

use super::{Cargo, Config, testing::content};
use crate::{
    caller::Caller,
    outbound::{Limits, Outbound},
    registry::{
        answer::Answer,
        cache::FileCache,
        ledger::Ledger,
        plugin::{Asked, RegistryPlugin},
        policy::Policy,
        testing::{Canned, Fake, body, names, text, until},
    },
};

/// Where this Weir is for its clients.
const BASE: &str = "http://weir.example";

/// A registry with its own upstream, cache and rules.
struct Weir {
    cargo: Cargo<FileCache>,
    upstream: Fake,
    set_rules: Box<dyn Fn(RuleSet) + Send + Sync>,
    _root: TempDir,
}

impl Weir {
    async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    async fn start_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let lifecycle = Lifecycle::new();
        let upstream = Fake::start(&lifecycle).await;
        let mut config = Config::of(Some(upstream.url("/index")));
        adjust(&mut config);
        let root = tempfile::tempdir().unwrap();
        let (cache, _) = FileCache::open(root.path().to_owned(), 1 << 30).await.unwrap();
        let (policy, set_rules) = Policy::by_hand(RuleSet::default());
        let outbound = Outbound::new(Uuid::from_u128(1), Limits::default()).unwrap();
        let ledger = Ledger::in_memory_of(Ecosystem::Cargo);
        let cargo = Cargo::new(&config, policy, ledger, outbound, cache, &lifecycle).unwrap();
        let weir = Self { cargo, upstream, set_rules: Box::new(set_rules), _root: root };
        weir.dl(weir.upstream.url("/files").as_str());
        weir
    }

    /// Sets where the upstream says that its files are.
    fn dl(&self, dl: &str) {
        let config = serde_json::json!({ "dl": dl, "api": "https://unused.example" });
        self.upstream.put("/index/config.json", Canned::new(config.to_string()));
    }

    /// Puts a crate's list, and its files.
    fn publish(&self, name: &str, versions: &[&str]) {
        self.put_list(name, &super::testing::list(name, versions));
        for version in versions {
            self.upstream.put(&file_at(name, version), Canned::new(content(name, version)));
        }
    }

    fn put_list(&self, name: &str, list: &str) {
        self.upstream.put(&list_at(name), Canned::new(list.to_owned()));
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

    async fn ask(&self, method: Method, path: &str, headers: &[(HeaderName, &str)]) -> Answer {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect();
        let (headers, body) = (&headers, &Bytes::new());
        let asked = Asked { method: &method, path, query: None, headers, base: BASE, body };
        match self.cargo.parse_request(&asked) {
            Ok(request) => self.cargo.handle_request(request, &Caller::principal("ci", "ci")).await,
            Err(answer) => *answer,
        }
    }

    fn events(&self) -> Vec<Event> {
        self.cargo.gate.ledger().events()
    }

    /// The names of what was recorded, in order.
    fn recorded(&self) -> Vec<&'static str> {
        names(&self.events())
    }

    /// Waits until a file has been kept.
    async fn keeps(&self) {
        until(|| self.events(), "kept", || self.recorded().contains(&"stored")).await;
    }
}

/// Where a crate's list lies at the upstream.
fn list_at(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    format!("/index/{}/{name}", super::name::folder(&name))
}

/// Where the file of a version lies at the upstream.
fn file_at(name: &str, version: &str) -> String {
    format!("/files/{name}/{version}/download")
}
