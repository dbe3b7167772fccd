//! What is to be asked of a person before something passes: a pure function of what is known.

use std::sync::Arc;

use weir_events::registry::{
    Mask,
    advisory::Class,
    hold::{Ground, HoldAnswered, Word},
    policy::Mode,
};

use super::Known;
use crate::registry::{
    dossier::Dossier,
    verdict::{HOLD, Objection, Verdict},
    waiver::CompiledWaiver,
};

/// A question that a profile has a person answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Why it is asked.
    pub ground: Ground,
    /// What is said against it, where something is.
    pub objection: Option<Arc<Objection>>,
}

impl Question {
    /// The advisory it is about.
    #[must_use]
    pub fn advisory(&self) -> Option<&str> {
        self.objection.as_ref().map(|objection| objection.id())
    }

    /// What is said to who has to wait, or was denied.
    #[must_use]
    pub fn refusal(&self, known: &Known) -> Objection {
        let id = &known.hold.id;
        let reason = match &known.answer {
            Some(HoldAnswered { answered_by, reason, .. }) => {
                format!("{answered_by} said no: {reason} (hold {id})")
            }
            None => format!(
                "held for a human: hold {id}, ask again after it is answered ({})",
                self.ground.as_str()
            ),
        };
        let cited = self.objection.as_ref().and_then(|objection| objection.cited.clone());
        let (source, mask) = (HOLD.to_owned(), Mask::DenyOnly);
        Objection { source, reason, mask, rule_id: None, cited }
    }
}

impl Dossier {
    /// What the profile of who asks has a person answer, where a version was judged so.
    #[must_use]
    pub fn questions(&self, verdict: &Verdict) -> Vec<Question> {
        let grounds = self.profile().map_or(&[][..], |profile| &profile.hold);
        if grounds.is_empty() || self.own().mode == Mode::Audit {
            return Vec::new();
        }
        let has = |ground: &Ground| grounds.contains(ground);
        match verdict {
            Verdict::Block(objection) => {
                let cited = objection.cited.as_ref();
                let vulnerable = cited.is_some_and(|cited| cited.class == Class::Vulnerability);
                let asked = (vulnerable && has(&Ground::Advisory)).then(|| Question {
                    ground: Ground::Advisory,
                    objection: Some(Arc::clone(objection)),
                });
                asked.into_iter().collect()
            }
            Verdict::Allow | Verdict::Excused(_) | Verdict::Warn(_) | Verdict::Advise(_) => {
                let new = [Ground::NewPackage, Ground::NewVersion].into_iter();
                new.filter(has).map(|ground| Question { ground, objection: None }).collect()
            }
        }
    }

    /// The hold that asks a question of a version, and counts.
    #[must_use]
    pub fn hold(&self, question: &Question, version: Option<&str>) -> Option<&Known> {
        let is_it = |known: &&Known| {
            known.until() > self.now && known.is_of(question.ground, question.advisory(), version)
        };
        self.holds.iter().find(is_it)
    }

    /// The same, with what persons said of it to who asks.
    pub(in crate::registry) fn with_holds(mut self, holds: Vec<Known>) -> Self {
        if holds.is_empty() {
            return self;
        }
        let waived = |known: &Known| {
            let answer = known.answer.as_ref().filter(|answer| answer.word == Word::Allow)?;
            CompiledWaiver::of_hold(&known.hold, answer).map(Arc::new)
        };
        self.waivers.extend(holds.iter().filter_map(waived));
        let said = blake3::hash(format!("{holds:?}").as_bytes());
        self.holds = holds;
        self.rekeyed(b"holds", said.as_bytes())
    }
}
