//! Projects' pages as the simple index gives them, in JSON where it can.

use http::{
    HeaderMap, HeaderValue,
    header::{ACCEPT, CONTENT_TYPE},
};

use weir_events::registry::Ecosystem;

use super::{
    document::{Document, DocumentFault},
    filename::Project,
    html, json,
};
use crate::{
    outbound::{Page, Url},
    registry::{
        canary,
        documents::{Own, Source},
    },
};

const WANTED: HeaderValue = HeaderValue::from_static(
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, \
     text/html;q=0.1",
);

/// The pages of a simple index.
#[derive(Debug)]
pub struct Simple;

impl Source for Simple {
    type Key = Project;
    type Document = Document;
    type Fault = DocumentFault;

    const NOUN: &'static str = "project";
    const DENIED_IS_NONE: bool = true;

    fn package(project: &Project) -> Option<&str> {
        Some(project.as_str())
    }

    fn url(base: &Url, project: &Project) -> Url {
        let mut url = base.clone();
        url.set_path(&format!("{}{project}/", base.path()));
        url
    }

    fn headers(_: &Self::Key) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, WANTED)])
    }

    fn own(project: &Project) -> Option<Own> {
        let name = project.as_str();
        canary::is(Ecosystem::Pypi, name).then(|| canary::page(name))
    }

    fn read(project: &Project, page: &Page) -> Result<Document, DocumentFault> {
        let content_type = page.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        if essence.ends_with("json") {
            json::parse(project, &page.url, &page.body)
        } else if essence.ends_with("html") {
            html::parse(project, &page.url, &page.body)
        } else {
            Err(DocumentFault::UnknownType(essence.chars().take(80).collect()))
        }
    }

    fn size_bytes(document: &Document) -> usize {
        document.size_bytes
    }
}
