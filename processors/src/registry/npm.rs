//! npm packages, judged on their way through.
//!
//! `NAME` is the upstream's packument with the rules applied to it, in the full or the abbreviated
//! form; `NAME/-/FILE` a tarball, judged when it is served and verified by what its packument
//! promises. What the upstream has no word about is not served. Follows the npm registry's API as
//! npm, pnpm, yarn and bun speak it.

pub mod audit;
pub mod document;
pub mod filter;
pub mod name;
pub mod negotiate;
pub mod packuments;
pub mod render;
pub mod request;
pub mod search;
mod serve;
pub mod span;
pub mod tags;
pub mod told;
pub mod upstream;
pub mod voice;

use std::sync::Arc;

use http::StatusCode;
use tokio::sync::Semaphore;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use self::{
    document::Document,
    filter::{Filtered, filter},
    packuments::Pages,
    request::{Request, Target},
    upstream::Packuments,
    voice::Json,
};
use super::{
    answer::Answer,
    cache::{ArtifactCache, CacheKey},
    documents::{Documents, Keeping},
    gate::{Gate, Voice as _},
    plugin::{Asked, Bodies, RegistryPlugin},
    setup::{Config, Parts},
    stats::Counters,
};
use crate::{
    caller::Caller,
    outbound::{Outbound, ReachFault, Url},
};

/// The largest packument: the full ones of packages that publish every night have tens of megabytes.
const MAX_PACKUMENT_BYTES: u64 = 128 << 20;

/// How many questions about packages may be here at once, read or being read. Those that are here
/// are answered one after the other.
const MAX_QUESTIONS: usize = 16;

/// The defaults, for a registry.
#[must_use]
pub fn config(upstream: Option<Url>) -> Config {
    let keeping = Keeping { max_page_bytes: MAX_PACKUMENT_BYTES, ..Keeping::default() };
    Config { keeping, ..Config::of(upstream) }
}

/// npm packages.
#[derive(Debug)]
pub struct Npm<C> {
    registry: Option<Documents<Packuments>>,
    pages: Pages,
    gate: Gate<C, Json>,
    outbound: Outbound,
    /// A permit for each question about packages.
    questions: Arc<Semaphore>,
    auditing: Arc<Semaphore>,
}

impl<C: ArtifactCache> Npm<C> {
    /// Serves a registry. Refused when the registry's address is none.
    pub fn new(config: &Config, parts: Parts<'_, C>) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let registry = parts.lists(config, config.keeping, &counters)?;
        let pages = Pages::new(config.max_rendered_bytes, parts.lifecycle);
        let (outbound, auditing) = (parts.outbound.clone(), Arc::new(Semaphore::new(1)));
        let questions = Arc::new(Semaphore::new(MAX_QUESTIONS));
        let gate = Gate::new(parts, counters, config.bounds.clone());
        Ok(Self { registry, pages, gate, outbound, questions, auditing })
    }

    /// The cache of tarballs.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }
}

impl<C: ArtifactCache> RegistryPlugin for Npm<C> {
    type Request = Request;
    type Document = Document;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Npm
    }

    fn path_prefix(&self) -> &'static str {
        "/npm"
    }

    fn bodies(&self) -> Option<Bodies<'_>> {
        Some(Bodies { max_bytes: audit::MAX_BODY_BYTES, rooms: &self.questions })
    }

    fn say(&self, status: StatusCode, text: &str, reason: &str) -> Answer {
        Json::say(status, text, reason)
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
            Target::Tarball { name, file } => {
                CacheKey::new(Ecosystem::Npm, &name.judged(), file.as_str())
            }
            _ => None,
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

    use weir_aggregates::registry::dossier::Dossier;
    use weir_events::registry::{Ecosystem, Mask, Rule};

    use super::{document::Document, name::Name};
    use crate::outbound::Url;

    use crate::registry::testing::{dossier, rule_of};

    /// What rules say of a package.
    pub(crate) fn known(package: &str, given: &[Rule]) -> Arc<Dossier> {
        dossier(Ecosystem::Npm, package, 1, given)
    }

    /// The `n`-th rule of a test.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        rule_of(Ecosystem::Npm, n, package, versions, mask)
    }

    /// A packument of these versions; the last but one is `latest`, or the only one.
    pub(crate) fn packument(name: &str, versions: &[&str]) -> Document {
        let latest = versions[versions.len().saturating_sub(2)];
        let listed: Vec<_> = versions
            .iter()
            .map(|v| format!(r#""{v}":{{"dist":{{"tarball":"{name}-{v}.tgz"}}}}"#))
            .collect();
        let times: Vec<_> = versions.iter().map(|v| format!(r#""{v}":"x""#)).collect();
        let body = format!(
            r#"{{"dist-tags":{{"latest":"{latest}"}},"versions":{{{}}},"time":{{"created":"x","modified":"x",{}}}}}"#,
            listed.join(","),
            times.join(",")
        );
        let url = Url::parse("https://registry.example/x").unwrap();
        Document::read(&Name::new(name).unwrap(), &url, body.as_bytes()).unwrap()
    }
}
