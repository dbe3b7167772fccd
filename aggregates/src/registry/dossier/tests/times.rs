//! How old a version is, and what there was as of a time.

use super::*;

/// A moment that was so many hours ago.
fn ago(hours: i64) -> Timestamp {
    NOW.plus_seconds(-hours * HOUR)
}

#[test]
fn what_is_younger_than_it_must_be_does_not_pass_by_either_clock() {
    let mut given = of_advisory(Class::Vulnerability, Severity::High);
    given.settings.ecosystems =
        vec![EcosystemSettings { min_age_hours: 72, ..own(Ecosystem::Pypi) }];
    let dossier = given.dossier_for(None);
    let version = Version::parse(Ecosystem::Pypi, "2.0");
    let judged = |published_at, seen_at: Option<Timestamp>| {
        let candidate = Candidate::published(Some(&version), published_at);
        let dossier = match seen_at {
            Some(at) => {
                dossier.clone().seeing(Arc::new(Seen::Versions(seen_of([("2.0", at, false)]))))
            }
            None => dossier.clone(),
        };
        assert_eq!(dossier.misses_age(&candidate), published_at.or(seen_at).is_none());
        (dossier.judge(&candidate).allowed(), dossier.ripens_at(&candidate))
    };
    assert_eq!(judged(Some(ago(72)), None), (true, None));
    let tomorrow = Some(NOW.plus_seconds(HOUR));
    assert_eq!(judged(Some(ago(71)), None), (false, tomorrow));
    assert_eq!(judged(Some(ago(9_000)), Some(ago(71))), (false, tomorrow), "a forged date");
    assert_eq!(judged(None, Some(ago(71))), (false, tomorrow));
    assert_eq!(judged(None, Some(ago(72))), (true, None));
    assert_eq!(judged(None, None), (false, None), "nobody tells: fail closed");
    assert!(judged(Some(ago(-5)), None).1.is_some(), "published in the future");
    let candidate = Candidate::published(Some(&version), Some(ago(1)));
    let verdict = dossier.judge(&candidate);
    assert_eq!(verdict.refusal().unwrap().id(), MINIMUM_AGE);
}

#[test]
fn a_version_that_fixes_an_advisory_that_counts_may_be_younger_and_that_is_told() {
    let mut given = of_advisory(Class::Vulnerability, Severity::High);
    let strict = EcosystemSettings { min_age_hours: 72, ..own(Ecosystem::Pypi) };
    given.settings.ecosystems = vec![strict];
    let judged = |given: &Given, version: &str, hours| {
        let version = Version::parse(Ecosystem::Pypi, version);
        given.dossier_for(None).judge(&Candidate::published(Some(&version), Some(ago(hours))))
    };
    let exempted = Verdict::Excused(Excuse::Fix { advisory: "GHSA-1".to_owned() });
    assert_eq!(judged(&given, "1.4", 1), exempted);
    assert_eq!(judged(&given, "1.4", 99), Verdict::Allow);
    assert!(!judged(&given, "1.4.1", 1).allowed(), "not the fix itself");
    given.rules = vec![rule(1, "six", "*", Mask::Mark)];
    assert!(!judged(&given, "1.4", 1).allowed(), "a rule counts all the same");
    given.rules.clear();
    given.advisories = vec![advisory("GHSA-1", Class::Vulnerability, Severity::Low)];
    assert!(!judged(&given, "1.4", 1).allowed(), "what does not count needs no fix");
    given.advisories = vec![advisory("GHSA-1", Class::Vulnerability, Severity::High)];
    given.settings.ecosystems = vec![EcosystemSettings { fix_exemption: false, ..strict }];
    assert!(!judged(&given, "1.4", 1).allowed());
}

#[test]
fn a_file_added_to_a_fix_long_after_it_is_as_young_as_any_other() {
    let mut given = of_advisory(Class::Vulnerability, Severity::High);
    given.settings.ecosystems =
        vec![EcosystemSettings { min_age_hours: 72, ..own(Ecosystem::Pypi) }];
    let (dossier, version) = (given.dossier_for(None), Version::parse(Ecosystem::Pypi, "1.4"));
    let candidate = Candidate::published(Some(&version), Some(ago(1)));
    let judged = |own: Option<i64>, began: Option<i64>| {
        let times = FileTimes { published_at: own.map(ago), began_at: began.map(ago) };
        dossier.judge(&candidate.in_file("six-1.4-1-py3-none-any.whl", times)).allowed()
    };
    assert!(!judged(Some(1), Some(9_000)), "an added wheel");
    assert!(judged(Some(9_000), Some(9_000)), "what the fix was released with stays");
    assert!(judged(Some(1), Some(25)), "within a day it is one release");
    assert!(!judged(None, Some(1)) && !judged(None, None), "nobody tells: fail closed");
    assert!(!dossier.judge(&Candidate { late: true, ..candidate }).allowed());
    assert!(dossier.judge(&candidate).allowed());
}

#[test]
fn a_young_version_can_be_waived_by_the_name_of_the_rule_it_breaks() {
    let mut given = Given::default();
    given.settings.ecosystems =
        vec![EcosystemSettings { min_age_hours: 72, ..own(Ecosystem::Pypi) }];
    given.waivers = vec![waiver(&[MINIMUM_AGE])];
    assert!(matches!(given.judge("1.3"), Verdict::Excused(Excuse::Waiver { .. })));
}

#[test]
fn as_of_a_time_what_came_later_or_tells_no_time_is_not_there() {
    let given = of_advisory(Class::Vulnerability, Severity::High);
    let now = given.dossier_for(None);
    let past = now.clone().as_of(ago(100));
    let other = now.clone().as_of(ago(99));
    assert!(past.key != now.key && past.key != other.key);
    // Who asks as of any number of times has a filtered list recorded once.
    assert!(past.record_key() == other.record_key() && past.record_key() != now.record_key());
    let within = Timestamp::from_micros(ago(100).micros() + 999_999);
    assert_eq!(now.clone().as_of(within).key, past.key, "a second is a time");
    assert_eq!(now.record_key(), now.key);
    let version = Version::parse(Ecosystem::Pypi, "2.0");
    let hides = |at| past.judge(&Candidate::published(Some(&version), at)).hides();
    assert!(hides(Some(ago(99))) && hides(None));
    assert!(!hides(Some(ago(100))) && !hides(Some(ago(101))) && !hides(Some(within)));
    let affected = Version::parse(Ecosystem::Pypi, "1.3");
    let verdict = past.judge(&Candidate::published(Some(&affected), Some(ago(200))));
    assert_eq!(verdict.refusal().unwrap().id(), "GHSA-1", "what is known today counts");
    assert!(past.counts_age() && !past.is_silent());
}

#[test]
fn as_of_a_time_a_file_is_there_that_was_there_whatever_was_added_to_its_version_since() {
    let past = Given::default().dossier_for(None).as_of(ago(100));
    let version = Version::parse(Ecosystem::Pypi, "2.0");
    let hides = |own: Option<i64>| {
        let times = FileTimes { published_at: own.map(ago), began_at: Some(ago(200)) };
        let candidate = Candidate::published(Some(&version), Some(ago(50)));
        past.judge(&candidate.in_file("six-2.0.tar.gz", times)).hides()
    };
    assert!(!hides(Some(200)) && hides(Some(50)) && hides(None));
}

#[test]
fn when_a_version_was_published_matters_to_its_age_and_to_what_was_before_it() {
    let reads = |settings: Settings| {
        let given = Given { settings, ..Given::default() };
        given.dossier_for(None).reads_times()
    };
    assert!(!reads(Settings::default()));
    assert!(Given::default().dossier_for(None).as_of(ago(100)).reads_times());
    let aged = EcosystemSettings { min_age_hours: 1, ..own(Ecosystem::Pypi) };
    assert!(reads(Settings { ecosystems: vec![aged], ..Settings::default() }));
    for trust in [
        Trust { provenance: Reaction::Warn, ..Trust::default() },
        Trust { publisher: Reaction::Block, ..Trust::default() },
    ] {
        let given =
            Given { settings: Settings { trust, ..Settings::default() }, ..Given::default() };
        let of = |ecosystem| given.facts().about(ecosystem, "six", None, NOW).reads_times();
        assert!(of(Ecosystem::Pypi) && of(Ecosystem::Npm));
        assert!(!of(Ecosystem::Cargo), "its lists tell nothing of that");
    }
}
