//! npm packages end to end, against an upstream in this process.

mod beside;
mod outside;
mod packages;
mod registry;
mod tarballs;
mod trust;

use std::sync::Arc;

use http::Method;
use serde_json::Value;
use weir_events::registry::{Ecosystem, Event};

use self::registry::{Registry, content, integrity};
use super::Npm;
use crate::{
    outbound::{ReachFault, Url},
    registry::{
        answer::{Answer, Body},
        cache::FileCache,
        ledger::Ledger,
        plugin::RegistryPlugin,
        setup::{Config, Parts},
        testing::{Canned, INSTANCE, Tested, World, body, text},
    },
};

/// A registry with its own upstream, cache and rules.
type Weir = World<Npm<FileCache>>;

impl Tested for Npm<FileCache> {
    const ECOSYSTEM: Ecosystem = Ecosystem::Npm;
    const LISTS: &'static str = "/registry";

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
    async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&text(self.get(path).await).await).unwrap()
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
