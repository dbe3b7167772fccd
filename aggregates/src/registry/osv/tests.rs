use proptest::prelude::*;
use serde_json::{Value, json};
use weir_events::registry::advisory::End;

use super::*;
use crate::registry::advisory::set::AdvisorySet;

/// A record about `six`, with some members in the place of its own.
fn record(changes: Value) -> Value {
    let mut record = json!({
        "schema_version": "1.7.5",
        "id": "GHSA-aaaa-bbbb-cccc",
        "modified": "2026-10-01T02:03:04.123456789Z",
        "published": "2026-09-30T00:00:00Z",
        "aliases": ["PYSEC-2026-7", "CVE-2026-0001"],
        "summary": "six is seven",
        "details": "At length.",
        "affected": [affected(json!({}))],
    });
    merge(&mut record, changes);
    record
}

/// An entry about `six`, with some members in the place of its own.
fn affected(changes: Value) -> Value {
    let mut affected = json!({
        "package": { "ecosystem": "PyPI", "name": "Six", "purl": "pkg:pypi/six" },
        "ranges": [{
            "type": "ECOSYSTEM",
            "events": [{ "introduced": "0" }, { "fixed": "1.17.0" }],
        }],
    });
    merge(&mut affected, changes);
    affected
}

fn merge(value: &mut Value, changes: Value) {
    let (Value::Object(value), Value::Object(changes)) = (value, changes) else {
        panic!("records and their changes are objects");
    };
    value.extend(changes);
}

fn read(record: &Value) -> Result<Record, RecordFault> {
    parse(record.to_string().as_bytes())
}

/// The warnings of a record.
fn advisories(record: &Value) -> Vec<Advisory> {
    read(record).unwrap().advisories("osv").unwrap()
}

/// The one warning about one package of a record.
fn only(record: &Value) -> (Advisory, Affected) {
    let [advisory] = advisories(record).try_into().expect("one warning");
    let [affected] = advisory.affected.clone().try_into().expect("one package");
    (advisory, affected)
}

fn entry(changes: Value) -> Affected {
    only(&record(json!({ "affected": [affected(changes)] }))).1
}

fn fixed(introduced: Option<&str>, fixed: &str) -> Window {
    Window { introduced: introduced.map(str::to_owned), end: End::Fixed(fixed.to_owned()) }
}

#[test]
fn a_record_says_which_versions_of_which_package_are_affected() {
    let (advisory, affected) = only(&record(json!({})));
    let digest = digest::of(&advisory).to_hex().to_string();
    let wanted = Advisory {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: "GHSA-aaaa-bbbb-cccc".to_owned(),
        aliases: vec!["CVE-2026-0001".to_owned(), "PYSEC-2026-7".to_owned()],
        class: Class::Vulnerability,
        summary: "six is seven".to_owned(),
        modified: Some(Timestamp::from_micros(1_790_820_184_123_456)),
        affected: vec![Affected {
            package: "six".to_owned(),
            severity: Severity::Unknown,
            versions: vec![],
            windows: vec![fixed(None, "1.17.0")],
            widened: false,
        }],
        digest,
    };
    assert_eq!(advisory, wanted);
    assert_eq!(affected, wanted.affected[0]);
}

#[test]
fn ecosystems_are_known_by_osvs_names_with_or_without_a_part_behind() {
    for known in &Ecosystem::ALL[..4] {
        let name = osv_name(*known).unwrap();
        assert_eq!(ecosystem(name), Some(*known));
        assert_eq!(ecosystem(&format!("{name}:somewhere")), Some(*known));
    }
    for other in ["", "pypi", "NPM", "Debian:12", "Packagist", "crates.io-index", "GIT"] {
        assert_eq!(ecosystem(other), None, "{other}");
    }
    assert_eq!(osv_name(Ecosystem::Docker), None);
}

#[test]
fn a_range_of_commits_is_passed_over_and_the_ranges_behind_it_are_not() {
    let commits = json!({
        "type": "GIT", "repo": "https://example.com/six", "database_specific": { "x": [1] },
        "events": [{ "introduced": "0" }, { "fixed": "8fd3e5d0a8b1c6a0a1d8" }],
    });
    let versions = json!({
        "type": "SEMVER", "events": [{ "introduced": "1.0.0" }, { "fixed": "1.2.0" }],
    });
    let unknown = json!({ "type": "PLANETS", "events": [{ "introduced": "mars" }] });
    let both = entry(json!({ "ranges": [commits, unknown, versions] }));
    assert_eq!(both.windows, [fixed(Some("1.0.0"), "1.2.0")]);
    assert_eq!(entry(json!({ "ranges": [commits] })).windows, []);
    let listed = entry(json!({ "ranges": [commits], "versions": ["1.0.0"] }));
    assert_eq!((listed.windows, listed.versions), (vec![], vec!["1.0.0".to_owned()]));
}

#[test]
fn what_is_said_in_several_entries_about_one_package_is_put_together() {
    let range = |introduced: &str, fixed: &str| {
        let events = json!([{ "introduced": introduced }, { "fixed": fixed }]);
        json!({ "ranges": [{ "type": "ECOSYSTEM", "events": events }] })
    };
    let mut second = range("1.10", "1.11");
    merge(&mut second, json!({ "versions": ["1.10", "1.9", "1.10"] }));
    let npm = json!({ "package": { "ecosystem": "npm", "name": "six" } });
    let record = record(json!({ "affected": [
        affected(second), affected(range("1.2", "1.3")), affected(npm), affected(range("1.2", "1.3")),
    ] }));
    let advisories = advisories(&record);
    let ecosystems: Vec<_> = advisories.iter().map(|advisory| advisory.ecosystem).collect();
    assert_eq!(ecosystems, [Ecosystem::Pypi, Ecosystem::Npm]);
    let pypi = &advisories[0].affected;
    assert_eq!(pypi.len(), 1);
    assert_eq!(pypi[0].windows, [fixed(Some("1.2"), "1.3"), fixed(Some("1.10"), "1.11")]);
    assert_eq!(pypi[0].versions, ["1.9", "1.10"]);
    assert_ne!(advisories[0].digest, advisories[1].digest);
}

#[test]
fn a_withdrawn_record_affects_nothing() {
    let withdrawn = record(json!({ "withdrawn": "2026-10-02T00:00:00Z" }));
    assert_eq!(advisories(&withdrawn), []);
    assert!(read(&withdrawn).unwrap().withdrawn.is_some());
    // What is no moment in time is no withdrawal.
    for none in [json!(null), json!(false), json!("no"), json!("")] {
        assert_eq!(advisories(&record(json!({ "withdrawn": none }))).len(), 1);
    }
}

const CRITICAL: &str = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
const LOW: &str = "CVSS:3.1/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N";

#[test]
fn the_severity_of_a_package_stands_instead_of_that_of_the_record() {
    let score = |score: &str| json!([{ "type": "CVSS_V3", "score": score }]);
    let rated = |top: Value, own: Value| {
        let affected = affected(json!({ "severity": own }));
        only(&record(json!({ "severity": top, "affected": [affected] }))).1.severity
    };
    assert_eq!(rated(score(CRITICAL), json!(null)), Severity::Critical);
    assert_eq!(rated(score(CRITICAL), json!([])), Severity::Critical);
    assert_eq!(rated(score(CRITICAL), score(LOW)), Severity::Low);
    assert_eq!(rated(score(LOW), score(CRITICAL)), Severity::Critical);
    let word = json!({ "severity": "MODERATE", "cwe_ids": ["CWE-79"] });
    let moderate = only(&record(json!({ "database_specific": word })));
    assert_eq!(moderate.1.severity, Severity::Medium);
    let both = json!({ "database_specific": word, "severity": score(LOW) });
    assert_eq!(only(&record(both)).1.severity, Severity::Low);
}

#[test]
fn malware_is_known_by_its_id_its_aliases_and_where_it_comes_from() {
    let class = |changes: Value| only(&record(changes)).0.class;
    assert_eq!(class(json!({ "id": "MAL-2026-1" })), Class::Malware);
    assert_eq!(class(json!({ "aliases": ["MAL-2026-1"] })), Class::Malware);
    let origins = json!({ "malicious-packages-origins": [{ "source": "x", "sha256": "0" }] });
    assert_eq!(class(json!({ "database_specific": origins })), Class::Malware);
    assert_eq!(class(json!({ "id": "XMAL-1", "aliases": null })), Class::Vulnerability);
    // Malware of which no version is named is malware in every version.
    let malware = |entry: Value| only(&record(json!({ "id": "MAL-1", "affected": [entry] }))).1;
    assert_eq!(malware(affected(json!({ "ranges": [] }))).windows, [Window::EVERYTHING]);
    let listed = malware(affected(json!({ "ranges": [], "versions": ["1.0"] })));
    assert_eq!((listed.windows, listed.versions.len()), (vec![], 1));
    assert_eq!(entry(json!({ "ranges": [] })).windows, []);
}

#[test]
fn a_notice_is_no_vulnerability() {
    let informational =
        |word: &str| affected(json!({ "database_specific": { "informational": word } }));
    let class = |entries: Value| only(&record(json!({ "affected": entries }))).0.class;
    assert_eq!(class(json!([informational("unmaintained")])), Class::Notice);
    assert_eq!(class(json!([informational("unsound")])), Class::Vulnerability);
    let mixed = json!([informational("unmaintained"), affected(json!({}))]);
    assert_eq!(class(mixed), Class::Vulnerability);
}

#[test]
fn words_and_members_that_we_do_not_know_change_nothing() {
    let mut known = only(&record(json!({}))).0;
    let newer = record(json!({
        "schema_version": "9.0.0",
        "modified": 7,
        "credits": { "unlike": ["today"] },
        "severity": [{ "type": "CVSS_V9", "score": "CVSS:9.0/X:Y" }],
        "upstream": [1, null],
        "affected": [
            { "package": { "ecosystem": "Moon", "name": "\u{0}" }, "versions": ["1"] },
            { "ranges": [{ "type": "GIT", "repo": "x", "events": [{ "introduced": "0" }] }] },
            affected(json!({ "severity": "high", "database_specific": 5, "eco": {} })),
        ],
    }));
    known.modified = None;
    assert_eq!(only(&newer).0, known);
}

#[test]
fn a_record_that_cannot_be_gone_by_is_refused_and_never_harmless() {
    for changes in [
        json!({ "affected": {} }),
        json!({ "affected": [affected(json!({ "versions": "1.0" }))] }),
        json!({ "affected": [affected(json!({ "ranges": [{ "type": "SEMVER", "events": 1 }] }))] }),
        json!({ "affected": [affected(json!({ "package": "six" }))] }),
        json!({ "id": 7 }),
    ] {
        assert!(matches!(read(&record(changes)), Err(RecordFault::Unreadable(_))));
    }
    for id in ["", "a b", "ä", &"x".repeat(MAX_ID_BYTES + 1)] {
        assert!(matches!(read(&record(json!({ "id": id }))), Err(RecordFault::BadId(_))));
    }
    let long = "1".repeat(MAX_VERSION_BYTES + 1);
    let event = json!([{ "type": "SEMVER", "events": [{ "introduced": long }] }]);
    for changes in [
        json!({ "versions": [long] }),
        json!({ "ranges": event }),
        json!({ "package": { "ecosystem": "npm", "name": "" } }),
        json!({ "package": { "ecosystem": "npm", "name": "x".repeat(MAX_NAME_BYTES + 1) } }),
        json!({ "package": { "ecosystem": "npm", "name": "a\nb" } }),
    ] {
        let fault = read(&record(json!({ "affected": [affected(changes)] }))).unwrap_err();
        assert!(fault.to_string().starts_with("GHSA-aaaa-bbbb-cccc cannot be kept"), "{fault}");
    }
    let large = vec![b' '; MAX_RECORD_BYTES + 1];
    assert!(matches!(parse(&large), Err(RecordFault::TooLarge(_))));
    let packages = |n: usize| {
        let package = |n: usize| json!({ "ecosystem": "npm", "name": format!("p{n}") });
        let affected = (0..n).map(|n| affected(json!({ "package": package(n) })));
        read(&record(json!({ "affected": affected.collect::<Vec<_>>() }))).unwrap()
    };
    assert_eq!(packages(MAX_PACKAGES).advisories("osv").unwrap()[0].affected.len(), 500);
    let mut huge = packages(1);
    let one = huge.entries.remove(0);
    let named = |n: usize| Entry { package: format!("p{n}"), ..one.clone() };
    huge.entries = (0..=MAX_RECORD_PACKAGES).map(named).collect();
    assert!(huge.advisories("osv").is_err());
}

#[test]
fn a_campaign_against_thousands_of_packages_is_told_in_parts_and_blocks_all_of_them() {
    let entry = |n: usize| {
        let package = json!({ "ecosystem": "npm", "name": format!("p{n}") });
        affected(json!({ "package": package, "ranges": [] }))
    };
    let all: Vec<_> = (0..1_001).map(entry).collect();
    let parts =
        advisories(&record(json!({ "id": "MAL-2026-1", "aliases": ["GHSA-1"], "affected": all })));
    let of = |advisory: &Advisory| (advisory.id.clone(), advisory.affected.len());
    let wanted = [("MAL-2026-1", 500), ("MAL-2026-1#2", 500), ("MAL-2026-1#3", 1)];
    assert_eq!(parts.iter().map(of).collect::<Vec<_>>(), wanted.map(|(id, n)| (id.to_owned(), n)));
    let mut set = AdvisorySet::default();
    for part in &parts {
        assert!(bound::size(part) <= bound::MAX_ADVISORY_BYTES && part.class == Class::Malware);
        set.upsert(part);
    }
    let version = Version::parse(Ecosystem::Npm, "1.0.0");
    for n in 0..1_001 {
        let about = set.about(Ecosystem::Npm, &format!("p{n}"));
        let findings = about.findings(Some(&version));
        // By the record's id each of its parts is found, and waived.
        assert!(findings[0].names().any(|name| name == "MAL-2026-1"), "p{n}");
    }
    let called = set.called("MAL-2026-1").unwrap();
    assert_eq!(called.packages[&Ecosystem::Npm].len(), 1_001);
}

#[test]
fn where_the_version_of_an_event_cannot_be_read_nothing_is_left_out() {
    let go = |events: Value| {
        entry(json!({
            "package": { "ecosystem": "Go", "name": "example.com/m" },
            "ranges": [{ "type": "SEMVER", "events": events }],
        }))
    };
    let window = |from: Option<&str>, end| Window { introduced: from.map(str::to_owned), end };
    let loose = go(json!([{ "introduced": "0" }, { "fixed": "1.2" }]));
    assert_eq!(loose.windows, [window(None, End::Fixed("v1.2".to_owned()))]);
    assert!(!loose.widened, "Go itself writes v1.2 for v1.2.0");
    let nonsense = go(json!([{ "introduced": "1.0.0" }, { "fixed": "the next one" }]));
    assert_eq!(nonsense.windows, [window(Some("1.0.0"), End::Open)]);
    assert!(nonsense.widened);
}

#[test]
fn a_summary_is_one_line_of_bounded_length() {
    let summary = |changes: Value| only(&record(changes)).0.summary;
    assert_eq!(summary(json!({ "summary": " a\r\n\tb\u{7}c " })), "a b c");
    assert_eq!(summary(json!({ "summary": "not \u{202e}esrow" })), "not esrow");
    assert_eq!(summary(json!({ "summary": "", "details": "# At\nlength" })), "# At length");
    assert_eq!(summary(json!({ "summary": 5, "details": null })), "GHSA-aaaa-bbbb-cccc");
    let long = summary(json!({ "summary": "öö ".repeat(200) }));
    assert!((MAX_SUMMARY_CHARS - 2..=MAX_SUMMARY_CHARS).contains(&long.chars().count()), "{long}");
    let solid = summary(json!({ "summary": "ö".repeat(1_000) }));
    assert_eq!(solid.chars().count(), MAX_SUMMARY_CHARS);
}

#[test]
fn only_what_is_said_makes_another_digest_not_when_or_in_which_order() {
    let digest = |changes: Value| only(&record(changes)).0.digest;
    let same = digest(json!({}));
    assert_eq!(digest(json!({ "modified": "2026-11-01T00:00:00Z", "credits": [] })), same);
    assert_eq!(digest(json!({ "aliases": ["CVE-2026-0001", "PYSEC-2026-7"] })), same);
    let backwards =
        json!([{ "type": "ECOSYSTEM", "events": [{ "fixed": "1.17.0" }, { "introduced": "0" }] }]);
    assert_eq!(digest(json!({ "affected": [affected(json!({ "ranges": backwards }))] })), same);
    for other in [
        json!({ "id": "GHSA-aaaa-bbbb-dddd" }),
        json!({ "aliases": ["CVE-2026-0001"] }),
        json!({ "summary": "six is eight" }),
        json!({ "severity": [{ "type": "CVSS_V3", "score": CRITICAL }] }),
        json!({ "affected": [affected(json!({ "versions": ["2.0"] }))] }),
        json!({ "affected": [affected(json!({ "ranges": [] }))] }),
    ] {
        assert_ne!(digest(other.clone()), same, "{other}");
    }
}

#[test]
fn an_advisory_too_large_for_an_event_says_less_precisely_what_is_affected() {
    let versions: Vec<String> = (0..60_000).map(|n| format!("1.{n}")).collect();
    let small = json!({ "package": { "ecosystem": "PyPI", "name": "zero" }, "versions": ["1.0"] });
    let large = affected(json!({ "versions": versions }));
    let advisory = advisories(&record(json!({ "affected": [large, affected(small)] }))).remove(0);
    let (six, zero) = (&advisory.affected[0], &advisory.affected[1]);
    assert_eq!((six.versions.len(), six.widened), (0, true));
    let spread =
        Window { introduced: Some("1.0".to_owned()), end: End::LastAffected("1.59999".to_owned()) };
    assert_eq!(six.windows, [fixed(None, "1.17.0"), spread]);
    assert_eq!((zero.versions.len(), zero.widened), (1, false));

    let events: Vec<Value> = (0..20_000)
        .map(|n| {
            let key = if n % 2 == 0 { "introduced" } else { "last_affected" };
            json!({ key: format!("1.{n}") })
        })
        .collect();
    let large = json!({ "ranges": [{ "type": "ECOSYSTEM", "events": events }] });
    let affected = entry(large);
    assert_eq!((affected.windows, affected.widened), (vec![Window::EVERYTHING], true));
}

#[test]
fn the_largest_advisory_there_can_be_fits_an_event() {
    let long = |n: usize, max: usize| format!("{n:0>max$}");
    let packages = (0..MAX_PACKAGES).map(|n| {
        let events: Vec<Value> = (0..8)
            .map(|m| json!({ if m % 2 == 0 { "introduced" } else { "fixed" }: long(m + 1, 250) }))
            .collect();
        json!({
            "package": { "ecosystem": "npm", "name": long(n, MAX_NAME_BYTES) },
            "versions": [long(n, MAX_VERSION_BYTES)],
            "ranges": [{ "type": "SEMVER", "events": events }],
        })
    });
    let record = record(json!({
        "id": long(1, MAX_ID_BYTES),
        "summary": "\u{1F4A9}".repeat(300),
        "aliases": (0..100).map(|n| long(n, MAX_ID_BYTES - 1)).collect::<Vec<_>>(),
        "affected": packages.collect::<Vec<_>>(),
    }));
    let advisory = advisories(&record).remove(0);
    assert!(advisory.affected.iter().any(|affected| affected.widened));
    let event = weir_events::registry::advisory::AdvisoryPublished { advisory };
    let bytes = weir_events::codec::to_bytes("AdvisoryPublished", &event).unwrap();
    assert!(bytes.len() <= bound::MAX_ADVISORY_BYTES, "{}", bytes.len());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["0", "1.0", "*", "PyPI", "SEMVER", "GIT", "MAL-1", CRITICAL])
            .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "id",
        "affected",
        "package",
        "ecosystem",
        "name",
        "ranges",
        "type",
        "events",
        "introduced",
        "fixed",
        "last_affected",
        "limit",
        "versions",
        "severity",
        "score",
        "aliases",
        "summary",
        "withdrawn",
        "modified",
        "database_specific",
        "malicious-packages-origins",
        "other",
    ]);
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8).prop_map(|members| {
                Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_makes_the_reader_fall_over(value in any_json(), changes in any_json(), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        drop(parse(&bytes));
        drop(read(&value));
        let mut record = record(json!({}));
        if let (Value::Object(record), Value::Object(changes)) = (&mut record, changes) {
            record.extend(changes);
        }
        record["affected"] = json!([value, affected(json!({})), affected(json!({ "ranges": [value] }))]);
        if let Ok(record) = read(&record) {
            for advisory in record.advisories("osv").unwrap() {
                prop_assert_eq!(&advisory.digest, &digest::of(&advisory).to_hex().to_string());
            }
        }
    }
}
