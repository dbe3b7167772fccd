//! What a person has to say before a file passes: the question, the wait, and the refusal.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use weir_aggregates::registry::{
    dossier::Dossier,
    hold::{Known, Question},
    verdict::Verdict,
};
use weir_events::{
    position::Position,
    registry::hold::{Ground, Hold, Word},
};

use super::{Artifact, Gate, Judged, Otherwise, POSITION, Role, Voice};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking, cache::ArtifactCache, decisions, ledger::HoldFault, patience::Waiting,
        stats::Count,
    },
};

/// How long a question waits for a person: a week.
const HOLD_SECONDS: i64 = 7 * 86_400;
/// So long an instance may take to go by a question.
const KNOWN_WITHIN: Duration = Duration::from_secs(2);

/// What was said to a question about what is asked for, with the versions that nobody was asked about.
enum Said<'a> {
    /// A person said yes.
    Yes,
    /// A person said no, or has not answered yet.
    Held(&'a Known, Vec<Option<String>>),
    /// Nobody was asked.
    Nothing(Vec<Option<String>>),
}

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Asks a person what the profile of who asks has a person answer, and waits for the answer where
    /// requests do; refuses until there is one, and where it is no.
    ///
    /// Only what delivers a file asks, and waits: to ask whether it is there does neither, and is answered
    /// as the file would be once it was asked for. What tells of a version beside its files passes unless
    /// it was denied, for what is chosen by it is asked about then.
    pub(super) async fn asked(
        &self,
        mut judged: Judged,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Judged, Otherwise> {
        if asking.head || artifact.role == Role::Beside {
            return self.as_answered(judged, artifact, asking, caller).await;
        }
        let mut waiting = None;
        while let Some((question, known)) = self.open(&judged, artifact, caller).await? {
            let answered = known.answer.is_some();
            if answered || !self.wait(&mut waiting, &known.hold.id, caller).await? {
                return Err(self.held(&judged, artifact, &question, &known, asking, caller).await);
            }
            // An answer may be a waiver too, and what else came in meanwhile counts as well.
            judged = Judged::by(self.about(&artifact.package, asking, caller)?, artifact);
        }
        Ok(judged)
    }

    /// Refuses what a person denied, and where a file is asked for also what waits for one; asks nobody.
    async fn as_answered(
        &self,
        mut judged: Judged,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Judged, Otherwise> {
        let beside = artifact.role == Role::Beside;
        let questions = judged.dossier.questions(&judged.verdict);
        for question in &questions {
            let Said::Held(known, unasked) = said(&judged.dossier, question, artifact) else {
                continue;
            };
            let tells = known.answer.is_some() || !beside;
            if tells && !self.is_known(question.ground, artifact, &unasked).await? {
                return Err(self.held(&judged, artifact, question, known, asking, caller).await);
            }
        }
        // What a person may yet allow is told of, with what is said against it.
        if beside
            && !questions.is_empty()
            && let Verdict::Block(objection) = &judged.verdict
        {
            judged.verdict = Verdict::Advise(Arc::clone(objection));
        }
        Ok(judged)
    }

    /// The first question that nobody has said yes to; asked now, where it was not before.
    async fn open(
        &self,
        Judged { verdict, dossier }: &Judged,
        artifact: &Artifact,
        caller: &Caller,
    ) -> Result<Option<(Question, Known)>, Otherwise> {
        for question in dossier.questions(verdict) {
            let (held, unasked) = match said(dossier, &question, artifact) {
                Said::Yes => continue,
                Said::Held(known, unasked) => (Some(known.clone()), unasked),
                Said::Nothing(unasked) => (None, unasked),
            };
            if self.is_known(question.ground, artifact, &unasked).await? {
                continue;
            }
            let known = if let Some(known) = held {
                known
            } else {
                let version = unasked.into_iter().next().flatten();
                self.ask_a_person(artifact, version, &question, caller).await?
            };
            if known.word() != Some(Word::Allow) {
                return Ok(Some((question, known)));
            }
        }
        Ok(None)
    }

    /// Whether any of these versions, which nobody was asked about, is not new here.
    async fn is_known(
        &self,
        ground: Ground,
        artifact: &Artifact,
        versions: &[Option<String>],
    ) -> Result<bool, Otherwise> {
        let (ledger, package) = (&self.ledger, &artifact.package);
        if versions.is_empty() {
            return Ok(false);
        }
        let known = match ground {
            Ground::NewPackage => self.known.package(ledger, package).await,
            Ground::NewVersion => {
                // A file that tells no version is its own: nobody can say that it was here.
                let told: Vec<&str> = versions.iter().flatten().map(String::as_str).collect();
                self.known.any_version(ledger, package, &told).await
            }
            Ground::Advisory => Ok(false),
        };
        known.map_err(|fault| Self::unrecorded(&fault))
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

    /// Refuses what waits for a person, or what a person denied, on record where a file was asked for.
    async fn held(
        &self,
        judged: &Judged,
        artifact: &Artifact,
        question: &Question,
        known: &Known,
        asking: &Asking,
        caller: &Caller,
    ) -> Otherwise {
        self.counters.count(Count::Blocked);
        let objection = question.refusal(known);
        let told = objection.to_string();
        if asking.head {
            return Box::new(V::say(StatusCode::FORBIDDEN, &told, &told));
        }
        let blocked = decisions::blocked(artifact, &judged.dossier, &objection);
        let Position(at) = match self.ledger.record(blocked, caller).await {
            Ok(at) => at,
            Err(fault) => return Self::unrecorded(&fault),
        };
        let text = format!("{told}\nrecorded as event {at}");
        Box::new(V::say(StatusCode::FORBIDDEN, &text, &told).with(POSITION, at.into()))
    }

    /// Waits until this instance goes by a question: who is told of it finds it in force, whoever asked it
    /// a moment ago. Where that takes too long it is on record all the same.
    async fn go_by(&self, hold: &str) -> Result<(), Otherwise> {
        let Ok(known) = tokio::time::timeout(KNOWN_WITHIN, self.policy.holds(hold)).await else {
            tracing::warn!(hold, "this instance does not go by a question yet");
            return Ok(());
        };
        known.map_err(|fault| Self::unreadable(&fault))
    }

    /// Asks a person about a version, unless somebody did in this moment.
    async fn ask_a_person(
        &self,
        artifact: &Artifact,
        version: Option<String>,
        question: &Question,
        caller: &Caller,
    ) -> Result<Known, Otherwise> {
        let now = self.ledger.now();
        let hold = Hold {
            id: self.ledger.new_id(),
            token_id: caller.token().unwrap_or_default().to_owned(),
            principal: caller.principal.to_string(),
            ecosystem: self.ecosystem,
            package: artifact.package.clone(),
            version,
            file: artifact.asked_as(),
            ground: question.ground,
            advisory: question.advisory().map(str::to_owned),
            requested_at: now,
            expires_at: now.plus_seconds(HOLD_SECONDS),
        };
        match self.ledger.hold(hold, caller).await {
            Ok(known) => {
                self.go_by(&known.hold.id).await?;
                Ok(known)
            }
            Err(HoldFault::Refused(refusal)) => {
                Err(Self::no(StatusCode::FORBIDDEN, &format!("Blocked by Weir: {refusal} (hold)")))
            }
            Err(HoldFault::Ledger(fault)) => Err(Self::unrecorded(&fault)),
        }
    }
}

/// What was said to a question. An image passes by any that it is part of.
fn said<'a>(dossier: &'a Dossier, question: &Question, artifact: &Artifact) -> Said<'a> {
    let versions = match question.ground {
        // An advisory is about what its registry calls a version.
        Ground::Advisory => vec![artifact.version.as_ref().map(ToString::to_string)],
        Ground::NewPackage | Ground::NewVersion => artifact.versions(),
    };
    let (mut held, mut unasked) = (Vec::new(), Vec::new());
    for version in versions {
        match dossier.hold(question, version.as_deref()) {
            Some(known) if known.word() == Some(Word::Allow) => return Said::Yes,
            Some(known) => held.push(known),
            None => unasked.push(version),
        }
    }
    match held.into_iter().max_by_key(|known| known.answer.is_some()) {
        Some(known) => Said::Held(known, unasked),
        None => Said::Nothing(unasked),
    }
}
