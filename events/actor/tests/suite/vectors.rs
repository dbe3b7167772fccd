//! Every row of the vectors that were observed by running Apache Pekko 1.1.2. Weir's own answer
//! stands in the third column of `paths.tsv`; in `elements.tsv` it is Pekko's, but for one row.

use weir_actor::{
    ActorName, ActorPathError, ActorPathErrorKind, ActorPathParser, ActorPathValidator,
};

const PATHS: &str = include_str!("../vectors/paths.tsv");
const ELEMENTS: &str = include_str!("../vectors/elements.tsv");

#[test]
fn every_path_gets_the_answer_of_its_row() {
    let mut n_rows = 0;
    for row in PATHS.lines().filter(|row| !row.starts_with('#')) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [input, _pekko, expected] = columns[..] else { panic!("row `{row}`") };
        let answer = ActorPathParser::parse(input);
        match expected.split_once(' ') {
            Some(("ok", canonical)) => {
                assert_eq!(answer.unwrap().to_canonical(), canonical, "row `{row}`");
            }
            Some(("reject", kind)) => {
                assert_eq!(answer.unwrap_err().kind().name(), kind, "row `{row}`");
            }
            None if expected == "reject" => assert!(answer.is_err(), "row `{row}`"),
            _ => panic!("row `{row}`"),
        }
        n_rows += 1;
    }
    assert_eq!(n_rows, 52);
}

#[test]
fn rows_that_name_no_kind_are_refused_for_the_right_reason() {
    for (input, kind, offset, segment) in [
        ("", "InvalidUri", 0, None),
        ("s://dd@:12", "InvalidScheme", 0, None),
        ("a://l:1/b", "InvalidScheme", 0, None),
        ("pekko://mysys/user/foo#", "InvalidUid", 23, None),
        ("pekko://mysys/user/a%2", "PercentDecode", 20, Some(1)),
        ("pekko://mysys/user/a b", "InvalidSegment", 20, Some(1)),
        ("pekko://mysys/user/a|b", "InvalidSegment", 20, Some(1)),
        ("/user/a", "InvalidUri", 0, None),
        ("pekko:sys/user/a", "InvalidUri", 6, None),
        ("pekko:///user/a", "InvalidSystemName", 8, None),
        ("pekko://sys@host:/user/a", "InvalidPort", 17, None),
        ("pekko://sys:2552/user/a", "InvalidSystemName", 11, None),
        ("pekko://sys@host:-1/user/a", "InvalidPort", 17, None),
        ("pekko://sys@[::1]/user/a", "UnsupportedAuthority", 17, None),
        ("pekko://sys@::1:2552/user/a", "InvalidHost", 12, None),
        ("pekko://sys@[::g]:2552/user/a", "InvalidHost", 12, None),
        ("pekko://[::1]:2552/user/a", "InvalidSystemName", 8, None),
        ("pekko://sys@256.0.0.1:2552/user/a", "InvalidHost", 12, None),
        ("pekko://sys@host-:2552/user/a", "InvalidHost", 16, None),
        ("pekko://sys@is_valid.org:5001/user/a", "InvalidHost", 14, None),
        ("pekko://sys.9/user/a", "InvalidSystemName", 11, None),
        ("pekko://a@b@c:1/user/x", "InvalidHost", 11, None),
        ("pekko://sys/user/a#1#2", "InvalidUid", 20, None),
    ] {
        let rejected: Vec<&str> = PATHS.lines().filter(|row| row.ends_with("\treject")).collect();
        assert!(rejected.iter().any(|row| row.split('\t').next() == Some(input)), "`{input}`");
        let error = ActorPathParser::parse(input).unwrap_err();
        assert_eq!(
            (error.kind().name(), error.offset(), error.segment()),
            (kind, offset, segment),
            "`{input}`"
        );
    }
}

#[test]
fn every_element_gets_pekkos_answer_but_for_two_dots() {
    let mut n_rows = 0;
    for row in ELEMENTS.lines() {
        let columns: Vec<&str> = row.split('\t').collect();
        let (element, pekko_accepts) = match columns[..] {
            ["E", element, verdict] => (element, verdict == "OK"),
            // This row was cut at 120 characters, with its verdict; Pekko knows no bound.
            ["E", element] => (element, 118 == element.len()),
            _ => panic!("row `{row}`"),
        };
        let expected = pekko_accepts && element != "..";
        assert_eq!(ActorName::new(element).is_ok(), expected, "row `{row}`");
        n_rows += 1;
    }
    assert_eq!(n_rows, 19);
}

#[test]
fn a_refused_name_says_why() {
    use ActorPathErrorKind as Kind;
    for (name, kind, offset) in [
        ("", Kind::EmptySegment, 0),
        ("$a", Kind::ReservedName, 0),
        ("%", Kind::PercentDecode, 0),
        ("a%", Kind::PercentDecode, 1),
        ("a b", Kind::InvalidSegment, 1),
        ("a#b", Kind::InvalidSegment, 1),
        ("ä", Kind::InvalidSegment, 0),
        ("..", Kind::DotSegment, 0),
        (".", Kind::DotSegment, 0),
        ("a/b", Kind::InvalidSegment, 1),
        ("x%2fy", Kind::PercentCase, 1),
        ("x%61y", Kind::NeedlessEscape, 1),
        ("%24a", Kind::NeedlessEscape, 0),
        ("%2E%2E", Kind::NeedlessEscape, 0),
        ("%00", Kind::PercentDecode, 0),
        ("a%0A", Kind::PercentDecode, 1),
        ("%7F", Kind::PercentDecode, 0),
        ("%C3%A4", Kind::PercentDecode, 0),
        ("%+1", Kind::PercentDecode, 0),
        ("a%2", Kind::PercentDecode, 1),
        ("%2%20", Kind::PercentDecode, 0),
    ] {
        let error: ActorPathError = ActorName::new(name).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "`{name}`");
        // `$` alone is the difference between a name and a segment.
        let segment = ActorPathValidator::validate_segment(name);
        assert_eq!(segment.is_ok(), kind == Kind::ReservedName, "`{name}`");
    }
}
