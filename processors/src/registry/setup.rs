//! What every ecosystem is put together from.

use std::sync::Arc;

use weir_log::lifecycle::Lifecycle;

use super::{
    documents::{Documents, Keeping, Source},
    download::Bounds,
    go::sumdb::Named,
    ledger::Ledger,
    patience::Patience,
    policy::Policy,
    shelves::Shelves,
    stats::Counters,
};
use crate::outbound::{Outbound, Reach, ReachFault, Url};

/// How an ecosystem is served. Each has its own defaults.
#[derive(Debug, Clone)]
pub struct Config {
    /// The registry, or its index; without one, the ecosystem is disabled, and says so.
    pub upstream: Option<Url>,
    /// Origins of files that may stand inside a network, as the upstream itself may.
    pub trusted_origins: Vec<Url>,
    /// How lists are fetched and kept.
    pub keeping: Keeping,
    /// Bounds of downloads.
    pub bounds: Bounds,
    /// How much memory lists ready to be sent may take.
    pub max_rendered_bytes: u64,
    /// The checksum database behind the upstream, where the ecosystem has such.
    pub checksum_database: Option<Named>,
    /// Whether images with a name without `/` are under `library/` at the upstream.
    pub library_prefix: bool,
    /// Packages of whom no such database may hear, as patterns of `GOPRIVATE`.
    pub private: Vec<String>,
}

impl Config {
    /// What holds for most ecosystems.
    #[must_use]
    pub fn of(upstream: Option<Url>) -> Self {
        let (keeping, bounds) = (Keeping::default(), Bounds::default());
        Self {
            upstream,
            trusted_origins: Vec::new(),
            keeping,
            bounds,
            max_rendered_bytes: 48 << 20,
            checksum_database: None,
            library_prefix: true,
            private: Vec::new(),
        }
    }
}

/// What the ecosystems of a process share.
#[derive(Debug)]
pub struct Parts<'a, C> {
    /// The live rules.
    pub policy: Policy,
    /// The way into the log.
    pub ledger: Ledger,
    /// The way out.
    pub outbound: Outbound,
    /// Where files are kept.
    pub cache: C,
    /// Where lists are kept.
    pub shelves: Shelves,
    /// How long a request waits for a person.
    pub patience: Patience,
    /// What everything ends with.
    pub lifecycle: &'a Lifecycle,
}

impl<C> Parts<'_, C> {
    /// The lists of an upstream, if there is one. Refused when its address is none.
    pub fn lists<S: Source>(
        &self,
        config: &Config,
        keeping: Keeping,
        counters: &Arc<Counters>,
    ) -> Result<Option<Documents<S>>, ReachFault> {
        let Some(url) = &config.upstream else { return Ok(None) };
        let (reach, base) = Reach::of_upstream(url)?;
        let reach = reach.trusting(&config.trusted_origins);
        Ok(Some(self.lists_at(base, reach, keeping, counters)))
    }

    /// The lists below an address, which is asked only within the reach.
    pub fn lists_at<S: Source>(
        &self,
        base: Url,
        reach: Reach,
        keeping: Keeping,
        counters: &Arc<Counters>,
    ) -> Documents<S> {
        let (outbound, counters) = (self.outbound.clone(), Arc::clone(counters));
        let shelves = (self.ledger.ecosystem(), &self.shelves);
        Documents::new(base, reach, outbound, keeping, counters, shelves, self.lifecycle)
    }
}
