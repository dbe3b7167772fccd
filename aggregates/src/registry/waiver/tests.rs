use proptest::prelude::*;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::*;
use crate::{machine::fold, registry::testing::id};

const NOW: Context = Context { now: Timestamp::EPOCH };

fn waiver() -> Waiver {
    Waiver {
        id: id(1),
        ecosystem: Ecosystem::Npm,
        package: "left-pad".to_owned(),
        versions: "^1".to_owned(),
        waives: vec!["GHSA-1".to_owned()],
        token: None,
        reason: "reviewed".to_owned(),
        owner: "team a".to_owned(),
        expires_at: Timestamp::EPOCH.plus_seconds(86_400),
    }
}

fn ask(waiver: Waiver, second_person: bool) -> Command {
    Command::Request { waiver, by: "ann".to_owned(), second_person }
}

fn decide(history: &[Event], command: &Command) -> Decision<Event, Refusal> {
    Waivers::decide(&fold::<Waivers>(history), command, &NOW)
}

fn granted(by: &str) -> WaiverGranted {
    let (requested_by, granted_by) = ("ann".to_owned(), by.to_owned());
    WaiverGranted { waiver: waiver(), requested_by, granted_by }
}

#[test]
fn a_waiver_is_in_force_at_once_or_waits_for_a_second_person() {
    assert_eq!(decide(&[], &ask(waiver(), false)), Decision::accept(granted("ann")));
    let waits = decide(&[], &ask(waiver(), true));
    let requested = WaiverRequested { waiver: waiver(), requested_by: "ann".to_owned() };
    assert_eq!(waits, Decision::accept(requested));
    assert_eq!(fold::<Waivers>(&waits.events).granted().count(), 0);
    let grant = |by: &str| Command::Grant { id: id(1), by: by.to_owned() };
    assert_eq!(
        decide(&waits.events, &grant("ann")),
        Decision::refuse(Refusal::Any(waiver::Refusal::SamePerson(id(1))))
    );
    let done = decide(&waits.events, &grant("bob"));
    assert_eq!(done, Decision::accept(granted("bob")));
    let mut history = waits.events;
    history.extend(done.events);
    assert_eq!(decide(&history, &grant("cid")), Decision::nothing());
    assert_eq!(fold::<Waivers>(&history).granted().count(), 1);
}

#[test]
fn a_waiver_of_malware_always_waits() {
    let malware = Waiver { waives: vec!["MAL-2026-1".to_owned()], ..waiver() };
    let waits = decide(&[], &ask(malware, false));
    assert!(matches!(waits.events[..], [Event::WaiverRequested(_)]));
}

#[test]
fn a_waiver_ends_when_somebody_says_so_or_its_time_is_over() {
    let history = [granted("ann").into()];
    let revoke = |reason: &str| Command::Revoke {
        id: id(1),
        by: "bob".to_owned(),
        reason: reason.to_owned(),
    };
    assert_eq!(
        decide(&history, &revoke(" ")),
        Decision::refuse(Refusal::Any(waiver::Refusal::BadWords))
    );
    let revoked = decide(&history, &revoke("no more"));
    assert!(matches!(revoked.events[..], [Event::WaiverRevoked(_)]));
    let mut ended = history.to_vec();
    ended.extend(revoked.events);
    assert_eq!(
        decide(&ended, &revoke("x")),
        Decision::refuse(Refusal::Any(waiver::Refusal::Unknown(id(1))))
    );

    let expire = Command::Expire { id: id(1) };
    assert_eq!(
        decide(&history, &expire),
        Decision::refuse(Refusal::Any(waiver::Refusal::NotYet(id(1))))
    );
    let state = fold::<Waivers>(&history);
    let later = Context { now: waiver().expires_at };
    assert_eq!((state.overdue(NOW.now), state.overdue(later.now)), (vec![], vec![id(1)]));
    let expired = Waivers::decide(&state, &expire, &later);
    assert_eq!(expired, Decision::accept(WaiverExpired { id: id(1) }));
    assert_eq!(decide(&ended, &expire), Decision::nothing());
}

#[test]
fn what_waited_too_long_is_not_granted() {
    let waits = decide(&[], &ask(waiver(), true)).events;
    let grant = Command::Grant { id: id(1), by: "bob".to_owned() };
    let later = Context { now: waiver().expires_at };
    let refused = Waivers::decide(&fold::<Waivers>(&waits), &grant, &later);
    assert_eq!(refused, Decision::refuse(Refusal::Any(waiver::Refusal::BadTime)));
    assert_eq!(
        decide(&[], &grant),
        Decision::refuse(Refusal::Any(waiver::Refusal::Unknown(id(1))))
    );
}

#[test]
fn what_a_waiver_may_not_be_is_refused_by_name() {
    let cause = Constraint::parse(Ecosystem::Npm, ">=1,<2").unwrap_err();
    let constraint = Refusal::BadConstraint { constraint: ">=1,<2".to_owned(), cause };
    let pattern = |cause| Refusal::BadPattern { pattern: "a b".to_owned(), cause };
    for (change, refusal) in [
        (
            (|w| w.id = "7".to_owned()) as fn(&mut Waiver),
            Refusal::Any(waiver::Refusal::BadId("7".to_owned())),
        ),
        (
            |w| w.package = "a b".to_owned(),
            pattern(Pattern::objection(Ecosystem::Npm, "a b").unwrap()),
        ),
        (|w| w.versions = ">=1,<2".to_owned(), constraint),
        (|w| w.reason = String::new(), Refusal::Any(waiver::Refusal::BadWords)),
        (|w| w.owner = "a\nb".to_owned(), Refusal::Any(waiver::Refusal::BadWords)),
        (|w| w.reason = "a\u{2066}b".to_owned(), Refusal::Any(waiver::Refusal::BadWords)),
        (|w| w.owner = "an\u{200d}n".to_owned(), Refusal::Any(waiver::Refusal::BadWords)),
        (|w| w.waives = vec![String::new()], Refusal::BadNames),
        (|w| w.waives = vec!["a b".to_owned()], Refusal::BadNames),
        (|w| w.waives = vec!["x".to_owned(); MAX_WAIVED + 1], Refusal::BadNames),
        (|w| w.token = Some("rf_1".to_owned()), Refusal::BadToken("rf_1".to_owned())),
        (|w| w.expires_at = Timestamp::EPOCH, Refusal::Any(waiver::Refusal::BadTime)),
        (
            |w| w.expires_at = Timestamp::EPOCH.plus_seconds(367 * 86_400),
            Refusal::Any(waiver::Refusal::BadTime),
        ),
    ] {
        let mut bad = waiver();
        change(&mut bad);
        assert_eq!(decide(&[], &ask(bad, false)), Decision::refuse(refusal));
    }
    let history = [granted("ann").into()];
    assert_eq!(
        decide(&history, &ask(waiver(), false)),
        Decision::refuse(Refusal::Any(waiver::Refusal::DuplicateId(id(1))))
    );
}

#[test]
fn there_are_no_more_waivers_than_can_be_kept() {
    let mut state = State::default();
    for n in 0..waiver::MAX_WAIVERS as u128 {
        let mut event = granted("ann");
        event.waiver.id = id(n);
        Waivers::apply(&mut state, &event.into());
    }
    let more = Waiver { id: id(waiver::MAX_WAIVERS as u128), ..waiver() };
    let refused = Waivers::decide(&state, &ask(more, false), &NOW);
    assert_eq!(refused, Decision::refuse(Refusal::Any(waiver::Refusal::TooMany)));
}

/// Rules and waivers are written in one language, and a rule forbids what any reading of it holds.
/// Read like that, a waiver of `==1.17` let `1.17+anything` pass, and `<1.3.0` let `1.3.0-beta` pass.
#[test]
fn a_waiver_holds_no_version_beside_those_that_it_says() {
    for (ecosystem, versions, inside, outside) in [
        (Ecosystem::Pypi, "==1.17", "1.17", "1.17+anything"),
        (Ecosystem::Pypi, ">1.7", "1.8", "1.7.post1"),
        (Ecosystem::Pypi, "<1.17", "1.16", "1.17rc1"),
        (Ecosystem::Npm, "<1.3.0", "1.2.9", "1.3.0-beta"),
        (Ecosystem::Cargo, "1", "1.2.0", "1.3.0-beta"),
        (Ecosystem::Go, "<v1.4.0", "v1.3.0", "v1.4.0-rc.1"),
    ] {
        let waiver = Waiver { ecosystem, versions: versions.to_owned(), ..waiver() };
        let waiver = CompiledWaiver::new(&waiver, Persons::One);
        let covers = |version: &str| {
            let version = Version::parse(ecosystem, version);
            let candidate = Candidate::of(Some(&version));
            waiver.covers(&candidate, &["GHSA-1"], Class::Vulnerability)
        };
        assert!(covers(inside), "{versions} {inside}");
        assert!(!covers(outside), "{versions} {outside}");
    }
}

#[test]
fn a_constraint_this_build_cannot_read_waives_nothing() {
    let newer = Waiver { versions: "?1".to_owned(), ..waiver() };
    let candidate = Candidate::default();
    let newer = CompiledWaiver::new(&newer, Persons::Two);
    assert!(!newer.covers(&candidate, &["GHSA-1"], Class::Vulnerability));
}

#[test]
fn what_turns_out_to_be_malware_is_not_waived_by_one_person_under_any_name() {
    let everywhere = Waiver { versions: "*".to_owned(), ..waiver() };
    let covers = |by: &str, class| {
        let granted = WaiverGranted { waiver: everywhere.clone(), ..granted(by) };
        let state = fold::<Waivers>(&[granted.into()]);
        state.granted().all(|waiver| waiver.covers(&Candidate::default(), &["GHSA-1"], class))
    };
    assert!(covers("ann", Class::Vulnerability) && covers("bob", Class::Vulnerability));
    assert!(!covers("ann", Class::Malware) && covers("bob", Class::Malware));
}

#[test]
fn the_next_end_is_that_of_the_first_whether_it_waits_or_not() {
    assert_eq!(State::default().next_end(), None);
    let sooner = Waiver { id: id(2), expires_at: Timestamp::EPOCH.plus_seconds(9), ..waiver() };
    let waits = WaiverRequested { waiver: sooner.clone(), requested_by: "ann".to_owned() };
    let state = fold::<Waivers>(&[granted("ann").into(), waits.into()]);
    assert_eq!(state.next_end(), Some(sooner.expires_at));
}

fn any_command() -> impl Strategy<Value = Command> {
    let by = || prop::sample::select(vec!["ann".to_owned(), "bob".to_owned()]);
    let some = || (0_u128..3).prop_map(id);
    let request = (some(), by(), any::<bool>(), -5_i64..100, "[a-z*^1]{0,3}");
    prop_oneof![
        request.prop_map(|(id, by, second_person, seconds, versions)| {
            let expires_at = Timestamp::EPOCH.plus_seconds(seconds);
            let waiver = Waiver { id, versions, expires_at, ..waiver() };
            Command::Request { waiver, by, second_person }
        }),
        (some(), by()).prop_map(|(id, by)| Command::Grant { id, by }),
        (some(), by(), "[a-z]{0,1}").prop_map(|(id, by, reason)| Command::Revoke {
            id,
            by,
            reason
        }),
        some().prop_map(|id| Command::Expire { id }),
    ]
}

proptest! {
    #[test]
    fn what_was_decided_can_be_folded_and_nobody_grants_what_needs_another(
        commands in prop::collection::vec((any_command(), 0_i64..120), 0..30)
    ) {
        let mut state = State::default();
        for (command, seconds) in &commands {
            let context = Context { now: Timestamp::EPOCH.plus_seconds(*seconds) };
            let Decision { events, refusal } = Waivers::decide(&state, command, &context);
            prop_assert!(events.is_empty() || refusal.is_none());
            if let (Command::Grant { by, .. }, [Event::WaiverGranted(granted)]) =
                (command, &events[..])
            {
                prop_assert_ne!(by, &granted.requested_by);
            }
            let before = state.clone();
            for event in &events {
                Waivers::apply(&mut state, event);
            }
            prop_assert_eq!(before == state, events.is_empty());
        }
    }
}
