//! What this Weir itself saw of packages, and when: its own clock beside that of their registries.
//! Streams: `registry/seen/<ecosystem>/<package>` and `registry/pins/<ecosystem>/<package>`, one for
//! each package.

use serde::{Deserialize, Serialize};

use super::Ecosystem;
use crate::timestamp::Timestamp;

/// Where the streams begin.
pub const FOLDER: &str = "registry/seen/";

/// Where the streams of digests begin.
pub const PINS: &str = "registry/pins/";

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
