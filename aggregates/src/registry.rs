//! The package firewall: the rules operators keep, and what they say about a version.
//! Stream `registry/rules`. Judging itself is [`dossier::Dossier::judge`].

pub mod advisory;
pub mod blocklist;
pub mod canary;
pub mod constraint;
pub mod dossier;
pub mod facts;
pub mod hold;
pub mod impact;
pub mod licence;
pub mod lookalike;
pub mod name;
pub mod osv;
pub mod pep440;
pub mod pins;
pub mod profile;
pub mod quota;
pub mod reserved;
pub mod rule;
pub mod seen;
pub mod selection;
pub mod semver;
pub mod settings;
pub mod told;
pub mod trust;
pub mod verdict;
pub mod version;
pub mod visits;
pub mod waiver;
pub mod what_if;

use std::collections::BTreeMap;

use uuid::Uuid;
use weir_events::{
    kind::Subsystem,
    registry::{Event, Rule, RuleAdded, RuleChanged, RuleRemoved},
};

use self::{
    constraint::{Constraint, ConstraintFault},
    name::pattern::Pattern,
    rule::RuleSet,
};
use crate::{
    machine::{Context, Decision, Machine},
    words::{MAX_REASON_CHARS, short, words},
};

/// The name of the one stream of rules.
pub const STREAM: &str = "registry/rules";

/// How many rules there may be.
pub const MAX_RULES: usize = 10_000;

/// The machine that keeps the rules.
#[derive(Debug)]
pub struct Firewall;

/// The rules, by id: the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    rules: BTreeMap<String, Rule>,
}

impl State {
    /// The rules, the oldest first.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.values()
    }

    /// One rule.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.get(id)
    }

    /// The rules made ready for judging, as of the position of the last rule event.
    pub fn compile(&self, revision: i64) -> RuleSet {
        RuleSet::compile(revision, self.rules.values())
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Add a rule under a fresh id.
    Add(Rule),
    /// Replace the rule of this id.
    Change(Rule),
    /// Remove a rule.
    Remove {
        /// Its id.
        id: String,
    },
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The id is no UUID as rules have it.
    #[error("`{0}` is not the id of a rule: a UUID in lower case")]
    BadId(String),
    /// The package pattern makes no sense.
    #[error("`{pattern}` is no package pattern: {cause}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The constraint cannot be read.
    #[error("`{constraint}` is no constraint on versions: {cause}")]
    BadConstraint {
        /// The constraint.
        constraint: String,
        /// What the parser said.
        #[source]
        cause: ConstraintFault,
    },
    /// The reason is empty, too long or not printable.
    #[error(
        "a reason has 1 to {MAX_REASON_CHARS} characters, none of them hidden or a control character"
    )]
    BadReason,
    /// There are too many rules.
    #[error("there are {MAX_RULES} rules already; remove some, or use a pattern")]
    TooManyRules,
    /// There is no such rule.
    #[error("there is no rule {0}")]
    Unknown(String),
    /// The id is taken.
    #[error("rule {0} exists already")]
    DuplicateId(String),
}

impl Machine for Firewall {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Add(rule) => {
                if state.rules.contains_key(&rule.id) {
                    Decision::refuse(Refusal::DuplicateId(rule.id.clone()))
                } else if let Err(refusal) = check(rule) {
                    Decision::refuse(refusal)
                } else if state.rules.len() >= MAX_RULES {
                    Decision::refuse(Refusal::TooManyRules)
                } else {
                    Decision::accept(RuleAdded { rule: rule.clone() })
                }
            }
            Command::Change(rule) => match (state.rules.get(&rule.id), check(rule)) {
                (None, _) => Decision::refuse(Refusal::Unknown(short(&rule.id))),
                (Some(_), Err(refusal)) => Decision::refuse(refusal),
                (Some(old), Ok(())) if old == rule => Decision::nothing(),
                (Some(_), Ok(())) => Decision::accept(RuleChanged { rule: rule.clone() }),
            },
            Command::Remove { id } if state.rules.contains_key(id) => {
                Decision::accept(RuleRemoved { id: id.clone() })
            }
            Command::Remove { id } => Decision::refuse(Refusal::Unknown(short(id))),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::RuleAdded(RuleAdded { rule }) | Event::RuleChanged(RuleChanged { rule }) => {
                state.rules.insert(rule.id.clone(), rule.clone());
            }
            Event::RuleRemoved(RuleRemoved { id }) => {
                state.rules.remove(id);
            }
            // Facts about packages, files and sources: no rule is made of them.
            _ => {}
        }
    }
}

/// What a rule must be to become one.
pub fn check(rule: &Rule) -> Result<(), Refusal> {
    // Ids in one spelling only: their order as text is their age.
    if Uuid::try_parse(&rule.id).map_or(true, |id| id.to_string() != rule.id) {
        return Err(Refusal::BadId(short(&rule.id)));
    }
    if let Some(cause) = Pattern::objection(rule.ecosystem, &rule.package) {
        return Err(Refusal::BadPattern { pattern: short(&rule.package), cause });
    }
    if let Err(cause) = Constraint::parse(rule.ecosystem, &rule.versions) {
        return Err(Refusal::BadConstraint { constraint: short(&rule.versions), cause });
    }
    if words(&rule.reason) { Ok(()) } else { Err(Refusal::BadReason) }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::cmp::Ordering;

    use weir_events::{
        registry::{Ecosystem, Mask, sighting::VersionsSeen},
        timestamp::Timestamp,
    };

    use super::*;

    /// The lines of a file of version-order vectors: left, its order to right, right.
    pub(crate) fn vectors(text: &str) -> impl Iterator<Item = (&str, Ordering, &str)> {
        text.lines().filter(|line| !line.is_empty() && !line.starts_with("//")).map(|line| {
            let [left, sign, right] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("not a vector: {line}");
            };
            let order = match sign {
                "<" => Ordering::Less,
                "=" => Ordering::Equal,
                ">" => Ordering::Greater,
                _ => panic!("not a sign: {line}"),
            };
            (left, order, right)
        })
    }

    /// What was seen of a package: each name, when, and whether that was the first look.
    pub(crate) fn seen_of<'a>(
        names: impl IntoIterator<Item = (&'a str, Timestamp, bool)>,
    ) -> seen::State {
        let mut state = seen::State::default();
        for (name, seen_at, first_look) in names {
            let (ecosystem, package) = (Ecosystem::Npm, "a".to_owned());
            let names = vec![name.to_owned()];
            let seen = VersionsSeen { ecosystem, package, names, first_look, seen_at };
            seen::Watching::apply(&mut state, &seen.into());
        }
        state
    }

    /// The id of the `n`-th rule of a test: later numbers are younger.
    pub(crate) fn id(n: u128) -> String {
        Uuid::from_u128(0x019a_0000_0000_7000_8000_0000_0000_0000 + n).to_string()
    }

    /// The `n`-th rule of a test, about Python.
    pub(crate) fn rule(n: u128, package: &str, versions: &str, mask: Mask) -> Rule {
        rule_of(Ecosystem::Pypi, n, package, versions, mask)
    }

    /// The `n`-th rule of a test.
    pub(crate) fn rule_of(
        ecosystem: Ecosystem,
        n: u128,
        package: &str,
        versions: &str,
        mask: Mask,
    ) -> Rule {
        Rule {
            id: id(n),
            ecosystem,
            package: package.to_owned(),
            versions: versions.to_owned(),
            reason: "too young".to_owned(),
            mask,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::{
        registry::{CacheStored, Ecosystem, Mask},
        timestamp::Timestamp,
    };

    use super::{
        testing::{id, rule, rule_of},
        *,
    };
    use crate::machine::fold;

    const NOW: Context = Context { now: Timestamp::EPOCH };

    fn six() -> Rule {
        rule(1, "six", ">=1.17", Mask::Mark)
    }

    fn decide(history: &[Event], command: &Command) -> Decision<Event, Refusal> {
        Firewall::decide(&fold::<Firewall>(history), command, &NOW)
    }

    fn added() -> Vec<Event> {
        vec![RuleAdded { rule: six() }.into()]
    }

    #[test]
    fn a_rule_is_added_changed_and_removed() {
        assert_eq!(decide(&[], &Command::Add(six())), Decision::accept(RuleAdded { rule: six() }));
        let wider = Rule { versions: "*".to_owned(), ..six() };
        let changed = RuleChanged { rule: wider.clone() };
        assert_eq!(
            decide(&added(), &Command::Change(wider.clone())),
            Decision::accept(changed.clone())
        );
        let removed = RuleRemoved { id: id(1) };
        let remove = Command::Remove { id: id(1) };
        assert_eq!(decide(&added(), &remove), Decision::accept(removed.clone()));

        let mut history = added();
        history.push(changed.into());
        let state = fold::<Firewall>(&history);
        assert_eq!(state.rules().collect::<Vec<_>>(), [&wider]);
        assert_eq!(state.rule(&id(1)), Some(&wider));
        assert_eq!(state.compile(7).revision, 7);
        history.push(removed.into());
        assert_eq!(fold::<Firewall>(&history), State::default());
    }

    #[test]
    fn changing_a_rule_into_itself_changes_nothing() {
        assert_eq!(decide(&added(), &Command::Change(six())), Decision::nothing());
    }

    #[test]
    fn an_id_is_taken_once_and_must_exist_to_be_changed() {
        assert_eq!(
            decide(&added(), &Command::Add(six())),
            Decision::refuse(Refusal::DuplicateId(id(1)))
        );
        for command in [Command::Change(six()), Command::Remove { id: id(1) }] {
            assert_eq!(decide(&[], &command), Decision::refuse(Refusal::Unknown(id(1))));
        }
    }

    #[test]
    fn what_a_rule_may_not_be_is_refused_by_name() {
        let mut constraint = six();
        constraint.versions = "^1.17".to_owned();
        let cause = Constraint::parse(Ecosystem::Pypi, "^1.17").unwrap_err();
        let refusal = Refusal::BadConstraint { constraint: "^1.17".to_owned(), cause };
        assert!(refusal.to_string().contains("does not begin with one of"), "{refusal}");
        for (change, refusal) in [
            (|r: &mut Rule| r.id = "7".to_owned(), Refusal::BadId("7".to_owned())),
            (|r| r.id = id(1).to_uppercase(), Refusal::BadId(id(1).to_uppercase())),
            (
                |r| r.package = "a b".to_owned(),
                Refusal::BadPattern {
                    pattern: "a b".to_owned(),
                    cause: "it holds a character that no package name has",
                },
            ),
            (|r| r.versions = "^1.17".to_owned(), refusal),
            (|r| r.reason = String::new(), Refusal::BadReason),
            (|r| r.reason = "  ".to_owned(), Refusal::BadReason),
            (|r| r.reason = "a\nb".to_owned(), Refusal::BadReason),
            (|r| r.reason = "safe \u{202e}kcab".to_owned(), Refusal::BadReason),
            (|r| r.reason = "x".repeat(301), Refusal::BadReason),
        ] as [(fn(&mut Rule), Refusal); 9]
        {
            let mut bad = six();
            change(&mut bad);
            assert_eq!(decide(&[], &Command::Add(bad.clone())), Decision::refuse(refusal.clone()));
            if bad.id == six().id {
                assert_eq!(decide(&added(), &Command::Change(bad)), Decision::refuse(refusal));
            }
        }
        let longest = Rule { reason: "ö".repeat(300), ..six() };
        assert_eq!(decide(&[], &Command::Add(longest)).refusal, None);
    }

    #[test]
    fn rules_are_about_packages_of_every_ecosystem_in_its_own_words() {
        for (ecosystem, package, versions, strange_package, strange_versions) in [
            (Ecosystem::Pypi, "six", "~=1.4", "@scope/x", "^1.17"),
            (Ecosystem::Npm, "@scope/*", "^1.2 || 3.x", "a/b/c", ">=1,<2"),
            (Ecosystem::Cargo, "serde_*", ">=1, <2", "serde.json", ">=1 <2"),
            (Ecosystem::Go, "example.com/Mod/*", ">=v1.2.0 <v1.4.0", "mod", "^v1"),
            (Ecosystem::Docker, "alpine", "3.1-* || latest", "Alpine", "<3.1"),
        ] {
            let good = rule_of(ecosystem, 1, package, versions, Mask::Hide);
            let added = RuleAdded { rule: good.clone() };
            assert_eq!(decide(&[], &Command::Add(good.clone())), Decision::accept(added));
            let bad = Rule { package: strange_package.to_owned(), ..good.clone() };
            let refused = decide(&[], &Command::Add(bad)).refusal;
            assert!(matches!(refused, Some(Refusal::BadPattern { .. })), "{ecosystem}");
            let bad = Rule { versions: strange_versions.to_owned(), ..good };
            let refused = decide(&[], &Command::Add(bad)).refusal;
            assert!(matches!(refused, Some(Refusal::BadConstraint { .. })), "{ecosystem}");
        }
    }

    #[test]
    fn there_are_no_more_rules_than_can_be_kept() {
        let mut state = State::default();
        for n in 0..MAX_RULES as u128 {
            Firewall::apply(
                &mut state,
                &RuleAdded { rule: rule(n, "six", "*", Mask::Mark) }.into(),
            );
        }
        let one_more = rule(MAX_RULES as u128, "six", "*", Mask::Mark);
        let refused = Firewall::decide(&state, &Command::Add(one_more), &NOW);
        assert_eq!(refused, Decision::refuse(Refusal::TooManyRules));
        // A full list can still be changed and shortened.
        let changed = rule(3, "six", ">1", Mask::Mark);
        assert_eq!(Firewall::decide(&state, &Command::Change(changed), &NOW).refusal, None);
    }

    #[test]
    fn facts_about_downloads_leave_the_rules_alone() {
        let stored = CacheStored {
            ecosystem: Ecosystem::Pypi,
            package: "six".to_owned(),
            file: "six-1.16.0.tar.gz".to_owned(),
            sha256: String::new(),
            size_bytes: 1,
        };
        assert_eq!(fold::<Firewall>(&[stored.into()]), State::default());
    }

    fn any_command() -> impl Strategy<Value = Command> {
        let ecosystem = prop::sample::select(Ecosystem::ALL.to_vec());
        let rule = (ecosystem, 0_u128..4, "[a-z*]{0,3}", "(>=)?[0-9*]{0,2}", "[a-z]{0,2}")
            .prop_map(|(ecosystem, n, package, versions, reason)| Rule {
                reason,
                ..rule_of(ecosystem, n, &package, &versions, Mask::Hide)
            });
        prop_oneof![
            rule.clone().prop_map(Command::Add),
            rule.prop_map(Command::Change),
            (0_u128..4).prop_map(|n| Command::Remove { id: id(n) }),
        ]
    }

    proptest! {
        #[test]
        fn what_was_decided_can_be_folded_and_a_refusal_changes_nothing(
            commands in prop::collection::vec(any_command(), 0..30)
        ) {
            let mut state = State::default();
            for command in &commands {
                let Decision { events, refusal } = Firewall::decide(&state, command, &NOW);
                prop_assert!(events.is_empty() || refusal.is_none());
                let before = state.clone();
                for event in &events {
                    Firewall::apply(&mut state, event);
                }
                prop_assert_eq!(before == state, events.is_empty());
            }
            prop_assert!(state.rules().all(|rule| check(rule).is_ok()));
        }
    }
}
