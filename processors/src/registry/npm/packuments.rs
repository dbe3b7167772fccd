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
use crate::{
    flights::GivenUp,
    registry::{
        documents::Open,
        renderings::{Rendering, Renderings},
    },
};

/// Stands where an address of ours is to stand. No text of JSON holds it.
const HERE: &str = "\u{1}";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    name: Name,
    document: blake3::Hash,
    known: blake3::Hash,
    form: Form,
}

/// Packuments ready to be sent.
#[derive(Debug)]
pub struct Pages {
    /// Without the address that their tarballs begin with: a client can make up as many of those as it
    /// likes, and must not have everything judged and written anew for each.
    bare: Renderings<Key, Filtered>,
    /// With one. For nearly every Weir there is one.
    placed: Renderings<(Key, Arc<str>), Filtered>,
}

impl Pages {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self {
            bare: Renderings::new("npm rendering", max_bytes / 2, lifecycle),
            placed: Renderings::new("npm addresses", max_bytes / 2, lifecycle),
        }
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
        let key = Key {
            name: open.document.name.clone(),
            document: open.document.digest,
            known: dossier.key,
            form,
        };
        let (now, ours) = (dossier.now(), Arc::clone(dossier));
        let placed = (key.clone(), Arc::clone(base));
        if let Some(page) = self.placed.known(&placed, now) {
            return Ok(page);
        }
        let (open, known) = (open.clone(), Arc::clone(dossier));
        let bare = self.bare.get(key, now, move || write(&open.document, &known, form)).await?;
        let base = Arc::clone(base);
        self.placed.get(placed, now, move || place(&bare, &ours, form, &base)).await
    }
}

fn write(document: &Document, dossier: &Dossier, form: Form) -> Rendering<Filtered> {
    let filtered = Arc::new(filter(document, dossier));
    let mut page = render(document, &filtered, form, HERE);
    page.shrink_to_fit();
    let n_fates = 64 * filtered.fates.len() as u64;
    Rendering::new(Bytes::from(page), dossier, form.media_type(), filtered, n_fates)
}

/// Writes an address where it is to stand.
fn place(
    bare: &Rendering<Filtered>,
    dossier: &Dossier,
    form: Form,
    base: &str,
) -> Rendering<Filtered> {
    let mut page = Vec::with_capacity(bare.body.len() + base.len() * bare.filtered.fates.len());
    let mut pieces = bare.body.split(|b| HERE.as_bytes().contains(b));
    page.extend_from_slice(pieces.next().unwrap_or_default());
    for piece in pieces {
        page.extend_from_slice(base.as_bytes());
        page.extend_from_slice(piece);
    }
    page.shrink_to_fit();
    let filtered = Arc::clone(&bare.filtered);
    Rendering::new(Bytes::from(page), dossier, form.media_type(), filtered, 0)
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
                    let written = String::from_utf8(page.body.to_vec()).unwrap();
                    let whole = render(&open.document, &page.filtered, form, &base);
                    assert_eq!(written, whole, "as if it had been written for this address");
                    assert!(Arc::ptr_eq(&page, &again));
                    assert!(etags.insert(page.etag.clone()), "{form:?} shares a validator");
                }
            }
        }
    }

    #[tokio::test]
    async fn nobody_has_a_packument_judged_anew_by_making_up_addresses() {
        let pages = Pages::new(1 << 20, &Lifecycle::new());
        let open = Open { document: Arc::new(packument("left-pad", &["1.0.0"])), room: None };
        let known = known("left-pad", &[]);
        let first =
            pages.page(&open, &known, Form::Full, &Arc::from("http://a/npm")).await.unwrap();
        for n in 0..50 {
            let base = Arc::from(format!("http://{n}/npm"));
            let page = pages.page(&open, &known, Form::Full, &base).await.unwrap();
            assert!(Arc::ptr_eq(&page.filtered, &first.filtered), "{n}");
        }
    }
}
