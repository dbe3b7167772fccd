use proptest::prelude::*;
use weir_events::registry::{
    Mask, Rule,
    advisory::{Advisory, AdvisoryPublished, Affected, End, Window},
    policy::{SettingsChanged, Trust, Waiver, WaiverGranted},
    sighting::Vouched,
};

use super::*;
use crate::registry::{
    advisory::digest,
    facts::Facts,
    rule::RuleSet,
    testing::{id, rule, rule_of, seen_of},
    told::Told,
    verdict::{FileTimes, RULES},
    version::Version,
};

const HOUR: i64 = 3_600;
const NOW: Timestamp = Timestamp::EPOCH.plus_seconds(1_000 * HOUR);

/// What is said of `six`: affected from 1.2 to before 1.4.
fn advisory(id: &str, class: Class, severity: Severity) -> Advisory {
    let window = Window { introduced: Some("1.2".to_owned()), end: End::Fixed("1.4".to_owned()) };
    let affected = Affected {
        package: "six".to_owned(),
        severity,
        versions: vec![],
        windows: vec![window],
        widened: false,
    };
    let mut advisory = Advisory {
        source: "osv".to_owned(),
        ecosystem: Ecosystem::Pypi,
        id: id.to_owned(),
        aliases: vec!["CVE-2026-1".to_owned()],
        class,
        summary: "six times seven is not always 42".to_owned(),
        modified: None,
        affected: vec![affected],
        digest: String::new(),
    };
    advisory.digest = digest::of(&advisory).to_hex().to_string();
    advisory
}

fn waiver(waives: &[&str]) -> Waiver {
    Waiver {
        id: id(90),
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        versions: "<1.3.5".to_owned(),
        waives: waives.iter().map(|id| (*id).to_owned()).collect(),
        token: None,
        reason: "reviewed".to_owned(),
        owner: "ann".to_owned(),
        expires_at: NOW.plus_seconds(HOUR),
    }
}

#[derive(Default)]
struct Given {
    rules: Vec<Rule>,
    advisories: Vec<Advisory>,
    waivers: Vec<Waiver>,
    settings: Settings,
}

impl Given {
    fn facts(&self) -> Facts {
        let mut facts = Facts::of_rules(RuleSet::compile(1, &self.rules));
        let settings = SettingsChanged { settings: self.settings.clone() };
        facts.apply(2, &settings.into());
        for advisory in &self.advisories {
            facts.apply(3, &AdvisoryPublished { advisory: advisory.clone() }.into());
        }
        for waiver in &self.waivers {
            let (requested_by, granted_by) = ("ann".to_owned(), "bob".to_owned());
            let granted = WaiverGranted { waiver: waiver.clone(), requested_by, granted_by };
            facts.apply(4, &granted.into());
        }
        facts.settle();
        facts
    }

    fn dossier_for(&self, token: Option<&str>) -> Dossier {
        self.facts().about(Ecosystem::Pypi, "Six", token, NOW)
    }

    fn judge(&self, version: &str) -> Verdict {
        let version = Version::parse(Ecosystem::Pypi, version);
        self.dossier_for(None).judge(&Candidate::of(Some(&version)))
    }

    fn blocked_by(&self, version: &str) -> Option<String> {
        self.judge(version).refusal().map(|objection| objection.id().to_owned())
    }
}

fn of_rules(rules: &[Rule]) -> Given {
    Given { rules: rules.to_vec(), ..Given::default() }
}

fn of_advisory(class: Class, severity: Severity) -> Given {
    let name = if class == Class::Malware { "MAL-2026-1" } else { "GHSA-1" };
    Given { advisories: vec![advisory(name, class, severity)], ..Given::default() }
}

#[test]
fn a_version_is_judged_by_name_in_any_spelling_and_by_constraint() {
    let given = of_rules(&[rule(1, "SIX", ">=1.17", Mask::Mark)]);
    assert_eq!(given.blocked_by("1.17.0"), Some(id(1)));
    assert_eq!(given.blocked_by("2.0rc1"), Some(id(1)));
    assert_eq!(given.judge("1.16.0"), Verdict::Allow);
    let other = given.facts().about(Ecosystem::Npm, "six", None, NOW);
    assert!(other.is_silent());
    let untold = given.dossier_for(None).judge(&Candidate::default());
    assert!(!untold.allowed(), "what tells no version falls under every rule about its package");
}

#[test]
fn packages_of_every_ecosystem_are_judged_by_their_own_names_and_versions() {
    for (ecosystem, package, versions, spelt, inside, outside) in [
        (Ecosystem::Pypi, "Foo.Bar", "<1.3", "foo_bar", "1.3rc1", "1.3"),
        (Ecosystem::Npm, "left-pad", "<1.3.0", "Left-Pad", "1.3.0-beta", "1.3.0"),
        (Ecosystem::Npm, "@acme/*", "^1 || 3.x", "@Acme/tool", "3.0.0-rc.1", "2.0.0"),
        (Ecosystem::Cargo, "serde_json", "=1.2.3", "Serde-JSON", "1.2.3+build", "1.2.4"),
        (Ecosystem::Cargo, "tokio*", "0.2", "tokio_util", "0.2.25", "0.3.0"),
        (
            Ecosystem::Go,
            "example.com/Mod",
            "<v1.4.0",
            "example.com/Mod",
            "v1.4.0-0.20200101000000-abcdefabcdef",
            "v2.0.0+incompatible",
        ),
        (Ecosystem::Docker, "alpine", "3.1*", "library/alpine", "3.18", "latest"),
        (Ecosystem::Docker, "library/alpine", "latest", "alpine", "latest", "edge"),
    ] {
        let given = of_rules(&[rule_of(ecosystem, 1, package, versions, Mask::Mark)]);
        let dossier = given.facts().about(ecosystem, spelt, None, NOW);
        let allowed = |version| {
            let version = Version::parse(ecosystem, version);
            dossier.judge(&Candidate::of(Some(&version))).allowed()
        };
        assert!(!allowed(inside), "{ecosystem}: {package} {versions} forbids {inside}");
        assert!(allowed(outside), "{ecosystem}: {package} {versions} allows {outside}");
        assert!(!dossier.judge(&Candidate::default()).allowed());
    }
}

#[test]
fn the_digests_that_are_named_are_told_whoever_names_them() {
    let [one, two, three] = ["1", "2", "3"].map(|digit| format!("sha256:{}", digit.repeat(64)));
    let of = |package: &str, versions: &str| {
        rule_of(Ecosystem::Docker, 1, package, versions, Mask::Mark)
    };
    let mut said = advisory("GHSA-1", Class::Vulnerability, Severity::High);
    said.ecosystem = Ecosystem::Docker;
    said.affected[0].package = "library/app".to_owned();
    said.affected[0].windows.clear();
    said.affected[0].versions = vec![three.clone(), "3.1".to_owned()];
    let rules = vec![
        of("app", &format!("latest || {}", one.to_uppercase().replace("SHA", "sha"))),
        of("*", &format!("{two} || {one}")),
        of("other", &format!("sha256:{}", "4".repeat(64))),
    ];
    let given = Given { rules, advisories: vec![said], ..Given::default() };
    let dossier = given.facts().about(Ecosystem::Docker, "app", None, NOW);
    assert_eq!(dossier.named_digests().into_iter().collect::<Vec<_>>(), [&*one, &*two, &*three]);
    let python = of_advisory(Class::Vulnerability, Severity::High).dossier_for(None);
    assert!(python.named_digests().is_empty());
}

#[test]
fn of_several_rules_the_strictest_that_matches_speaks() {
    let given = of_rules(&[
        rule(1, "six", ">=1.17", Mask::Mark),
        rule(2, "six", ">=2", Mask::Hide),
        rule(3, "*", "*", Mask::DenyOnly),
    ]);
    assert_eq!(given.blocked_by("2.0"), Some(id(2)));
    assert_eq!(given.blocked_by("1.17"), Some(id(1)));
    assert_eq!(given.blocked_by("1.0"), Some(id(3)));
}

#[test]
fn an_advisory_blocks_with_its_evidence_and_says_what_fixes_it() {
    let given = of_advisory(Class::Vulnerability, Severity::High);
    let verdict = given.judge("1.3");
    let objection = verdict.refusal().unwrap();
    let cited = objection.cited.as_ref().unwrap();
    assert_eq!((objection.source.as_str(), objection.mask), ("osv", Mask::Mark));
    assert_eq!(cited.fixed_by.as_deref(), Some("1.4"));
    assert_eq!(cited.hit.to_string(), "1.2 to before 1.4");
    assert_eq!(cited.digest, given.advisories[0].digest);
    assert_eq!(
        objection.to_string(),
        "Blocked by Weir: GHSA-1 (high severity, fixed in 1.4): six times seven is not always 42"
    );
    assert_eq!(given.judge("1.4"), Verdict::Allow);
}

#[test]
fn the_floor_and_the_class_say_which_advisories_count() {
    for (class, severity, floor, unrated, counts) in [
        (Class::Vulnerability, Severity::Medium, Severity::Medium, Unrated::Block, true),
        (Class::Vulnerability, Severity::Low, Severity::Medium, Unrated::Block, false),
        (Class::Vulnerability, Severity::High, Severity::Critical, Unrated::Block, false),
        (Class::Vulnerability, Severity::Unknown, Severity::Critical, Unrated::Block, true),
        (Class::Vulnerability, Severity::Unknown, Severity::Low, Unrated::Allow, false),
        (Class::Malware, Severity::Unknown, Severity::Critical, Unrated::Allow, true),
        (Class::Notice, Severity::Critical, Severity::Low, Unrated::Block, false),
    ] {
        let mut given = of_advisory(class, severity);
        given.settings.severity_floor.0 = floor;
        given.settings.unrated = unrated;
        assert_eq!(!given.judge("1.3").allowed(), counts, "{class} {severity} {floor}");
    }
    let malware = of_advisory(Class::Malware, Severity::Unknown);
    assert!(malware.judge("1.3").hides());
}

#[test]
fn the_strictest_mask_speaks_whoever_says_it() {
    let mut given = of_advisory(Class::Malware, Severity::Unknown);
    given.rules = vec![rule(1, "six", "*", Mask::Mark)];
    assert_eq!(given.blocked_by("1.3").as_deref(), Some("MAL-2026-1"));
    given.rules[0].mask = Mask::Hide;
    assert_eq!(given.blocked_by("1.3"), Some(id(1)));
    let version = Version::parse(Ecosystem::Pypi, "1.3");
    let all = given.dossier_for(None).objections(&Candidate::of(Some(&version)));
    let ids: Vec<_> = all.iter().map(|objection| objection.id().to_owned()).collect();
    assert_eq!(ids, [id(1), "MAL-2026-1".to_owned()]);
}

#[test]
fn what_is_audited_only_passes_with_a_warning() {
    let mut given = of_advisory(Class::Vulnerability, Severity::High);
    let audit = EcosystemSettings { mode: Mode::Audit, ..own(Ecosystem::Pypi) };
    given.settings.ecosystems = vec![audit];
    let Verdict::Warn(objection) = given.judge("1.3") else { panic!("not warned") };
    assert_eq!(objection.id(), "GHSA-1");
    assert_eq!(given.judge("1.4"), Verdict::Allow);
}

fn own(ecosystem: Ecosystem) -> EcosystemSettings {
    crate::registry::settings::default_of(ecosystem)
}

#[test]
fn a_waiver_lets_pass_what_it_names_for_whom_it_names_and_malware_by_name_only() {
    let mut given = of_advisory(Class::Vulnerability, Severity::High);
    for (waives, passes) in
        [(&[][..], true), (&["CVE-2026-1"], true), (&["GHSA-1"], true), (&["GHSA-2"], false)]
    {
        given.waivers = vec![waiver(waives)];
        assert_eq!(given.judge("1.3").allowed(), passes, "{waives:?}");
        assert!(!given.judge("1.3.9").allowed(), "outside of the waiver's versions");
    }
    given.waivers = vec![waiver(&[])];
    let Verdict::Excused(Excuse::Waiver { id: by, objection }) = given.judge("1.3") else {
        panic!("not excused")
    };
    assert_eq!((by, objection.id()), (id(90), "GHSA-1"));
    assert_eq!(given.judge("1.1"), Verdict::Allow, "nothing is waived that nobody says");

    given.waivers = vec![Waiver { token: Some("0a1b".to_owned()), ..waiver(&[]) }];
    let version = Version::parse(Ecosystem::Pypi, "1.3");
    let judged = |token| given.dossier_for(token).judge(&Candidate::of(Some(&version))).allowed();
    assert!(judged(Some("0a1b")) && !judged(Some("ffff")) && !judged(None));
    assert_ne!(given.dossier_for(Some("0a1b")).key, given.dossier_for(None).key);

    let mut malware = of_advisory(Class::Malware, Severity::Unknown);
    malware.waivers = vec![waiver(&[])];
    assert!(!malware.judge("1.3").allowed());
    malware.waivers = vec![waiver(&["MAL-2026-1"])];
    assert!(malware.judge("1.3").allowed());
    assert!(!malware.dossier_for(None).judge(&Candidate::default()).allowed());
}

#[test]
fn a_waiver_of_a_rule_leaves_the_other_rules_in_force() {
    let mut given = of_rules(&[rule(1, "six", "*", Mask::Hide), rule(2, "six", "1.3", Mask::Mark)]);
    given.rules[1].versions = "==1.3".to_owned();
    given.waivers = vec![waiver(&[&id(1)])];
    assert_eq!(given.blocked_by("1.3"), Some(id(2)));
    assert!(given.judge("1.2").allowed());
    let dossier = given.dossier_for(None);
    let late = given.facts().about(Ecosystem::Pypi, "six", None, NOW.plus_seconds(HOUR));
    assert_ne!(dossier.key, late.key, "its time is over");
    let version = Version::parse(Ecosystem::Pypi, "1.2");
    assert!(!late.judge(&Candidate::of(Some(&version))).allowed());
}

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

fn any_rule() -> impl Strategy<Value = Rule> {
    let package = prop_oneof![Just("six".to_owned()), Just("*".to_owned()), "[a-t]\\*"];
    let versions = prop_oneof![Just("*".to_owned()), "(>=|<|==|!=)[0-3]\\.[0-3]"];
    let mask = prop_oneof![Just(Mask::Mark), Just(Mask::Hide), Just(Mask::DenyOnly)];
    (0_u128..40, package, versions, mask).prop_map(|(n, p, v, m)| rule(n, &p, &v, m))
}

proptest! {
    #[test]
    fn more_rules_never_allow_more_and_their_order_does_not_matter(
        rules in prop::collection::vec(any_rule(), 0..8),
        more in any_rule(),
        version in "[0-3]\\.[0-3]",
    ) {
        let few = of_rules(&rules);
        let mut all = rules;
        all.push(more);
        let many = of_rules(&all);
        all.reverse();
        prop_assert!(few.judge(&version).allowed() || !many.judge(&version).allowed());
        prop_assert_eq!(
            many.judge(&version).refusal().map(|objection| objection.mask),
            of_rules(&all).judge(&version).refusal().map(|objection| objection.mask)
        );
    }

    #[test]
    fn a_waiver_never_forbids_anything(
        rules in prop::collection::vec(any_rule(), 0..4),
        version in "[0-3]\\.[0-3]",
        named in any::<bool>(),
    ) {
        let mut given = of_rules(&rules);
        given.advisories = vec![advisory("GHSA-1", Class::Vulnerability, Severity::High)];
        let before = given.judge(&version).allowed();
        given.waivers = vec![waiver(if named { &["GHSA-1"] } else { &[] })];
        prop_assert!(!before || given.judge(&version).allowed());
    }
}

#[test]
fn an_operators_rule_says_that_it_is_one() {
    assert_eq!(Objection::of_rule(RULES, &rule(1, "six", "*", Mask::Mark)).id(), id(1));
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

fn told_of_a_loss() -> Told {
    let (has, had) = (Vouched::Nothing, Vouched::Provenance);
    let lost = Some(TrustLost { has, had, earlier: "1.1".to_owned() });
    Told { lost, newcomer: Some("eve".to_owned()), licence: None }
}

#[test]
fn what_its_list_tells_against_a_version_refuses_it_or_is_told_as_the_settings_say() {
    let told = told_of_a_loss();
    let version = Version::parse(Ecosystem::Pypi, "1.3");
    let candidate = Candidate::of(Some(&version)).telling(Some(&told));
    let mut given = Given::default();
    let said = |given: &Given| given.dossier_for(None).judge(&candidate);
    assert_eq!(said(&given), Verdict::Allow, "nobody looks at it");
    given.settings.trust = Trust { provenance: Reaction::Warn, publisher: Reaction::Off };
    let Verdict::Advise(advice) = said(&given) else { panic!("no advice") };
    assert_eq!(
        advice.advice(),
        "Weir warns: 1.1, published before it, had a provenance, and it has nothing (provenance)"
    );
    // The file itself, beside others of its version.
    let earlier = Version::parse(Ecosystem::Pypi, "1.1");
    let Verdict::Advise(advice) =
        given.dossier_for(None).judge(&Candidate::of(Some(&earlier)).telling(Some(&told)))
    else {
        panic!("no advice")
    };
    let words = "added later to 1.1, which came with a provenance, and it has nothing";
    assert_eq!(advice.advice(), format!("Weir warns: {words} (provenance)"));
    let quiet = Told { lost: None, ..told.clone() };
    let silent = candidate.telling(Some(&quiet));
    assert_eq!(given.dossier_for(None).judge(&silent), Verdict::Allow);
    assert_eq!(given.dossier_for(None).judge(&candidate.telling(None)), Verdict::Allow);

    given.settings.trust = Trust { provenance: Reaction::Warn, publisher: Reaction::Block };
    let refusal = said(&given).refusal().cloned().unwrap();
    assert_eq!((refusal.id(), refusal.mask), (PUBLISHER, Mask::Mark));
    assert!(refusal.reason.contains("`eve`"), "{refusal}");
    let all = given.dossier_for(None).objections(&candidate);
    let ids: Vec<_> = all.iter().map(|objection| objection.id()).collect();
    assert_eq!(ids, [PUBLISHER, PROVENANCE]);
    // What refuses for another reason speaks first.
    given.rules = vec![rule(1, "six", "*", Mask::Mark)];
    assert_eq!(said(&given).refusal().map(|no| no.id().to_owned()), Some(id(1)));
    given.rules.clear();

    given.waivers = vec![waiver(&[PUBLISHER])];
    assert!(matches!(said(&given), Verdict::Excused(Excuse::Waiver { .. })));
    given.settings.trust.publisher = Reaction::Off;
    assert!(matches!(said(&given), Verdict::Advise(_)), "a waiver of something else");
    given.waivers = vec![waiver(&[PROVENANCE])];
    assert_eq!(said(&given), Verdict::Allow);
    given.waivers.clear();

    given.settings.trust.provenance = Reaction::Block;
    let audit = EcosystemSettings { mode: Mode::Audit, ..own(Ecosystem::Pypi) };
    given.settings.ecosystems = vec![audit];
    assert!(matches!(said(&given), Verdict::Warn(no) if no.id() == PROVENANCE));
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

#[test]
fn only_lists_that_tell_something_are_read_for_it() {
    let given = Given {
        settings: Settings {
            trust: Trust { provenance: Reaction::Warn, ..Trust::default() },
            ..Settings::default()
        },
        ..Given::default()
    };
    let facts = given.facts();
    assert!(facts.reads_lists() && !Given::default().facts().reads_lists());
    for (ecosystem, package) in
        [(Ecosystem::Pypi, "six"), (Ecosystem::Npm, "pad"), (Ecosystem::Docker, "alpine")]
    {
        let dossier = facts.about(ecosystem, package, None, NOW);
        assert_eq!(dossier.reads_lists(), ecosystem != Ecosystem::Docker, "{ecosystem}");
        assert_eq!(dossier.is_silent(), !dossier.reads_lists());
    }
}

#[test]
fn a_licence_that_may_not_be_used_refuses_and_one_that_nobody_knows_as_the_settings_say() {
    let mut given = Given::default();
    given.settings.licences = weir_events::registry::policy::Licences {
        allow: vec!["MIT".to_owned(), "Apache-*".to_owned()],
        deny: Vec::new(),
        violation: Reaction::Block,
        unknown: Some(Reaction::Warn),
        ecosystems: vec![Ecosystem::Pypi, Ecosystem::Cargo],
    };
    let version = Version::parse(Ecosystem::Pypi, "1.3");
    let said = |given: &Given, licence: Option<&str>| {
        let told = Told { licence: licence.map(str::to_owned), ..Told::default() };
        given.dossier_for(None).judge(&Candidate::of(Some(&version)).telling(Some(&told)))
    };
    assert_eq!(said(&given, Some("MIT")), Verdict::Allow);
    assert_eq!(said(&given, Some("GPL-3.0-only OR Apache-2.0")), Verdict::Allow);
    let refusal = said(&given, Some("GPL-3.0-only")).refusal().cloned().unwrap();
    let words =
        "Blocked by Weir: its licence, `GPL-3.0-only`, is not one that may be used here (licence)";
    assert_eq!((refusal.to_string().as_str(), refusal.mask), (words, Mask::Mark));
    let Verdict::Advise(advice) = said(&given, Some(NO_ASSERTION)) else { panic!("no advice") };
    assert_eq!(advice.advice(), "Weir warns: nobody tells its licence (licence)");
    let Verdict::Advise(advice) = said(&given, Some("SEE LICENSE IN x")) else {
        panic!("no advice")
    };
    assert!(advice.reason.contains("none that SPDX has a name for"), "{}", advice.reason);
    let long = super::licence::canonical(&"MIT OR ".repeat(1_000));
    let Verdict::Advise(advice) = said(&given, Some(&long)) else { panic!("no advice") };
    assert!(advice.reason.ends_with("[cut]`, is too long to be read"), "{}", advice.reason);
    given.settings.licences.unknown = None;
    for unknown in [NO_ASSERTION, "SEE LICENSE IN x", &long] {
        let refusal = said(&given, Some(unknown)).refusal().cloned();
        assert!(refusal.is_some_and(|no| no.id() == LICENCE), "{unknown}");
    }
    let allow = std::mem::take(&mut given.settings.licences.allow);
    given.settings.licences.deny = vec!["AGPL-*".to_owned()];
    assert_eq!(said(&given, Some(NO_ASSERTION)), Verdict::Allow);
    let refusal = said(&given, Some(&long)).refusal().cloned().unwrap();
    assert!(refusal.reason.contains("too long to be searched"), "{}", refusal.reason);
    given.settings.licences.deny.clear();
    (given.settings.licences.allow, given.settings.licences.unknown) =
        (allow, Some(Reaction::Warn));
    assert_eq!(said(&given, None), Verdict::Allow, "nobody looked yet");
    given.waivers = vec![waiver(&[LICENCE])];
    assert!(matches!(said(&given, Some("GPL-3.0-only")), Verdict::Excused(_)));
    given.waivers.clear();
    // Lists of cargo and Go tell no licence; of Go nobody asked to know it.
    let facts = given.facts();
    for (ecosystem, package, warned) in
        [(Ecosystem::Cargo, "six", true), (Ecosystem::Go, "example.com/six", false)]
    {
        let version = Version::parse(ecosystem, "1.3.0");
        let dossier = facts.about(ecosystem, package, None, NOW);
        let verdict = dossier.judge(&Candidate::of(Some(&version)));
        assert_eq!(matches!(verdict, Verdict::Advise(_)), warned, "{ecosystem}");
        assert_eq!(dossier.is_silent(), !warned);
    }
    given.settings.licences.unknown = Some(Reaction::Off);
    assert_eq!(said(&given, Some(NO_ASSERTION)), Verdict::Allow);
}
