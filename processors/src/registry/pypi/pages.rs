//! Pages as clients get them: filtered and written once for each document, policy revision and
//! form, never once a request.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::HeaderValue;
use weir_aggregates::registry::rule::RuleSet;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::Document,
    filename::Project,
    filter::{Filtered, filter},
    negotiate::Form,
    render::render,
    upstream::Open,
};
use crate::registry::{
    flights::{Flights, GivenUp},
    lru::Lru,
};

/// A page, ready to be sent.
#[derive(Debug)]
pub struct Representation {
    /// Its bytes.
    pub body: Bytes,
    /// Its strong validator: other bytes, another policy or another form have another one.
    pub etag: HeaderValue,
    /// What the rules made of it.
    pub filtered: Arc<Filtered>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    project: Project,
    document: blake3::Hash,
    revision: i64,
    form: Form,
}

/// Pages ready to be sent.
#[derive(Debug)]
pub struct Pages {
    kept: Arc<Mutex<Lru<Key, Arc<Representation>>>>,
    flights: Flights<Key, Option<Arc<Representation>>>,
}

impl Pages {
    /// Nothing written yet.
    pub fn new(max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self {
            kept: Arc::new(Mutex::new(Lru::new(max_bytes))),
            flights: Flights::new("pypi rendering", lifecycle.clone()),
        }
    }

    /// A page as these rules leave it, in this form. What is large keeps its room until it is
    /// written, also when nobody waits for it any more.
    pub async fn page(
        &self,
        open: &Open,
        rules: &Arc<RuleSet>,
        form: Form,
    ) -> Result<Arc<Representation>, GivenUp> {
        let (document, project) = (&open.document, open.document.project.clone());
        let key = Key { project, document: document.digest, revision: rules.revision, form };
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(page) = known {
            return Ok(page);
        }
        let (open, rules) = (open.clone(), Arc::clone(rules));
        let (kept, ours) = (Arc::clone(&self.kept), key.clone());
        let work = || async move {
            let writing = move || Arc::new(write(&open.document, &rules, form));
            let page = tokio::task::spawn_blocking(writing).await.ok()?;
            let weight = (page.body.len() + 32 * page.filtered.files.len()) as u64 + 1_024;
            kept.lock().unwrap_or_else(PoisonError::into_inner).put(
                ours,
                Arc::clone(&page),
                weight,
            );
            Some(page)
        };
        self.flights.join(key, work).await?.ok_or(GivenUp)
    }
}

fn write(document: &Document, rules: &RuleSet, form: Form) -> Representation {
    let filtered = Arc::new(filter(document, rules));
    let body = Bytes::from(render(document, &filtered, form));
    let mut hasher = blake3::Hasher::new_derive_key("weir pypi page etag v1");
    hasher.update(&rules.revision.to_be_bytes());
    hasher.update(form.media_type().as_bytes());
    hasher.update(&body);
    let etag = hasher.finalize().to_hex();
    let short = etag.get(..32).unwrap_or_default();
    let etag =
        HeaderValue::try_from(format!("\"{short}\"")).unwrap_or(HeaderValue::from_static("\"\""));
    Representation { body, etag, filtered }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use weir_events::registry::Mask;

    use super::*;
    use crate::registry::pypi::testing::{page, rule};

    #[tokio::test]
    async fn a_page_is_written_once_and_its_validator_tells_policy_and_form() {
        let pages = Pages::new(1 << 20, &Lifecycle::new());
        let open = Open { document: Arc::new(page("six", &["1.0"])), room: None };
        // The second policy changes nothing about this package.
        let first = Arc::new(RuleSet::compile(1, &[]));
        let second = Arc::new(RuleSet::compile(2, &[rule(1, "seven", "*", Mask::Hide)]));
        let mut etags = HashSet::new();
        for rules in [&first, &second] {
            for form in Form::ALL {
                let page = pages.page(&open, rules, form).await.unwrap();
                let again = pages.page(&open, rules, form).await.unwrap();
                assert!(Arc::ptr_eq(&page, &again));
                assert!(etags.insert(page.etag.clone()), "{form:?} shares a validator");
            }
        }
    }
}
