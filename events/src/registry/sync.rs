//! Visits to the sources of advisories. Streams: `registry/source/<name>` (append-only).

use serde::{Deserialize, Serialize};

use super::Ecosystem;
use crate::stream::{StreamName, StreamNameFault};

/// What the names of all streams of visits begin with.
pub const FOLDER: &str = "registry/source/";

/// The stream of the visits to a source.
pub fn stream(source: &str) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("{FOLDER}{source}"))
}

/// A source is being asked for what is new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncStarted {
    /// Which source.
    pub source: String,
    /// About one ecosystem, or `None`: about all it has.
    pub ecosystem: Option<Ecosystem>,
}

/// A source gave what it had, and all of it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncSucceeded {
    /// Which source.
    pub source: String,
    /// About one ecosystem, or `None`: about all it has.
    pub ecosystem: Option<Ecosystem>,
    /// How many records were read; 0 when the source said that nothing has changed.
    pub n_records: u64,
    /// How many of them could not be read, and say nothing therefore.
    pub n_unreadable: u64,
    /// How many advisories were new.
    pub n_published: u64,
    /// How many said something else than before.
    pub n_changed: u64,
    /// How many were withdrawn.
    pub n_withdrawn: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What the source calls this state: an entity tag, the id of a commit.
    pub revision: Option<String>,
}

/// A source did not give what it has; what it said before stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncFailed {
    /// Which source.
    pub source: String,
    /// About one ecosystem, or `None`: about all it has.
    pub ecosystem: Option<Ecosystem>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// What went wrong.
    pub cause: String,
}

/// Somebody asked for a source to be visited now, and for all it has to be read anew.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncRequested {
    /// Which source.
    pub source: String,
    /// Whether a person has looked, and says that what is gone from the source is gone indeed,
    /// however much that is.
    pub believe_losses: bool,
}
