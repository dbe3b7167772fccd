//! Packuments as the registry gives them: always the full ones, because only they say when a version
//! was published.

use http::{HeaderMap, HeaderValue, header::ACCEPT};

use weir_events::registry::Ecosystem;

use super::{
    document::{Document, DocumentFault},
    name::Name,
};
use crate::{
    outbound::{Page, Url},
    registry::{
        canary,
        documents::{Own, Source},
    },
};

/// The packuments of a registry.
#[derive(Debug)]
pub struct Packuments;

impl Source for Packuments {
    type Key = Name;
    type Document = Document;
    type Fault = DocumentFault;

    const NOUN: &'static str = "package";
    const DENIED_IS_NONE: bool = true;

    fn package(name: &Name) -> Option<&str> {
        Some(name.as_str())
    }

    fn url(base: &Url, name: &Name) -> Url {
        below(base, &name.in_path())
    }

    fn headers(_: &Self::Key) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
    }

    fn own(name: &Name) -> Option<Own> {
        let name = name.judged();
        canary::is(Ecosystem::Npm, &name).then(|| canary::packument(&name))
    }

    fn read(name: &Name, page: &Page) -> Result<Document, DocumentFault> {
        Document::read(name, &page.url, &page.body)
    }

    fn size_bytes(document: &Document) -> usize {
        document.size_bytes()
    }

    fn is_degraded(document: &Document) -> bool {
        document.lacks_times()
    }
}

/// An address below the registry's own, which ends with a slash.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path()));
    url
}
