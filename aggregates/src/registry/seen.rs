//! The firewall's own clock: when this Weir first saw each version of a package. One stream for each
//! package, `registry/seen/<ecosystem>/<package>`.
//!
//! How old a version is goes by two clocks:
//!
//! | its registry's time of it | it was there at the first look | it came later |
//! | --- | --- | --- |
//! | can be believed | that time | the later of that time and our first sight |
//! | is missing, forged, or told by who made it | our first sight | our first sight |
//!
//! Python's, Node's and Rust's registries tell the time themselves, so it is believed, but not before
//! the year 2000 and not after our own sight of it. What a Go module's time is, its author wrote; a
//! registry of images tells none. What was never seen, and tells no time that can be believed, has no
//! age, and whoever asks for one refuses it.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    sync::Arc,
};

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        sighting::{FOLDER, VersionsSeen},
    },
    stream::{MAX_STREAM_BYTES, StreamName, StreamNameFault},
    timestamp::Timestamp,
};

use super::{
    verdict::{Candidate, comes_later},
    version::Version,
};
use crate::machine::{Context, Decision, Machine};

/// The most text that names take in one event.
const MAX_NAMES_BYTES: usize = 64 << 10;

/// The most events of one look: what does not fit is seen at the next one.
const MAX_EVENTS: usize = 64;

/// The most that is remembered of one package; what comes then has no age.
pub const MAX_SEEN: usize = 100_000;

/// How far a registry's clock may be ahead of ours, in seconds.
const MAX_AHEAD_SECONDS: i64 = 3_600;

/// The year 2000: no package is older than its registry.
const BEGINNING: Timestamp = Timestamp::from_micros(946_684_800_000_000);

/// The stream of what was seen of a package, given by its normalised name. A name too long for a
/// stream is found by its hash: no package is called like `~` and 64 digits.
pub fn stream(ecosystem: Ecosystem, package: &str) -> Result<StreamName, StreamNameFault> {
    stream_in(FOLDER, ecosystem, package)
}

/// The stream of a package in a folder of such streams.
pub(super) fn stream_in(
    folder: &str,
    ecosystem: Ecosystem,
    package: &str,
) -> Result<StreamName, StreamNameFault> {
    let name = format!("{folder}{ecosystem}/{package}");
    if name.len() <= MAX_STREAM_BYTES {
        return StreamName::new(name);
    }
    let hash = blake3::hash(package.as_bytes()).to_hex();
    StreamName::new(format!("{folder}{ecosystem}/~{hash}"))
}

/// The machine that remembers what was seen of one package.
#[derive(Debug)]
pub struct Watching;

/// What was seen of a package. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    names: Arc<HashMap<Box<str>, First>>,
}

/// When something was seen first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct First {
    /// The time.
    pub at: Timestamp,
    /// Whether it was there at the first look at its package.
    pub first_look: bool,
}

impl State {
    /// When something was seen first, if it was.
    #[must_use]
    pub fn first(&self, name: &str) -> Option<First> {
        self.names.get(name).copied()
    }

    /// All that was seen.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(AsRef::as_ref)
    }

    /// What was seen up to a time.
    #[must_use]
    pub fn as_of(&self, at: Timestamp) -> Self {
        let names = self.names.iter().filter(|(_, first)| first.at <= at);
        Self { names: Arc::new(names.map(|(name, first)| (name.clone(), *first)).collect()) }
    }

    /// When something was seen the next time after this one.
    #[must_use]
    pub fn next_after(&self, at: Timestamp) -> Option<Timestamp> {
        self.names.values().map(|first| first.at).filter(|seen_at| *seen_at > at).min()
    }

    /// How many things were seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the package was never looked at.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a look at these would tell nothing new.
    pub fn knows<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        names.into_iter().all(|name| self.names.contains_key(name)) || self.len() >= MAX_SEEN
    }
}

/// These are there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// What is there.
    pub names: Vec<String>,
}

impl Machine for Watching {
    type State = State;
    type Command = Look;
    type Event = Event;
    type Refusal = Infallible;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, look: &Look, context: &Context) -> Decision<Event, Infallible> {
        let room = MAX_SEEN.saturating_sub(state.len());
        let new = look.names.iter().filter(|name| !state.names.contains_key(name.as_str()));
        let mut decision = Decision::nothing();
        let (mut names, mut n_bytes) = (Vec::new(), 0);
        let seen = |names| VersionsSeen {
            ecosystem: look.ecosystem,
            package: look.package.clone(),
            names,
            first_look: state.is_empty(),
            seen_at: context.now,
        };
        for name in new.take(room) {
            n_bytes += name.len() + 5;
            if n_bytes > MAX_NAMES_BYTES && !names.is_empty() {
                decision = decision.recording(seen(std::mem::take(&mut names)));
                n_bytes = name.len() + 5;
                if decision.events.len() == MAX_EVENTS {
                    return decision;
                }
            }
            names.push(name.clone());
        }
        if names.is_empty() { decision } else { decision.recording(seen(names)) }
    }

    fn apply(state: &mut State, event: &Event) {
        if let Event::VersionsSeen(VersionsSeen { names, first_look, seen_at, .. }) = event {
            let all = Arc::make_mut(&mut state.names);
            let first = First { at: *seen_at, first_look: *first_look };
            for name in names {
                all.entry(name.as_str().into()).or_insert(first);
            }
        }
    }
}

/// What our own clock says of the versions of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// Each version was seen by its own name.
    Versions(State),
    /// Versions consist of files, each of which was seen by its own name.
    Files(State, BTreeMap<Version, Sum>),
}

/// What was seen of the files of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// When the newest of those that are there was seen first, for a version is as young as that.
    sight: Sight,
    /// When any file of it was seen first, whether it is still there or not.
    began_at: Option<Timestamp>,
}

impl Seen {
    /// What is known of a package that was never looked at.
    #[must_use]
    pub fn nothing() -> Self {
        Self::Versions(State::default())
    }

    /// What is known of versions that consist of files: `(file, version)` of what is there, and of what
    /// was there ever.
    pub fn of_files<'a>(
        state: &State,
        there: impl IntoIterator<Item = (&'a str, &'a Version)>,
        ever: impl IntoIterator<Item = (&'a str, &'a Version)>,
    ) -> Self {
        let mut versions: BTreeMap<Version, Sum> = BTreeMap::new();
        let of =
            |versions: &mut BTreeMap<Version, Sum>, version: &Version, first, there| match versions
                .get_mut(version)
            {
                Some(sum) => sum.add(first, there),
                None => versions.entry(version.clone()).or_default().add(first, there),
            };
        for (file, version) in there {
            of(&mut versions, version, state.first(file), true);
        }
        for (file, version) in ever {
            of(&mut versions, version, state.first(file), false);
        }
        Self::Files(state.clone(), versions)
    }

    /// How many things are known.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Versions(state) | Self::Files(state, _) => state.len(),
        }
    }

    fn sight(&self, version: &Version) -> Sight {
        match self {
            Self::Versions(state) => {
                state.first(version.as_str()).map_or(Sight::None, Sight::Whole)
            }
            Self::Files(_, versions) => versions.get(version).map_or(Sight::None, |sum| sum.sight),
        }
    }

    /// Whether what is asked for was seen later than the version it is of; without a file, whether
    /// anything of the version was. `None` where that is not known.
    pub(super) fn late(&self, candidate: &Candidate<'_>) -> Option<bool> {
        let Self::Files(state, versions) = self else { return None };
        let sum = versions.get(candidate.version?)?;
        let first = match (candidate.file, sum.sight) {
            (Some(file), _) => state.first(file.name)?,
            (None, Sight::Whole(newest)) => newest,
            (None, Sight::None | Sight::Partial) => return None,
        };
        Some(comes_later(sum.began_at?, first.at))
    }

    /// When a version was seen first, with all that belongs to it.
    #[must_use]
    pub fn first_seen_at(&self, version: &Version) -> Option<Timestamp> {
        match self.sight(version) {
            Sight::Whole(first) => Some(first.at),
            Sight::Partial | Sight::None => None,
        }
    }

    /// From when on the age of a version counts, and by which clock.
    #[must_use]
    pub fn born_at(
        &self,
        ecosystem: Ecosystem,
        candidate: &Candidate<'_>,
        now: Timestamp,
    ) -> Option<Born> {
        let own = match candidate.version.map(|version| self.sight(version)) {
            Some(Sight::Partial) => return None,
            Some(Sight::Whole(first)) => Some(first),
            Some(Sight::None) | None => None,
        };
        let seen_at = own.map_or(now, |first| first.at);
        let told = candidate.published_at.filter(|at| believed(ecosystem, *at, seen_at));
        match (told, own) {
            (Some(at), None) => Some(Born { at, clock: Clock::Registry }),
            (Some(at), Some(first)) if first.first_look || at >= first.at => {
                Some(Born { at, clock: Clock::Registry })
            }
            (_, Some(first)) => Some(Born { at: first.at, clock: Clock::Own }),
            (None, None) => None,
        }
    }
}

impl Sum {
    /// Adds a file, that is there or was.
    fn add(&mut self, first: Option<First>, there: bool) {
        self.began_at = self.began_at.into_iter().chain(first.map(|first| first.at)).min();
        if there {
            self.sight = match (self.sight, first) {
                (Sight::None, Some(first)) => Sight::Whole(first),
                (Sight::Whole(known), Some(first)) => Sight::Whole(First {
                    at: known.at.max(first.at),
                    first_look: known.first_look && first.first_look,
                }),
                (_, None) | (Sight::Partial, _) => Sight::Partial,
            };
        }
    }
}

/// What was seen of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sight {
    #[default]
    None,
    /// Not all that belongs to it.
    Partial,
    Whole(First),
}

/// From when on the age of a version counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Born {
    /// The time.
    pub at: Timestamp,
    /// Who tells it.
    pub clock: Clock,
}

/// Who tells a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The registry.
    Registry,
    /// This Weir.
    Own,
}

/// Whether what is told as a version's time is further ahead than clocks are.
pub(super) fn is_ahead(told: Timestamp, seen_at: Timestamp) -> bool {
    told > seen_at.plus_seconds(MAX_AHEAD_SECONDS)
}

/// Whether what is told as a version's time can be it, for who saw it at a time.
fn believed(ecosystem: Ecosystem, told: Timestamp, seen_at: Timestamp) -> bool {
    match ecosystem {
        Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo => {
            told >= BEGINNING && !is_ahead(told, seen_at)
        }
        // Who made it wrote it, or nobody told any.
        Ecosystem::Go | Ecosystem::Docker => false,
    }
}

#[cfg(test)]
mod tests;
