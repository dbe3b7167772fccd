//! Files: let through whole or in part, with their decision in the log first.

use std::{ops::Range, sync::Arc};

use futures_util::StreamExt as _;
use http::{
    HeaderValue, StatusCode,
    header::{
        ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, ETAG, WARNING,
        X_CONTENT_TYPE_OPTIONS,
    },
};
use weir_aggregates::registry::{dossier::Dossier, verdict::Verdict};

use super::{Artifact, Gate, Judged, Otherwise, POSITION, Voice};
use crate::{
    caller::Caller,
    registry::{
        answer::{Answer, Body},
        asking::Asking,
        cache::ArtifactCache,
        decisions::Extent,
        download::read,
        pins::Standing,
    },
};

impl<C: ArtifactCache, V: Voice> Gate<C, V> {
    /// Lets a file through, or refuses it. `instead` says which version may be had, for the refusal.
    pub async fn file<I>(
        &self,
        artifact: &Artifact,
        asking: &Asking,
        caller: &Caller,
        instead: impl Fn(Arc<Dossier>) -> I + Send + Sync,
    ) -> Result<Answer, Otherwise>
    where
        I: Future<Output = Option<String>> + Send,
    {
        // What it is judged by is on record before the judgement.
        if !asking.head {
            let told = self.tellings.tell(&self.ledger, artifact, caller).await;
            told.map_err(|fault| Self::unrecorded(&fault))?;
        }
        let dossier = self.about_used(&artifact.package, asking, caller).await?;
        let mut judged = self.judged(artifact, &dossier, asking, caller, &instead).await?;
        let standing = self.standing(artifact).await?;
        if let Standing::Changed(refusal) = &standing {
            let Judged { verdict, dossier } = &mut judged;
            *verdict = dossier.judge_changed(&artifact.candidate(), refusal);
            self.passing(verdict, artifact, dossier, asking, caller, &instead).await?;
        }
        let etag = artifact.etag();
        if etag.as_ref().is_some_and(|etag| asking.has(etag)) {
            return Ok(headed(Answer::empty(StatusCode::NOT_MODIFIED), etag));
        }
        if asking.head {
            return self.head(artifact, asking).await;
        }
        let opened = self.downloads.open(&artifact.wanted, caller, &asking.trail).await;
        let opened = opened.map_err(|fault| Self::no_file(&fault))?;
        self.measured(&opened, &judged.dossier, asking).await?;
        // The rules may have changed while the upstream was asked.
        let now = self.about_used(&artifact.package, asking, caller).await?;
        if now.key != judged.dossier.key {
            judged = self.judged(artifact, &now, asking, caller, &instead).await?;
            if let Standing::Changed(refusal) = &standing {
                let Judged { verdict, dossier } = &mut judged;
                *verdict = dossier.judge_changed(&artifact.candidate(), refusal);
                self.passing(verdict, artifact, dossier, asking, caller, &instead).await?;
            }
        }
        let Judged { verdict, dossier: now } = judged;
        let size = self.measured(&opened, &now, asking).await?;
        let known = asking.if_range.as_deref();
        let same = known.is_none_or(|known| etag.as_ref().is_some_and(|etag| etag == known));
        let range = match (asking.part.filter(|_| same), size) {
            (Some(part), Some(size)) => match part.of(size) {
                Some(range) => Some((range, size)),
                None => return Err(Self::unsatisfiable(size)),
            },
            _ => None,
        };
        let wanted = range.as_ref().map(|(range, _)| range.end - range.start).or(size);
        let bytes = wanted.unwrap_or(0);
        let is_all = |(range, size): &(Range<u64>, u64)| range.start == 0 && range.end == *size;
        let extent = if range.as_ref().is_none_or(is_all) { Extent::Whole } else { Extent::Part };
        let costs = (extent, bytes);
        let position = self.let_through(artifact, &now, &verdict, costs, asking, caller).await?;
        if standing == Standing::Unpinned {
            self.pin_when_whole(artifact, &opened, caller);
        }
        let content_type = artifact.wanted.content_type;
        let answer = match range {
            None => {
                let body = self.whole(read(opened, None), size, artifact, caller);
                Answer::stream(StatusCode::OK, content_type, size, body)
            }
            Some((range, size)) => {
                let length = range.end - range.start;
                let told = format!("bytes {}-{}/{size}", range.start, range.end - 1);
                let told = HeaderValue::try_from(told).map_err(|_| Self::unsatisfiable(size))?;
                let pieces = read(opened, Some(range));
                let body = match extent {
                    Extent::Whole => self.whole(pieces, Some(size), artifact, caller),
                    Extent::Part => Body::Stream(pieces.boxed()),
                };
                Answer::stream(StatusCode::PARTIAL_CONTENT, content_type, Some(length), body)
                    .with(CONTENT_RANGE, told)
            }
        };
        let answer = artifact.warned(headed(answer, etag)).with(POSITION, position.0.into());
        Ok(match &verdict {
            Verdict::Warn(objection) => warned(answer, &format!("audited only: {objection}")),
            Verdict::Advise(objection) => warned(answer, &objection.advice()),
            Verdict::Allow | Verdict::Excused(_) | Verdict::Block(_) => answer,
        })
    }

    async fn head(&self, artifact: &Artifact, asking: &Asking) -> Result<Answer, Otherwise> {
        let kept = self.downloads.kept(&artifact.wanted).await;
        let kept = kept.map_err(|fault| Self::no_file(&fault.into()))?;
        let size = match (kept, artifact.wanted.size) {
            (Some(kept), _) => Some(kept.meta().size),
            (None, Some(size)) => Some(size),
            (None, None) => {
                let asked = self.downloads.size(&artifact.wanted, &asking.trail).await;
                asked.map_err(|fault| Self::no_file(&fault))?
            }
        };
        let content_type = artifact.wanted.content_type;
        let answer = Answer::stream(StatusCode::OK, content_type, size, Body::Empty);
        Ok(artifact.warned(headed(answer, artifact.etag())))
    }
}

/// Lets through with a word.
fn warned(answer: Answer, words: &str) -> Answer {
    let plain = |c| if matches!(c, ' '..='~') && c != '"' && c != '\\' { c } else { '?' };
    let text: String = words.chars().map(plain).collect();
    match HeaderValue::try_from(format!("299 - \"{text}\"")) {
        Ok(warning) => answer.with(WARNING, warning),
        Err(_) => answer,
    }
}

fn headed(answer: Answer, etag: Option<HeaderValue>) -> Answer {
    let answer = answer
        // Clients must ask again, so that the rules of that day decide.
        .with(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let answer = if answer.headers.contains_key(CONTENT_LENGTH) {
        answer.with(ACCEPT_RANGES, HeaderValue::from_static("bytes"))
    } else {
        answer
    };
    match etag {
        Some(etag) => answer.with(ETAG, etag),
        None => answer,
    }
}
