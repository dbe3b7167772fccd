//! Rust crates over a sparse index, judged on their way through.
//!
//! `PREFIX/CRATE` is the upstream's list of a crate with the rules applied to it, line by line; a line
//! is left out or passed on byte for byte, and marking one changes its `yanked` alone.
//! `crates/CRATE/VERSION/download` is a crate's file, judged when it is served. Nothing is published
//! and nothing is searched here.
//!
//! Follows the Cargo Book, "Registry Index" and "Running a Registry".

pub mod document;
pub mod filter;
pub mod lists;
pub mod name;
pub mod request;
mod serve;
pub mod template;
pub mod upstream;

use std::sync::Arc;

use http::{HeaderValue, StatusCode};
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use self::{
    document::Document,
    filter::{Filtered, filter},
    lists::Lists,
    request::{Request, Target},
    upstream::{Index, Settings},
};
use super::{
    answer::Answer,
    cache::{ArtifactCache, CacheKey},
    documents::{Documents, Keeping},
    gate::{Gate, Plain, Voice as _},
    plugin::{Asked, RegistryPlugin},
    setup::{Config, Parts},
    stats::Counters,
};
use crate::{
    caller::Caller,
    outbound::{ReachFault, Url},
};

/// Where the ecosystem's addresses begin.
pub const PREFIX: &str = "/cargo";

/// The defaults, for a sparse index: the folder of its `config.json`, as `https://index.example/`.
#[must_use]
pub fn config(upstream: Option<Url>) -> Config {
    // Lists of crates are small: the largest have a few MiB.
    let keeping = Keeping { max_bytes: 64 << 20, ..Keeping::default() };
    Config { keeping, max_rendered_bytes: 24 << 20, ..Config::of(upstream) }
}

/// Rust crates.
#[derive(Debug)]
pub struct Cargo<C> {
    upstream: Option<Upstream>,
    lists: Lists,
    gate: Gate<C, Plain>,
}

/// What is asked of the upstream: its lists, and where its files are.
#[derive(Debug)]
struct Upstream {
    index: Documents<Index>,
    settings: Documents<Settings>,
}

impl<C: ArtifactCache> Cargo<C> {
    /// Serves an index. Refused when the index's address is none.
    pub fn new(config: &Config, parts: Parts<'_, C>) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let small = Keeping { max_page_bytes: 64 << 10, max_bytes: 1 << 20, ..config.keeping };
        let index = parts.lists(config, config.keeping, &counters)?;
        let settings = parts.lists(config, small, &counters)?;
        let upstream = index.zip(settings).map(|(index, settings)| Upstream { index, settings });
        let lists = Lists::new(config.max_rendered_bytes, parts.lifecycle);
        Ok(Self { upstream, lists, gate: Gate::new(parts, counters, config.bounds.clone()) })
    }

    /// The cache of files.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }
}

impl<C: ArtifactCache> RegistryPlugin for Cargo<C> {
    type Request = Request;
    type Document = Document;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Cargo
    }

    fn path_prefix(&self) -> &'static str {
        PREFIX
    }

    fn challenge(&self, base: &str) -> HeaderValue {
        // Where a person finds a token; cargo shows it to who has to log in.
        HeaderValue::try_from(format!("Cargo login_url=\"{base}/\""))
            .unwrap_or(HeaderValue::from_static("Cargo"))
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

    fn filter_metadata(&self, document: &Document, dossier: &Dossier) -> Filtered {
        filter(document, dossier)
    }

    fn cache_key(&self, request: &Request) -> Option<CacheKey> {
        match &request.target {
            Target::Config { .. } | Target::List { .. } => None,
            Target::File { name, version, .. } => document::key_of(name, version),
        }
    }

    fn counters(&self) -> &Counters {
        self.gate.counters()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Arc;

    use bytes::Bytes;
    use sha2::{Digest as _, Sha256};
    use weir_aggregates::registry::dossier::Dossier;
    use weir_events::registry::{Ecosystem, Mask, Rule};

    use super::{document::Document, name::Name};

    use crate::registry::testing::{dossier, rule_of};

    /// What rules say of a package.
    pub(crate) fn known(package: &str, given: &[Rule]) -> Arc<Dossier> {
        dossier(Ecosystem::Cargo, package, 1, given)
    }

    /// The `n`-th rule of a test.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        rule_of(Ecosystem::Cargo, n, package, versions, mask)
    }

    /// What the file of a version holds.
    pub(crate) fn content(name: &str, version: &str) -> Vec<u8> {
        format!("the content of {name} {version}").into_bytes()
    }

    /// A line as an index writes it, with a member that nobody knows.
    pub(crate) fn line(name: &str, version: &str, yanked: bool) -> String {
        let cksum = hex::encode(Sha256::digest(content(name, version)));
        format!(
            r#"{{"name":"{name}","vers":"{version}","deps":[],"cksum":"{cksum}","features":{{}},"yanked":{yanked},"x_new": 1.0e2 }}"#
        )
    }

    /// A list of these versions.
    pub(crate) fn list(name: &str, versions: &[&str]) -> String {
        versions.iter().map(|version| line(name, version, false) + "\n").collect()
    }

    pub(crate) fn read(name: &str, text: &str) -> Document {
        let name = Name::new(name).unwrap();
        super::document::parse(&name, &Bytes::copy_from_slice(text.as_bytes())).unwrap()
    }
}
