//! The names that were reserved here, beside those of the configuration. Stream `registry/reserved`.

use std::collections::BTreeSet;

use weir_events::{
    kind::Subsystem,
    registry::{
        Ecosystem, Event,
        policy::{NameReleased, NameReserved, Reserved},
    },
};

use super::{MAX_RESERVED, spelt};
use crate::{
    machine::{Context, Decision, Machine},
    registry::{name::pattern::Pattern, short},
};

/// The machine that keeps the names.
#[derive(Debug)]
pub struct Reserving;

/// The names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    names: BTreeSet<Reserved>,
}

impl State {
    /// The names, by ecosystem.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &Reserved> {
        self.names.iter()
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Never ask a public registry for these.
    Reserve(Reserved),
    /// Ask again.
    Release(Reserved),
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is no name.
    #[error("`{package}` of {ecosystem} cannot be reserved: {cause}")]
    Bad {
        /// The ecosystem.
        ecosystem: Ecosystem,
        /// The pattern.
        package: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// There are too many.
    #[error("there are {MAX_RESERVED} reserved names already; use patterns")]
    TooMany,
    /// It is not reserved here.
    #[error(
        "`{package}` of {ecosystem} was not reserved here; what `policy.reserved` names is released there"
    )]
    Unknown {
        /// The ecosystem.
        ecosystem: Ecosystem,
        /// The pattern.
        package: String,
    },
}

impl Machine for Reserving {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        let (Command::Reserve(Reserved { ecosystem, package })
        | Command::Release(Reserved { ecosystem, package })) = command;
        let (ecosystem, shown) = (*ecosystem, || short(package));
        let same = |reserved| {
            let one = spelt(reserved);
            state.names.iter().filter(move |other| spelt(other) == one)
        };
        match command {
            Command::Reserve(reserved) => match Pattern::objection(ecosystem, package) {
                Some(cause) => {
                    Decision::refuse(Refusal::Bad { ecosystem, package: shown(), cause })
                }
                None if same(reserved).next().is_some() => Decision::nothing(),
                None if state.names.len() >= MAX_RESERVED => Decision::refuse(Refusal::TooMany),
                None => Decision::accept(NameReserved { reserved: spelt(reserved) }),
            },
            // In the spellings that stand in the log: there was a time when each stood for itself.
            Command::Release(reserved) => {
                let released = same(reserved).cloned();
                let events: Vec<Event> =
                    released.map(|reserved| NameReleased { reserved }.into()).collect();
                if events.is_empty() {
                    return Decision::refuse(Refusal::Unknown { ecosystem, package: shown() });
                }
                Decision { events, refusal: None }
            }
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::NameReserved(NameReserved { reserved }) => {
                state.names.insert(reserved.clone());
            }
            Event::NameReleased(NameReleased { reserved }) => {
                state.names.remove(reserved);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::timestamp::Timestamp;

    use super::*;
    use crate::{machine::fold, registry::facts::Facts};

    const NOW: Context = Context { now: Timestamp::EPOCH };

    fn npm(package: &str) -> Reserved {
        Reserved { ecosystem: Ecosystem::Npm, package: package.to_owned() }
    }

    #[test]
    fn a_name_is_reserved_once_and_released_in_whichever_spelling() {
        let none = State::default();
        let reserve = |package: &str| Command::Reserve(npm(package));
        let first = Reserving::decide(&none, &reserve("@acme/*"), &NOW);
        assert_eq!(first, Decision::accept(NameReserved { reserved: npm("@acme/*") }));
        let state = fold::<Reserving>(&first.events);
        assert_eq!(Reserving::decide(&state, &reserve("@acme/*"), &NOW), Decision::nothing());
        let bad = Reserving::decide(&none, &reserve("@acme"), &NOW).refusal;
        assert!(
            matches!(bad, Some(Refusal::Bad { ref package, .. }) if package == "@acme"),
            "{bad:?}"
        );
        let release = |package: &str| Command::Release(npm(package));
        assert_eq!(Reserving::decide(&state, &reserve("@ACME/*"), &NOW), Decision::nothing());
        let unknown = Reserving::decide(&state, &release("@acme2/*"), &NOW).refusal;
        assert!(unknown.is_some_and(|it| it.to_string().contains("`policy.reserved`")));
        let released = Reserving::decide(&state, &release("@Acme/*"), &NOW);
        let mut history = first.events;
        history.extend(released.events);
        assert_eq!(fold::<Reserving>(&history), State::default());
    }

    #[test]
    fn what_means_the_same_is_one_name() {
        for (ecosystem, spellings, one) in [
            (Ecosystem::Pypi, ["Foo_Bar", "foo--bar", "foo.bar"], "foo-bar"),
            (Ecosystem::Pypi, ["Acme_*", "acme.*", "acme-*"], "acme-*"),
            (Ecosystem::Cargo, ["Acme_Core", "acme-core", "acme_core"], "acme-core"),
            (Ecosystem::Npm, ["@Acme/Tool", "@acme/TOOL", "@acme/tool"], "@acme/tool"),
        ] {
            let of = |package: &str| Reserved { ecosystem, package: package.to_owned() };
            let mut state = State::default();
            for package in spellings {
                let reserve = Command::Reserve(of(package));
                for event in &Reserving::decide(&state, &reserve, &NOW).events {
                    Reserving::apply(&mut state, event);
                }
            }
            assert_eq!(state.names().collect::<Vec<_>>(), [&of(one)]);
        }
        // What another names without case is another; what is short of an image is not the image.
        for (ecosystem, package) in
            [(Ecosystem::Go, "git.acme.example/X"), (Ecosystem::Docker, "acme")]
        {
            let reserved = Reserved { ecosystem, package: package.to_owned() };
            assert_eq!(spelt(&reserved), reserved);
        }
    }

    #[test]
    fn what_stands_twice_in_an_old_log_is_released_at_once() {
        let old = ["Foo_Bar", "foo-bar"].map(|package| {
            let package = package.to_owned();
            NameReserved { reserved: Reserved { ecosystem: Ecosystem::Pypi, package } }.into()
        });
        let package = "FOO.bar".to_owned();
        let release = Command::Release(Reserved { ecosystem: Ecosystem::Pypi, package });
        let released = Reserving::decide(&fold::<Reserving>(&old), &release, &NOW);
        assert_eq!(fold::<Reserving>(old.iter().chain(&released.events)), State::default());
    }

    #[test]
    fn there_are_no_more_names_than_can_be_kept() {
        let mut state = State::default();
        for n in 0..MAX_RESERVED {
            let reserved = npm(&format!("acme-{n}"));
            Reserving::apply(&mut state, &NameReserved { reserved }.into());
        }
        let one_more = Reserving::decide(&state, &Command::Reserve(npm("x")), &NOW);
        assert_eq!(one_more, Decision::refuse(Refusal::TooMany));
        let again = Reserving::decide(&state, &Command::Reserve(npm("acme-1")), &NOW);
        assert_eq!(again, Decision::nothing());
    }

    #[test]
    fn what_is_reserved_here_holds_beside_what_the_configuration_names() {
        let mut facts = Facts::default();
        let mut about = |event: Event| {
            facts.apply(7, &event);
            facts.settle();
            let dossier = facts.about(Ecosystem::Npm, "@Acme/x", None, Timestamp::EPOCH);
            (facts.reserved(Ecosystem::Npm, "@acme/x").is_some(), dossier.key)
        };
        let (held, with) = about(NameReserved { reserved: npm("@acme/*") }.into());
        assert!(held);
        let (held, without) = about(NameReleased { reserved: npm("@acme/*") }.into());
        assert!(
            !held && with != without,
            "what was written down by the one is not shown by the other"
        );
    }

    proptest! {
        #[test]
        fn what_was_decided_can_be_folded_and_a_refusal_changes_nothing(
            asked in prop::collection::vec((any::<bool>(), "[ab@/*]{0,3}"), 0..30)
        ) {
            let mut state = State::default();
            for (reserve, package) in &asked {
                let reserved = npm(package);
                let command = if *reserve { Command::Reserve(reserved) } else { Command::Release(reserved) };
                let decision = Reserving::decide(&state, &command, &NOW);
                let before = state.clone();
                for event in &decision.events {
                    Reserving::apply(&mut state, event);
                }
                prop_assert_eq!(decision.events.is_empty(), before == state);
                prop_assert!(decision.refusal.is_none() || decision.events.is_empty());
                prop_assert!(state.names().all(|one| Pattern::objection(one.ecosystem, &one.package).is_none()));
            }
        }
    }
}
