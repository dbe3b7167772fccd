//! What becomes of a module's list: Go knows no mark, so that a version that is marked is left out as
//! one that is hidden is, and who asks for it is told why.

use weir_aggregates::registry::{dossier::Dossier, verdict::Candidate, version::Version};
use weir_events::{registry::Mask, timestamp::Timestamp};

use super::{dates::Ages, document::List};
use crate::registry::{
    gate::Changed,
    judging::{Judging, better},
};

/// What becomes of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filtered {
    /// Whether each version of the list stays, in its order.
    pub stays: Vec<bool>,
    /// Versions left out because they are hidden.
    pub hidden: Vec<String>,
    /// Versions left out because they are marked.
    pub marked: Vec<String>,
    /// The newest version that may be downloaded; a final release where there is one.
    pub newest_allowed: Option<String>,
    /// When the first version that is too young is old enough.
    pub ripens_at: Option<Timestamp>,
}

impl Changed for Filtered {
    fn hidden(&self) -> &[String] {
        &self.hidden
    }

    fn marked(&self) -> &[String] {
        &self.marked
    }

    fn ripens_at(&self) -> Option<Timestamp> {
        self.ripens_at
    }
}

/// Judges every version of a list. `ages` tells when versions were published, where that matters: it
/// does not tell it of what is not in there. Without it, age is judged when a version is asked for.
#[must_use]
pub fn filter(list: &List, dossier: &Dossier, ages: Option<&Ages>) -> Filtered {
    let mut judging = Judging::by(dossier);
    let (mut hidden, mut marked) = (Vec::new(), Vec::new());
    let mut newest: Option<&Version> = None;
    let mut stays = Vec::with_capacity(list.versions.len());
    for listed in &list.versions {
        let told = |ages: &Ages| ages.get(listed.text.as_str()).copied().flatten();
        let published_at = ages.map_or(Some(Timestamp::EPOCH), told);
        let candidate = Candidate::published(Some(&listed.version), published_at);
        let text = || listed.text.to_string();
        let (stay, allowed) = match judging.refusal(&candidate).map(|objection| objection.mask) {
            None => (true, true),
            Some(Mask::DenyOnly) => (true, false),
            Some(Mask::Hide) => {
                hidden.push(text());
                (false, false)
            }
            Some(Mask::Mark) => {
                marked.push(text());
                (false, false)
            }
        };
        if allowed {
            newest = better(newest, Some(&listed.version));
        }
        stays.push(stay);
    }
    let (newest_allowed, ripens_at) = (newest.map(ToString::to_string), judging.ripens_at());
    Filtered { stays, hidden, marked, newest_allowed, ripens_at }
}
