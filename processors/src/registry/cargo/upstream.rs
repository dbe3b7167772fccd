//! What a sparse index is asked for: crates' lists, and its `config.json`.

use std::fmt;

use http::{HeaderMap, HeaderValue, header::ACCEPT};
use serde::Deserialize;
use weir_events::registry::Ecosystem;

use super::{
    document::{Document, DocumentFault, parse},
    name::{Name, folder},
    template::{Template, TemplateFault},
};
use crate::{
    outbound::{Page, Url},
    registry::{
        canary,
        documents::{Own, Source},
    },
};

/// The lists of an index.
#[derive(Debug)]
pub struct Index;

impl Source for Index {
    type Key = Name;
    type Document = Document;
    type Fault = DocumentFault;

    const NOUN: &'static str = "crate";
    const DENIED_IS_NONE: bool = true;

    fn package(name: &Name) -> Option<&str> {
        Some(name.as_str())
    }

    fn url(base: &Url, name: &Name) -> Url {
        below(base, &format!("{}/{name}", folder(name.as_str())))
    }

    fn headers(_: &Self::Key) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/plain"))])
    }

    fn own(name: &Name) -> Option<Own> {
        let name = name.normalised();
        canary::is(Ecosystem::Cargo, &name).then(|| canary::list(&name))
    }

    fn read(name: &Name, page: &Page) -> Result<Document, DocumentFault> {
        parse(name, &page.body)
    }

    fn size_bytes(document: &Document) -> usize {
        document.size_bytes()
    }
}

/// The `config.json` of an index.
#[derive(Debug)]
pub struct Settings;

/// The one file there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TheFile;

impl fmt::Display for TheFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("config.json")
    }
}

/// What is read of it.
#[derive(Debug, Deserialize)]
struct Read {
    dl: String,
}

/// It cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsFault {
    /// It is not the JSON of an index.
    #[error("it is not the JSON of an index")]
    Json(#[source] serde_json::Error),
    /// It does not say where files are.
    #[error(transparent)]
    Template(#[from] TemplateFault),
}

impl Source for Settings {
    type Key = TheFile;
    type Document = Template;
    type Fault = SettingsFault;

    const NOUN: &'static str = "file";

    fn package(_: &TheFile) -> Option<&str> {
        None
    }

    fn url(base: &Url, file: &TheFile) -> Url {
        below(base, &file.to_string())
    }

    fn headers(_: &Self::Key) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))])
    }

    fn read(_: &TheFile, page: &Page) -> Result<Template, SettingsFault> {
        let read: Read = serde_json::from_slice(&page.body).map_err(SettingsFault::Json)?;
        Ok(Template::new(&read.dl)?)
    }

    fn size_bytes(_: &Template) -> usize {
        1_024
    }
}

fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path()));
    url
}
