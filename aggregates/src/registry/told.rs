//! What registries told of files that were asked for, as far as a policy looks at it: for those who
//! explain a version without its list at hand. One stream for each package,
//! `registry/told/<ecosystem>/<package>`.

use std::{collections::HashMap, convert::Infallible, sync::Arc};

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        sighting::{TOLD, TrustLost, VersionTold},
    },
    stream::{StreamName, StreamNameFault},
};

use super::seen;
use crate::machine::{Context, Decision, Machine};

/// How many files of one package are remembered.
pub const MAX_TOLD: usize = 50_000;

/// The stream of a package, given by its normalised name.
pub fn stream(ecosystem: Ecosystem, package: &str) -> Result<StreamName, StreamNameFault> {
    seen::stream_in(TOLD, ecosystem, package)
}

/// What a registry tells of a version, as far as a policy looks at it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// That less vouches for it than for a version before it.
    pub lost: Option<TrustLost>,
    /// Who published it, having had nothing to do with the package before.
    pub newcomer: Option<String>,
    /// Its licence, in the words of its registry; `None` where nobody looked.
    pub licence: Option<String>,
}

impl Told {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// All that either says; where both speak, this one.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        Self {
            lost: self.lost.or_else(|| other.lost.clone()),
            newcomer: self.newcomer.or_else(|| other.newcomer.clone()),
            licence: self.licence.or_else(|| other.licence.clone()),
        }
    }
}

/// The machine that remembers what was told of one package's files.
#[derive(Debug)]
pub struct Telling;

/// What was told, by file. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    files: Arc<HashMap<Box<str>, Known>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    version: Option<Box<str>>,
    told: Told,
}

impl State {
    /// What was told of a file.
    #[must_use]
    pub fn file(&self, file: &str) -> Option<&Told> {
        self.files.get(file).map(|known| &known.told)
    }

    /// What was told of the files of a version, taken together.
    #[must_use]
    pub fn version(&self, version: &str) -> Option<Told> {
        let files = self.files.iter().map(|(file, known)| (&**file, known));
        let mut files: Vec<_> =
            files.filter(|(_, known)| known.version.as_deref() == Some(version)).collect();
        // In an order of their own, so that two who ask are told the same.
        files.sort_unstable_by_key(|(file, _)| *file);
        files.into_iter().map(|(_, known)| known.told.clone()).reduce(|all, one| all.or(&one))
    }
}

/// A file is asked for, and this is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tell {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where it is known.
    pub version: Option<String>,
    /// The file's name.
    pub file: String,
    /// What is told.
    pub told: Told,
}

impl Machine for Telling {
    type State = State;
    type Command = Tell;
    type Event = Event;
    type Refusal = Infallible;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, tell: &Tell, context: &Context) -> Decision<Event, Infallible> {
        let Tell { ecosystem, package, version, file, told } = tell;
        let news = match state.file(file) {
            Some(known) => known != told,
            None => !told.is_nothing() && state.files.len() < MAX_TOLD,
        };
        if !news {
            return Decision::nothing();
        }
        let Told { lost, newcomer, licence } = told.clone();
        Decision::accept(VersionTold {
            ecosystem: *ecosystem,
            package: package.clone(),
            version: version.clone(),
            file: file.clone(),
            lost,
            newcomer,
            licence,
            told_at: context.now,
        })
    }

    fn apply(state: &mut State, event: &Event) {
        let Event::VersionTold(VersionTold { version, file, lost, newcomer, licence, .. }) = event
        else {
            return;
        };
        let (lost, newcomer, licence) = (lost.clone(), newcomer.clone(), licence.clone());
        let version = version.as_deref().map(Box::from);
        let known = Known { version, told: Told { lost, newcomer, licence } };
        Arc::make_mut(&mut state.files).insert(file.as_str().into(), known);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::{registry::sighting::Vouched, timestamp::Timestamp};

    use super::*;

    fn told(lost: Option<&str>, licence: Option<&str>) -> Told {
        let lost = lost.map(|earlier| TrustLost {
            has: Vouched::Nothing,
            had: Vouched::Provenance,
            earlier: earlier.to_owned(),
        });
        Told { lost, newcomer: None, licence: licence.map(str::to_owned) }
    }

    fn tell(state: &State, version: &str, file: &str, told: Told) -> Decision<Event, Infallible> {
        let tell = Tell {
            ecosystem: Ecosystem::Pypi,
            package: "six".to_owned(),
            version: Some(version.to_owned()),
            file: file.to_owned(),
            told,
        };
        Telling::decide(state, &tell, &Context { now: Timestamp::EPOCH })
    }

    #[test]
    fn what_is_told_is_recorded_where_it_is_something_and_news() {
        let mut state = State::default();
        assert_eq!(tell(&state, "1.1", "a", Told::default()), Decision::nothing());
        let mut steps =
            vec![told(Some("1.0"), None), told(Some("1.0"), Some("MIT")), told(None, None)];
        for told in steps.drain(..) {
            let first = tell(&state, "1.1", "a", told.clone());
            assert_eq!(first.events.len(), 1, "{told:?}");
            Telling::apply(&mut state, &first.events[0]);
            assert_eq!(state.file("a"), Some(&told));
            assert_eq!(tell(&state, "1.1", "a", told), Decision::nothing());
        }
    }

    #[test]
    fn a_version_is_all_that_was_told_of_its_files() {
        let mut state = State::default();
        for (version, file, told) in [
            ("1.1", "b", told(Some("1.0"), Some("MIT"))),
            ("1.1", "a", told(None, Some("BSD"))),
            ("1.2", "c", told(Some("0.9"), None)),
        ] {
            Telling::apply(&mut state, &tell(&State::default(), version, file, told).events[0]);
        }
        assert_eq!(state.version("1.1"), Some(told(Some("1.0"), Some("BSD"))));
        assert_eq!(state.version("1.2"), Some(told(Some("0.9"), None)));
        assert_eq!(state.version("1.3"), None);
    }

    proptest! {
        #[test]
        fn the_last_word_counts_whatever_is_told(
            all in prop::collection::vec(("[ab]", prop::option::of("[xy]"), prop::option::of("[lm]")), 0..20)
        ) {
            let (mut state, mut last) = (State::default(), HashMap::<String, Told>::new());
            for (file, lost, licence) in &all {
                let told = told(lost.as_deref(), licence.as_deref());
                for event in &tell(&state, "1", file, told.clone()).events {
                    Telling::apply(&mut state, event);
                }
                if !told.is_nothing() || last.contains_key(file) {
                    last.insert(file.clone(), told);
                }
                prop_assert_eq!(state.file(file), last.get(file));
            }
        }
    }
}
