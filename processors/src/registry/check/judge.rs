//! The judgement on what a file names.

use std::sync::Arc;

use weir_aggregates::registry::{
    dossier::Dossier,
    seen::Seen,
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

/// Judges a version by what is known about its package, and by what our own clock says of it.
#[must_use]
pub fn judge(
    dossier: &Dossier,
    seen: Arc<Seen>,
    component: &Component,
    dated: Option<Dated>,
) -> Judged {
    let version = Version::parse(component.ecosystem, &component.version);
    let published_at = dated.map(|dated| dated.published_at);
    let late = dated.is_some_and(|dated| dated.late);
    let candidate = Candidate { late, ..Candidate::published(Some(&version), published_at) };
    let judged = |dossier: &Dossier, candidate: &Candidate<'_>, age_unknown| {
        let (verdict, objections) = (dossier.judge(candidate), dossier.objections(candidate));
        Judged { verdict, objections, age_unknown }
    };
    if !dossier.counts_age() {
        return judged(dossier, &candidate, false);
    }
    let seeing = dossier.clone().seeing(seen);
    if seeing.misses_age(&candidate) {
        // As old as can be, by the only clock that says so.
        let old = Candidate { published_at: Some(Timestamp::EPOCH), ..candidate };
        return judged(dossier, &old, true);
    }
    judged(&seeing, &candidate, false)
}
