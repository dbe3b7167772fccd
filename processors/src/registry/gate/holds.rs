//! What a person has to say before a file passes: the question, the wait, and the refusal.

use http::StatusCode;
use weir_aggregates::registry::hold::{Known, Question};
use weir_events::{
    position::Position,
    registry::hold::{Ground, Hold, Word},
};

use super::{Artifact, Gate, Judged, Otherwise, POSITION, Voice};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking, cache::ArtifactCache, decisions, ledger::HoldFault, patience::Waiting,
        stats::Count,
    },
};

/// How long a question waits for a person: a week.
const HOLD_SECONDS: i64 = 7 * 86_400;

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Asks a person what the profile of who asks has a person answer, and waits for the answer where
    /// requests do; refuses until there is one, and where it is no.
    pub(super) async fn asked(
        &self,
        mut judged: Judged,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Judged, Otherwise> {
        let mut waiting = None;
        while let Some((question, known)) = self.open(&judged, artifact, caller).await? {
            let answered = known.answer.is_some();
            if answered || !self.wait(&mut waiting, &known.hold.id, caller).await? {
                return Err(self.held(&judged, artifact, &question, &known, caller).await);
            }
            // An answer may be a waiver too, and what else came in meanwhile counts as well.
            judged = Judged::by(self.about(&artifact.package, asking, caller)?, artifact);
        }
        Ok(judged)
    }

    /// The first question that nobody has said yes to.
    async fn open(
        &self,
        Judged { verdict, dossier }: &Judged,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<Option<(Question, Known)>, Otherwise> {
        let candidate = artifact.candidate();
        for question in dossier.questions(&candidate, verdict) {
            let known = match dossier.hold(&question, &candidate) {
                Some(known) => known.clone(),
                None => match self.ask_a_person(artifact, &question, caller).await? {
                    Some(known) => known,
                    None => continue,
                },
            };
            let allowed = known.answer.as_ref().is_some_and(|answer| answer.word == Word::Allow);
            if !allowed {
                return Ok(Some((question, known)));
            }
        }
        Ok(None)
    }

    /// Waits for an answer, if requests wait and there is a place; says whether there is one. All
    /// questions of a request share its time.
    async fn wait(
        &self,
        waiting: &mut Option<Waiting>,
        hold: &str,
        caller: &Caller,
    ) -> Result<bool, Otherwise> {
        if waiting.is_none() {
            *waiting = self.patience.begin(caller.token().unwrap_or_default());
        }
        let Some(waiting) = waiting else { return Ok(false) };
        match waiting.wait(self.policy.answered(hold)).await {
            Some(answered) => answered.map(|()| true).map_err(|fault| Self::unreadable(&fault)),
            None => Ok(false),
        }
    }

    /// Refuses what waits for a person, or what a person denied, on record.
    async fn held(
        &self,
        judged: &Judged,
        artifact: &Artifact,
        question: &Question,
        known: &Known,
        caller: &Caller,
    ) -> Otherwise {
        self.counters.count(Count::Blocked);
        let objection = question.refusal(known);
        let blocked = decisions::blocked(artifact, &judged.dossier, &objection);
        let Position(at) = match self.ledger.record(blocked, caller).await {
            Ok(at) => at,
            Err(fault) => return Self::unrecorded(&fault),
        };
        let told = objection.to_string();
        let text = format!("{told}\nrecorded as event {at}");
        Box::new(V::say(StatusCode::FORBIDDEN, &text, &told).with(POSITION, at.into()))
    }

    /// Asks; `None` where there is nothing to ask, because it is not new here.
    async fn ask_a_person(
        &self,
        artifact: &Artifact,
        question: &Question,
        caller: &Caller,
    ) -> Result<Option<Known>, Otherwise> {
        let version = artifact.version.as_ref().map(ToString::to_string);
        let known = match question.ground {
            Ground::NewPackage => self.ledger.is_known(&artifact.package, None).await,
            // A file that tells no version is its own: nobody can say that it was here.
            Ground::NewVersion => match &version {
                Some(version) => self.ledger.is_known(&artifact.package, Some(version)).await,
                None => Ok(false),
            },
            Ground::Advisory => Ok(false),
        };
        if known.map_err(|fault| Self::unrecorded(&fault))? {
            return Ok(None);
        }
        let now = self.ledger.now();
        let hold = Hold {
            id: self.ledger.new_id(),
            token_id: caller.token().unwrap_or_default().to_owned(),
            principal: caller.principal.to_string(),
            ecosystem: self.ecosystem,
            package: artifact.package.clone(),
            version,
            file: artifact.file.clone(),
            ground: question.ground,
            advisory: question.advisory().map(str::to_owned),
            requested_at: now,
            expires_at: now.plus_seconds(HOLD_SECONDS),
        };
        match self.ledger.hold(hold, caller).await {
            Ok(known) => Ok(Some(known)),
            Err(HoldFault::Refused(refusal)) => {
                Err(Self::no(StatusCode::FORBIDDEN, &format!("Blocked by Weir: {refusal} (hold)")))
            }
            Err(HoldFault::Ledger(fault)) => Err(Self::unrecorded(&fault)),
        }
    }
}
