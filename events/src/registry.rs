//! What the package firewall did: decisions on downloads, what it hid, the rules it went by.
//! Streams: `registry/rules`, `registry/decisions/<yyyy-mm-dd>/<ecosystem>` (append-only), and those
//! of [`advisory`] and [`sync`].

pub mod advisory;
pub mod sync;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::{
    advisory::{AdvisoryChanged, AdvisoryPublished, AdvisoryWithdrawn},
    sync::{SyncFailed, SyncStarted, SyncSucceeded},
};
use crate::codec::events;

events! {
    /// Events of subsystem `registry` (range 0x4000).
    Event {
        /// A file of a package was let through.
        0x4002 v 1 PackageAllowed,
        /// A file of a package was refused, with the reason its client was told.
        0x4003 v 1 PackageBlocked,
        /// A list of versions was answered with some hidden or marked; once per principal, package
        /// and policy revision.
        0x4004 v 1 MetadataFiltered,
        /// A rule was added.
        0x4005 v 1 RuleAdded,
        /// A rule was replaced.
        0x4006 v 1 RuleChanged,
        /// A rule was removed.
        0x4007 v 1 RuleRemoved,
        /// A file was verified against the hash its index gave, and cached.
        0x4008 v 1 CacheStored,
        /// A cached file was forgotten.
        0x4009 v 1 CacheEvicted,
        /// An upstream answered with bytes that do not fit what its index promised; nothing of
        /// them was kept.
        0x400a v 1 UpstreamRejected,
        /// A source of advisories said something for the first time.
        0x4010 v 1 AdvisoryPublished,
        /// A source of advisories said something else than before under the same id.
        0x4011 v 1 AdvisoryChanged,
        /// A source of advisories no longer says something.
        0x4012 v 1 AdvisoryWithdrawn,
        /// A source of advisories is being asked for what is new.
        0x4013 v 1 SyncStarted,
        /// A source of advisories gave what it had, and all of it stands in the log.
        0x4014 v 1 SyncSucceeded,
        /// A source of advisories did not give what it has; what it said before stands.
        0x4015 v 1 SyncFailed,
    }
}

/// A package ecosystem, by the name of its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ecosystem {
    /// Python packages.
    Pypi,
    /// Node packages.
    Npm,
    /// Rust crates.
    Cargo,
    /// Go modules.
    Go,
    /// Container images.
    Docker,
}

impl Ecosystem {
    /// All ecosystems.
    pub const ALL: [Self; 5] = [Self::Pypi, Self::Npm, Self::Cargo, Self::Go, Self::Docker];

    /// The name used in addresses, rules and events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pypi => "pypi",
            Self::Npm => "npm",
            Self::Cargo => "cargo",
            Self::Go => "go",
            Self::Docker => "docker",
        }
    }

    /// Finds an ecosystem by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.as_str() == name)
    }
}

impl fmt::Display for Ecosystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a forbidden version looks to a client that only lists versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// Listed as the ecosystem's own "do not choose", with the reason.
    #[default]
    Mark,
    /// Not listed.
    Hide,
    /// Listed untouched.
    DenyOnly,
}

impl Mask {
    /// The name used in rules.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mark => "mark",
            Self::Hide => "hide",
            Self::DenyOnly => "deny-only",
        }
    }

    /// Finds a mask by its name.
    pub fn find(name: &str) -> Option<Self> {
        [Self::Mark, Self::Hide, Self::DenyOnly].into_iter().find(|m| m.as_str() == name)
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An operator's rule: what it forbids and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// Its id (UUID version 7).
    pub id: String,
    /// The ecosystem it is about.
    pub ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    pub package: String,
    /// A version constraint in the ecosystem's own syntax; `*` is every version.
    pub versions: String,
    /// What a person is told.
    pub reason: String,
    /// How the versions look in lists.
    pub mask: Mask,
}

/// A rule was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleAdded {
    /// The rule.
    pub rule: Rule,
}

/// A rule was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleChanged {
    /// The rule as it is from now on.
    pub rule: Rule,
}

/// A rule was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRemoved {
    /// The rule's id.
    pub id: String,
}

/// A file of a package was let through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageAllowed {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, or `None` where the file's name does not tell.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// The SHA-256 its index promised, hexadecimal.
    pub sha256: Option<String>,
    /// The policy it was judged by: the position of the last rule event.
    pub policy_revision: i64,
}

/// A file of a package was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageBlocked {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, or `None` where the file's name does not tell.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// Which source said no: `rules` for an operator's rule.
    pub source: String,
    /// The rule that said no.
    pub rule_id: Option<String>,
    /// What the client was told.
    pub reason: String,
    /// How the version looks in lists.
    pub mask: Mask,
    /// The policy it was judged by: the position of the last rule event.
    pub policy_revision: i64,
}

/// A list of versions was answered with some hidden or marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataFiltered {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// Versions left out.
    pub hidden: Vec<String>,
    /// Versions marked as "do not choose".
    pub marked: Vec<String>,
    /// The policy it was judged by: the position of the last rule event.
    pub policy_revision: i64,
    /// BLAKE3 of the upstream's document, hexadecimal.
    pub document: String,
}

/// A file was verified and cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheStored {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The file's name.
    pub file: String,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
    /// Its size in bytes.
    pub size_bytes: u64,
}

/// A cached file was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEvicted {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The file's name.
    pub file: String,
    /// Its SHA-256, hexadecimal.
    pub sha256: String,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Why.
    pub cause: EvictionCause,
}

/// Why a cached file was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvictionCause {
    /// There was no more room, and it was not used for longest.
    Lru,
    /// It was kept as long as it may be.
    Expired,
    /// Somebody asked for it.
    Purged,
}

/// An upstream's bytes did not fit what its index promised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpstreamRejected {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The file's name.
    pub file: String,
    /// What did not fit.
    pub cause: String,
}
