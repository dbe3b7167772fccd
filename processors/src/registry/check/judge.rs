//! The judgement on what a file names.

use std::sync::Arc;

use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Candidate, Objection, Verdict},
    version::Version,
};
use weir_events::timestamp::Timestamp;

use super::{Component, Dated};

/// What becomes of a version that a file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// What becomes of it.
    pub verdict: Verdict,
    /// Everything that is said against it and counts, whether it is waived or not.
    pub objections: Vec<Arc<Objection>>,
    /// Whether its age would matter and is not known. It is judged as if it were old enough then: that
    /// a file does not say when its packages were published is nothing against them.
    pub age_unknown: bool,
}

/// Judges a version by what is known about its package.
#[must_use]
pub fn judge(dossier: &Dossier, component: &Component, dated: Option<Dated>) -> Judged {
    let version = Version::parse(component.ecosystem, &component.version);
    let age_unknown = dated.is_none() && dossier.counts_age();
    let published_at =
        if age_unknown { Some(Timestamp::EPOCH) } else { dated.map(|it| it.published_at) };
    let late = dated.is_some_and(|dated| dated.late);
    let candidate = Candidate { late, ..Candidate::published(Some(&version), published_at) };
    let verdict = dossier.judge(&candidate);
    Judged { verdict, objections: dossier.objections(&candidate), age_unknown }
}
