mod lists;
mod times;

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
