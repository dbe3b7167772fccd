//! The operator's blocklist: what its file names is what is forbidden. Stream `registry/blocklist`.
//!
//! A list is taken as a whole or not at all. What it newly names is added before what it no longer
//! names is removed, so that there is no moment at which less is forbidden than both lists say.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Builder;
use weir_events::{
    kind::Subsystem,
    registry::{
        Event, Rule,
        blocklist::{BlocklistRuleAdded, BlocklistRuleRemoved},
    },
};

use super::{MAX_RULES, Refusal, check};
use crate::machine::{Context, Decision, Machine};

/// How many rules one decision adds or removes at most: an append has a bound. Who is told of
/// changes asks again, until there are none.
pub const AT_ONCE: usize = 500;

/// The machine that keeps the blocklist.
#[derive(Debug)]
pub struct Blocklist;

/// What the blocklist names, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    rules: BTreeMap<String, Rule>,
}

impl State {
    /// What it names.
    pub fn rules(&self) -> impl ExactSizeIterator<Item = &Rule> {
        self.rules.values()
    }

    /// One rule.
    #[must_use]
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.rules.get(id)
    }
}

/// From now on the list names this, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replace(pub Vec<Rule>);

/// The rule with the id that what it says gives it. Its own id does not count.
#[must_use]
pub fn identified(mut rule: Rule) -> Rule {
    let mut hasher = blake3::Hasher::new_derive_key("weir blocklist rule v1");
    let Rule { id: _, ecosystem, package, versions, reason, mask } = &rule;
    for part in [ecosystem.as_str(), package, versions, reason, mask.as_str()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let mut bytes = [0; 16];
    hasher.finalize_xof().fill(&mut bytes);
    rule.id = Builder::from_custom_bytes(bytes).into_uuid().to_string();
    rule
}

impl Machine for Blocklist {
    type State = State;
    type Command = Replace;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Registry;

    fn decide(state: &State, Replace(list): &Replace, _: &Context) -> Decision<Event, Refusal> {
        if list.len() > MAX_RULES {
            return Decision::refuse(Refusal::TooManyRules);
        }
        if let Some(refusal) = list.iter().find_map(|rule| check(rule).err()) {
            return Decision::refuse(refusal);
        }
        let named: BTreeSet<&str> = list.iter().map(|rule| rule.id.as_str()).collect();
        let mut new: BTreeMap<&str, &Rule> = BTreeMap::new();
        for rule in list {
            if state.rules.get(&rule.id) != Some(rule) {
                new.entry(&rule.id).or_insert(rule);
            }
        }
        let added = new.into_values().map(|rule| BlocklistRuleAdded { rule: rule.clone() }.into());
        let gone = state.rules.keys().filter(|id| !named.contains(id.as_str()));
        let removed = gone.map(|id| BlocklistRuleRemoved { id: id.clone() }.into());
        Decision { events: added.chain(removed).take(AT_ONCE).collect(), refusal: None }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::BlocklistRuleAdded(BlocklistRuleAdded { rule }) => {
                state.rules.insert(rule.id.clone(), rule.clone());
            }
            Event::BlocklistRuleRemoved(BlocklistRuleRemoved { id }) => {
                state.rules.remove(id);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::{
        registry::{Ecosystem, Mask},
        timestamp::Timestamp,
    };

    use super::*;
    use crate::registry::testing::rule;

    fn named(package: &str) -> Rule {
        identified(rule(0, package, "*", Mask::Hide))
    }

    fn replace(state: &mut State, list: &[Rule]) -> Decision<Event, Refusal> {
        let decision =
            Blocklist::decide(state, &Replace(list.to_vec()), &Context { now: Timestamp::EPOCH });
        for event in &decision.events {
            Blocklist::apply(state, event);
        }
        decision
    }

    #[test]
    fn a_list_adds_what_is_new_then_removes_what_it_no_longer_names() {
        let mut state = State::default();
        assert_eq!(replace(&mut state, &[named("a"), named("b")]).events.len(), 2);
        let changed = replace(&mut state, &[named("b"), named("c"), named("c")]).events;
        let added = BlocklistRuleAdded { rule: named("c") };
        let removed = BlocklistRuleRemoved { id: named("a").id };
        assert_eq!(changed, [added.into(), removed.into()] as [Event; 2]);
        assert_eq!(replace(&mut state, &[named("c"), named("b")]), Decision::nothing());
        assert_eq!(replace(&mut state, &[]).events.len(), 2);
        assert_eq!(state, State::default());
    }

    #[test]
    fn a_list_with_one_bad_rule_changes_nothing() {
        let mut state = State::default();
        let bad = identified(rule(0, "x", "^1", Mask::Hide));
        let decision = replace(&mut state, &[named("a"), bad]);
        assert!(matches!(decision.refusal, Some(Refusal::BadConstraint { .. })), "{decision:?}");
        assert!(decision.events.is_empty());
        let many = vec![named("a"); MAX_RULES + 1];
        assert_eq!(replace(&mut state, &many), Decision::refuse(Refusal::TooManyRules));
    }

    #[test]
    fn the_id_is_made_of_everything_a_rule_says_and_of_nothing_else() {
        let one = named("a");
        assert_eq!(identified(Rule { id: "other".to_owned(), ..one.clone() }), one);
        for other in [
            Rule { ecosystem: Ecosystem::Npm, ..one.clone() },
            Rule { package: "b".to_owned(), ..one.clone() },
            Rule { versions: ">1".to_owned(), ..one.clone() },
            Rule { reason: "other".to_owned(), ..one.clone() },
            Rule { mask: Mask::Mark, ..one.clone() },
        ] {
            assert_ne!(identified(other).id, one.id);
        }
        assert_eq!(check(&one), Ok(()));
    }

    #[test]
    fn a_long_list_takes_several_decisions() {
        let list: Vec<Rule> = (0..=AT_ONCE).map(|n| named(&format!("p{n}"))).collect();
        let mut state = State::default();
        let counts = [(); 3].map(|()| replace(&mut state, &list).events.len());
        assert_eq!(counts, [AT_ONCE, 1, 0]);
        assert_eq!(state.rules().len(), AT_ONCE + 1);
    }

    proptest! {
        #[test]
        fn whatever_was_there_the_list_is_what_is_there_then(
            lists in prop::collection::vec(prop::collection::vec("[a-e]", 0..6), 1..6)
        ) {
            let mut state = State::default();
            for list in lists {
                let list: Vec<Rule> = list.iter().map(|name| named(name)).collect();
                assert!(replace(&mut state, &list).refusal.is_none());
                let wanted: BTreeSet<_> = list.iter().map(|rule| &rule.id).collect();
                prop_assert_eq!(state.rules.keys().collect::<BTreeSet<_>>(), wanted);
                prop_assert_eq!(replace(&mut state, &list), Decision::nothing());
            }
        }
    }
}
