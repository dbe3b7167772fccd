//! Judging a file, and refusing what does not pass, on record.

use std::sync::Arc;

use http::StatusCode;
use weir_aggregates::registry::{
    dossier::Dossier,
    verdict::{Objection, Verdict},
};
use weir_events::position::Position;

use super::{Artifact, Gate, Otherwise, POSITION, Voice};
use crate::{
    caller::Caller,
    registry::{answer::Answer, asking::Asking, cache::ArtifactCache, decisions, stats::Count},
};

/// What became of an artifact, and by what.
#[derive(Debug)]
pub struct Judged {
    /// What became of it.
    pub verdict: Verdict,
    /// All that was known.
    pub dossier: Arc<Dossier>,
}

impl Judged {
    pub(super) fn by(dossier: Arc<Dossier>, artifact: &Artifact) -> Self {
        Self { verdict: dossier.judge(&artifact.candidate()), dossier }
    }
}

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Refuses what is forbidden, on record, and lets everything else go on to be answered by who asks:
    /// for what is told of a version beside its files.
    pub async fn permit<I>(
        &self,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
        instead: impl Fn(Arc<Dossier>) -> I + Send + Sync,
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let dossier = self.about(&artifact.package, asking, caller)?;
        self.judged(artifact, &dossier, asking, caller, &instead).await.map(drop)
    }

    /// Lets an allowed file through, and refuses a forbidden one; the refusal is on record. What a
    /// person has to answer may be waited for, and is judged by what is known then.
    pub async fn judged<I>(
        &self,
        artifact: &Artifact,
        dossier: &Arc<Dossier>,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<Dossier>) -> I + Send + Sync),
    ) -> Result<Judged, Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let judged = Judged::by(Arc::clone(dossier), artifact);
        let judged = self.asked(judged, artifact, asking, caller).await?;
        let Judged { verdict, dossier } = &judged;
        self.passing(verdict, artifact, dossier, asking, caller, instead).await?;
        Ok(judged)
    }

    /// Refuses what a verdict does not let pass.
    pub(super) async fn passing<I>(
        &self,
        verdict: &Verdict,
        artifact: &Artifact,
        dossier: &Arc<Dossier>,
        asking: &Asking,
        caller: &Caller,
        instead: &(impl Fn(Arc<Dossier>) -> I + Send + Sync),
    ) -> Result<(), Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        let Some(objection) = verdict.refusal() else { return Ok(()) };
        let instead = instead(Arc::clone(dossier)).await;
        Err(Box::new(self.refuse(artifact, dossier, objection, asking, caller, instead).await?))
    }

    async fn refuse(
        &self,
        artifact: &Artifact,
        dossier: &Dossier,
        objection: &Objection,
        asking: &Asking,
        caller: &Caller,
        instead: Option<String>,
    ) -> Result<Answer, Otherwise> {
        self.counters.count(Count::Blocked);
        let (package, told) = (&artifact.package, objection.to_string());
        let what = match &artifact.version {
            Some(version) => format!("version {version} of `{package}`"),
            None => format!("`{}`, a file of `{package}` that tells no version,", artifact.file),
        };
        let instead = match instead {
            Some(version) => format!("{version} is allowed"),
            None => "no version of it is allowed".to_owned(),
        };
        let mut text = format!("{told}\n{what} is not let through; {instead}");
        let mut position = None;
        // To ask whether a file is there is no download yet.
        if !asking.head {
            let blocked = decisions::blocked(artifact, dossier, objection);
            let at = self.ledger.record(blocked, caller).await;
            let at = at.map_err(|fault| Self::unrecorded(&fault))?;
            text = format!("{text}\nrecorded as event {at}");
            position = Some(at);
        }
        let answer = V::say(StatusCode::FORBIDDEN, &text, &told);
        Ok(match position {
            Some(Position(at)) => answer.with(POSITION, at.into()),
            None => answer,
        })
    }
}
