//! Python packages over the simple API, judged on their way through.
//!
//! `simple/PROJECT/` is the upstream's page with the rules applied to it, `files/PROJECT/FILE` a
//! file, judged when it is served. What the upstream has no word about is not served; there is no
//! list of all projects.

pub mod document;
pub mod filename;
pub mod filter;
pub mod html;
pub mod json;
pub mod negotiate;
pub mod pages;
pub mod render;
pub mod request;
mod serve;
pub mod upstream;

use std::sync::Arc;

use weir_aggregates::registry::rule::RuleSet;
use weir_events::registry::Ecosystem;
use weir_log::lifecycle::Lifecycle;

use self::{
    document::Document,
    filter::{Filtered, filter},
    pages::Pages,
    request::{Request, Target},
    upstream::Simple,
};
use super::{
    answer::Answer,
    cache::{CacheKey, CachePlugin},
    documents::{Documents, Keeping},
    download::Bounds,
    gate::{Gate, Plain},
    ledger::Ledger,
    plugin::{Asked, RegistryPlugin},
    policy::Policy,
    stats::{Counters, Stats},
};
use crate::{
    caller::Caller,
    outbound::{Outbound, Reach, ReachFault, Url},
};

/// How Python packages are served.
#[derive(Debug, Clone)]
pub struct Config {
    /// The index, as `https://index.example/simple/`; without one, the ecosystem is disabled, and
    /// says so.
    pub upstream: Option<Url>,
    /// Origins of files that may stand inside a network, as the index itself may.
    pub trusted_origins: Vec<Url>,
    /// How pages are fetched and kept.
    pub keeping: Keeping,
    /// Bounds of downloads.
    pub bounds: Bounds,
    /// How much memory pages ready to be sent may take.
    pub max_rendered_bytes: u64,
}

impl Config {
    /// The defaults, for an index.
    #[must_use]
    pub fn of(upstream: Option<Url>) -> Self {
        let (keeping, bounds) = (Keeping::default(), Bounds::default());
        let trusted_origins = Vec::new();
        Self { upstream, trusted_origins, keeping, bounds, max_rendered_bytes: 48 << 20 }
    }
}

/// Python packages.
#[derive(Debug)]
pub struct Pypi<C> {
    index: Option<Documents<Simple>>,
    pages: Pages,
    gate: Gate<C, Plain>,
}

impl<C: CachePlugin> Pypi<C> {
    /// Serves an index. Refused when the index's address is none.
    pub fn new(
        config: &Config,
        policy: Policy,
        ledger: Ledger,
        outbound: Outbound,
        cache: C,
        lifecycle: &Lifecycle,
    ) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let index = |url| {
            let (reach, base) = Reach::of_upstream(url)?;
            let (reach, counters) =
                (reach.trusting(&config.trusted_origins), Arc::clone(&counters));
            let (outbound, keeping) = (outbound.clone(), config.keeping);
            Ok(Documents::new(base, reach, outbound, keeping, counters, lifecycle))
        };
        let index = config.upstream.as_ref().map(index).transpose()?;
        let pages = Pages::new(config.max_rendered_bytes, lifecycle);
        let gate = Gate::new(policy, ledger, outbound, cache, counters, config.bounds, lifecycle);
        Ok(Self { index, pages, gate })
    }

    /// The cache of files.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }

    /// The live rules.
    pub const fn policy(&self) -> &Policy {
        self.gate.policy()
    }
}

impl<C: CachePlugin> RegistryPlugin for Pypi<C> {
    type Request = Request;
    type Document = Document;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Pypi
    }

    fn path_prefix(&self) -> &'static str {
        "/pypi"
    }

    fn parse_request(&self, asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
        request::parse(asked).inspect_err(|answer| self.gate.counters().answered(answer.status))
    }

    async fn handle_request(&self, request: Request, caller: &Caller) -> Answer {
        let answer = self.answer(request, caller).await;
        self.gate.counters().answered(answer.status);
        answer
    }

    fn filter_metadata(&self, document: &Document, rules: &RuleSet) -> Filtered {
        filter(document, rules)
    }

    fn cache_key(&self, request: &Request) -> Option<CacheKey> {
        match &request.target {
            Target::Page { .. } => None,
            Target::File { project, filename, .. } => {
                CacheKey::new(Ecosystem::Pypi, project.as_str(), filename.as_str())
            }
        }
    }

    fn stats(&self) -> Stats {
        self.gate.counters().stats()
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) mod testing {
    use weir_aggregates::registry::rule::RuleSet;
    use weir_events::registry::{Ecosystem, Mask, Rule};

    use super::{document::Document, filename::Project, json};
    use crate::outbound::Url;

    /// The `n`-th rule of a test.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        Rule {
            id: uuid::Uuid::from_u128(0x019a_0000_0000_7000_8000_0000_0000_0000 + n).to_string(),
            ecosystem: Ecosystem::Pypi,
            package: package.to_owned(),
            versions: versions.to_owned(),
            reason: "too young".to_owned(),
            mask,
        }
    }

    pub(crate) fn rules(rules: &[Rule]) -> RuleSet {
        RuleSet::compile(1, rules)
    }

    /// A page with one source distribution a version.
    pub(crate) fn page(project: &str, versions: &[&str]) -> Document {
        let files: Vec<_> = versions.iter().map(|v| format!("{project}-{v}.tar.gz")).collect();
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        let mut page = page_of(project, &files);
        page.versions = Some(versions.iter().map(|&version| version.to_owned()).collect());
        page
    }

    /// A page with these files.
    pub(crate) fn page_of(project: &str, files: &[&str]) -> Document {
        let files: Vec<_> =
            files.iter().map(|name| serde_json::json!({"filename": name, "url": name})).collect();
        let body = serde_json::json!({"files": files}).to_string();
        let project = Project::new(project).unwrap();
        let url = Url::parse("https://index.example/simple/x/").unwrap();
        json::parse(&project, &url, body.as_bytes()).unwrap()
    }
}
