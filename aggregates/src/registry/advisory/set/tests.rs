use std::slice;

use proptest::prelude::*;
use weir_events::registry::advisory::{
    AdvisoryChanged, AdvisoryPublished, AdvisoryWithdrawn, Affected, Class, End, Severity, Window,
    Withdrawal,
};

use super::*;
use crate::registry::advisory::{
    difference::{Losses, Sight},
    digest,
    finding::Hit,
};

fn window(introduced: &str, end: End) -> Window {
    let introduced = Some(introduced).filter(|text| *text != "0").map(str::to_owned);
    Window { introduced, end }
}

fn fixed(at: &str) -> End {
    End::Fixed(at.to_owned())
}

/// A warning about `six` on PyPI.
fn advisory(id: &str, aliases: &[&str], windows: Vec<Window>) -> Advisory {
    let mut advisory = Advisory {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: id.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        class: Class::Vulnerability,
        summary: format!("all about {id}"),
        modified: None,
        affected: vec![Affected {
            package: "six".to_owned(),
            severity: Severity::Medium,
            versions: vec![],
            windows,
            widened: false,
        }],
        digest: String::new(),
    };
    advisory.digest = digest::of(&advisory).to_hex().to_string();
    advisory
}

fn set(advisories: &[Advisory]) -> AdvisorySet {
    let mut set = AdvisorySet::default();
    for advisory in advisories {
        set.upsert(advisory);
    }
    set
}

fn v(text: &str) -> Version {
    Version::parse(Ecosystem::Pypi, text)
}

/// The ids of what is said of a version of `six`, in order.
fn ids(set: &AdvisorySet, version: &str) -> Vec<String> {
    let findings = set.about(Ecosystem::Pypi, "six").findings(Some(&v(version)));
    findings.iter().map(|finding| finding.id().to_owned()).collect()
}

#[test]
fn a_version_is_found_by_its_name_in_any_spelling_and_with_the_evidence() {
    let mut listed = advisory("GHSA-1", &["CVE-1"], vec![window("1.2", fixed("1.4"))]);
    listed.affected[0].versions = vec!["0.9".to_owned(), "1.3".to_owned()];
    let mut other = advisory("GHSA-2", &[], vec![window("0", End::Open)]);
    other.ecosystem = Ecosystem::Npm;
    let set = set(&[listed.clone(), other]);
    assert_eq!((set.len(), set.n_packages(), set.is_empty()), (2, 2, false));
    for (version, hit) in [
        ("0.9.0", Some(Hit::Listed("0.9".to_owned()))),
        ("1.0", None),
        ("1.2rc1", None),
        ("1.2.0", Some(Hit::Within(window("1.2", fixed("1.4"))))),
        ("1.3", Some(Hit::Listed("1.3".to_owned()))),
        ("1.4rc1", Some(Hit::Within(window("1.2", fixed("1.4"))))),
        ("1.4", None),
        ("nonsense", None),
    ] {
        let findings = set.about(Ecosystem::Pypi, "S.I.X");
        assert!(findings.is_empty(), "another package");
        let findings = set.about(Ecosystem::Pypi, "Six").findings(Some(&v(version)));
        assert_eq!(findings.first().map(Finding::hit), hit, "{version}");
    }
    let finding = set.about(Ecosystem::Pypi, "six").findings(Some(&v("1.3")))[0];
    assert_eq!(
        (finding.source(), finding.id(), finding.summary()),
        ("osv", "GHSA-1", "all about GHSA-1")
    );
    assert_eq!(finding.aliases().collect::<Vec<_>>(), ["CVE-1"]);
    assert_eq!((finding.class(), finding.severity()), (Class::Vulnerability, Severity::Medium));
    assert_eq!((finding.fixed_by(), finding.widened()), (Some("1.4"), false));
    assert_eq!(finding.digest().to_hex().to_string(), listed.digest);
}

#[test]
fn versions_are_compared_as_their_ecosystem_orders_them_whether_or_not_they_exist() {
    let hit = |ecosystem: Ecosystem, windows: &[Window], version: &str| {
        let mut advisory = advisory("GHSA-1", &[], windows.to_vec());
        advisory.ecosystem = ecosystem;
        let (set, version) = (set(&[advisory]), Version::parse(ecosystem, version));
        set.about(ecosystem, "six").worst(Some(&version), |_| true).is_some()
    };
    let windows = [window("1.9.0", fixed("1.10.0")), window("2.0.0-beta.2", fixed("2.0.0"))];
    for (ecosystem, inside, outside) in [
        (
            Ecosystem::Npm,
            &["1.9.0", "1.9.99", "1.10.0-rc.1", "2.0.0-beta.10", "2.0.0-rc.1+build"][..],
            &["1.9.0-rc.1", "1.10.0", "1.10.0+build", "2.0.0-beta.1", "2.0.0"][..],
        ),
        (Ecosystem::Cargo, &["1.9.5", "2.0.0-beta.11"], &["1.8.9", "2.0.0-alpha.9", "2.0.0+x"]),
        // Advisories write no `v`, modules do.
        (Ecosystem::Go, &["v1.9.0", "v1.9.5+incompatible", "v2.0.0-rc1"], &["v1.10.0", "v2.0.0"]),
        (Ecosystem::Pypi, &["1.9", "1.9.0.post1", "1.10rc1", "2.0rc1"], &["1.9rc1", "1.10", "2"]),
    ] {
        for version in inside {
            assert!(hit(ecosystem, &windows, version), "{ecosystem} {version} is affected");
        }
        for version in outside {
            assert!(!hit(ecosystem, &windows, version), "{ecosystem} {version} is not affected");
        }
    }
}

#[test]
fn what_is_said_of_a_version_is_meant_of_its_local_versions_too() {
    let last = |at: &str| End::LastAffected(at.to_owned());
    let mut listed = advisory("MAL-1", &[], vec![]);
    listed.affected[0].versions = vec!["2.1.0".to_owned()];
    let all = set(&[
        listed,
        advisory("GHSA-1", &[], vec![window("0", last("2.0"))]),
        advisory("GHSA-2", &[], vec![window("0", fixed("1.9"))]),
        advisory("GHSA-3", &[], vec![window("0", fixed("1.5+patched.2"))]),
    ]);
    for (version, wanted) in [
        ("2.1.0+cpu", &["MAL-1"][..]),
        ("2.1.1+cpu", &[]),
        ("2.0+cu118", &["GHSA-1"]),
        ("1.9+cpu", &["GHSA-1"]),
        ("1.8.9+cpu", &["GHSA-1", "GHSA-2"]),
        ("1.5+patched.1", &["GHSA-1", "GHSA-2", "GHSA-3"]),
        ("1.5+patched.2", &["GHSA-1", "GHSA-2"]),
    ] {
        assert_eq!(ids(&all, version), wanted, "{version}");
        let about = all.about(Ecosystem::Pypi, "six");
        let worst = about.worst(Some(&v(version)), |_| true);
        assert_eq!(worst.map(|it| it.class()).is_some(), !wanted.is_empty(), "{version}");
    }
    let hit = |version| all.about(Ecosystem::Pypi, "six").findings(Some(&v(version)))[0].hit();
    assert_eq!(hit("2.1.0+cpu"), Hit::Listed("2.1.0".to_owned()));
}

#[test]
fn what_is_said_of_go_itself_is_said_of_the_module_it_is_fetched_as() {
    let of = |id: &str, package: &str, end: &str| {
        let mut said = advisory(id, &[], vec![window("1.21.0-0", fixed(end))]);
        (said.ecosystem, said.affected[0].package) = (Ecosystem::Go, package.to_owned());
        said
    };
    let all = set(&[
        of("GO-1", "stdlib", "1.21.5"),
        of("GO-2", "toolchain", "1.21.1"),
        of("GO-3", "golang.org/x/text", "1.99.0"),
    ]);
    let about = |name: &str, version: &str| {
        let version = Version::parse(Ecosystem::Go, version);
        let said = all.said(Ecosystem::Go, name);
        let findings = said.about().findings(Some(&version));
        let worst = said.about().worst(Some(&version), |_| true).is_some();
        assert_eq!(worst, !findings.is_empty(), "{version}");
        findings.iter().map(|it| it.id().to_owned()).collect::<Vec<_>>()
    };
    for (version, wanted) in [
        ("v0.0.1-go1.21.0.linux-amd64", &["GO-1", "GO-2"][..]),
        ("v0.0.1-go1.21rc2.linux-amd64", &["GO-1", "GO-2"]),
        ("v0.0.1-go1.21.4.darwin-arm64", &["GO-1"]),
        ("v0.0.1-go1.21.5.linux-amd64", &[]),
        ("v0.0.1-go1.20.9.linux-amd64", &[]),
        ("v0.0.1-weekly.linux-amd64", &["GO-1", "GO-2"]),
    ] {
        assert_eq!(about("golang.org/toolchain", version), wanted, "{version}");
    }
    assert_eq!(about("golang.org/x/text", "v0.0.1-go1.21.0"), ["GO-3"; 0]);
    let said = all.said(Ecosystem::Go, "golang.org/toolchain");
    let fix = Version::parse(Ecosystem::Go, "v0.0.1-go1.21.5.linux-amd64");
    assert_eq!(said.fixed_in(&fix, |_, _| true).as_deref(), Some("GO-1"));
    assert_ne!(said.digest(), all.said(Ecosystem::Go, "stdlib").digest());
    let called = all.called("GO-2").unwrap();
    assert!(called.packages[&Ecosystem::Go].contains("golang.org/toolchain"), "for the impact");
}

#[test]
fn what_was_kept_with_an_end_that_nobody_can_read_has_none() {
    let mut kept = advisory("GHSA-1", &[], vec![window("0", fixed("1.2"))]);
    kept.ecosystem = Ecosystem::Go;
    kept.affected[0].package = "example.com/m".to_owned();
    let mut nonsense = kept.clone();
    (nonsense.id, nonsense.affected[0].package) = ("GHSA-2".into(), "example.com/n".into());
    nonsense.affected[0].windows = vec![window("0", fixed("soon"))];
    let all = set(&[kept, nonsense]);
    let found = |package, version| {
        let version = Version::parse(Ecosystem::Go, version);
        let findings = all.about(Ecosystem::Go, package).findings(Some(&version));
        findings.first().map(Finding::widened)
    };
    assert_eq!(found("example.com/m", "v1.1.9"), Some(false));
    assert_eq!(found("example.com/m", "v1.2.0"), None);
    assert_eq!(found("example.com/n", "v99.0.0"), Some(true));
}

#[test]
fn a_version_that_cannot_be_told_falls_under_all_that_is_said() {
    let set = set(&[
        advisory("GHSA-1", &[], vec![window("1.2", fixed("1.4"))]),
        advisory("GHSA-2", &[], vec![window("7.0", End::Open)]),
    ]);
    let findings = set.about(Ecosystem::Pypi, "six").findings(None);
    let said: Vec<_> = findings.iter().map(|f| (f.id(), f.hit(), f.fixed_by())).collect();
    assert_eq!(said, [("GHSA-1", Hit::Untold, None), ("GHSA-2", Hit::Untold, None)]);
    assert!(set.about(Ecosystem::Pypi, "seven").findings(None).is_empty());
}

#[test]
fn records_of_the_same_thing_are_one_finding_and_the_best_known_speaks() {
    let open = || vec![window("0", End::Open)];
    let mut graver = advisory("PYSEC-1", &["CVE-1"], open());
    graver.affected[0].severity = Severity::High;
    let records = [
        advisory("CVE-1", &[], open()),
        graver,
        advisory("GHSA-1", &["CVE-1"], vec![window("2.0", End::Open)]),
        advisory("GHSA-2", &["CVE-2"], open()),
        advisory("OTHER-1", &["PYSEC-1"], open()),
    ];
    let said = |records: &[Advisory], version: &str| {
        let set = set(records);
        let findings = set.about(Ecosystem::Pypi, "six").findings(Some(&v(version)));
        let also = |finding: &Finding<'_>| finding.also().map(|(_, id)| id.to_owned()).collect();
        findings.iter().map(|f| (f.id().to_owned(), f.severity(), also(f))).collect::<Vec<(
            String,
            Severity,
            Vec<String>,
        )>>()
    };
    let all = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
    let high = Severity::High;
    let second = ("GHSA-2".to_owned(), Severity::Medium, vec![]);
    let new = ("GHSA-1".to_owned(), high, all(&["PYSEC-1", "OTHER-1", "CVE-1"]));
    let old = ("PYSEC-1".to_owned(), high, all(&["OTHER-1", "CVE-1"]));
    assert_eq!(said(&records, "2.0"), [new.clone(), second.clone()]);
    assert_eq!(said(&records, "1.0"), [old, second.clone()]);
    // In whatever order they came.
    let mut turned = records.clone();
    turned.reverse();
    assert_eq!(said(&turned, "2.0"), [new, second.clone()]);
    // One source may repeat what another says, under the same id.
    let mut repeated = records[3].clone();
    repeated.source = "copy".to_owned();
    let twice = said(&[records[3].clone(), repeated], "1.0");
    assert_eq!(twice, [(second.0.clone(), second.1, all(&["GHSA-2"]))]);
}

#[test]
fn who_speaks_is_malware_then_reviewed_databases_then_the_bare_number() {
    let wanted = ["MAL-1", "GHSA-1", "RUSTSEC-1", "PYSEC-1", "GO-1", "ABC-1", "CVE-1"];
    let record = |id: &&str| advisory(id, &["SAME"], vec![window("0", End::Open)]);
    let mut records: Vec<Advisory> = wanted.iter().map(record).collect();
    records.sort_by(|a, b| a.summary.cmp(&b.summary));
    let mut set = set(&records);
    for id in wanted {
        assert_eq!(ids(&set, "1.0"), [id]);
        assert!(set.withdraw("osv", Ecosystem::Pypi, id));
    }
    assert!(set.is_empty() && set.n_packages() == 0);
}

#[test]
fn the_worst_comes_first_and_malware_is_the_worst() {
    let rated = |id: &str, class: Class, severity: Severity| {
        let mut advisory = advisory(id, &[], vec![window("0", End::Open)]);
        advisory.class = class;
        advisory.affected[0].severity = severity;
        advisory
    };
    let set = set(&[
        rated("GHSA-1", Class::Notice, Severity::Critical),
        rated("GHSA-2", Class::Vulnerability, Severity::Unknown),
        rated("GHSA-3", Class::Vulnerability, Severity::Low),
        rated("GHSA-5", Class::Vulnerability, Severity::Critical),
        rated("GHSA-4", Class::Vulnerability, Severity::Critical),
        rated("MAL-6", Class::Malware, Severity::Unknown),
    ]);
    assert_eq!(ids(&set, "1"), ["MAL-6", "GHSA-4", "GHSA-5", "GHSA-3", "GHSA-2", "GHSA-1"]);
    let worst = |version: Option<&Version>, class: Class| {
        let about = set.about(Ecosystem::Pypi, "six");
        about.worst(version, |finding| finding.class() == class).map(|finding| finding.id())
    };
    assert_eq!(worst(Some(&v("1")), Class::Malware), Some("MAL-6"));
    assert_eq!(worst(Some(&v("1")), Class::Vulnerability), Some("GHSA-4"));
    assert_eq!(worst(None, Class::Notice), Some("GHSA-1"));
    assert_eq!(set.about(Ecosystem::Pypi, "seven").worst(None, |_| true).map(|f| f.id()), None);
}

#[test]
fn what_fixes_a_version_is_above_it_and_not_affected_again() {
    let twice =
        vec![window("1.0", fixed("1.5")), window("1.4", fixed("2.0")), window("3.0", fixed("3.1"))];
    let fix = |records: &[Advisory], version: &str| {
        let set = set(records);
        let findings = set.about(Ecosystem::Pypi, "six").findings(Some(&v(version)));
        findings[0].fixed_by().map(str::to_owned)
    };
    let one = advisory("GHSA-1", &["CVE-1"], twice);
    assert_eq!(fix(slice::from_ref(&one), "1.0").as_deref(), Some("2.0"));
    assert_eq!(fix(slice::from_ref(&one), "3.0.1").as_deref(), Some("3.1"));
    // Another record of the same thing knows better; one of another thing has no say.
    let longer = advisory("PYSEC-1", &["CVE-1"], vec![window("0", fixed("2.0.1"))]);
    assert_eq!(fix(&[one.clone(), longer], "1.0").as_deref(), Some("2.0.1"));
    let open = advisory("PYSEC-1", &["CVE-1"], vec![window("0", End::Open)]);
    assert_eq!(fix(&[one.clone(), open], "1.0"), None);
    let other = advisory("PYSEC-2", &[], vec![window("0", End::Open)]);
    assert_eq!(fix(&[one, other], "1.0").as_deref(), Some("2.0"));
    // Neither the last affected version nor a limit is a fix.
    let ends = [End::LastAffected("2.0".to_owned()), End::Limit("2.0".to_owned()), End::Open];
    for end in ends {
        assert_eq!(fix(&[advisory("GHSA-1", &[], vec![window("1.0", end)])], "1.0"), None);
    }
}

#[test]
fn evidence_reads_as_a_sentence_part() {
    let last = End::LastAffected("2".to_owned());
    for (hit, words) in [
        (Hit::Listed("1.0".to_owned()), "1.0 is listed"),
        (Hit::Untold, "the version cannot be told"),
        (Hit::Within(window("0", End::Open)), "every version"),
        (Hit::Within(window("1", End::Open)), "1 and later"),
        (Hit::Within(window("0", fixed("2"))), "before 2"),
        (Hit::Within(window("1", End::Limit("2".to_owned()))), "1 to before 2"),
        (Hit::Within(window("0", last.clone())), "up to 2"),
        (Hit::Within(window("1", last)), "1 to 2"),
    ] {
        assert_eq!(hit.to_string(), words);
    }
}

#[test]
fn the_set_is_folded_from_the_log_alone() {
    let first = advisory("GHSA-1", &[], vec![window("0", fixed("1.5"))]);
    let later = advisory("GHSA-1", &[], vec![window("0", fixed("1.7"))]);
    let mut set = AdvisorySet::default();
    set.apply(&AdvisoryPublished { advisory: first.clone() }.into());
    assert_eq!(ids(&set, "1.6"), Vec::<String>::new());
    set.apply(&AdvisoryChanged { advisory: later.clone() }.into());
    assert_eq!((ids(&set, "1.6"), set.len()), (vec!["GHSA-1".to_owned()], 1));
    let mut elsewhere = AdvisoryWithdrawn {
        source: "other".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: "GHSA-1".to_owned(),
        cause: Withdrawal::Gone,
    };
    set.apply(&elsewhere.clone().into());
    assert_eq!(set.len(), 1);

    let mut difference = set.difference("osv", Ecosystem::Pypi);
    assert_eq!(difference.see("GHSA-1", digest::of(&later)), Sight::Same);
    let mut difference = set.difference("osv", Ecosystem::Pypi);
    assert_eq!(difference.see("GHSA-1", digest::of(&first)), Sight::Changed);
    let ended = difference.finish(Losses::Doubt, "1").unwrap();
    assert_eq!((ended.withdrawn.len(), ended.missing.len()), (0, 0));
    let nothing = set.difference("osv", Ecosystem::Npm).see("GHSA-1", digest::of(&later));
    assert_eq!(nothing, Sight::New);

    elsewhere.source = "osv".to_owned();
    set.apply(&elsewhere.into());
    assert!(set.is_empty() && set.about(Ecosystem::Pypi, "six").is_empty());
}

#[test]
fn a_digest_that_nobody_can_read_is_news_at_the_next_visit() {
    let mut strange = advisory("GHSA-1", &[], vec![window("0", End::Open)]);
    let digest = digest::of(&strange);
    strange.digest = "?".to_owned();
    let mut difference = set(&[strange]).difference("osv", Ecosystem::Pypi);
    assert_eq!(difference.see("GHSA-1", digest), Sight::Changed);
}

fn any_version() -> impl Strategy<Value = String> {
    "[0-2]\\.[0-2](\\.[0-2])?(rc[0-1])?"
}

fn any_window() -> impl Strategy<Value = Window> {
    let end = prop_oneof![
        Just(End::Open),
        any_version().prop_map(End::Fixed),
        any_version().prop_map(End::LastAffected),
        any_version().prop_map(End::Limit),
    ];
    let introduced = prop::option::of(any_version());
    (introduced, end).prop_map(|(introduced, end)| Window { introduced, end })
}

fn any_affected(package: &'static str) -> impl Strategy<Value = Affected> {
    let versions = prop::collection::vec(any_version(), 0..4);
    let windows = prop::collection::vec(any_window(), 0..3);
    let severity = prop::sample::select(&Severity::ALL[..]);
    (versions, windows, severity).prop_map(move |(versions, windows, severity)| Affected {
        package: package.to_owned(),
        severity,
        versions,
        windows,
        widened: false,
    })
}

fn any_advisory() -> impl Strategy<Value = Advisory> {
    let ids = prop::sample::select(vec!["GHSA-1", "GHSA-2", "PYSEC-1", "CVE-1", "MAL-1"]);
    let alias = prop::sample::select(vec!["CVE-1", "CVE-2", "CVE-3"]);
    let aliases = prop::collection::vec(alias, 0..2);
    let source = prop::sample::select(vec!["osv", "other"]);
    (source, ids, aliases, any_affected("six"), any_affected("seven")).prop_map(
        |(source, id, aliases, six, seven): (_, _, Vec<&str>, _, _)| {
            let mut advisory = advisory(id, &aliases, vec![]);
            advisory.source = source.to_owned();
            if id.starts_with("MAL-") {
                advisory.class = Class::Malware;
            }
            advisory.affected = vec![six, seven];
            advisory
        },
    )
}

/// Whether a version is affected, straight from what stands in the log.
fn affects(affected: &Affected, version: &Version) -> bool {
    affected.versions.iter().any(|listed| v(listed) == *version)
        || affected.windows.iter().any(|window| {
            window.introduced.as_ref().is_none_or(|from| v(from) <= *version)
                && match &window.end {
                    End::Open => true,
                    End::Fixed(end) | End::Limit(end) => *version < v(end),
                    End::LastAffected(end) => *version <= v(end),
                }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn whatever_came_and_went_a_version_is_found_by_exactly_what_affects_it(
        steps in prop::collection::vec((any_advisory(), prop::bool::weighted(0.2)), 0..12),
        versions in prop::collection::vec(any_version(), 1..6),
    ) {
        let mut set = AdvisorySet::default();
        let mut wanted: BTreeMap<(String, String), Advisory> = BTreeMap::new();
        for (advisory, withdrawn) in steps {
            let key = (advisory.source.clone(), advisory.id.clone());
            if withdrawn {
                let had = set.withdraw(&advisory.source, Ecosystem::Pypi, &advisory.id);
                prop_assert_eq!(had, wanted.remove(&key).is_some());
            } else {
                set.upsert(&advisory);
                wanted.insert(key, advisory);
            }
        }
        prop_assert_eq!(set.len(), wanted.len());
        for (index, package) in ["six", "seven"].iter().enumerate() {
            for text in &versions {
                let version = v(text);
                let about = set.about(Ecosystem::Pypi, package);
                let findings = about.findings(Some(&version));
                for least in [Class::Notice, Class::Malware] {
                    let counts = |finding: &Finding<'_>| finding.class() >= least;
                    let badness = |finding: Finding<'_>| (finding.class(), finding.severity());
                    let worst = about.worst(Some(&version), counts).map(badness);
                    let all = findings.iter().copied().filter(counts);
                    prop_assert_eq!(worst, all.map(badness).max());
                }
                let mut found: Vec<(String, String)> = findings
                    .iter()
                    .flat_map(|finding| finding.also().chain([(finding.source(), finding.id())]))
                    .map(|(source, id)| (source.to_owned(), id.to_owned()))
                    .collect();
                found.sort();
                let affecting = wanted.iter().filter(|(_, a)| affects(&a.affected[index], &version));
                let affecting: Vec<(String, String)> = affecting.map(|(key, _)| key.clone()).collect();
                prop_assert_eq!(found, affecting, "{} {}", package, text);
                for finding in findings {
                    if let Some(fix) = finding.fixed_by() {
                        prop_assert!(v(fix) > version);
                        let again = about.findings(Some(&v(fix)));
                        prop_assert!(again.iter().all(|other| other.id() != finding.id()));
                    }
                    prop_assert_ne!(finding.hit(), Hit::Untold);
                }
            }
        }
    }
}

#[test]
fn malware_is_known_by_any_of_its_names_in_its_ecosystem() {
    let malware = advisory("OTHER-9", &["GHSA-9"], vec![window("0", End::Open)]);
    let malware = Advisory { class: Class::Malware, ..malware };
    let known = set(&[malware.clone(), advisory("GHSA-1", &[], vec![window("0", End::Open)])]);
    let is = |ecosystem, names: &[&str]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        known.any_is_malware(ecosystem, &names)
    };
    assert!(is(malware.ecosystem, &["x", "GHSA-9"]) && is(malware.ecosystem, &["OTHER-9"]));
    assert!(!is(malware.ecosystem, &["GHSA-1"]) && !is(malware.ecosystem, &[]));
    assert!(!is(Ecosystem::Docker, &["GHSA-9"]));
}
