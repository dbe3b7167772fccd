//! Packuments as clients get them.

use std::sync::Arc;

use bytes::Bytes;
use weir_aggregates::registry::dossier::Dossier;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::Document,
    filter::{Filtered, filter},
    name::Name,
    negotiate::Form,
    render::render,
};
use crate::registry::{
    documents::Open,
    flights::GivenUp,
    renderings::{Rendering, Renderings},
};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    name: Name,
    document: blake3::Hash,
    known: blake3::Hash,
    form: Form,
    /// The addresses of tarballs begin with it: for nearly every Weir there is one.
    base: Arc<str>,
}

/// Packuments ready to be sent.
#[derive(Debug)]
pub struct Pages(Renderings<Key, Filtered>);

impl Pages {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self(Renderings::new("npm rendering", max_bytes, lifecycle))
    }

    /// A packument as what is known leaves it, in this form, for clients that know us by this address.
    /// What is large keeps its room until it is written, also when nobody waits for it any more.
    pub async fn page(
        &self,
        open: &Open<Document>,
        dossier: &Arc<Dossier>,
        form: Form,
        base: &Arc<str>,
    ) -> Result<Arc<Rendering<Filtered>>, GivenUp> {
        let (name, document) = (open.document.name.clone(), open.document.digest);
        let base = Arc::clone(base);
        let key = Key { name, document, known: dossier.key, form, base: Arc::clone(&base) };
        let (open, dossier) = (open.clone(), Arc::clone(dossier));
        self.0.get(key, dossier.now(), move || write(&open.document, &dossier, form, &base)).await
    }
}

fn write(document: &Document, dossier: &Dossier, form: Form, base: &str) -> Rendering<Filtered> {
    let filtered = Arc::new(filter(document, dossier));
    let mut page = render(document, &filtered, form, base);
    page.shrink_to_fit();
    let n_fates = 64 * filtered.fates.len() as u64;
    Rendering::new(Bytes::from(page), dossier, form.media_type(), filtered, n_fates)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::npm::testing::{known, packument, rule};

    #[tokio::test]
    async fn a_packument_is_written_once_and_its_validator_tells_policy_form_and_address() {
        let pages = Pages::new(1 << 20, &Lifecycle::new());
        let open = Open { document: Arc::new(packument("left-pad", &["1.0.0"])), room: None };
        let first = known("left-pad", &[]);
        // Changes nothing in this list.
        let second = known("left-pad", &[rule(1, "left-pad", "9.9.9", Mask::Hide)]);
        let mut etags = HashSet::new();
        for known in [&first, &second] {
            for form in [Form::Full, Form::Abbreviated] {
                for base in ["http://a/npm", "http://b/npm"] {
                    let base = Arc::from(base);
                    let page = pages.page(&open, known, form, &base).await.unwrap();
                    let again = pages.page(&open, known, form, &base).await.unwrap();
                    assert!(Arc::ptr_eq(&page, &again));
                    assert!(etags.insert(page.etag.clone()), "{form:?} shares a validator");
                }
            }
        }
    }
}
