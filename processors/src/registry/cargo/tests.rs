//! Crates end to end, against an upstream in this process.

mod files;
mod lists;
mod outside;

use http::Method;
use weir_events::registry::{Ecosystem, Event};

use super::{Cargo, testing::content};
use crate::{
    outbound::ReachFault,
    registry::{
        cache::FileCache,
        ledger::Ledger,
        plugin::RegistryPlugin,
        setup::{Config, Parts},
        testing::{Canned, INSTANCE, Tested, World, body, text},
    },
};

/// A registry with its own upstream, cache and rules.
type Weir = World<Cargo<FileCache>>;

impl Tested for Cargo<FileCache> {
    const ECOSYSTEM: Ecosystem = Ecosystem::Cargo;
    const LISTS: &'static str = "/index";

    fn defaults(config: Config) -> Config {
        super::config(config.upstream)
    }

    fn made(config: &Config, parts: Parts<'_, FileCache>) -> Result<Self, ReachFault> {
        Self::new(config, parts)
    }

    fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }
}

impl Weir {
    /// One whose upstream says where its files are.
    async fn open() -> Self {
        Self::open_with(|_| {}).await
    }

    async fn open_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let weir = Self::start_with(adjust).await;
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

    /// Waits until a file has been kept.
    async fn keeps(&self) {
        self.until("kept", || self.recorded().contains(&"stored")).await;
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
