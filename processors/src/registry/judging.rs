//! Judges the versions of a list one after the other, and remembers how long the judgement holds.

use std::sync::Arc;

use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Candidate, Objection},
    version::Version,
};
use weir_events::timestamp::Timestamp;

/// The judgement on a list, under way.
#[derive(Debug)]
pub struct Judging<'a> {
    dossier: &'a Dossier,
    ripens_at: Option<Timestamp>,
}

impl<'a> Judging<'a> {
    /// Begins.
    #[must_use]
    pub const fn by(dossier: &'a Dossier) -> Self {
        Self { dossier, ripens_at: None }
    }

    /// Why a version does not pass, if it does not.
    pub fn refusal(&mut self, candidate: &Candidate<'_>) -> Option<Arc<Objection>> {
        let refusal = self.dossier.judge(candidate).refusal().cloned();
        if refusal.is_some() {
            let ripe = self.dossier.ripens_at(candidate);
            self.ripens_at = self.ripens_at.into_iter().chain(ripe).min();
        }
        refusal
    }

    /// When the first of the versions that are too young is old enough: then the judgement is
    /// another.
    #[must_use]
    pub const fn ripens_at(&self) -> Option<Timestamp> {
        self.ripens_at
    }
}

/// The better choice of two versions: a final release before any prerelease, then the newer one.
#[must_use]
pub fn better<'a>(a: Option<&'a Version>, b: Option<&'a Version>) -> Option<&'a Version> {
    [a, b].into_iter().flatten().max_by_key(|version| (!version.prerelease(), *version))
}
