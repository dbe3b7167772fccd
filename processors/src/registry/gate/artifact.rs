//! A file as the gate sees it: what it is called, and where it comes from.

use http::{HeaderValue, header::WARNING};
use weir_aggregates::registry::{
    told::Told,
    verdict::{Candidate, FileTimes},
    version::Version,
};
use weir_events::{
    registry::{Ecosystem, FileDelivered},
    timestamp::Timestamp,
};

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
    /// BLAKE3 of the upstream's document that all this was read in; `None` where it is called by its own
    /// digest.
    pub document: Option<blake3::Hash>,
    /// What it is of its version.
    pub role: Role,
    /// The file's name.
    pub file: String,
    /// Where it comes from.
    pub wanted: Wanted,
}

/// What an artifact is of its version, for who has to be asked before it passes, and what is known once
/// it was delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// A file of it: who has that, has the version.
    File,
    /// What tells of a version beside its files: nobody is asked for its sake, and nothing known by it.
    Beside,
    /// The manifest of an image. What an image is, its digest says and no tag; what stands in an index is
    /// as good as the index.
    Manifest {
        /// Its digest.
        digest: String,
        /// Those of the indexes that it is seen to stand in, the outermost first.
        within: Vec<String>,
    },
    /// A blob, as good as any of the images that name it.
    Blob {
        /// Their digests and those of their indexes, the outermost first.
        within: Vec<String>,
    },
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

    /// The versions by any of which it may be known and asked for, the first one to ask for first; `None`
    /// where nothing tells.
    pub(super) fn versions(&self) -> Vec<Option<String>> {
        match &self.role {
            Role::File | Role::Beside => vec![self.version.as_ref().map(ToString::to_string)],
            Role::Manifest { digest, within } => {
                within.iter().chain([digest]).cloned().map(Some).collect()
            }
            Role::Blob { within } => within.iter().cloned().map(Some).collect(),
        }
    }

    /// What is known once it was delivered in full.
    pub(super) fn delivery(&self, ecosystem: Ecosystem) -> Option<FileDelivered> {
        let version = match &self.role {
            Role::File => self.version.as_ref().map(ToString::to_string),
            Role::Manifest { digest, .. } => Some(digest.clone()),
            Role::Beside | Role::Blob { .. } => return None,
        };
        let (package, file) = (self.package.clone(), self.file.clone());
        Some(FileDelivered { ecosystem, package, version, file })
    }

    /// What it was asked for as, in words for a person: an image by its tag, where it was one.
    pub(super) fn asked_as(&self) -> String {
        match (&self.role, &self.version) {
            (Role::Manifest { .. }, Some(reference)) => reference.to_string(),
            _ => self.file.clone(),
        }
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
