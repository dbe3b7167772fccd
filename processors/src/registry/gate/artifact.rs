//! A file as the gate sees it: what it is called, and where it comes from.

use http::{HeaderValue, header::WARNING};
use weir_aggregates::registry::{
    told::Told,
    verdict::{Candidate, FileTimes},
    version::Version,
};
use weir_events::timestamp::Timestamp;

use crate::registry::{answer::Answer, download::Wanted};

/// What an artifact is called, and where it comes from.
#[derive(Debug, Clone)]
pub struct Artifact {
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where it is known.
    pub version: Option<Version>,
    /// When it was published, where that is told.
    pub published_at: Option<Timestamp>,
    /// Which of its files it is of, where a version consists of files.
    pub part: Option<Part>,
    /// What its list tells of it beside that, where it was looked at.
    pub told: Option<Told>,
    /// The file's name.
    pub file: String,
    /// Where it comes from.
    pub wanted: Wanted,
}

/// One of the files that a version consists of.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its name.
    pub file: String,
    /// When it and its version were published, where that is told.
    pub times: FileTimes,
}

impl Artifact {
    pub(super) fn etag(&self) -> Option<HeaderValue> {
        let promise = || self.wanted.promise.as_ref()?.tag();
        let tag = self.wanted.sha256.map(hex::encode).or_else(promise);
        let tag = tag.or_else(|| self.wanted.shape.tag())?;
        HeaderValue::try_from(format!("\"{tag}\"")).ok()
    }

    /// As it is judged.
    #[must_use]
    pub fn candidate(&self) -> Candidate<'_> {
        let candidate = Candidate::published(self.version.as_ref(), self.published_at);
        let candidate = candidate.telling(self.told.as_ref());
        match &self.part {
            Some(Part { file, times }) => candidate.in_file(file, *times),
            None => candidate,
        }
    }

    /// Says so where the index promises too little to verify the bytes.
    pub(super) fn warned(&self, answer: Answer) -> Answer {
        if self.wanted.can_be_kept() {
            return answer;
        }
        let warning = match self.wanted.promise {
            Some(_) => "299 - \"the index promises only a weak hash of this file, it is not kept\"",
            None => {
                "299 - \"the index promises no hash that Weir verifies, this file is not kept\""
            }
        };
        answer.with(WARNING, HeaderValue::from_static(warning))
    }
}
