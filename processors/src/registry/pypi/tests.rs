//! Python packages end to end, against an upstream in this process.

mod ages;
mod files;
mod index;
mod kept;
mod licences;
mod outside;
mod pages;
mod quotas;
mod races;

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::Method;
use weir_events::registry::Ecosystem;

pub(super) use self::index::{Index, content};
use super::Pypi;
use crate::{
    outbound::{ReachFault, Url},
    registry::{
        answer::Body,
        cache::FileCache,
        ledger::Ledger,
        plugin::RegistryPlugin,
        setup::{Config, Parts},
        testing::{Canned, INSTANCE, Tested, World, body, text},
    },
};

/// A registry with its own upstream, cache and rules.
type Weir = World<Pypi<FileCache>>;

impl Tested for Pypi<FileCache> {
    const ECOSYSTEM: Ecosystem = Ecosystem::Pypi;
    const LISTS: &'static str = "/simple";

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

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}
