//! Profiles: what tokens of one kind, those of agents say, are judged by beside everything else.
//! Stream `registry/profiles`.
//!
//! A profile can only be stricter than the settings, but for one thing: to let pass and only warn,
//! which is an administrator's to grant. Who is bound by a profile changes none.

mod bound;

use std::collections::BTreeMap;

use weir_events::{
    kind::Subsystem,
    registry::{
        Event,
        advisory::Severity,
        policy::Mode,
        profile::{Profile, ProfileRemoved, ProfileSet, Quota},
    },
};

pub use self::bound::{Asker, CompiledProfile};
use super::short;
use crate::{
    access::Grantor,
    machine::{Context, Decision, Machine},
};

/// How many profiles there may be.
pub const MAX_PROFILES: usize = 100;

/// The longest name, in characters.
pub const MAX_NAME_CHARS: usize = 40;

/// The highest minimum age, in hours: ten years.
pub const MAX_AGE_HOURS: u32 = 87_600;

/// The machine that keeps the profiles.
#[derive(Debug)]
pub struct Profiles;

/// The profiles, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    profiles: BTreeMap<String, Profile>,
}

impl State {
    /// The profiles, in the order of their names.
    pub fn profiles(&self) -> impl ExactSizeIterator<Item = &Profile> {
        self.profiles.values()
    }

    /// One profile.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Make a profile, or have it say something else.
    Set {
        /// What it says from now on.
        profile: Profile,
        /// Who says so.
        by: Grantor,
    },
    /// Remove a profile. Tokens that name it get nothing from then on.
    Remove {
        /// Its name.
        name: String,
        /// Who says so.
        by: Grantor,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The name is none.
    #[error(
        "`{0}` is no name of a profile: 1 to {MAX_NAME_CHARS} of a-z, 0-9, `-` and `_`, a letter first"
    )]
    BadName(String),
    /// The minimum age is more than any package has.
    #[error("a minimum age is at most {MAX_AGE_HOURS} hours")]
    BadAge,
    /// A quota that lets nothing pass.
    #[error("a quota is at least 1; to let nothing pass, revoke the token or write a rule")]
    BadQuota,
    /// A ground stands there twice.
    #[error("each ground to hold something stands in a profile once")]
    BadHold,
    /// What nobody rated is no floor.
    #[error("a severity floor is low, medium, high or critical")]
    BadFloor,
    /// There are too many profiles.
    #[error("there are {MAX_PROFILES} profiles already; remove some")]
    TooMany,
    /// There is no such profile.
    #[error("there is no profile `{0}`")]
    Unknown(String),
    /// Only an administrator lets pass what is forbidden.
    #[error(
        "only who has scope `admin` may have a profile let pass what is forbidden (mode audit)"
    )]
    AuditNeedsAdmin,
    /// Who is bound by a profile asks.
    #[error("whoever is bound by a profile, as you are by `{0}`, cannot change profiles")]
    Bound(String),
}

impl Machine for Profiles {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        let (Command::Set { by, .. } | Command::Remove { by, .. }) = command;
        if let Some(bound) = &by.profile {
            return Decision::refuse(Refusal::Bound(bound.clone()));
        }
        match command {
            Command::Set { profile, by } => set(state, profile, by),
            Command::Remove { name, .. } if state.profiles.contains_key(name) => {
                Decision::accept(ProfileRemoved { name: name.clone() })
            }
            Command::Remove { name, .. } => Decision::refuse(Refusal::Unknown(short(name))),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::ProfileSet(ProfileSet { profile }) => {
                state.profiles.insert(profile.name.clone(), profile.clone());
            }
            Event::ProfileRemoved(ProfileRemoved { name }) => {
                state.profiles.remove(name);
            }
            _ => {}
        }
    }
}

fn set(state: &State, profile: &Profile, by: &Grantor) -> Decision<Event, Refusal> {
    if let Err(refusal) = check(profile) {
        return Decision::refuse(refusal);
    }
    match state.profiles.get(&profile.name) {
        Some(same) if same == profile => return Decision::nothing(),
        None if state.profiles.len() >= MAX_PROFILES => return Decision::refuse(Refusal::TooMany),
        Some(_) | None => {}
    }
    if profile.mode == Some(Mode::Audit) && !by.is_admin() {
        return Decision::refuse(Refusal::AuditNeedsAdmin);
    }
    Decision::accept(ProfileSet { profile: profile.clone() })
}

/// What a profile must be to become one.
pub fn check(profile: &Profile) -> Result<(), Refusal> {
    if !is_name(&profile.name) {
        return Err(Refusal::BadName(short(&profile.name)));
    }
    if profile.min_age_hours > MAX_AGE_HOURS {
        return Err(Refusal::BadAge);
    }
    if profile.severity_floor == Some(Severity::Unknown) {
        return Err(Refusal::BadFloor);
    }
    let twice = |at: usize| profile.hold.iter().skip(at + 1).any(|it| *it == profile.hold[at]);
    if (0..profile.hold.len()).any(twice) {
        return Err(Refusal::BadHold);
    }
    let Quota { downloads_per_hour, downloads_per_day, bytes_per_day } = profile.quota;
    if [downloads_per_hour, downloads_per_day].contains(&Some(0)) || bytes_per_day == Some(0) {
        return Err(Refusal::BadQuota);
    }
    Ok(())
}

/// Whether a text can be the name of a profile.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME_CHARS
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

#[cfg(test)]
mod tests;
