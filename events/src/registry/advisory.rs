//! Advisories: what a source says about versions of packages.
//! Streams: `registry/advisories/<source>/<ecosystem>` (append-only).
//!
//! What is affected stands here as it was understood on that day: versions in the ecosystem's own
//! order, ranges as windows. So the log alone answers "what did we know then?".

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Ecosystem;
use crate::{
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};

/// The sources there are, by name.
pub const SOURCES: [&str; 2] = [OSV, OPENSSF];

/// The open source vulnerability database.
pub const OSV: &str = "osv";

/// Packages that were published to do harm, as the `OpenSSF` collects them.
pub const OPENSSF: &str = "openssf-malicious";

/// What the names of all streams of advisories begin with.
pub const FOLDER: &str = "registry/advisories/";

/// The stream of a source's advisories about one ecosystem.
pub fn stream(source: &str, ecosystem: Ecosystem) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("{FOLDER}{source}/{ecosystem}"))
}

/// How bad it is. The order is that of badness, and what nobody rated is below everything that
/// somebody did.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nobody rated it, or with words that are not known here.
    #[default]
    Unknown,
    /// CVSS below 4.0.
    Low,
    /// CVSS 4.0 to 6.9.
    Medium,
    /// CVSS 7.0 to 8.9.
    High,
    /// CVSS 9.0 and above.
    Critical,
}

impl Severity {
    /// All severities, the least first.
    pub const ALL: [Self; 5] = [Self::Unknown, Self::Low, Self::Medium, Self::High, Self::Critical];

    /// The name used in rules, events and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Finds a severity by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What kind of warning it is. The order is that of badness.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// For information: nobody maintains it any more, or alike. Nothing that can be attacked.
    Notice,
    /// Something that can be attacked.
    #[default]
    Vulnerability,
    /// Published to do harm. It has no severity: it is never acceptable.
    Malware,
}

impl Class {
    /// The name used in events and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Vulnerability => "vulnerability",
            Self::Malware => "malware",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Where a window of affected versions ends.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Nowhere: every later version is affected.
    Open,
    /// Before the version that fixed it.
    Fixed(String),
    /// With the last version known to be affected.
    LastAffected(String),
    /// Before a version beyond which the source says nothing. Nothing was fixed there.
    Limit(String),
}

/// Versions in a row that are affected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Window {
    /// The first affected version, or `None`: from before every version.
    pub introduced: Option<String>,
    /// Where it ends.
    pub end: End,
}

impl Window {
    /// The window that holds every version.
    pub const EVERYTHING: Self = Self { introduced: None, end: End::Open };
}

/// What is affected of one package: a version that is listed, or lies in one of the windows.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Affected {
    /// The package, by its normalised name.
    pub package: String,
    /// How bad it is for this package.
    pub severity: Severity,
    /// Affected versions by name, in ascending order.
    pub versions: Vec<String>,
    /// Ranges of affected versions.
    pub windows: Vec<Window>,
    /// Whether more than the source named is said to be affected, because what it named was too
    /// much to keep.
    pub widened: bool,
}

/// What a source says: one warning about packages of one ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Advisory {
    /// Which source says it: `osv`, `openssf-malicious`.
    pub source: String,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The source's name for it: `GHSA-…`, `MAL-…`.
    pub id: String,
    /// Other names of the same thing.
    pub aliases: Vec<String>,
    /// What kind of warning it is.
    pub class: Class,
    /// What it is about, in one line.
    pub summary: String,
    /// When the source last touched it, if it says so.
    pub modified: Option<Timestamp>,
    /// What is affected, one entry a package.
    pub affected: Vec<Affected>,
    /// BLAKE3 of all of this but `modified`, hexadecimal: another digest, another warning.
    pub digest: String,
}

/// A source said something for the first time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvisoryPublished {
    /// What it said.
    pub advisory: Advisory,
}

/// A source said something else than before under the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvisoryChanged {
    /// What it says from now on.
    pub advisory: Advisory,
}

/// Why a source no longer says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// It said so: the record stands there as withdrawn.
    Declared,
    /// The record is gone, or no longer speaks of this ecosystem.
    Gone,
}

/// A source no longer says something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvisoryWithdrawn {
    /// Which source.
    pub source: String,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The advisory's id.
    pub id: String,
    /// Why.
    pub cause: Withdrawal,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_severities_and_classes_is_that_of_badness() {
        assert!(Severity::ALL.is_sorted());
        assert!(Class::Notice < Class::Vulnerability && Class::Vulnerability < Class::Malware);
        for severity in Severity::ALL {
            assert_eq!(Severity::find(&severity.to_string()), Some(severity));
        }
        assert_eq!(Severity::find("moderate"), None);
    }

    #[test]
    fn a_source_has_a_stream_for_each_ecosystem() {
        let name = stream("osv", Ecosystem::Npm).unwrap();
        assert_eq!(name.as_str(), "registry/advisories/osv/npm");
        assert!(stream("no good", Ecosystem::Npm).is_err());
    }
}
