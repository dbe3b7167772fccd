//! Profiles: what a token that names one is judged by beside everything else, stricter than others.
//! Stream: `registry/profiles`.

use serde::{Deserialize, Serialize};

use super::{advisory::Severity, policy::Mode};

/// The name of the one stream of profiles.
pub const PROFILES: &str = "registry/profiles";

/// What tokens of one kind are judged by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Profile {
    /// Its name: what a token says.
    pub name: String,
    /// Whether a "no" is acted upon, in every ecosystem; as the ecosystem says, without.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// How old a version must be at least, in hours; 0 for as old as the settings say.
    #[serde(default)]
    pub min_age_hours: u32,
    /// The least severity of a vulnerability that counts, where that is less than the settings say.
    #[serde(default)]
    pub severity_floor: Option<Severity>,
}

/// From now on a profile says this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileSet {
    /// What.
    pub profile: Profile,
}

/// There is no such profile any more; whoever's token names it gets nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRemoved {
    /// Its name.
    pub name: String,
}
