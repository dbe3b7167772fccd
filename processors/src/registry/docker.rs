//! Container images, judged on their way through.
//!
//! `NAME/manifests/TAG` is whatever the tag means at the upstream now, `NAME/manifests/DIGEST` and
//! `NAME/blobs/DIGEST` are what has that digest, verified by it, and `NAME/tags/list` the tags
//! without those that are blocked. Nothing is pushed here.
//!
//! What is said of a tag holds for everything behind it. A manifest is judged by its own digest and
//! by the tags and indexes it was seen under ([`kin`]); one that was asked for by digest, and seen
//! under none, passes only after a look behind the tags and digests that are blocked, and the indexes
//! in what is behind them; and not where more leads to it than is looked at. One way to it that passes
//! is enough: a tag is a name, and another name for the same image is another one. A blob passes with a
//! manifest that names it and was seen here, and with nothing else. Every manifest and every blob that
//! leaves is on record with the tag or digest by which it passed.
//!
//! To a client that takes no index, a tag means one of the images of what it means to others, or one that
//! was made for such clients; and which one is told by itself, so it may be older or newer. One that is not
//! named by what the tag means to others is given to nobody who asks by that tag, or by its digest for the
//! sake of that tag, while it cannot be known whether it stands in an index that is forbidden by its digest:
//! where too many digests are blocked to be looked behind, or the upstream does not show one of them, or
//! fails. This is closed on purpose, though nothing is said against the tag. Clients that take indexes get
//! what the tag means to them all the same.
//!
//! Follows the distribution specification of the Open Container Initiative.

pub mod kin;
pub mod manifest;
pub mod name;
pub mod read;
pub mod request;
mod serve;
pub mod tags;
pub mod upstream;
pub mod voice;

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use self::{
    kin::Kin,
    read::Manifests,
    request::{Request, Target},
    tags::{Filtered, filter},
    upstream::{Heads, Lists, Tags, root},
    voice::Errors,
};
use super::{
    answer::Answer,
    cache::{ArtifactCache, CacheKey},
    documents::{Documents, Keeping},
    download::{Bounds, Downloads},
    gate::{Gate, Voice as _},
    plugin::{Asked, RegistryPlugin},
    setup::{Config, Parts},
    stats::Counters,
};
use crate::{
    caller::Caller,
    outbound::{Reach, ReachFault, Url, tokens::Tokens},
};

/// Where the ecosystem's addresses begin: at the root, where clients look for them.
pub const PREFIX: &str = "/v2";

/// The defaults, for a registry.
#[must_use]
pub fn config(upstream: Option<Url>) -> Config {
    let keeping = Keeping {
        ttl: Duration::from_hours(1),
        max_page_bytes: 16 << 20,
        max_bytes: 64 << 20,
        ..Keeping::default()
    };
    // Layers are large.
    let kept_for = Some(Duration::from_hours(1));
    let bounds = Bounds { max_bytes: 64 << 30, kept_for, ..Bounds::default() };
    Config { keeping, bounds, ..Config::of(upstream) }
}

/// Container images.
#[derive(Debug)]
pub struct Docker<C> {
    upstream: Option<Upstream>,
    /// The ways manifests come, with bounds of their own.
    manifests: Downloads<C>,
    gate: Gate<C, Errors>,
    kin: Kin,
    read: Manifests,
    /// Whether the upstream has what has a name without `/` under `library/`.
    library_prefix: bool,
}

/// What is asked of the upstream.
#[derive(Debug)]
struct Upstream {
    heads: Documents<Heads>,
    /// The same of digests. That there is none is believed for as long as what a tag means: behind many
    /// that are blocked, every repository is looked for all of them.
    digests: Documents<Heads>,
    lists: Documents<Lists>,
    /// Where content may come from: it is verified by its digest, so from everywhere public.
    content: Reach,
    /// The hosts it stands for.
    namespaces: Vec<String>,
}

impl<C: ArtifactCache + Clone> Docker<C> {
    /// Serves a registry. Refused when its address is none.
    pub fn new(config: &Config, parts: Parts<'_, C>) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let upstream = match &config.upstream {
            Some(url) => Some(Upstream::new(url, config, &parts, &counters)?),
            None => None,
        };
        let gate = Gate::new(parts, counters, config.bounds.clone());
        let manifests = gate.downloads().bounded(Bounds {
            max_bytes: manifest::MAX_BYTES,
            time: config.keeping.bound,
            ..config.bounds.clone()
        });
        let (kin, read, library_prefix) =
            (Kin::default(), Manifests::default(), config.library_prefix);
        Ok(Self { upstream, manifests, gate, kin, read, library_prefix })
    }
}

impl<C: ArtifactCache> Docker<C> {
    /// The cache of manifests and blobs.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }
}

impl Upstream {
    fn new<C>(
        url: &Url,
        config: &Config,
        parts: &Parts<'_, C>,
        counters: &Arc<Counters>,
    ) -> Result<Self, ReachFault> {
        let (reach, base) = Reach::of_upstream(url)?;
        let tokens = Arc::new(Tokens::below(root(&base)));
        let reach = reach.trusting(&config.trusted_origins).relaying(tokens);
        let content = reach.clone().and_public();
        let named = config.trusted_origins.iter().chain([&base]);
        let namespaces = named.filter_map(namespace).collect();
        let heads = parts.lists_at(base.clone(), reach.clone(), config.keeping, counters);
        let negative_ttl = config.keeping.negative_ttl.max(config.keeping.ttl);
        let keeping = Keeping { negative_ttl, ..config.keeping };
        let digests = parts.lists_at(base.clone(), reach.clone(), keeping, counters);
        let lists = parts.lists_at(base, reach, config.keeping, counters);
        Ok(Self { heads, digests, lists, content, namespaces })
    }
}

/// A host with its port, as clients name a registry.
fn namespace(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
}

impl<C: ArtifactCache> RegistryPlugin for Docker<C> {
    type Request = Request;
    type Document = Tags;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Docker
    }

    fn path_prefix(&self) -> &'static str {
        PREFIX
    }

    fn say(&self, status: StatusCode, text: &str, reason: &str) -> Answer {
        Errors::say(status, text, reason)
    }

    fn parse_request(&self, asked: &Asked<'_>) -> Result<Request, Box<Answer>> {
        let request = request::parse(asked)?;
        Ok(if self.library_prefix {
            Request { target: request.target.in_library(), ..request }
        } else {
            request
        })
    }

    async fn handle_request(&self, request: Request, caller: &Caller) -> Answer {
        self.answered(request, caller).await
    }

    fn filter_metadata(&self, document: &Tags, dossier: &Dossier) -> Filtered {
        filter(document, dossier)
    }

    fn cache_key(&self, request: &Request) -> Option<CacheKey> {
        match &request.target {
            Target::Manifest { name, reference: name::Reference::Digest(digest) }
            | Target::Blob { name, digest } => serve::artifact::key_of(name, *digest),
            _ => None,
        }
    }

    fn counters(&self) -> &Counters {
        self.gate.counters()
    }
}

#[cfg(test)]
mod tests;
