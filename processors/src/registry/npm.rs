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
pub mod upstream;
pub mod voice;

use std::sync::Arc;

use tokio::sync::Semaphore;
use weir_aggregates::registry::rule::RuleSet;
use weir_events::registry::Ecosystem;
use weir_log::lifecycle::Lifecycle;

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
    cache::{CacheKey, CachePlugin},
    documents::{Documents, Keeping},
    download::Bounds,
    gate::Gate,
    ledger::Ledger,
    plugin::{Asked, RegistryPlugin},
    policy::Policy,
    stats::{Counters, Stats},
};
use crate::{
    caller::Caller,
    outbound::{Outbound, Reach, ReachFault, Url},
};

/// The largest packument: the full ones of packages that publish every night have tens of megabytes.
const MAX_PACKUMENT_BYTES: u64 = 128 << 20;

/// How npm packages are served.
#[derive(Debug, Clone)]
pub struct Config {
    /// The registry; without one, the ecosystem is disabled, and says so.
    pub upstream: Option<Url>,
    /// Origins of tarballs that may stand inside a network, as the registry itself may.
    pub trusted_origins: Vec<Url>,
    /// How packuments are fetched and kept.
    pub keeping: Keeping,
    /// Bounds of downloads.
    pub bounds: Bounds,
    /// How much memory packuments ready to be sent may take.
    pub max_rendered_bytes: u64,
}

impl Config {
    /// The defaults, for a registry.
    #[must_use]
    pub fn of(upstream: Option<Url>) -> Self {
        let keeping = Keeping { max_page_bytes: MAX_PACKUMENT_BYTES, ..Keeping::default() };
        let (bounds, trusted_origins) = (Bounds::default(), Vec::new());
        Self { upstream, trusted_origins, keeping, bounds, max_rendered_bytes: 48 << 20 }
    }
}

/// npm packages.
#[derive(Debug)]
pub struct Npm<C> {
    registry: Option<Documents<Packuments>>,
    pages: Pages,
    gate: Gate<C, Json>,
    outbound: Outbound,
    auditing: Semaphore,
}

impl<C: CachePlugin> Npm<C> {
    /// Serves a registry. Refused when the registry's address is none.
    pub fn new(
        config: &Config,
        policy: Policy,
        ledger: Ledger,
        outbound: Outbound,
        cache: C,
        lifecycle: &Lifecycle,
    ) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let registry = |url| {
            let (reach, base) = Reach::of_upstream(url)?;
            let (reach, counters) =
                (reach.trusting(&config.trusted_origins), Arc::clone(&counters));
            let (outbound, keeping) = (outbound.clone(), config.keeping);
            Ok(Documents::new(base, reach, outbound, keeping, counters, lifecycle))
        };
        let registry = config.upstream.as_ref().map(registry).transpose()?;
        let pages = Pages::new(config.max_rendered_bytes, lifecycle);
        let gate =
            Gate::new(policy, ledger, outbound.clone(), cache, counters, config.bounds, lifecycle);
        Ok(Self { registry, pages, gate, outbound, auditing: Semaphore::new(1) })
    }

    /// The cache of tarballs.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }

    /// The live rules.
    pub const fn policy(&self) -> &Policy {
        self.gate.policy()
    }
}

impl<C: CachePlugin> RegistryPlugin for Npm<C> {
    type Request = Request;
    type Document = Document;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Npm
    }

    fn path_prefix(&self) -> &'static str {
        "/npm"
    }

    fn max_body_bytes(&self) -> usize {
        audit::MAX_BODY_BYTES
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
            Target::Tarball { name, file } => {
                CacheKey::new(Ecosystem::Npm, &name.judged(), file.as_str())
            }
            _ => None,
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

    use super::{document::Document, name::Name};
    use crate::outbound::Url;

    /// The `n`-th rule of a test.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        Rule {
            id: uuid::Uuid::from_u128(0x019a_0000_0000_7000_8000_0000_0000_0000 + n).to_string(),
            ecosystem: Ecosystem::Npm,
            package: package.to_owned(),
            versions: versions.to_owned(),
            reason: "too young".to_owned(),
            mask,
        }
    }

    pub(crate) fn rules(rules: &[Rule]) -> RuleSet {
        RuleSet::compile(1, rules)
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
