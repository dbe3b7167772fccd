//! `policy.profiles`: the profiles that are set whenever a Weir starts.

use serde::{Deserialize, Serialize};
use weir_events::registry::{
    advisory::Severity,
    hold::Ground,
    policy::Mode,
    profile::{Profile, Quota},
};

/// A profile as the file writes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileEntry {
    name: String,
    mode: Option<Mode>,
    #[serde(default)]
    min_age_hours: u32,
    severity_floor: Option<Severity>,
    #[serde(default)]
    quota: Quota,
    #[serde(default)]
    hold: Vec<Ground>,
}

impl ProfileEntry {
    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl From<&ProfileEntry> for Profile {
    fn from(entry: &ProfileEntry) -> Self {
        let ProfileEntry { name, mode, min_age_hours, severity_floor, quota, hold } = entry.clone();
        Self { name, mode, min_age_hours, severity_floor, quota, hold }
    }
}
