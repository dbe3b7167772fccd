//! Go modules, judged on their way through a module proxy.
//!
//! `MODULE/@v/list` is the upstream's list without the versions that are hidden or marked;
//! `@v/VERSION.info` and `@v/VERSION.zip` are refused where the version is; `@v/VERSION.mod` is not,
//! for old graphs of modules cannot be read without it. A zip is verified by the checksum database
//! before it is kept, and never written anew. What the database says is passed on byte for byte.
//!
//! Follows the Go Modules Reference, "GOPROXY protocol", and the checksum database's protocol.

pub mod dates;
pub mod document;
pub mod filter;
pub mod lists;
pub mod module;
pub mod request;
mod serve;
pub mod sumdb;
pub mod upstream;
pub mod zip;

use std::sync::Arc;

use http::StatusCode;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use self::{
    dates::Dates,
    document::List,
    filter::{Filtered, filter},
    lists::Lists,
    request::{Request, Target},
    sumdb::Database,
    upstream::{Infos, Mods, Versions},
};
use super::{
    answer::Answer,
    cache::{ArtifactCache, CacheKey},
    documents::{Documents, Keeping},
    download::Bounds,
    gate::{Gate, Plain, Voice as _},
    plugin::{Asked, RegistryPlugin},
    setup::{Config, Parts},
    stats::Counters,
};
use crate::{
    caller::Caller,
    outbound::{ReachFault, Url},
};

/// The defaults, for a module proxy: `https://proxy.example/`.
#[must_use]
pub fn config(upstream: Option<Url>) -> Config {
    // Lists are a few kilobytes, and go.mod files at most 16 MiB (as the go command has it).
    let keeping = Keeping { max_page_bytes: 16 << 20, max_bytes: 64 << 20, ..Keeping::default() };
    let bounds = Bounds { max_bytes: zip::MAX_ZIP_BYTES, ..Bounds::default() };
    Config { keeping, bounds, max_rendered_bytes: 8 << 20, ..Config::of(upstream) }
}

/// Go modules.
#[derive(Debug)]
pub struct Go<C> {
    upstream: Option<Upstream>,
    lists: Lists,
    gate: Gate<C, Plain>,
}

/// What is asked of the upstream.
#[derive(Debug)]
struct Upstream {
    versions: Documents<Versions>,
    infos: Documents<Infos>,
    dates: Dates,
    mods: Documents<Mods>,
    database: Option<Database>,
}

impl<C: ArtifactCache> Go<C> {
    /// Serves a module proxy. Refused when the proxy's address is none.
    pub fn new(config: &Config, parts: Parts<'_, C>) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let small = Keeping { max_page_bytes: 1 << 20, max_bytes: 16 << 20, ..config.keeping };
        let versions = parts.lists(config, small, &counters)?;
        let infos = parts.lists(config, small, &counters)?;
        let mods = parts.lists(config, config.keeping, &counters)?;
        let database = match &config.checksum_database {
            Some(named) => Database::new(named, &config.private, config, &parts, &counters)?,
            None => None,
        };
        let upstream = versions.zip(infos).zip(mods).map(|((versions, infos), mods)| Upstream {
            versions,
            dates: Dates::new(infos.clone(), parts.lifecycle),
            infos,
            mods,
            database,
        });
        let lists = Lists::new(config.max_rendered_bytes, parts.lifecycle);
        Ok(Self { upstream, lists, gate: Gate::new(parts, counters, config.bounds.clone()) })
    }

    /// The cache of zips.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }
}

impl<C: ArtifactCache> RegistryPlugin for Go<C> {
    type Request = Request;
    type Document = List;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Go
    }

    fn path_prefix(&self) -> &'static str {
        "/go"
    }

    fn say(&self, status: StatusCode, text: &str, reason: &str) -> Answer {
        Plain::say(status, text, reason)
    }

    fn parse_request(&self, asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
        request::parse(asked)
    }

    async fn handle_request(&self, request: Request, caller: &Caller) -> Answer {
        self.answered(request, caller).await
    }

    fn filter_metadata(&self, document: &List, dossier: &Dossier) -> Filtered {
        filter(document, dossier, None)
    }

    fn cache_key(&self, request: &Request) -> Option<CacheKey> {
        match &request.target {
            Target::Zip { module, version } => document::key_of(module, version),
            _ => None,
        }
    }

    fn counters(&self) -> &Counters {
        self.gate.counters()
    }
}

#[cfg(test)]
mod tests;
