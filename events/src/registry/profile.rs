//! Profiles: what a token that names one is judged by beside everything else, stricter than others.
//! Streams: `registry/profiles`, `registry/quota/<token id>/<yyyy-mm-dd>`.

use serde::{Deserialize, Serialize};

use super::{advisory::Severity, hold::Ground, policy::Mode};
use crate::stream::{StreamName, StreamNameFault};

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
    /// How much its tokens may download.
    #[serde(default, skip_serializing_if = "Quota::is_none")]
    pub quota: Quota,
    /// What a person has to answer before it passes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hold: Vec<Ground>,
}

/// How much each token of a profile may download; what is not said is not counted. Hours and days are
/// those of UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Files in an hour.
    #[serde(default)]
    pub downloads_per_hour: Option<u32>,
    /// Files in a day.
    #[serde(default)]
    pub downloads_per_day: Option<u32>,
    /// Bytes in a day.
    #[serde(default)]
    pub bytes_per_day: Option<u64>,
}

impl Quota {
    /// Whether nothing is counted.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// The stream of what a token has used of its quota on a day. The day is `2026-12-24`.
pub fn quota_stream(token_id: &str, day: &str) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("registry/quota/{token_id}/{day}"))
}

/// A token was let through to a file, and that counts. Stands in one append with the decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaSpent {
    /// The token.
    pub token_id: String,
    /// The hour of the day in UTC, 0 to 23.
    pub hour: u8,
    /// The bytes it was let through to.
    pub bytes: u64,
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
