//! Lists as clients get them.

use std::sync::Arc;

use bytes::Bytes;
use weir_aggregates::registry::dossier::Dossier;
use weir_log::lifecycle::Lifecycle;

use super::{
    dates::Ages,
    document::List,
    filter::{Filtered, filter},
    module::Module,
};
use crate::{
    flights::GivenUp,
    registry::{
        documents::Open,
        renderings::{Rendering, Renderings},
    },
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    module: Module,
    document: blake3::Hash,
    known: blake3::Hash,
    ages: Option<Arc<Ages>>,
}

/// Lists ready to be sent.
#[derive(Debug)]
pub struct Lists(Renderings<Key, Filtered>);

impl Lists {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self(Renderings::new("go rendering", max_bytes, lifecycle))
    }

    /// A list as what is known leaves it.
    pub async fn list(
        &self,
        open: &Open<List>,
        dossier: &Arc<Dossier>,
        ages: Option<Arc<Ages>>,
    ) -> Result<Arc<Rendering<Filtered>>, GivenUp> {
        let (module, document) = (open.document.module.clone(), open.document.digest);
        let key = Key { module, document, known: dossier.key, ages: ages.clone() };
        let (open, dossier) = (open.clone(), Arc::clone(dossier));
        self.0
            .get(key, dossier.now(), move || write(&open.document, &dossier, ages.as_deref()))
            .await
    }
}

fn write(list: &List, dossier: &Dossier, ages: Option<&Ages>) -> Rendering<Filtered> {
    let filtered = Arc::new(filter(list, dossier, ages));
    let body = render(list, &filtered);
    let n_versions = 32 * filtered.stays.len() as u64;
    Rendering::new(body, dossier, "list", filtered, n_versions)
}

/// Writes a list.
#[must_use]
pub fn render(list: &List, filtered: &Filtered) -> Bytes {
    let mut out = String::with_capacity(24 * list.versions.len());
    for (listed, stays) in list.versions.iter().zip(&filtered.stays) {
        if *stays {
            out.push_str(listed.text.as_str());
            out.push('\n');
        }
    }
    out.into()
}
