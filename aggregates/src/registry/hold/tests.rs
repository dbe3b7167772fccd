use proptest::prelude::*;

use super::*;
use crate::{access::Scope, machine::fold};

const HOUR: i64 = 3_600;

fn at(hours: i64) -> Timestamp {
    Timestamp::EPOCH.plus_seconds(hours * HOUR)
}

fn hold(n: u32, version: &str, ground: Ground, now: Timestamp) -> Hold {
    Hold {
        id: format!("{n:08}"),
        token_id: "0123456789abcdef".to_owned(),
        principal: "robot".to_owned(),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        version: Some(version.to_owned()),
        file: format!("six-{version}.tar.gz"),
        ground,
        advisory: (ground == Ground::Advisory).then(|| "GHSA-1".to_owned()),
        requested_at: now,
        expires_at: now.plus_seconds(24 * HOUR),
    }
}

fn answer(n: u32, by: &str, until: Timestamp) -> Command {
    Command::Answer {
        id: format!("{n:08}"),
        word: Word::Allow,
        by: by.to_owned(),
        grantor: Grantor { scopes: vec![Scope::RulesWrite], profile: None },
        reason: "looked at it".to_owned(),
        until,
        replace: false,
    }
}

/// The same answer, otherwise.
fn otherwise(command: Command, new_word: Word, replaces: bool) -> Command {
    match command {
        Command::Answer { id, by, grantor, reason, until, .. } => {
            Command::Answer { id, word: new_word, by, grantor, reason, until, replace: replaces }
        }
        Command::Request(_) => unreachable!(),
    }
}

fn decide(history: &[Event], command: &Command, now: Timestamp) -> Decision<Event, Refusal> {
    Holds::decide(&fold::<Holds>(history), command, &Context { now })
}

fn asked(holds: &[Hold]) -> Vec<Event> {
    holds.iter().map(|hold| PackageRequested { hold: hold.clone() }.into()).collect()
}

#[test]
fn the_same_is_asked_once_until_its_time_is_over() {
    let first = hold(1, "1.0", Ground::NewVersion, at(0));
    let history = asked(std::slice::from_ref(&first));
    let again = |n, version, ground, hours| {
        decide(&history, &Command::Request(hold(n, version, ground, at(hours))), at(hours))
    };
    assert_eq!(again(2, "1.0", Ground::NewVersion, 1), Decision::nothing());
    for (version, ground, hours) in [
        ("1.1", Ground::NewVersion, 1),
        ("1.0", Ground::Advisory, 1),
        ("1.0", Ground::NewVersion, 24),
    ] {
        let asked = again(2, version, ground, hours);
        assert_eq!(asked.events.len(), 1, "{version} {ground:?} {hours}");
    }
    let package = asked(&[hold(1, "1.0", Ground::NewPackage, at(0))]);
    let other = Command::Request(hold(2, "1.1", Ground::NewPackage, at(1)));
    assert_eq!(decide(&package, &other, at(1)), Decision::nothing(), "whatever the version");
}

#[test]
fn only_a_person_who_did_not_ask_answers_and_only_in_its_time() {
    let history = asked(&[hold(1, "1.0", Ground::NewVersion, at(0))]);
    let refused = |command: &Command, now| decide(&history, command, now).refusal;
    let same = Some(Refusal::SamePerson("robot".to_owned()));
    assert_eq!(refused(&answer(1, "robot", at(9)), at(1)), same);
    let mut bound = answer(1, "ann", at(9));
    if let Command::Answer { grantor, .. } = &mut bound {
        *grantor = Grantor { scopes: vec![Scope::Admin], profile: Some("agent".to_owned()) };
    }
    assert_eq!(refused(&bound, at(1)), Some(Refusal::Bound("agent".to_owned())));
    let mut hidden = answer(1, "ann", at(9));
    if let Command::Answer { reason, .. } = &mut hidden {
        reason.push('\u{202e}');
    }
    assert_eq!(refused(&hidden, at(1)), Some(Refusal::BadReason));
    assert_eq!(refused(&answer(1, "ann", at(1)), at(1)), Some(Refusal::BadTime));
    assert_eq!(refused(&answer(1, "ann", at(367 * 24)), at(0)), Some(Refusal::BadTime));
    let unknown = |n| Some(Refusal::Unknown(format!("{n:08}")));
    assert_eq!(refused(&answer(2, "ann", at(9)), at(1)), unknown(2));
    assert_eq!(refused(&answer(1, "ann", at(99)), at(24)), unknown(1), "its time is over");
}

/// Once, both were told that theirs was recorded, and whoever came last had his way.
#[test]
fn who_answers_otherwise_than_somebody_did_is_told_so_and_has_to_say_that_it_replaces_that() {
    let mut history = asked(&[hold(1, "1.0", Ground::NewVersion, at(0))]);
    history.extend(decide(&history, &answer(1, "ann", at(9)), at(1)).events);
    let bobs = answer(1, "bob", at(50));
    // The same word again changes nothing, whoever says it.
    assert_eq!(decide(&history, &answer(1, "ann", at(9)), at(2)), Decision::nothing());
    assert_eq!(decide(&history, &bobs, at(2)), Decision::nothing());
    let refused = decide(&history, &otherwise(bobs, Word::Deny, false), at(2));
    let Some(Refusal::Answered(stands)) = &refused.refusal else { panic!("{refused:?}") };
    assert_eq!((&*stands.answered_by, stands.word), ("ann", Word::Allow));
    let words = refused.refusal.as_ref().map(ToString::to_string).unwrap();
    assert!(words.starts_with("`ann` has allowed it until 1970-01-01T09:00:00"), "{words}");
    assert!(refused.events.is_empty());
    for (word, by_when) in [(Word::Deny, 50), (Word::Allow, 60)] {
        let command = otherwise(answer(1, "bob", at(by_when)), word, true);
        history.extend(decide(&history, &command, at(2)).events);
        let state = fold::<Holds>(&history);
        let stands = state.at(at(by_when - 1)).next().and_then(|known| known.answer.clone());
        let stands = stands.map(|answer| (answer.answered_by, answer.word));
        assert_eq!(stands, Some(("bob".to_owned(), word)));
        assert_eq!(state.at(at(by_when)).count(), 0);
    }
}

#[test]
fn an_agent_cannot_bury_a_person_in_questions() {
    let waiting: Vec<Hold> =
        (0..256).map(|n| hold(n, &n.to_string(), Ground::NewVersion, at(0))).collect();
    let history = asked(&waiting);
    let more = Command::Request(hold(256, "256", Ground::NewVersion, at(1)));
    assert_eq!(decide(&history, &more, at(1)), Decision::refuse(Refusal::TooManyWaiting));
    let known = Command::Request(hold(256, "7", Ground::NewVersion, at(1)));
    assert_eq!(decide(&history, &known, at(1)), Decision::nothing());
}

proptest! {
    #[test]
    fn at_no_time_are_there_two_that_ask_the_same(
        asked in prop::collection::vec((0_i64..60, 0_u32..3, prop::sample::select(Ground::ALL.to_vec())), 0..40)
    ) {
        let (mut state, mut now) = (State::default(), at(0));
        for (n, (hours, version, ground)) in (0..).zip(asked) {
            now = now.plus_seconds(hours * HOUR / 4);
            let hold = hold(n, &version.to_string(), ground, now);
            let decision = Holds::decide(&state, &Command::Request(hold.clone()), &Context { now });
            for event in &decision.events {
                Holds::apply(&mut state, event);
            }
            prop_assert!(state.same(&hold, now).is_some());
            let same = state.at(now).filter(|known| {
                known.is_of(ground, hold.advisory.as_deref(), hold.version.as_deref())
            });
            prop_assert_eq!(same.count(), 1);
        }
    }
}
