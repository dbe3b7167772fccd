use proptest::prelude::*;

use super::*;

/// A range from pairs such as `introduced 1.0`, in any order.
fn range(events: &[&str]) -> Range {
    let mark = |event: &&str| {
        let (mark, text) = event.split_once(' ').expect("what happens and where");
        let mark = match mark {
            "introduced" => Mark::Introduced,
            "fixed" => Mark::Fixed,
            "last_affected" => Mark::LastAffected,
            "limit" => Mark::Limit,
            other => panic!("no such event: {other}"),
        };
        (mark, text.to_owned())
    };
    Range { marks: events.iter().map(mark).collect() }
}

fn window(introduced: &str, end: End) -> Window {
    let introduced = Some(introduced).filter(|text| *text != "0").map(str::to_owned);
    Window { introduced, end }
}

fn fixed(at: &str) -> End {
    End::Fixed(at.to_owned())
}

fn last(at: &str) -> End {
    End::LastAffected(at.to_owned())
}

fn limited(at: &str) -> End {
    End::Limit(at.to_owned())
}

fn found(events: &[&str]) -> Vec<Window> {
    let found = windows(Ecosystem::Npm, &range(events));
    assert!(!found.widened);
    found.windows
}

#[test]
fn zero_is_before_every_version_and_an_open_end_is_behind_all() {
    assert_eq!(found(&["introduced 0"]), [Window::EVERYTHING]);
    assert_eq!(found(&["introduced 0", "fixed 1.2.0"]), [window("0", fixed("1.2.0"))]);
    assert_eq!(found(&["introduced 1.0.0"]), [window("1.0.0", End::Open)]);
    assert_eq!(found(&["fixed 1.0.0"]), []);
    assert_eq!(found(&[]), []);
}

#[test]
fn one_range_may_have_several_windows_in_any_order_of_its_events() {
    let wanted = [
        window("0", fixed("1.2.5")),
        window("2.0.0", last("2.1.0")),
        window("3.0.0-rc.1", End::Open),
    ];
    let mut events = [
        "introduced 3.0.0-rc.1",
        "last_affected 2.1.0",
        "fixed 1.2.5",
        "introduced 0",
        "introduced 2.0.0",
    ];
    assert_eq!(found(&events), wanted);
    events.reverse();
    assert_eq!(found(&events), wanted);
}

#[test]
fn events_are_ordered_as_versions_not_as_text() {
    let wanted = [window("1.9.0", fixed("1.10.0")), window("1.11.0-beta.2", fixed("1.11.0"))];
    let events = ["introduced 1.9.0", "introduced 1.11.0-beta.2", "fixed 1.10.0", "fixed 1.11.0"];
    assert_eq!(found(&events), wanted);
}

#[test]
fn where_one_window_ends_and_the_next_begins_the_range_goes_on() {
    let events = ["introduced 0", "fixed 1.0.0", "introduced 1.0.0", "fixed 2.0.0"];
    assert_eq!(found(&events), [window("0", fixed("2.0.0"))]);
    assert_eq!(found(&["introduced 1.0.0", "fixed 1.0.0"]), []);
    let one = ["last_affected 1.0.0", "introduced 1.0.0"];
    assert_eq!(found(&one), [window("1.0.0", last("1.0.0"))]);
}

#[test]
fn a_limit_bounds_the_whole_range_and_fixes_nothing() {
    let both = ["introduced 0", "fixed 1.0.0", "introduced 2.0.0", "introduced 4.0.0"];
    let with = |limits: &[&str]| found(&[&both[..], limits].concat());
    let first = window("0", fixed("1.0.0"));
    assert_eq!(with(&["limit 3.0.0"]), [first.clone(), window("2.0.0", limited("3.0.0"))]);
    assert_eq!(with(&["limit 2.0.0"]), std::slice::from_ref(&first));
    assert_eq!(with(&["limit 0.5.0"]), [window("0", limited("0.5.0"))]);
    // Of several limits the highest counts, and `*` is none.
    let three = [first.clone(), window("2.0.0", limited("3.0.0"))];
    assert_eq!(with(&["limit 0.5.0", "limit 3.0.0"]), three);
    assert_eq!(with(&["limit 0.5.0", "limit *"]), [first, window("2.0.0", End::Open)]);
    for (end, wanted) in
        [("fixed 3.0.0", fixed("3.0.0")), ("last_affected 3.0.0", limited("3.0.0"))]
    {
        assert_eq!(found(&["introduced 1.0.0", end, "limit 3.0.0"]), [window("1.0.0", wanted)]);
    }
}

#[test]
fn an_event_without_a_place_widens_the_range_and_never_empties_it() {
    let of = |ecosystem, events: &[&str]| {
        let Found { windows, widened } = windows(ecosystem, &range(events));
        (windows, widened)
    };
    for (ecosystem, events, wanted) in [
        (Ecosystem::Npm, &["introduced 0", "fixed later"][..], window("0", End::Open)),
        (Ecosystem::Cargo, &["introduced 1.0.0", "last_affected x"], window("1.0.0", End::Open)),
        (Ecosystem::Pypi, &["introduced 1.0", "fixed 1.2-foo.x"], window("1.0", End::Open)),
        (Ecosystem::Npm, &["introduced x", "fixed 1.2.0"], window("0", fixed("1.2.0"))),
        (Ecosystem::Npm, &["introduced x", "last_affected 1.2.0"], window("0", last("1.2.0"))),
        (
            Ecosystem::Npm,
            &["introduced 1.0.0", "fixed 1.1.0", "introduced x", "fixed 2.0.0"],
            window("0", fixed("2.0.0")),
        ),
        (
            Ecosystem::Npm,
            &["introduced x", "fixed 1.1.0", "introduced 2.0.0"],
            window("0", End::Open),
        ),
        (Ecosystem::Npm, &["introduced 1.0.0", "limit x"], window("1.0.0", End::Open)),
        (Ecosystem::Go, &["introduced 0", "fixed 1234567"], window("0", End::Open)),
    ] {
        assert_eq!(of(ecosystem, events), (vec![wanted], true), "{events:?}");
    }
    assert_eq!(of(Ecosystem::Npm, &["fixed x"]), (vec![], true));
    let loose = of(Ecosystem::Go, &["introduced 1", "fixed 1.2", "introduced v1.3.0"]);
    assert_eq!(loose, (vec![window("v1", fixed("v1.2")), window("v1.3.0", End::Open)], false));
}

/// What OSV says about one version, by walking over the events; written without windows, places or
/// anything else of the code under test but the order of versions.
fn walked(ecosystem: Ecosystem, range: &Range, version: &Version) -> bool {
    let mut below_limit = true;
    let mut limits = range.marks.iter().filter(|(mark, _)| *mark == Mark::Limit).peekable();
    if limits.peek().is_some() {
        below_limit = limits.any(|(_, at)| at == "*" || *version < Version::said(ecosystem, at));
    }
    // Every place that is mentioned at or below the version, in order, each once.
    let place = |mark: Mark, at: &str| {
        if mark == Mark::Introduced && at == "0" {
            None
        } else {
            Some(Version::said(ecosystem, at))
        }
    };
    let happens = |wanted: Mark, here: &Option<Version>| {
        range.marks.iter().any(|(mark, at)| *mark == wanted && place(*mark, at) == *here)
    };
    let mut places: Vec<Option<Version>> = range
        .marks
        .iter()
        .filter(|(mark, _)| *mark != Mark::Limit)
        .map(|(mark, at)| place(*mark, at))
        .filter(|place| place.as_ref().is_none_or(|place| place <= version))
        .collect();
    places.sort();
    places.dedup();
    let mut affected = false;
    for here in places {
        let behind = here.as_ref().is_none_or(|here| here < version);
        let off = happens(Mark::Fixed, &here) || (behind && happens(Mark::LastAffected, &here));
        let on = happens(Mark::Introduced, &here);
        // What ends here and what begins here meet: the state stays what it was.
        affected = match (on, off) {
            (true, false) => true,
            (false, true) => false,
            (true, true) | (false, false) => affected,
        };
    }
    affected && below_limit
}

fn within(ecosystem: Ecosystem, windows: &[Window], version: &Version) -> bool {
    let v = |text: &String| Version::parse(ecosystem, text);
    windows.iter().any(|window| {
        window.introduced.as_ref().is_none_or(|from| v(from) <= *version)
            && match &window.end {
                End::Open => true,
                End::Fixed(end) | End::Limit(end) => *version < v(end),
                End::LastAffected(end) => *version <= v(end),
            }
    })
}

fn any_version() -> impl Strategy<Value = String> {
    "[0-2]\\.[0-2](\\.[0-2])?(-?(a|rc)[0-1])?"
}

fn any_range() -> impl Strategy<Value = Range> {
    let mark = prop_oneof![
        4 => Just(Mark::Introduced),
        3 => Just(Mark::Fixed),
        3 => Just(Mark::LastAffected),
        1 => Just(Mark::Limit),
    ];
    let at = prop_oneof![1 => Just("0".to_owned()), 1 => Just("*".to_owned()), 12 => any_version()];
    prop::collection::vec((mark, at), 0..10).prop_map(|marks| Range { marks })
}

fn any_ecosystem() -> impl Strategy<Value = Ecosystem> {
    prop::sample::select(&Ecosystem::ALL[..4])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_windows_hold_exactly_the_versions_that_a_walk_over_the_events_ends_on(
        ecosystem in any_ecosystem(), range in any_range(), version in any_version(),
    ) {
        let Found { windows, widened } = windows(ecosystem, &range);
        let placed = |text: &str| Version::said(ecosystem, text).readable();
        // What has no place is in no walk: without it more is affected, and never less.
        let mut readable = range.clone();
        readable.marks.retain_mut(|(mark, at)| {
            if *mark == Mark::Introduced && !placed(at) {
                "0".clone_into(at);
            }
            placed(at) || (*mark == Mark::Limit && at == "*")
        });
        let mut asked: Vec<&str> = range.marks.iter().map(|(_, at)| at.as_str()).collect();
        asked.push(&version);
        for text in asked {
            let version = Version::parse(ecosystem, text);
            let (found, wanted) =
                (within(ecosystem, &windows, &version), walked(ecosystem, &readable, &version));
            prop_assert!(found || !wanted, "{} {:?} {:?}", text, range, windows);
            prop_assert!(found == wanted || widened, "{} {:?} {:?}", text, range, windows);
        }
    }
}
