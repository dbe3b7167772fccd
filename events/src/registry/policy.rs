//! What the firewall goes by beside rules and advisories: its settings, and waivers.
//! Streams: `registry/settings`, `registry/waivers`, `registry/reserved`.

use serde::{Deserialize, Serialize};

use super::{Ecosystem, Mask, advisory::Severity};
use crate::timestamp::Timestamp;

/// The name of the one stream of settings.
pub const SETTINGS: &str = "registry/settings";

/// The name of the one stream of waivers.
pub const WAIVERS: &str = "registry/waivers";

/// The name of the one stream of names that were reserved beside the settings.
pub const RESERVED: &str = "registry/reserved";

/// Whether a "no" is acted upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// What is forbidden does not pass.
    #[default]
    Enforce,
    /// What is forbidden passes, and is recorded with a warning.
    Audit,
}

impl Mode {
    /// The name used in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Audit => "audit",
        }
    }
}

/// What becomes of a vulnerability that nobody rated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unrated {
    /// It counts, whatever the floor.
    #[default]
    Block,
    /// It does not count.
    Allow,
}

/// What becomes of what is said against a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reaction {
    /// Nothing: it is not even looked for.
    #[default]
    Off,
    /// It passes, and is recorded with a warning.
    Warn,
    /// It does not pass.
    Block,
}

impl Reaction {
    /// All of them, the mildest first.
    pub const ALL: [Self; 3] = [Self::Off, Self::Warn, Self::Block];

    /// The name used in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }

    /// Finds one by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reaction| reaction.as_str() == name)
    }
}

/// What becomes of versions that less vouches for than for versions before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Trust {
    /// Where a version before it had a provenance, or a publisher the registry trusts.
    #[serde(default)]
    pub provenance: Reaction,
    /// Where somebody published it who had nothing to do with the package before.
    #[serde(default)]
    pub publisher: Reaction,
}

impl Trust {
    /// Whether nothing is looked for.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

/// Which licences may be used.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Licences {
    /// Those that may, by their names in SPDX with `*` for any run of characters; none named: all but
    /// those that are denied.
    pub allow: Vec<String>,
    /// Those that may not.
    pub deny: Vec<String>,
    /// What becomes of a version of which no alternative is allowed.
    pub violation: Reaction,
    /// What becomes of a version of which the licence is not known; nobody says: the same as of one
    /// that is not allowed, where some are and its registry tells licences, else nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Reaction>,
    /// Of which ecosystems they are looked at.
    pub ecosystems: Vec<Ecosystem>,
}

impl Licences {
    /// Whether nothing is looked at.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

/// Names that are looked after, and what becomes of names that look like one of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Lookalikes {
    /// What becomes of them.
    pub reaction: Reaction,
    /// The names that are looked after beside those that are reserved: a name, or `@scope/*`.
    pub protect: Vec<Reserved>,
}

impl Lookalikes {
    /// Whether nothing is looked for.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

/// How versions that a source forbids look in lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Masks {
    /// What can be attacked.
    pub vulnerability: Mask,
    /// What was published to do harm.
    pub malware: Mask,
    /// What is younger than the minimum age.
    pub young: Mask,
}

impl Default for Masks {
    fn default() -> Self {
        Self { vulnerability: Mask::Mark, malware: Mask::Hide, young: Mask::Mark }
    }
}

/// What holds for one ecosystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EcosystemSettings {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// Whether a "no" is acted upon.
    pub mode: Mode,
    /// How old a version must be, in hours; 0 for any age.
    pub min_age_hours: u32,
    /// Whether a version that fixes an advisory may be younger.
    pub fix_exemption: bool,
}

/// A source that must have been read once before anything of an ecosystem passes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Required {
    /// The source.
    pub source: String,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
}

/// How the firewall judges.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Settings {
    /// The least severity of a vulnerability that counts.
    pub severity_floor: Floor,
    /// What becomes of a vulnerability that nobody rated.
    pub unrated: Unrated,
    /// How what is forbidden looks in lists.
    pub masks: Masks,
    /// What differs between ecosystems; who is not here is enforced, at any age.
    pub ecosystems: Vec<EcosystemSettings>,
    /// Sources that must have been read once.
    pub required: Vec<Required>,
    /// Whether every waiver needs a second person; one for malware always does.
    pub second_person: bool,
    /// Names that are never asked of a public registry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<Reserved>,
    /// What becomes of versions that less vouches for than for versions before them.
    #[serde(default, skip_serializing_if = "Trust::is_off")]
    pub trust: Trust,
    /// Which licences may be used.
    #[serde(default, skip_serializing_if = "Licences::is_off")]
    pub licences: Licences,
    /// Names that are looked after, and what becomes of names that look like one of them.
    #[serde(default, skip_serializing_if = "Lookalikes::is_off")]
    pub lookalikes: Lookalikes,
}

/// Names that are never asked of a public registry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reserved {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    pub package: String,
}

/// Names are reserved, beside those of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameReserved {
    /// Which.
    pub reserved: Reserved,
}

/// Names are not reserved any more, unless the settings name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameReleased {
    /// Which.
    pub reserved: Reserved,
}

/// A severity from which on something counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Floor(pub Severity);

impl Default for Floor {
    fn default() -> Self {
        Self(Severity::Medium)
    }
}

/// From now on the firewall judges like this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsChanged {
    /// How.
    pub settings: Settings,
}

/// A permission to pass in spite of a "no".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Waiver {
    /// Its id (UUID version 7).
    pub id: String,
    /// The ecosystem it is about.
    pub ecosystem: Ecosystem,
    /// A package name, with `*` for any run of characters.
    pub package: String,
    /// A version constraint in the ecosystem's own syntax; `*` is every version.
    pub versions: String,
    /// The rules and advisories that do not count, by id or alias; none named: all but malware.
    pub waives: Vec<String>,
    /// The one token that may pass, by its id; all where none is named.
    pub token: Option<String>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// Somebody wants a waiver, which a second person has to grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverRequested {
    /// What is wanted.
    pub waiver: Waiver,
    /// The principal that asked.
    pub requested_by: String,
}

/// A waiver is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverGranted {
    /// What may pass.
    pub waiver: Waiver,
    /// The principal that asked.
    pub requested_by: String,
    /// The principal that said yes.
    pub granted_by: String,
}

/// A waiver is not in force any more, or never will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverRevoked {
    /// The waiver's id.
    pub id: String,
    /// The principal that took it back.
    pub revoked_by: String,
    /// Why.
    pub reason: String,
}

/// A waiver's time is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaiverExpired {
    /// The waiver's id.
    pub id: String,
}
