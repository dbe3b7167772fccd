use weir_events::timestamp::Timestamp;

use super::*;
use crate::machine::fold;

fn rule(pattern: &str, action: Action) -> DomainRule {
    DomainRule {
        pattern: pattern.to_owned(),
        action,
        category: "test".to_owned(),
        reason: "because".to_owned(),
    }
}

fn given(state: &mut State, command: &Command) -> Decision<Event, Refusal> {
    let decision = Rules::decide(state, command, &Context { now: Timestamp::EPOCH });
    for event in &decision.events {
        Rules::apply(state, event);
    }
    decision
}

fn put(rule: DomainRule) -> Command {
    Command::Set(vec![rule])
}

#[test]
fn what_weir_brings_along_holds_until_somebody_says_otherwise_and_does_not_come_back() {
    let mut state = State::default();
    let begun = given(&mut state, &Command::Begin);
    assert_eq!(begun.events.len(), defaults().count());
    assert_eq!(state.rule("docs.rs").unwrap().category, "documentation");
    assert_eq!(state.rule("x.com").unwrap().action, Action::Block);
    assert!(state.rules().all(|rule| check(rule).as_ref() == Ok(rule)), "each in its one spelling");
    assert_eq!(given(&mut state, &Command::Begin), Decision::nothing());
    let patterns: Vec<_> = state.rules().map(|rule| rule.pattern.clone()).collect();
    for pattern in patterns {
        assert_eq!(given(&mut state, &Command::Remove { pattern }).events.len(), 1);
    }
    assert_eq!(state.rules().len(), 0);
    assert_eq!(given(&mut state, &Command::Begin), Decision::nothing());
}

#[test]
fn there_is_one_rule_a_pattern_in_whatever_spelling() {
    let mut state = State::default();
    let set = given(&mut state, &put(rule("GitHub.com.", Action::Allow)));
    let spelled = rule("github.com", Action::Allow);
    let event = DomainRuleUpdated { pattern: spelled.pattern.clone(), rule: Some(spelled.clone()) };
    assert_eq!(set, Decision::accept(event));
    assert_eq!(given(&mut state, &put(spelled)), Decision::nothing());
    assert_eq!(given(&mut state, &put(rule("GITHUB.com", Action::Block))).events.len(), 1);
    assert_eq!(state.rules().collect::<Vec<_>>(), [&rule("github.com", Action::Block)]);
    let remove = Command::Remove { pattern: "Github.COM".to_owned() };
    let gone = DomainRuleUpdated { pattern: "github.com".to_owned(), rule: None };
    assert_eq!(given(&mut state, &remove), Decision::accept(gone));
    let unknown = Refusal::Unknown("Github.COM".to_owned());
    assert_eq!(given(&mut state, &remove), Decision::refuse(unknown));
}

#[test]
fn of_many_rules_each_pattern_counts_once_or_all_are_refused() {
    let mut state = State::default();
    let many = vec![
        rule("a.example", Action::Allow),
        rule("b.example", Action::Block),
        rule("A.example.", Action::Block),
    ];
    assert_eq!(given(&mut state, &Command::Set(many.clone())).events.len(), 2);
    assert_eq!(state.rule("a.example").unwrap().action, Action::Block, "the last word counts");
    let bad = [many, vec![rule("c.example", Action::Allow), rule("re:(", Action::Allow)]].concat();
    let refused = given(&mut state, &Command::Set(bad)).refusal.unwrap();
    assert!(refused.to_string().contains("`re:(` is no pattern"), "{refused}");
    assert_eq!(state.rules().len(), 2);
    let too_many = vec![rule("a.example", Action::Allow); AT_ONCE + 1];
    let refused = given(&mut state, &Command::Set(too_many)).refusal;
    assert_eq!(refused, Some(Refusal::TooManyAtOnce(AT_ONCE + 1)));
}

#[test]
fn what_a_rule_may_not_be_is_refused_by_name() {
    let fine = || rule("docs.rs", Action::Allow);
    for (bad, refusal) in [
        (DomainRule { category: String::new(), ..fine() }, Refusal::BadCategory),
        (DomainRule { category: "Code".to_owned(), ..fine() }, Refusal::BadCategory),
        (DomainRule { category: "x".repeat(65), ..fine() }, Refusal::BadCategory),
        (DomainRule { reason: " ".to_owned(), ..fine() }, Refusal::BadReason),
        (DomainRule { reason: "a\nb".to_owned(), ..fine() }, Refusal::BadReason),
    ] {
        assert_eq!(given(&mut State::default(), &put(bad)), Decision::refuse(refusal));
    }
}

#[test]
fn there_are_no_more_rules_than_can_be_kept() {
    let mut state = State::default();
    for start in (0..MAX_ODD).step_by(AT_ONCE) {
        let odd = (start..start + AT_ONCE).map(|n| rule(&format!("a*.n{n}.org"), Action::Block));
        assert_eq!(given(&mut state, &Command::Set(odd.collect())).refusal, None);
    }
    let more = put(rule("re:a+", Action::Block));
    assert_eq!(given(&mut state, &more).refusal, Some(Refusal::TooManyOdd));
    assert_eq!(given(&mut state, &put(rule("a*.n7.org", Action::Allow))).refusal, None);
    let remove = Command::Remove { pattern: "a*.n7.org".to_owned() };
    assert_eq!(given(&mut state, &remove).refusal, None);
    assert_eq!(given(&mut state, &more).refusal, None);
    for n in 0..MAX_RULES - MAX_ODD {
        let rule = rule(&format!("n{n}.example"), Action::Allow);
        Rules::apply(&mut state, &super::set(rule).into());
    }
    let one_more = put(rule("one.example", Action::Allow));
    assert_eq!(given(&mut state, &one_more).refusal, Some(Refusal::TooMany));
    assert_eq!(given(&mut state, &put(rule("n7.example", Action::Block))).refusal, None);
    let events: Vec<Event> = state.rules().map(|rule| super::set(rule.clone()).into()).collect();
    assert_eq!(fold::<Rules>(&events), state, "a hundred thousand fold as they came");
}
