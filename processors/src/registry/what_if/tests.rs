use std::collections::BTreeSet;

use uuid::Uuid;
use weir_aggregates::{
    machine::Machine as _,
    registry::{
        seen::{State, Watching},
        what_if::trial::{Changes, EcosystemChanges},
    },
};
use weir_events::{
    envelope::{Meta, NewEvent},
    position::StreamVersion,
    registry::{
        Ecosystem, Mask, PackageAllowed, PackageBlocked, Rule, RuleAdded, RuleRemoved,
        profile::{Profile, ProfileSet},
        sighting::VersionsSeen,
    },
    stream::StreamName,
};

use super::*;
use crate::{caller::Caller, registry::testing::rule_of};

const NOW: Timestamp = Timestamp::from_micros(1_795_824_000_000_000);
const NPM: Ecosystem = Ecosystem::Npm;

fn allowed(package: &str, version: &str) -> Event {
    let allowed = PackageAllowed {
        ecosystem: NPM,
        package: package.to_owned(),
        version: Some(version.to_owned()),
        file: "x.tgz".to_owned(),
        sha256: None,
        policy_revision: 0,
        published_at: Some(NOW),
        late: false,
        warning: None,
        excuse: None,
        profile: None,
        served: None,
        document: None,
    };
    allowed.into()
}

fn blocked(source: &str) -> Event {
    let blocked = PackageBlocked {
        ecosystem: NPM,
        package: "a".to_owned(),
        version: None,
        file: "x.tgz".to_owned(),
        source: source.to_owned(),
        rule_id: None,
        reason: "no".to_owned(),
        mask: Mask::Mark,
        policy_revision: 0,
        evidence: None,
        published_at: None,
        late: false,
        profile: None,
        document: None,
    };
    blocked.into()
}

/// An event that stands in the log since some seconds before now.
fn recorded(position: i64, event: &Event, ago: i64) -> Recorded {
    let caller = Caller::principal("ci", "0a");
    let meta = Meta {
        event_id: Uuid::nil(),
        actor: caller.actor,
        correlation_id: Uuid::nil(),
        causation_id: None,
        command_id: Uuid::nil(),
        principal: caller.principal,
        traceparent: None,
    };
    let new = NewEvent::new(event, &meta).unwrap();
    Recorded {
        position: Position(position),
        stream: StreamName::new("registry/x").unwrap(),
        version: StreamVersion(position),
        recorded_at: NOW.plus_seconds(-ago),
        kind: new.kind,
        schema: new.schema,
        payload: new.payload,
        meta: new.meta,
        hash: [0; 32],
    }
}

fn trial(rules: &[Rule], without: &[&Rule]) -> Trial {
    let without = without.iter().map(|rule| rule.id.clone()).collect();
    Trial::new(Changes::default(), rules, without)
}

fn tried(trial: Trial, known: Known, page: &[Recorded]) -> Difference {
    let since = NOW.plus_seconds(-1_000);
    let (replay, memory) = (Replay::of(trial, 100), Memory::Given(State::default()));
    let work = Work { replay, known, memory, since, missing: BTreeSet::new() };
    work.judged(page).unwrap().replay.into_difference()
}

#[test]
fn by_the_facts_of_then_a_decision_is_judged_by_what_stood_before_it() {
    let rule = rule_of(NPM, 1, "a", "*", Mask::Mark);
    let added = Event::from(RuleAdded { rule: rule.clone() });
    let removed = Event::from(RuleRemoved { id: rule.id.clone() });
    let page = [
        recorded(1, &allowed("a", "1.0.0"), 900),
        recorded(2, &added, 800),
        recorded(3, &blocked("rules"), 700),
        recorded(4, &removed, 600),
        recorded(5, &allowed("a", "1.0.0"), 500),
    ];
    let by_then = |trial| tried(trial, Known::Then(Box::default()), &page);
    let nothing = by_then(Trial::default());
    assert_eq!((nothing.n_judged, nothing.n_answered_otherwise), (3, 0), "as it was answered");
    assert_eq!((nothing.n_newly_blocked, nothing.n_newly_allowed), (0, 0));
    let without = by_then(trial(&[], &[&rule]));
    assert_eq!((without.n_newly_blocked, without.n_newly_allowed), (0, 1));
    // Which rules there ever were is found on the way.
    let missing = [&rule.id, "x"].map(|id: &str| id.to_owned()).into();
    let (replay, memory) = (Replay::of(Trial::default(), 1), Memory::Given(State::default()));
    let work = Work { replay, known: Known::Then(Box::default()), memory, since: NOW, missing };
    assert_eq!(work.judged(&page).unwrap().missing, BTreeSet::from(["x".to_owned()]));
    let stricter = by_then(trial(&[rule_of(NPM, 2, "a", "1.0.0", Mask::Mark)], &[]));
    assert_eq!((stricter.n_newly_blocked, stricter.n_newly_allowed), (2, 0));
}

#[test]
fn by_the_facts_of_now_all_of_the_past_is_judged_by_them() {
    let rule = rule_of(NPM, 1, "a", "*", Mask::Mark);
    let known = || {
        let (policy, _) =
            Policy::by_hand(crate::registry::testing::facts(7, std::slice::from_ref(&rule)));
        Known::Today(policy, NOW)
    };
    let page = [
        recorded(1, &allowed("a", "1.0.0"), 900),
        recorded(2, &allowed("b", "1.0.0"), 800),
        recorded(3, &blocked("rules"), 700),
    ];
    let nothing = tried(Trial::default(), known(), &page);
    assert_eq!((nothing.in_force.n_refused, nothing.n_answered_otherwise), (2, 1));
    let without = tried(trial(&[], &[&rule]), known(), &page);
    assert_eq!((without.n_newly_blocked, without.n_newly_allowed), (0, 2));
}

#[test]
fn what_is_too_old_or_about_no_policy_or_cannot_be_read_is_not_judged() {
    let mut garbage = recorded(3, &allowed("a", "1.0.0"), 1);
    garbage.payload = vec![0xc1].into();
    let mut newer = recorded(4, &allowed("a", "1.0.0"), 1);
    newer.schema += 1;
    let page = [
        recorded(1, &allowed("a", "1.0.0"), 1_001),
        recorded(2, &blocked("as-of"), 1),
        recorded(2, &blocked("quota"), 1),
        garbage,
        newer,
        recorded(5, &allowed("a", "1.0.0"), 1_000),
    ];
    let all = trial(&[rule_of(NPM, 1, "*", "*", Mask::Mark)], &[]);
    let difference = tried(all, Known::Then(Box::default()), &page);
    assert_eq!((difference.n_judged, difference.n_newly_blocked), (1, 1));
    assert_eq!((difference.n_outside, difference.n_unreadable), (2, 2));
    let who = difference.by_who.rows();
    assert_eq!((who[0].0.principal.as_str(), who[0].0.token.as_deref()), ("ci", Some("0a")));
}

#[test]
fn whose_profile_is_gone_is_judged_where_it_is_told_which() {
    let named = |profile: Option<&str>| {
        let Event::PackageBlocked(mut of) = blocked("profile") else { panic!("a refusal") };
        of.profile = profile.map(str::to_owned);
        of.into()
    };
    let profile = Profile { name: "agents".to_owned(), ..Profile::default() };
    let page = [
        recorded(1, &named(None), 900),
        recorded(2, &named(Some("agents")), 800),
        recorded(3, &ProfileSet { profile }.into(), 700),
        recorded(4, &named(Some("agents")), 600),
    ];
    let then = tried(Trial::default(), Known::Then(Box::default()), &page);
    assert_eq!((then.n_outside, then.n_judged), (1, 2));
    assert_eq!((then.in_force.n_refused, then.n_answered_otherwise), (1, 1));
}

#[test]
fn an_age_goes_by_what_was_seen_until_then() {
    let mut state = State::default();
    let (package, names) = ("a".to_owned(), vec!["1.0.0".to_owned()]);
    let (first_look, seen_at) = (false, NOW.plus_seconds(-750));
    let seen = VersionsSeen { ecosystem: NPM, package, names, first_look, seen_at };
    Watching::apply(&mut state, &seen.into());
    let own = EcosystemChanges { min_age_hours: Some(1), ..EcosystemChanges::default() };
    let changes = Changes { ecosystems: [(NPM, own)].into(), ..Changes::default() };
    let mut old = allowed("a", "1.0.0");
    if let Event::PackageAllowed(allowed) = &mut old {
        allowed.published_at = Some(NOW.plus_seconds(-1_000_000));
    }
    let page = [recorded(1, &old, 800), recorded(2, &old, 700)];
    let judged = |known| {
        let replay = Replay::of(Trial::new(changes.clone(), &[], BTreeSet::new()), 100);
        let memory = Memory::Given(state.clone());
        let work = Work {
            replay,
            known,
            memory,
            since: NOW.plus_seconds(-1_000),
            missing: BTreeSet::new(),
        };
        work.judged(&page).unwrap().replay.into_difference().n_newly_blocked
    };
    assert_eq!(judged(Known::Then(Box::default())), 1);
    let (policy, _) = Policy::by_hand(Facts::default());
    assert_eq!(judged(Known::Today(policy, NOW)), 2);
}

#[test]
fn a_fact_that_this_build_cannot_read_ends_the_trial() {
    let mut newer = recorded(9, &RuleRemoved { id: String::new() }.into(), 1);
    newer.schema += 1;
    let since = NOW;
    let (replay, known) = (Replay::of(Trial::default(), 1), Known::Then(Box::default()));
    let work = Work {
        replay,
        known,
        memory: Memory::Given(State::default()),
        since,
        missing: BTreeSet::new(),
    };
    let fault = work.judged(&[newer]).unwrap_err().to_string();
    assert!(fault.contains("position 9"), "{fault}");
}

#[test]
fn every_kind_that_may_be_a_fact_is_read() {
    let read =
        |kind: i32| DECISIONS_AND_FACTS.iter().any(|range| (range.0..=range.1).contains(&kind));
    let left_out: Vec<&str> =
        Event::TABLE.iter().filter(|info| !read(info.code.0)).map(|info| info.name).collect();
    assert_eq!(left_out, ["MetadataFiltered", "CacheStored", "CacheEvicted"]);
}
