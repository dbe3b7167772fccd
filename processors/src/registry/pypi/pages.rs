//! Projects' pages as clients get them.

use std::sync::Arc;

use bytes::Bytes;
use weir_aggregates::registry::dossier::Dossier;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::Document,
    filename::Project,
    filter::{Filtered, filter},
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

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    project: Project,
    document: blake3::Hash,
    known: blake3::Hash,
    form: Form,
}

/// Pages ready to be sent.
#[derive(Debug)]
pub struct Pages(Renderings<Key, Filtered>);

impl Pages {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self(Renderings::new("pypi rendering", max_bytes, lifecycle))
    }

    /// A page as what is known leaves it, in this form. What is large keeps its room until it is
    /// written, also when nobody waits for it any more.
    pub async fn page(
        &self,
        open: &Open<Document>,
        dossier: &Arc<Dossier>,
        form: Form,
    ) -> Result<Arc<Rendering<Filtered>>, GivenUp> {
        let (document, project) = (&open.document, open.document.project.clone());
        let key = Key { project, document: document.digest, known: dossier.key, form };
        let (open, dossier) = (open.clone(), Arc::clone(dossier));
        self.0.get(key, dossier.now(), move || write(&open.document, &dossier, form)).await
    }
}

fn write(document: &Document, dossier: &Dossier, form: Form) -> Rendering<Filtered> {
    let filtered = Arc::new(filter(document, dossier));
    let body = Bytes::from(render(document, &filtered, form));
    let n_fates = 32 * filtered.files.len() as u64;
    Rendering::new(body, dossier, form.media_type(), filtered, n_fates)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::pypi::testing::{known, page, rule};

    #[tokio::test]
    async fn a_page_is_written_once_and_its_validator_tells_policy_and_form() {
        let pages = Pages::new(1 << 20, &Lifecycle::new());
        let open = Open { document: Arc::new(page("six", &["1.0"])), room: None };
        let first = known("six", &[]);
        // Changes nothing in this list.
        let second = known("six", &[rule(1, "six", "==9.9", Mask::Hide)]);
        let mut etags = HashSet::new();
        for known in [&first, &second] {
            for form in Form::ALL {
                let page = pages.page(&open, known, form).await.unwrap();
                let again = pages.page(&open, known, form).await.unwrap();
                assert!(Arc::ptr_eq(&page, &again));
                assert!(etags.insert(page.etag.clone()), "{form:?} shares a validator");
            }
        }
    }
}
