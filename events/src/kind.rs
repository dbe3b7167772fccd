//! The one table of kinds: every code ever written to a log, its name, its current schema version.
//!
//! Codes are never reused. Ranges: log 0x1000, access 0x1100, nexus 0x1200, mint 0x1300, topics
//! 0x2000, runs 0x3000, registry 0x4000, actors 0x5000, web 0x6000.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{access, codec::CodecFault, log, mint, nexus, registry, web};

/// A part of Weir with the same name in every crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subsystem {
    /// The log itself and its projections.
    Log,
    /// Principals, tokens, scopes.
    Access,
    /// Epochs, cycles, ticks.
    Nexus,
    /// Accounts.
    Mint,
    /// Nostr relay, subscriptions, gossip.
    Topics,
    /// Durable agent runs.
    Runs,
    /// Package registries.
    Registry,
    /// Actor paths and remote authorities.
    Actors,
    /// The web gateway.
    Web,
}

impl Subsystem {
    /// All subsystems, in the order of their ranges.
    pub const ALL: [Self; 9] = [
        Self::Log,
        Self::Access,
        Self::Nexus,
        Self::Mint,
        Self::Topics,
        Self::Runs,
        Self::Registry,
        Self::Actors,
        Self::Web,
    ];

    /// The subsystem whose range holds this kind.
    pub const fn of(kind: Kind) -> Option<Self> {
        match kind.0 {
            0x1000..=0x10ff => Some(Self::Log),
            0x1100..=0x11ff => Some(Self::Access),
            0x1200..=0x12ff => Some(Self::Nexus),
            0x1300..=0x13ff => Some(Self::Mint),
            0x2000..=0x2fff => Some(Self::Topics),
            0x3000..=0x3fff => Some(Self::Runs),
            0x4000..=0x4fff => Some(Self::Registry),
            0x5000..=0x5fff => Some(Self::Actors),
            0x6000..=0x6fff => Some(Self::Web),
            _ => None,
        }
    }

    /// The name used in every crate, in SQL and in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Access => "access",
            Self::Nexus => "nexus",
            Self::Mint => "mint",
            Self::Topics => "topics",
            Self::Runs => "runs",
            Self::Registry => "registry",
            Self::Actors => "actors",
            Self::Web => "web",
        }
    }

    /// Finds a subsystem by its name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == name)
    }
}

impl fmt::Display for Subsystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The code of a kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kind(pub i32);

/// One row of the table of kinds.
#[derive(Debug, Clone, Copy)]
pub struct KindInfo {
    /// The code, never reused.
    pub code: Kind,
    /// The name, in the past tense.
    pub name: &'static str,
    /// The schema version written today.
    pub schema: i16,
    /// What happened, in one sentence.
    pub doc: &'static str,
    /// Decodes a payload of today's schema and says it as JSON.
    pub to_json: fn(&[u8]) -> Result<serde_json::Value, CodecFault>,
}

impl Kind {
    /// The row of the table for this code.
    pub fn info(self) -> Option<&'static KindInfo> {
        table().find(|info| info.code == self)
    }

    /// Finds a kind by its name.
    pub fn find(name: &str) -> Option<Self> {
        table().find(|info| info.name == name).map(|info| info.code)
    }

    /// The name, or the code in hexadecimal where this build does not know it.
    pub fn name(self) -> String {
        self.info().map_or_else(|| format!("{:#06x}", self.0), |info| info.name.to_owned())
    }
}

/// Every kind this build knows, by code.
pub fn table() -> impl Iterator<Item = &'static KindInfo> {
    [
        log::Event::TABLE,
        access::Event::TABLE,
        nexus::Event::TABLE,
        mint::Event::TABLE,
        registry::Event::TABLE,
        web::Event::TABLE,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_and_names_are_unique_ordered_and_in_the_range_of_their_subsystem() {
        let codes: Vec<_> = table().map(|info| info.code).collect();
        assert!(codes.is_sorted(), "{codes:?}");
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
        assert_eq!(table().map(|i| i.name).collect::<HashSet<_>>().len(), codes.len());
        for (events, subsystem) in [
            (log::Event::TABLE, Subsystem::Log),
            (access::Event::TABLE, Subsystem::Access),
            (nexus::Event::TABLE, Subsystem::Nexus),
            (mint::Event::TABLE, Subsystem::Mint),
            (registry::Event::TABLE, Subsystem::Registry),
        ] {
            for info in events {
                assert_eq!(Subsystem::of(info.code), Some(subsystem), "{}", info.name);
                assert!(!info.doc.trim().is_empty(), "{} says nothing", info.name);
            }
        }
    }

    #[test]
    fn every_subsystem_is_found_by_its_name() {
        for subsystem in Subsystem::ALL {
            assert_eq!(Subsystem::find(subsystem.as_str()), Some(subsystem));
        }
        assert_eq!(Subsystem::find("nowhere"), None);
    }
}
