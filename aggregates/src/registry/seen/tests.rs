use proptest::prelude::*;

use super::*;
use crate::{
    machine::fold,
    registry::{verdict::FileTimes, version::Version},
};

const HOUR: i64 = 3_600;

/// A time of the year 2026, so many hours in.
fn at(hours: i64) -> Timestamp {
    Timestamp::from_micros(1_767_225_600_000_000).plus_seconds(hours * HOUR)
}

fn look(state: &State, names: &[&str], now: Timestamp) -> Vec<Event> {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    let look = Look { ecosystem: Ecosystem::Npm, package: "left-pad".to_owned(), names };
    Watching::decide(state, &look, &Context { now }).events
}

/// What is known after looks, each `(hours, names)`.
fn looked(looks: &[(i64, &[&str])]) -> State {
    let mut state = State::default();
    for (hours, names) in looks {
        for event in look(&state, names, at(*hours)) {
            Watching::apply(&mut state, &event);
        }
    }
    state
}

fn born(seen: &Seen, ecosystem: Ecosystem, told: Option<Timestamp>) -> Option<(Timestamp, Clock)> {
    let version = Version::parse(ecosystem, "1.0.0");
    let candidate = Candidate::published(Some(&version), told);
    seen.born_at(ecosystem, &candidate, at(100)).map(|born| (born.at, born.clock))
}

#[test]
fn a_look_records_what_is_new_and_nothing_else() {
    let first = look(&State::default(), &["1.0.0", "1.1.0"], at(1));
    let seen = |names: &[&str], first_look, hours| VersionsSeen {
        ecosystem: Ecosystem::Npm,
        package: "left-pad".to_owned(),
        names: names.iter().map(|&name| name.to_owned()).collect(),
        first_look,
        seen_at: at(hours),
    };
    assert_eq!(first, [seen(&["1.0.0", "1.1.0"], true, 1).into()]);
    let state = fold::<Watching>(&first);
    assert_eq!(look(&state, &["1.0.0", "1.1.0"], at(2)), []);
    assert_eq!(look(&state, &["1.1.0"], at(2)), [], "what is gone is not forgotten");
    let second = look(&state, &["1.0.0", "1.2.0"], at(3));
    assert_eq!(second, [seen(&["1.2.0"], false, 3).into()]);
    assert!(state.knows(["1.0.0"]) && !state.knows(["1.0.0", "1.2.0"]));
}

#[test]
fn a_package_of_very_many_versions_takes_many_events_of_bounded_size() {
    let names: Vec<String> = (0..20_000).map(|n| format!("1.0.{n}-{}", "x".repeat(200))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut state = State::default();
    let mut looked = |hours| {
        let events = look(&state, &names, at(hours));
        for event in &events {
            let Event::VersionsSeen(seen) = event else { panic!("not a sighting: {event:?}") };
            let n_bytes: usize = seen.names.iter().map(|name| name.len() + 5).sum();
            assert!(n_bytes <= MAX_NAMES_BYTES && !seen.names.is_empty());
            Watching::apply(&mut state, event);
        }
        events.len()
    };
    assert_eq!(looked(1), MAX_EVENTS);
    // What did not fit is seen at the next look.
    assert!((1..MAX_EVENTS).contains(&looked(2)));
    assert_eq!(looked(3), 0);
    assert_eq!(state.len(), names.len());
}

#[test]
fn a_time_that_can_be_believed_counts_for_what_was_there_at_the_first_look() {
    let seen = Seen::Versions(looked(&[(90, &["1.0.0"])]));
    for ecosystem in [Ecosystem::Pypi, Ecosystem::Npm, Ecosystem::Cargo] {
        assert_eq!(born(&seen, ecosystem, Some(at(5))), Some((at(5), Clock::Registry)));
    }
    // A registry whose clock is a little ahead.
    let ahead = at(90).plus_seconds(60);
    assert_eq!(born(&seen, Ecosystem::Npm, Some(ahead)), Some((ahead, Clock::Registry)));
}

#[test]
fn a_time_that_is_missing_or_forged_gives_way_to_our_own() {
    let seen = Seen::Versions(looked(&[(90, &["1.0.0"])]));
    let own = Some((at(90), Clock::Own));
    let ancient = Timestamp::EPOCH;
    for told in [None, Some(ancient), Some(at(92)), Some(at(1_000_000))] {
        assert_eq!(born(&seen, Ecosystem::Pypi, told), own, "{told:?}");
    }
    // Whoever makes a Go module or an image writes its time.
    for ecosystem in [Ecosystem::Go, Ecosystem::Docker] {
        assert_eq!(born(&seen, ecosystem, Some(at(5))), own, "{ecosystem}");
    }
}

#[test]
fn what_came_later_is_no_older_than_our_first_sight_of_it() {
    let seen = Seen::Versions(looked(&[(1, &["0.9.0"]), (90, &["0.9.0", "1.0.0"])]));
    assert_eq!(born(&seen, Ecosystem::Npm, Some(at(5))), Some((at(90), Clock::Own)));
    let later = at(90).plus_seconds(60);
    assert_eq!(born(&seen, Ecosystem::Npm, Some(later)), Some((later, Clock::Registry)));
}

#[test]
fn what_was_never_seen_has_the_age_its_registry_tells_or_none() {
    let nothing = Seen::nothing();
    assert_eq!(born(&nothing, Ecosystem::Npm, Some(at(5))), Some((at(5), Clock::Registry)));
    for told in [None, Some(Timestamp::EPOCH), Some(at(1_000))] {
        assert_eq!(born(&nothing, Ecosystem::Npm, told), None, "{told:?}");
    }
    assert_eq!(born(&nothing, Ecosystem::Go, Some(at(5))), None);
    let no_version = Candidate::of(None);
    assert_eq!(nothing.born_at(Ecosystem::Pypi, &no_version, at(9)), None);
}

#[test]
fn a_version_is_as_young_as_its_newest_file() {
    let version = Version::parse(Ecosystem::Pypi, "1.0.0");
    let files = [("x-1.0.0.tar.gz", &version), ("x-1.0.0.whl", &version)];
    let late = looked(&[(1, &["x-1.0.0.tar.gz"]), (80, &["x-1.0.0.whl"])]);
    let seen = Seen::of_files(&late, files, files);
    // The index says that both are old.
    assert_eq!(born(&seen, Ecosystem::Pypi, Some(at(0))), Some((at(80), Clock::Own)));
    let both = looked(&[(80, &["x-1.0.0.tar.gz", "x-1.0.0.whl"])]);
    let seen = Seen::of_files(&both, files, files);
    assert_eq!(born(&seen, Ecosystem::Pypi, Some(at(0))), Some((at(0), Clock::Registry)));
    let one = looked(&[(1, &["x-1.0.0.tar.gz"])]);
    assert_eq!(born(&Seen::of_files(&one, files, files), Ecosystem::Pypi, Some(at(0))), None);
}

#[test]
fn a_file_is_late_for_its_version_even_when_the_first_files_are_gone_or_spell_it_otherwise() {
    let of = |text| Version::parse(Ecosystem::Pypi, text);
    let (plain, spelt, other) = (of("1.0"), of("1.0.0"), of("1.1"));
    let [first, again, added] =
        ["x-1.0.tar.gz", "x-1.0-py3-none-any.whl", "x-1.0.0-1-py3-none-any.whl"];
    let state = looked(&[(1, &[first]), (25, &[again]), (26, &[added])]);
    let ever = [(first, &plain), (again, &plain), (added, &spelt)];
    for there in [&ever[..], &ever[2..]] {
        let seen = Seen::of_files(&state, there.iter().copied(), ever);
        let late = |version, file: Option<&'static str>| {
            let candidate = Candidate::of(Some(version));
            let of = |name| candidate.in_file(name, FileTimes::default());
            seen.late(&file.map_or(candidate, of))
        };
        assert_eq!(late(&plain, Some(first)), Some(false));
        assert_eq!(late(&plain, Some(again)), Some(false), "a day later it is the same release");
        assert_eq!(late(&spelt, Some(added)), Some(true));
        assert_eq!((late(&plain, None), late(&other, None)), (Some(true), None));
        assert_eq!(late(&plain, Some("x-1.0.zip")), None, "never seen");
    }
}

#[test]
fn every_package_has_a_stream_however_long_its_name() {
    let of = |package: &str| stream(Ecosystem::Go, package).unwrap().to_string();
    assert_eq!(of("example.com/Mod"), "registry/seen/go/example.com/Mod");
    let [long, other] = ["x", "y"].map(|c| format!("example.com/{}", c.repeat(400)));
    assert!(of(&long).starts_with("registry/seen/go/~") && of(&long) != of(&other));
}

proptest! {
    #[test]
    fn looking_again_never_makes_anything_younger_or_older(
        looks in prop::collection::vec((0_i64..1_000, prop::collection::vec("[a-d]", 0..4)), 1..8)
    ) {
        let mut state = State::default();
        let mut known: HashMap<String, First> = HashMap::new();
        for (hours, names) in &looks {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            for event in look(&state, &names, at(*hours)) {
                Watching::apply(&mut state, &event);
            }
            prop_assert!(state.knows(names.iter().copied()));
            for name in &names {
                let first = state.first(name).unwrap();
                prop_assert_eq!(*known.entry((*name).to_owned()).or_insert(first), first);
            }
        }
    }

    #[test]
    fn no_version_is_older_than_its_registry_says(
        told in 0_i64..200, seen_at in 0_i64..100, first_look: bool
    ) {
        let before: &[(i64, &[&str])] = if first_look { &[] } else { &[(0, &["0.1.0"])] };
        let looks = [before, &[(seen_at, &["1.0.0"])]].concat();
        let seen = Seen::Versions(looked(&looks));
        let (born, _) = born(&seen, Ecosystem::Npm, Some(at(told))).unwrap();
        prop_assert!(born >= at(told.min(seen_at)));
        prop_assert!(first_look || born >= at(seen_at));
    }
}
