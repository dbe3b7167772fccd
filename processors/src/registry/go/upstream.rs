//! What a module proxy is asked for.

use std::{convert::Infallible, fmt};

use bytes::Bytes;
use http::HeaderMap;
use weir_events::registry::Ecosystem;

use super::{
    document::{DocumentFault, Info, List},
    module::{Canonical, Module, Query},
};
use crate::{
    outbound::{Page, Url},
    registry::{
        canary,
        documents::{Own, Source},
    },
};

/// The lists of versions.
#[derive(Debug)]
pub struct Versions;

impl Source for Versions {
    type Key = Module;
    type Document = List;
    type Fault = DocumentFault;

    const NOUN: &'static str = "module";

    fn package(module: &Module) -> Option<&str> {
        Some(module.as_str())
    }

    fn url(base: &Url, module: &Module) -> Url {
        below(base, &format!("{}/@v/list", module.escaped()))
    }

    fn headers(_: &Module) -> HeaderMap {
        HeaderMap::new()
    }

    fn own(module: &Module) -> Option<Own> {
        canary::is(Ecosystem::Go, module.as_str()).then(canary::versions)
    }

    fn read(module: &Module, page: &Page) -> Result<List, DocumentFault> {
        List::read(module, &page.body)
    }

    fn size_bytes(list: &List) -> usize {
        list.size_bytes()
    }
}

/// Which version somebody asks about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct At {
    /// The module.
    pub module: Module,
    /// Which version of it.
    pub query: Query,
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.query {
            Query::Named(text) => write!(f, "{}@{text}", self.module),
            Query::Latest => write!(f, "{}@latest", self.module),
        }
    }
}

/// What versions are.
#[derive(Debug)]
pub struct Infos;

impl Source for Infos {
    type Key = At;
    type Document = Info;
    type Fault = DocumentFault;

    const NOUN: &'static str = "module";

    fn package(at: &At) -> Option<&str> {
        Some(at.module.as_str())
    }

    fn url(base: &Url, At { module, query }: &At) -> Url {
        let module = module.escaped();
        match query {
            Query::Latest => below(base, &format!("{module}/@latest")),
            Query::Named(text) => {
                let text = weir_aggregates::registry::name::go::escape_go(text).unwrap_or_default();
                below(base, &format!("{module}/@v/{text}.info"))
            }
        }
    }

    fn headers(_: &At) -> HeaderMap {
        HeaderMap::new()
    }

    fn own(at: &At) -> Option<Own> {
        canary::is(Ecosystem::Go, at.module.as_str()).then(canary::info)
    }

    fn read(at: &At, page: &Page) -> Result<Info, DocumentFault> {
        Info::read(&at.query, &page.body)
    }

    fn size_bytes(info: &Info) -> usize {
        info.body.len() + 512
    }
}

/// The `go.mod` files of versions.
#[derive(Debug)]
pub struct Mods;

/// A version of a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Of {
    /// The module.
    pub module: Module,
    /// The version.
    pub version: Canonical,
}

impl fmt::Display for Of {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.module, self.version)
    }
}

impl Source for Mods {
    type Key = Of;
    type Document = Bytes;
    type Fault = Infallible;

    const NOUN: &'static str = "module";

    fn package(of: &Of) -> Option<&str> {
        Some(of.module.as_str())
    }

    fn url(base: &Url, Of { module, version }: &Of) -> Url {
        below(base, &format!("{}/@v/{}.mod", module.escaped(), version.escaped()))
    }

    fn headers(_: &Of) -> HeaderMap {
        HeaderMap::new()
    }

    fn own(of: &Of) -> Option<Own> {
        let module = of.module.as_str();
        canary::is(Ecosystem::Go, module).then(|| canary::go_mod(module))
    }

    fn read(_: &Of, page: &Page) -> Result<Bytes, Infallible> {
        Ok(page.body.clone())
    }

    fn size_bytes(body: &Bytes) -> usize {
        body.len() + 512
    }
}

/// The address of something below another.
#[must_use]
pub fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path()));
    url
}
