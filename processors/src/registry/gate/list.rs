//! Lists of versions, as the policy left them.

use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG, VARY},
};
use weir_aggregates::registry::dossier::Dossier;
use weir_events::{registry::MetadataFiltered, timestamp::Timestamp};

use super::{Gate, Otherwise, Voice};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer, asking::Asking, cache::ArtifactCache, ledger::List, renderings::Rendering,
        stats::Count,
    },
};

/// What a list is of.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The package, by its normalised name.
    pub package: &'a str,
    /// BLAKE3 of the upstream's document.
    pub digest: blake3::Hash,
    /// What it was judged by.
    pub dossier: &'a Dossier,
    /// Its media type.
    pub content_type: &'static str,
}

/// What was changed in a list.
pub trait Changed {
    /// Versions left out.
    fn hidden(&self) -> &[String];

    /// Versions marked as "do not choose".
    fn marked(&self) -> &[String];

    /// When the first version that is too young is old enough: then the list is another.
    fn ripens_at(&self) -> Option<Timestamp>;

    /// Whether it was judged by what the upstream tells at other times, and did not: then it is
    /// nothing for a client to keep.
    fn is_degraded(&self) -> bool {
        false
    }
}

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Answers with a list as the policy left it. That it changed it is on record first.
    pub async fn list<F: Changed>(
        &self,
        listed: &Listed<'_>,
        list: &Rendering<F>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let unchanged = asking.has(&list.etag);
        let (hidden, marked) = (list.filtered.hidden(), list.filtered.marked());
        if !hidden.is_empty() || !marked.is_empty() {
            self.counters.count(Count::Filtered);
            // Who names the validator was told what it stands for, on record.
            if !asking.knows(&list.etag) && !asking.head {
                let filtered = MetadataFiltered {
                    ecosystem: self.ecosystem,
                    package: listed.package.to_owned(),
                    hidden: hidden.to_vec(),
                    marked: marked.to_vec(),
                    policy_revision: listed.dossier.revision,
                    document: listed.digest.to_hex().to_string(),
                };
                let known = &listed.dossier.record_key();
                let recorded = self.ledger.filtered(List::Versions, filtered, known, caller).await;
                recorded.map_err(|fault| Self::unrecorded(&fault))?;
            }
        }
        // Clients must ask again, so that the rules of that day decide.
        let kept = if list.filtered.is_degraded() { "no-store" } else { "no-cache" };
        let answer = if unchanged {
            Answer::empty(StatusCode::NOT_MODIFIED)
        } else {
            Answer::whole(StatusCode::OK, listed.content_type, list.body.clone())
        };
        Ok(answer
            .with(ETAG, list.etag.clone())
            .with(VARY, HeaderValue::from_static("Accept, Accept-Encoding"))
            .with(CACHE_CONTROL, HeaderValue::from_static(kept)))
    }
}
