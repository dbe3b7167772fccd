//! What the vectors leave open: building paths, bounds, authorities, uids, order.

use core::{cmp::Ordering, num::NonZeroU64};
use weir_actor::{
    ActorName, ActorPath, ActorPathComparator, ActorPathErrorKind as Kind, ActorPathFormatter,
    ActorPathParser, ActorPathParts, ActorPathScheme, ActorUid, GuardianSegments, PathAuthority,
    PathSegment, PathSegments, SystemName, encode_segment,
};

#[test]
fn a_path_is_built_from_the_guardian_down_and_climbs_back() {
    let parts = ActorPathParts::remote(
        ActorPathScheme::PekkoTcp,
        SystemName::new("weir").unwrap(),
        PathAuthority::new("[2001:db8::1]", 4222).unwrap(),
    );
    let user = ActorPath::guardian_of(parts.clone(), GuardianSegments::User);
    let alice = user
        .child(&ActorName::new("agents").unwrap())
        .unwrap()
        .child(&encode_segment("alice/the first").unwrap())
        .unwrap();
    let uid = ActorUid::new(NonZeroU64::new(42).unwrap());
    let incarnation = alice.with_uid(uid).unwrap();

    assert_eq!(
        incarnation.to_canonical(),
        "pekko.tcp://weir@[2001:db8::1]:4222/user/agents/alice%2Fthe%20first#42"
    );
    assert_eq!(incarnation.name().unwrap().decoded(), "alice/the first");
    assert_eq!(incarnation.guardian(), Some(GuardianSegments::User));
    assert_eq!(incarnation.uid().unwrap().get(), Some(42));
    assert_eq!(ActorPathFormatter::format_without_uid(&incarnation), alice.to_canonical());
    assert_eq!(incarnation.without_uid(), alice);

    assert_eq!(incarnation.parent().unwrap().parent().unwrap(), user);
    assert_eq!(user.parent().unwrap(), ActorPath::root(parts));
    assert_eq!(user.parent().unwrap().parent(), None);
}

#[test]
fn a_child_of_an_incarnation_has_no_uid_of_its_own() {
    let run: ActorPath = "pekko://weir/user/runs/01HF#42".parse().unwrap();
    let worker = run.child(&ActorName::new("workers").unwrap()).unwrap();
    assert_eq!(worker.to_canonical(), "pekko://weir/user/runs/01HF/workers");
}

#[test]
fn only_known_roots_stand_below_the_root() {
    let root: ActorPath = "pekko://weir/".parse().unwrap();
    assert_eq!(
        root.child(&ActorName::new("user").unwrap()).unwrap().to_string(),
        "pekko://weir/user"
    );
    let error = root.child(&ActorName::new("agents").unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.segment()), (Kind::UnknownGuardian, Some(0)));

    for kept in ["pekko://weir/deadLetters", "pekko://weir/temp/$a", "pekko://weir/system/peers/b"]
    {
        assert_eq!(kept.parse::<ActorPath>().unwrap().to_canonical(), kept);
    }
    for (stranger, offset) in [("pekko://weir/foo/bar", 13), ("pekko://weir/User", 13)] {
        let error = ActorPathParser::parse(stranger).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::UnknownGuardian, offset), "`{stranger}`");
    }
}

#[test]
fn nothing_is_repaired_but_one_trailing_slash() {
    for (text, kind, offset) in [
        ("pekko://weir//user", Kind::EmptySegment, 13),
        ("pekko://weir/user//a", Kind::EmptySegment, 18),
        ("pekko://weir/user/a//", Kind::EmptySegment, 20),
        ("pekko://weir/user/a/#5", Kind::EmptySegment, 20),
        ("pekko://weir#5", Kind::UidOnRoot, 12),
        ("pekko://weir?q", Kind::InvalidUri, 12),
        ("pekko://weir/user/a?q", Kind::InvalidSegment, 19),
        ("pekko://weir/user/../system/x", Kind::DotSegment, 18),
        ("pekko://weir/user/%2e%2e/system/x", Kind::PercentCase, 18),
        ("pekko://weir/user/%2E%2E/system/x", Kind::NeedlessEscape, 18),
        ("pekko://weir/user/ä", Kind::InvalidSegment, 18),
        (" pekko://weir/user", Kind::InvalidUri, 0),
        ("pekko://weir/user/a\n", Kind::InvalidSegment, 19),
        ("://weir/user", Kind::InvalidUri, 0),
        ("pekko", Kind::InvalidUri, 5),
        ("pekko:/weir/user", Kind::InvalidUri, 6),
        ("pekko://-weir/user", Kind::InvalidSystemName, 8),
    ] {
        let error = ActorPathParser::parse(text).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "`{text}`");
    }
}

#[test]
fn an_authority_has_one_spelling() {
    for good in [
        "localhost:1",
        "node-b.example:65535",
        "1st.example:80",
        "127.0.0.1:2552",
        "[::1]:2552",
        "[2001:db8::1:0:0:1]:1",
        "[::ffff:192.0.2.1]:1",
    ] {
        assert_eq!(good.parse::<PathAuthority>().unwrap().to_string(), good);
    }
    for (bad, kind, offset) in [
        ("", Kind::InvalidHost, 0),
        (":80", Kind::InvalidHost, 0),
        ("a..b:80", Kind::InvalidHost, 2),
        ("-a:80", Kind::InvalidHost, 0),
        ("a.b-.c:80", Kind::InvalidHost, 3),
        ("a.b:c:80", Kind::InvalidPort, 4),
        ("Node.example:80", Kind::NonCanonicalHost, 0),
        ("127.0.0.01:80", Kind::InvalidHost, 0),
        ("127.1:80", Kind::InvalidHost, 0),
        ("0x7f.1:80", Kind::InvalidHost, 0),
        ("[::1:80", Kind::InvalidHost, 0),
        ("[]:80", Kind::InvalidHost, 0),
        ("[[::1]]:80", Kind::InvalidHost, 0),
        ("[::1]80", Kind::InvalidHost, 5),
        ("[127.0.0.1]:80", Kind::InvalidHost, 0),
        ("[fe80::1%eth0]:80", Kind::InvalidHost, 0),
        ("[2001:DB8::1]:80", Kind::NonCanonicalHost, 1),
        ("[2001:db8:0:0:0:0:0:1]:80", Kind::NonCanonicalHost, 1),
        ("[::0]:80", Kind::NonCanonicalHost, 1),
        ("[2001:0db8::1]:80", Kind::NonCanonicalHost, 1),
        ("[::ffff:c000:201]:80", Kind::NonCanonicalHost, 1),
        ("host", Kind::UnsupportedAuthority, 4),
        ("host:00", Kind::NonCanonicalPort, 5),
        ("host:+80", Kind::InvalidPort, 5),
        ("host:99999999999999999999", Kind::InvalidPort, 5),
    ] {
        let error = bad.parse::<PathAuthority>().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "`{bad}`");
    }
    assert_eq!(PathAuthority::new("host", 0).unwrap_err().kind(), Kind::InvalidPort);
    assert_eq!(PathAuthority::new("::1", 1).unwrap_err().kind(), Kind::InvalidHost);
    assert!(PathAuthority::new(&"h".repeat(255), 1).is_ok());
    assert_eq!(PathAuthority::new(&"h".repeat(256), 1).unwrap_err().offset(), 255);
}

#[test]
fn a_uid_is_kept_verbatim_or_refused() {
    for good in ["1", "2147483647", "18446744073709551615", "-1", "-2147483648"] {
        assert_eq!(good.parse::<ActorUid>().unwrap().to_string(), good);
    }
    for (bad, kind, offset) in [
        ("", Kind::InvalidUid, 0),
        ("-", Kind::InvalidUid, 1),
        ("0", Kind::NonCanonicalUid, 0),
        ("-0", Kind::NonCanonicalUid, 1),
        ("007", Kind::NonCanonicalUid, 0),
        ("+5", Kind::NonCanonicalUid, 0),
        ("--5", Kind::InvalidUid, 1),
        ("12x", Kind::InvalidUid, 2),
        ("18446744073709551616", Kind::InvalidUid, 0),
        ("-2147483649", Kind::InvalidUid, 1),
    ] {
        let error = bad.parse::<ActorUid>().unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "`{bad}`");
    }
    assert_eq!("-5".parse::<ActorUid>().unwrap().get(), None);
}

#[test]
fn bounds_hold_for_text_and_for_building() {
    let longest = "s".repeat(PathSegment::MAX_BYTES);
    assert!(PathSegment::new(&longest).is_ok());
    for too_long in
        [format!("{longest}s"), format!("{longest}#"), format!("{}%20", "s".repeat(253))]
    {
        let error = PathSegment::new(&too_long).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (Kind::SegmentTooLong, 255));
    }

    let deepest = format!("pekko://weir/user{}", "/a".repeat(PathSegments::MAX_DEPTH - 1));
    let path: ActorPath = deepest.parse().unwrap();
    assert_eq!(path.segments().len(), 16);
    let read = ActorPathParser::parse(&format!("{deepest}/b")).unwrap_err();
    assert_eq!((read.kind(), read.segment()), (Kind::TooDeep, Some(16)));
    assert_eq!(path.child(&ActorName::new("b").unwrap()).unwrap_err(), read);

    let base = format!("pekko://weir/user/{longest}/{longest}/{longest}/");
    let room = ActorPath::MAX_BYTES - base.len();
    let parent: ActorPath = base.parse().unwrap();
    let full = parent.child(&ActorName::new(&"n".repeat(room)).unwrap()).unwrap();
    assert_eq!(full.to_canonical().len(), ActorPath::MAX_BYTES);
    assert_eq!(full.to_canonical().parse::<ActorPath>().unwrap(), full);
    let uid = ActorUid::new(NonZeroU64::MIN);
    assert_eq!(full.with_uid(uid).unwrap_err().kind(), Kind::PathTooLong);
    let name = ActorName::new(&"n".repeat(room + 1)).unwrap();
    assert_eq!(parent.child(&name).unwrap_err().kind(), Kind::PathTooLong);
    let read = ActorPathParser::parse(&format!("{base}{name}")).unwrap_err();
    assert_eq!((read.kind(), read.offset()), (Kind::PathTooLong, 1024));

    assert!(SystemName::new(&"s".repeat(255)).is_ok());
    assert_eq!(SystemName::new(&"s".repeat(256)).unwrap_err().offset(), 255);
}

#[test]
fn the_root_has_no_incarnation() {
    let root: ActorPath = "pekko://weir".parse().unwrap();
    let error = root.with_uid(ActorUid::new(NonZeroU64::MIN)).unwrap_err();
    assert_eq!(error.kind(), Kind::UidOnRoot);
}

#[test]
fn text_from_outside_that_no_segment_can_say_is_refused() {
    for (text, kind, offset) in [
        ("", Kind::EmptySegment, 0),
        (".", Kind::DotSegment, 0),
        ("..", Kind::DotSegment, 0),
        ("$BTC", Kind::ReservedName, 0),
        ("café", Kind::InvalidSegment, 3),
        ("a\nb", Kind::InvalidSegment, 1),
    ] {
        let error = encode_segment(text).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "`{text}`");
    }
    let error = encode_segment(&"/".repeat(100_000)).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (Kind::SegmentTooLong, 85));
    assert!(encode_segment(&"/".repeat(85)).is_ok());
    assert_eq!(encode_segment("@scope/name").unwrap().to_string(), "@scope%2Fname");
    assert_eq!(encode_segment("100%25").unwrap().to_string(), "100%2525");
}

#[test]
fn paths_order_from_the_last_segment_and_ignore_the_uid() {
    let path = |text: &str| text.parse::<ActorPath>().unwrap();
    let ordered = [
        path("pekko://a/user/a"),
        path("pekko://b/system/z/a"),
        path("pekko://a/user/z/a#7"),
        path("pekko://a/user/b"),
        path("pekko://a/user/user"),
        path("pekko://a/user"),
        path("pekko://b/user"),
        path("pekko://a-b/"),
        path("pekko://a/"),
    ];
    for (i, left) in ordered.iter().enumerate() {
        for (j, right) in ordered.iter().enumerate() {
            assert_eq!(ActorPathComparator::cmp(left, right), i.cmp(&j), "`{left}` and `{right}`");
        }
    }
    let (old, new) = (path("pekko://a/user/b#7"), path("pekko://a/user/b#8"));
    assert!(old != new && ActorPathComparator::eq(&old, &new));
    assert_eq!(ActorPathComparator::cmp(&old, &new), Ordering::Equal);
}

#[test]
fn an_error_says_what_and_where() {
    let error = ActorPathParser::parse("pekko://weir/user/a b").unwrap_err();
    assert_eq!(error.to_string(), "character does not belong in a segment (byte 19, segment 1)");
    let error = ActorPathParser::parse("akka://weir/user").unwrap_err();
    assert_eq!(error.to_string(), "scheme is neither `pekko` nor `pekko.tcp` (byte 0)");
}
