//! What this Weir itself saw of packages, and when: its own clock beside that of their registries.
//! Streams: `registry/seen/<ecosystem>/<package>`, `registry/pins/<ecosystem>/<package>` and
//! `registry/told/<ecosystem>/<package>`, one for each package.

use serde::{Deserialize, Serialize};

use super::Ecosystem;
use crate::timestamp::Timestamp;

/// Where the streams begin.
pub const FOLDER: &str = "registry/seen/";

/// Where the streams of digests begin.
pub const PINS: &str = "registry/pins/";

/// Where the streams of what registries told begin.
pub const TOLD: &str = "registry/told/";

/// Versions were there that this Weir had not seen before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionsSeen {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// What was new: versions; of Python packages their files, of images their manifests by digest.
    pub names: Vec<String>,
    /// Whether the package was looked at for the first time, so that nothing is known of how long they
    /// were there before.
    pub first_look: bool,
    /// When they were seen.
    pub seen_at: Timestamp,
}

/// A file was let through for the first time: from now on this is its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DigestPinned {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The file's name.
    pub file: String,
    /// What its index, or a checksum database, promised of it: `sha256 …`, `h1 …`.
    pub digest: String,
    /// When.
    pub pinned_at: Timestamp,
}

/// What vouches for a version, the least first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Vouched {
    /// Nothing.
    #[default]
    Nothing,
    /// A signed statement of how it was built.
    Provenance,
    /// Its registry knows who built it, and took it from nobody else.
    TrustedPublisher,
}

impl Vouched {
    /// What it is called in a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Provenance => "a provenance",
            Self::TrustedPublisher => "a trusted publisher",
        }
    }
}

/// Less vouches for a version than for one before it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TrustLost {
    /// What vouches for it.
    pub has: Vouched,
    /// What vouched for the one before it.
    pub had: Vouched,
    /// The one before it.
    pub earlier: String,
}

/// What a registry told of a file that was asked for, as far as a policy looked at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionTold {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where it is known.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// That less vouches for it than for a version before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<TrustLost>,
    /// Who published it, having had nothing to do with the package before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newcomer: Option<String>,
    /// Its licence, in the words of its registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// When.
    pub told_at: Timestamp,
}
