//! Holds: what somebody's token may not have before a person has said yes. Stream: `registry/holds`.

use serde::{Deserialize, Serialize};

use super::Ecosystem;
use crate::timestamp::Timestamp;

/// The name of the one stream of holds.
pub const HOLDS: &str = "registry/holds";

/// Why a person is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ground {
    /// No file of the package was ever delivered here.
    NewPackage,
    /// No file of the version was ever delivered here; of an image, its manifest.
    NewVersion,
    /// An advisory warns of a vulnerability in it.
    Advisory,
}

impl Ground {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NewPackage, Self::NewVersion, Self::Advisory];

    /// The name used in profiles and answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NewPackage => "new-package",
            Self::NewVersion => "new-version",
            Self::Advisory => "advisory",
        }
    }

    /// Finds one by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ground| ground.as_str() == name)
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Its id (UUID version 7).
    pub id: String,
    /// The token that asks.
    pub token_id: String,
    /// The name of its principal.
    pub principal: String,
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, or `None` where the file's name does not tell; of an image that is new its digest.
    pub version: Option<String>,
    /// The file that was asked for; of an image its tag or digest.
    pub file: String,
    /// Why a person is asked.
    pub ground: Ground,
    /// The advisory, where it is one.
    pub advisory: Option<String>,
    /// When it was asked.
    pub requested_at: Timestamp,
    /// Until when somebody can answer.
    pub expires_at: Timestamp,
}

/// Somebody's token asks for something that a person has to answer first: once for each token, package,
/// version and ground.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageRequested {
    /// What is asked.
    pub hold: Hold,
}

/// What a person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// It may pass.
    Allow,
    /// It may not.
    Deny,
}

impl Word {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Allow, Self::Deny];

    /// The name used in addresses and commands.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }

    /// What somebody has done who said it.
    #[must_use]
    pub const fn done(self) -> &'static str {
        match self {
            Self::Allow => "allowed",
            Self::Deny => "denied",
        }
    }

    /// Finds one by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|word| word.as_str() == name)
    }
}

/// A person has answered; the last answer counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldAnswered {
    /// The hold.
    pub id: String,
    /// What was said.
    pub word: Word,
    /// Who said it.
    pub answered_by: String,
    /// Why.
    pub reason: String,
    /// How long that holds.
    pub until: Timestamp,
}
