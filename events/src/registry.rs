//! What the package firewall did: decisions on downloads, what it hid, the rules it went by.
//! Streams: `registry/rules`, `registry/decisions/<yyyy-mm-dd>/<ecosystem>` (append-only),
//! `registry/cache` (append-only, purges), and those of [`advisory`], [`blocklist`], [`policy`],
//! [`profile`], [`sighting`] and [`sync`].

pub mod advisory;
pub mod blocklist;
pub mod hold;
pub mod policy;
pub mod profile;
pub mod sighting;
pub mod sync;

use std::fmt;

use serde::{Deserialize, Serialize};

use self::{
    advisory::{AdvisoryChanged, AdvisoryPublished, AdvisoryWithdrawn, Class, Severity},
    blocklist::{BlocklistRuleAdded, BlocklistRuleRemoved},
    hold::{HoldAnswered, PackageRequested},
    policy::{
        NameReleased, NameReserved, SettingsChanged, WaiverExpired, WaiverGranted, WaiverRequested,
        WaiverRevoked,
    },
    profile::{ProfileRemoved, ProfileSet, QuotaSpent},
    sighting::{DigestPinned, VersionTold, VersionsSeen},
    sync::{SyncFailed, SyncRequested, SyncStarted, SyncSucceeded},
};
use crate::{codec::events, timestamp::Timestamp};

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
        /// From now on the firewall judges by other settings.
        0x4016 v 1 SettingsChanged,
        /// Somebody wants a waiver, which a second person has to grant.
        0x4017 v 1 WaiverRequested,
        /// The operator's blocklist file names something it did not name before.
        0x4018 v 1 BlocklistRuleAdded,
        /// The operator's blocklist file no longer names something.
        0x4019 v 1 BlocklistRuleRemoved,
        /// A waiver is in force.
        0x401a v 1 WaiverGranted,
        /// A waiver is not in force any more, or never will be.
        0x401b v 1 WaiverRevoked,
        /// A waiver's time is over.
        0x401c v 1 WaiverExpired,
        /// No public registry is asked for a name, or many, any more.
        0x401d v 1 NameReserved,
        /// Public registries are asked for a name again.
        0x401e v 1 NameReleased,
        /// Somebody asked for a source of advisories to be visited now.
        0x4028 v 1 SyncRequested,
        /// Somebody had what was kept forgotten.
        0x4030 v 1 CachePurged,
        /// Versions were there that this Weir had not seen before.
        0x4034 v 1 VersionsSeen,
        /// A file was let through for the first time: from now on this is its digest.
        0x4035 v 1 DigestPinned,
        /// A file was asked for, of which its registry told something that a policy looks at.
        0x4036 v 1 VersionTold,
        /// A profile of tokens is new, or says something else from now on.
        0x4038 v 1 ProfileSet,
        /// A profile of tokens is gone; tokens that name it get nothing.
        0x4039 v 1 ProfileRemoved,
        /// Somebody's token asks for a package, and a person has to answer first.
        0x403a v 1 PackageRequested,
        /// A person has said whether something that waits may pass.
        0x403b v 1 HoldAnswered,
        /// A token was let through to a file, and that counts against its quota.
        0x403d v 1 QuotaSpent,
        /// A file of a version was delivered in full for the first time: the version is known here.
        0x4040 v 1 FileDelivered,
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
    /// The policy it was judged by: the position of the last event that changed it.
    pub policy_revision: i64,
    /// When it was published, where that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// Whether it was added to its version later than the files that was released with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// What was said against it, where the ecosystem is audited only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<Grounds>,
    /// Why it passed in spite of something that was said against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excuse: Option<Excuse>,
    /// The profile that who asked is bound by, whether there is such a profile or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// What of it. `None` from a Weir that did not tell yet, which recorded no [`FileDelivered`] either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Served>,
    /// BLAKE3 of the upstream's document that it was found in and judged by, hexadecimal: the list of its
    /// package, and of a Go module what is told of the version. An image is found by its own digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// What of a file was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Served {
    /// All of it.
    Whole,
    /// A part of it.
    Part,
    /// What lies beside a file and tells of it.
    Beside,
}

/// A file of a version was delivered in full, to its last byte. Recorded once for each version, or a few
/// times where that was at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDelivered {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, or `None` where the file's name does not tell; of an image the digest of its manifest.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
}

/// What was said against a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// Which source says it.
    pub source: String,
    /// The id of its rule or advisory, or its own name.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Why something passed in spite of what was said against it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excuse {
    /// A waiver.
    Waiver {
        /// The waiver's id.
        id: String,
        /// What it waives.
        grounds: Grounds,
    },
    /// It is younger than it must be, but fixes an advisory.
    Fix {
        /// The advisory's id.
        advisory: String,
    },
}

/// An advisory, as the evidence for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The advisory's id.
    pub advisory_id: String,
    /// What kind of warning it is.
    pub class: Class,
    /// How bad it is.
    pub severity: Severity,
    /// What of it the version falls under: `1.2 to before 1.4`.
    pub hit: String,
    /// BLAKE3 of what the advisory said then, hexadecimal.
    pub digest: String,
    /// The lowest later version that is said to fix it.
    pub fixed_by: Option<String>,
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
    /// Which source said no: `rules` for an operator's rule, `minimum-age` for its age.
    pub source: String,
    /// The rule that said no.
    pub rule_id: Option<String>,
    /// What the client was told.
    pub reason: String,
    /// How the version looks in lists.
    pub mask: Mask,
    /// The policy it was judged by: the position of the last event that changed it.
    pub policy_revision: i64,
    /// The advisory that said no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// When it was published, where that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    /// Whether it was added to its version later than the files that was released with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The profile that who asked is bound by, whether there is such a profile or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// BLAKE3 of the upstream's document that it was found in and judged by, hexadecimal: the list of its
    /// package, and of a Go module what is told of the version. An image is found by its own digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
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
    /// The policy it was judged by: the position of the last event that changed it.
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

/// The stream of purges.
pub const CACHE: &str = "registry/cache";

/// Somebody had what was kept forgotten: files of packages, and the lists of their versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePurged {
    /// Of which ecosystem; of all, without one.
    pub ecosystem: Option<Ecosystem>,
    /// Of which packages: a name, with `*` for any run of characters; of all, without one.
    pub package: Option<String>,
    /// Of which versions: a constraint in the ecosystem's own syntax; of all, without one.
    pub versions: Option<String>,
    /// What began to be fetched up to this time is kept by nobody any more, also not by an instance
    /// with a folder of its own, nor by one that was down.
    pub before: Timestamp,
    /// How many files the instance that was asked found and forgot.
    pub n_files: u64,
    /// Their size in bytes.
    pub size_bytes: u64,
    /// How many lists it forgot.
    pub n_documents: u64,
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
    /// Its bytes were not what they were when it was kept, or could not be written to the disk.
    Broken,
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
