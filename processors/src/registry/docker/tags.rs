//! Lists of tags as clients get them: what a rule hides or marks is left out, for a tag has no word
//! for "do not choose".

use bytes::Bytes;
use serde_json::json;
use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Candidate, MINIMUM_AGE, Verdict},
};
use weir_events::{registry::Mask, timestamp::Timestamp};

use super::{
    name::{Digest, Name, Reference, Tag},
    upstream::Tags,
};
use crate::registry::{gate::Changed, judging::Judging};

/// What becomes of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// The tags that are listed, in the upstream's order.
    pub listed: Vec<Tag>,
    /// Those left out.
    pub hidden: Vec<String>,
    /// When the first tag that is too young is old enough.
    pub ripens_at: Option<Timestamp>,
}

impl Changed for Filtered {
    fn hidden(&self) -> &[String] {
        &self.hidden
    }

    fn marked(&self) -> &[String] {
        &[]
    }

    fn ripens_at(&self) -> Option<Timestamp> {
        self.ripens_at
    }
}

/// Judges every tag of a list.
#[must_use]
pub fn filter(tags: &Tags, dossier: &Dossier) -> Filtered {
    let mut judging = Judging::by(dossier);
    let (mut listed, mut hidden) = (Vec::with_capacity(tags.tags.len()), Vec::new());
    for tag in &tags.tags {
        let version = Reference::Tag(tag.clone()).version();
        match judging.refusal(&Candidate::of(Some(&version))) {
            Some(objection) if objection.mask != Mask::DenyOnly => hidden.push(tag.to_string()),
            _ => listed.push(tag.clone()),
        }
    }
    Filtered { listed, hidden, ripens_at: judging.ripens_at() }
}

/// Writes a list.
#[must_use]
pub fn render(name: &Name, filtered: &Filtered) -> Bytes {
    let tags: Vec<_> = filtered.listed.iter().map(Tag::as_str).collect();
    json!({ "name": name.asked(), "tags": tags }).to_string().into()
}

/// Whether nothing but its age is said against a name.
#[must_use]
pub fn passes_but_for_age(dossier: &Dossier, reference: &Reference) -> bool {
    let version = reference.version();
    let verdict = dossier.judge(&Candidate::of(Some(&version)));
    verdict.refusal().is_none_or(|objection| objection.source == MINIMUM_AGE)
}

/// The digests that are named by what refuses them.
#[must_use]
pub fn refused_digests(dossier: &Dossier) -> Vec<Digest> {
    let named = dossier.named_digests();
    let named = named.into_iter().filter_map(|digest| digest.parse().ok());
    named.filter(|digest| !passes(dossier, &Reference::Digest(*digest))).collect()
}

/// Whether a name passes.
#[must_use]
pub fn passes(dossier: &Dossier, reference: &Reference) -> bool {
    let version = reference.version();
    !matches!(dossier.judge(&Candidate::of(Some(&version))), Verdict::Block(_))
}
