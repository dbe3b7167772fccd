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
mod licence;
pub mod negotiate;
pub mod pages;
pub mod render;
pub mod request;
mod serve;
pub mod told;
pub mod upstream;

use std::sync::Arc;

use http::StatusCode;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use self::{
    document::Document,
    filter::{Filtered, filter},
    pages::Pages,
    request::{Request, Target},
    upstream::Simple,
};
use super::{
    answer::Answer,
    cache::{ArtifactCache, CacheKey},
    documents::Documents,
    gate::{Gate, Plain, Voice as _},
    plugin::{Asked, RegistryPlugin},
    setup::{Config, Parts},
    stats::Counters,
};
use crate::{
    caller::Caller,
    outbound::{ReachFault, Url},
};

/// The defaults, for an index, as `https://index.example/simple/`.
#[must_use]
pub fn config(upstream: Option<Url>) -> Config {
    Config::of(upstream)
}

/// Python packages.
#[derive(Debug)]
pub struct Pypi<C> {
    index: Option<Documents<Simple>>,
    pages: Pages,
    gate: Gate<C, Plain>,
}

impl<C: ArtifactCache> Pypi<C> {
    /// Serves an index. Refused when the index's address is none.
    pub fn new(config: &Config, parts: Parts<'_, C>) -> Result<Self, ReachFault> {
        let counters = Arc::new(Counters::default());
        let index = parts.lists(config, config.keeping, &counters)?;
        let pages = Pages::new(config.max_rendered_bytes, parts.lifecycle);
        Ok(Self { index, pages, gate: Gate::new(parts, counters, config.bounds.clone()) })
    }

    /// The cache of files.
    pub fn cache(&self) -> &C {
        self.gate.downloads().cache()
    }
}

impl<C: ArtifactCache> RegistryPlugin for Pypi<C> {
    type Request = Request;
    type Document = Document;
    type Filtered = Filtered;

    fn name(&self) -> Ecosystem {
        Ecosystem::Pypi
    }

    fn path_prefix(&self) -> &'static str {
        "/pypi"
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
            Target::Page { .. } => None,
            Target::File { project, filename, .. } => {
                CacheKey::new(Ecosystem::Pypi, project.as_str(), filename.as_str())
            }
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

    use super::{document::Document, filename::Project, json};
    use crate::outbound::Url;

    use crate::registry::testing::{dossier, rule_of};

    /// What rules say of a package.
    pub(crate) fn known(package: &str, given: &[Rule]) -> Arc<Dossier> {
        dossier(Ecosystem::Pypi, package, 1, given)
    }

    /// The `n`-th rule of a test.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        rule_of(Ecosystem::Pypi, n, package, versions, mask)
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
