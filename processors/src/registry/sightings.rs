//! What this process knows of when the versions of packages were first seen here. What it does not
//! know stands in the log; to forget costs a question to it, and never makes anything older.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weir_aggregates::registry::{
    seen::{self, Seen, State, Watching},
    version::Version,
};
use weir_events::registry::Ecosystem;

use super::{
    ledger::{Ledger, LedgerFault},
    lru::Lru,
    pypi::filename::{Filename, Project},
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// How much memory what is remembered may take, roughly.
const MAX_BYTES: u64 = 16 << 20;

/// How much of it a name takes, roughly.
const NAME_BYTES: u64 = 64;

/// What is there of a package.
#[derive(Debug, Clone)]
pub enum There<'a> {
    /// Versions, each seen by its own name.
    Versions(Vec<&'a str>),
    /// Files, each with the version it is of.
    Files(Vec<(&'a str, &'a Version)>),
}

impl There<'_> {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Versions(names) => names.clone(),
            Self::Files(files) => files.iter().map(|(file, _)| *file).collect(),
        }
    }

    fn seen(&self, package: &str, state: &State) -> Seen {
        match self {
            Self::Versions(_) => Seen::Versions(state.clone()),
            Self::Files(files) => {
                let ever = files_of(package, state);
                Seen::of_files(state, files.iter().copied(), named(&ever))
            }
        }
    }
}

/// The files of a Python package that were ever seen, each with the version it is of.
fn files_of<'a>(package: &str, state: &'a State) -> Vec<(&'a str, Version)> {
    let Some(project) = Project::new(package) else { return Vec::new() };
    let of = |name: &'a str| Some((name, Filename::new(name)?.version(&project)?));
    state.names().filter_map(of).collect()
}

fn named<'a>(files: &'a [(&'a str, Version)]) -> impl Iterator<Item = (&'a str, &'a Version)> {
    files.iter().map(|(file, version)| (*file, version))
}

/// What is remembered of an ecosystem.
#[derive(Debug)]
pub struct Sightings(Mutex<Lru<Box<str>, Known>>);

#[derive(Debug, Clone)]
struct Known {
    state: State,
    seen: Arc<Seen>,
    /// The list that was looked at last.
    list: Option<blake3::Hash>,
}

impl Default for Sightings {
    fn default() -> Self {
        Self(Mutex::new(Lru::new(MAX_BYTES)))
    }
}

impl Sightings {
    fn all(&self) -> MutexGuard<'_, Lru<Box<str>, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a package as of the last look; nothing, where that was forgotten.
    pub fn known(&self, package: &str) -> Arc<Seen> {
        let known = self.all().get(&package.into()).map(|known| Arc::clone(&known.seen));
        known.unwrap_or_else(|| Arc::new(Seen::nothing()))
    }

    /// Whether a list was looked at.
    pub fn looked_at(&self, package: &str, list: &blake3::Hash) -> bool {
        self.all().get(&package.into()).is_some_and(|known| known.list.as_ref() == Some(list))
    }

    /// Whether a version was seen, as far as is known here.
    pub fn has_seen(&self, package: &str, version: &str) -> bool {
        let mut all = self.all();
        all.get(&package.into()).is_some_and(|known| known.state.first(version).is_some())
    }

    /// Looks at what is there, in a list where there is one. What is new is on record afterwards.
    pub async fn look(
        &self,
        ledger: &Ledger,
        package: &str,
        list: Option<blake3::Hash>,
        there: &There<'_>,
        caller: &Caller,
    ) -> Result<(), LedgerFault> {
        let names = there.names();
        let known = self.all().get(&package.into()).cloned();
        let state = match &known {
            Some(known) if known.state.knows(names.iter().copied()) => known.state.clone(),
            _ => {
                let names = names.into_iter().map(str::to_owned).collect();
                ledger.look(package, names, caller).await?
            }
        };
        let list = list.or_else(|| known.and_then(|known| known.list));
        let weight = 512 + NAME_BYTES * state.len() as u64;
        let seen = Arc::new(there.seen(package, &state));
        self.all().put(package.into(), Known { state, seen, list }, weight);
        Ok(())
    }
}

/// What the log knows of when the versions of a package, given by its normalised name, were seen
/// first. For those who explain: nothing is recorded.
pub async fn recall(door: &Door, ecosystem: Ecosystem, package: &str) -> Result<Seen, DoorFault> {
    Ok(told(ecosystem, package, state(door, ecosystem, package).await?))
}

/// All that was seen of a package, given by its normalised name.
pub(super) async fn state(
    door: &Door,
    ecosystem: Ecosystem,
    package: &str,
) -> Result<State, DoorFault> {
    // What can have no stream was never recorded in one.
    let Ok(stream) = seen::stream(ecosystem, package) else { return Ok(State::default()) };
    Ok(door.load::<Watching>(&stream).await?.0)
}

/// What that says of its versions.
pub(super) fn told(ecosystem: Ecosystem, package: &str, state: State) -> Seen {
    if ecosystem != Ecosystem::Pypi {
        return Seen::Versions(state);
    }
    let files = files_of(package, &state);
    Seen::of_files(&state, named(&files), named(&files))
}

#[cfg(test)]
mod tests {
    use weir_aggregates::registry::seen::{Born, Clock};
    use weir_aggregates::registry::verdict::Candidate;
    use weir_events::{registry::Event, timestamp::Timestamp};

    use super::*;

    #[tokio::test]
    async fn what_is_new_is_recorded_once_and_found_again_when_it_was_forgotten() {
        let ledger = Ledger::in_memory_of(Ecosystem::Go);
        let (ann, package) = (Caller::principal("ann", "1"), "example.com/m");
        let list = |text: &str| Some(blake3::hash(text.as_bytes()));
        let sightings = Sightings::default();
        let look = async |sightings: &Sightings, text, names: &[&'static str]| {
            let there = There::Versions(names.to_vec());
            sightings.look(&ledger, package, list(text), &there, &ann).await
        };
        ledger.set_now(Timestamp::EPOCH.plus_seconds(10));
        look(&sightings, "a", &["v1.0.0"]).await.unwrap();
        assert!(sightings.looked_at(package, &list("a").unwrap()));
        ledger.set_now(Timestamp::EPOCH.plus_seconds(20));
        look(&sightings, "b", &["v1.0.0", "v1.1.0"]).await.unwrap();
        assert!(!sightings.looked_at(package, &list("a").unwrap()));
        let fresh = Sightings::default();
        assert!(!fresh.has_seen(package, "v1.1.0"));
        ledger.set_now(Timestamp::EPOCH.plus_seconds(30));
        look(&fresh, "b", &["v1.0.0", "v1.1.0"]).await.unwrap();
        assert!(fresh.has_seen(package, "v1.1.0"));
        for (version, seconds) in [("v1.0.0", 10), ("v1.1.0", 20)] {
            let parsed = Version::parse(Ecosystem::Go, version);
            let candidate = Candidate::of(Some(&parsed));
            let at = Timestamp::EPOCH.plus_seconds(seconds);
            for known in [sightings.known(package), fresh.known(package)] {
                let born = known.born_at(Ecosystem::Go, &candidate, ledger.now());
                assert_eq!(born, Some(Born { at, clock: Clock::Own }), "{version}");
            }
        }
        let seen = |event: &Event| matches!(event, Event::VersionsSeen(_));
        assert_eq!(ledger.events().iter().filter(|event| seen(event)).count(), 2);
        ledger.break_down();
        let unknown = look(&fresh, "c", &["v1.2.0"]).await;
        assert!(unknown.is_err() && !fresh.has_seen(package, "v1.2.0"));
    }
}
