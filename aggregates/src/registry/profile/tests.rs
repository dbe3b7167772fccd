use proptest::prelude::*;
use weir_events::{
    registry::{
        Ecosystem, Mask, RuleAdded,
        policy::{EcosystemSettings, Floor, Settings, SettingsChanged},
    },
    timestamp::Timestamp,
};

use super::*;
use crate::{
    access::Scope,
    machine::fold,
    registry::{
        facts::Facts,
        settings,
        testing::{id, rule},
        verdict::{Candidate, Verdict},
        version::Version,
    },
};

const NOW: Context = Context { now: Timestamp::EPOCH };
const HOUR: i64 = 3_600;

fn agent() -> Profile {
    let name = "agent".to_owned();
    Profile { name, min_age_hours: 168, ..Profile::default() }
}

fn operator() -> Grantor {
    Grantor { scopes: vec![Scope::RulesWrite], profile: None }
}

fn set(profile: &Profile, by: Grantor) -> Command {
    Command::Set { profile: profile.clone(), by }
}

fn decide(history: &[Event], command: &Command) -> Decision<Event, Refusal> {
    Profiles::decide(&fold::<Profiles>(history), command, &NOW)
}

fn there() -> Vec<Event> {
    vec![ProfileSet { profile: agent() }.into()]
}

#[test]
fn a_profile_is_set_changed_and_removed() {
    let first = decide(&[], &set(&agent(), operator()));
    assert_eq!(first, Decision::accept(ProfileSet { profile: agent() }));
    assert_eq!(decide(&there(), &set(&agent(), operator())), Decision::nothing());
    let older = Profile { min_age_hours: 200, ..agent() };
    let changed = decide(&there(), &set(&older, operator()));
    assert_eq!(changed, Decision::accept(ProfileSet { profile: older.clone() }));
    let mut history = there();
    history.extend(changed.events);
    assert_eq!(fold::<Profiles>(&history).profile("agent"), Some(&older));
    let remove = Command::Remove { name: "agent".to_owned(), by: operator() };
    let removed = decide(&history, &remove);
    assert_eq!(removed, Decision::accept(ProfileRemoved { name: "agent".to_owned() }));
    history.extend(removed.events);
    assert_eq!(fold::<Profiles>(&history), State::default());
    let unknown = Decision::refuse(Refusal::Unknown("agent".to_owned()));
    assert_eq!(decide(&history, &remove), unknown);
}

#[test]
fn only_an_administrator_has_a_profile_let_pass_what_is_forbidden() {
    let lenient = Profile { mode: Some(Mode::Audit), ..agent() };
    let refused = decide(&there(), &set(&lenient, operator()));
    assert_eq!(refused, Decision::refuse(Refusal::AuditNeedsAdmin));
    let granted = decide(&there(), &set(&lenient, Grantor::admin()));
    assert_eq!(granted, Decision::accept(ProfileSet { profile: lenient.clone() }));
    // To make it strict again is nothing that needs an administrator.
    let strict = set(&agent(), operator());
    assert_eq!(decide(&granted.events, &strict).refusal, None);
    assert_eq!(decide(&granted.events, &set(&lenient, operator())), Decision::nothing());
}

#[test]
fn who_is_bound_by_a_profile_changes_none_whatever_else_he_may_do() {
    let by = Grantor { scopes: vec![Scope::Admin], profile: Some("agent".to_owned()) };
    let bound = Decision::refuse(Refusal::Bound("agent".to_owned()));
    assert_eq!(decide(&there(), &set(&agent(), by.clone())), bound);
    assert_eq!(decide(&there(), &Command::Remove { name: "agent".to_owned(), by }), bound);
}

#[test]
fn what_a_profile_may_not_be_is_refused_by_name() {
    for (change, refusal) in [
        (|p: &mut Profile| p.name = String::new(), Refusal::BadName(String::new())),
        (|p| p.name = "Agent".to_owned(), Refusal::BadName("Agent".to_owned())),
        (|p| p.name = "7agents".to_owned(), Refusal::BadName("7agents".to_owned())),
        (|p| p.name = "a".repeat(41), Refusal::BadName("a".repeat(41))),
        (|p| p.min_age_hours = MAX_AGE_HOURS + 1, Refusal::BadAge),
        (|p| p.severity_floor = Some(Severity::Unknown), Refusal::BadFloor),
        (|p| p.quota.downloads_per_hour = Some(0), Refusal::BadQuota),
        (|p| p.quota.downloads_per_day = Some(0), Refusal::BadQuota),
        (|p| p.quota.bytes_per_day = Some(0), Refusal::BadQuota),
    ] as [(fn(&mut Profile), Refusal); 9]
    {
        let mut bad = agent();
        change(&mut bad);
        assert_eq!(decide(&[], &set(&bad, operator())), Decision::refuse(refusal));
    }
    let longest = Profile { name: "a".repeat(40), min_age_hours: MAX_AGE_HOURS, ..agent() };
    assert_eq!(decide(&[], &set(&longest, operator())).refusal, None);
}

#[test]
fn there_are_no_more_profiles_than_can_be_kept() {
    let named = |n| Profile { name: format!("p{n}"), ..agent() };
    let history: Vec<Event> =
        (0..MAX_PROFILES).map(|n| ProfileSet { profile: named(n) }.into()).collect();
    let one_more = set(&named(MAX_PROFILES), operator());
    assert_eq!(decide(&history, &one_more), Decision::refuse(Refusal::TooMany));
    let changed = Profile { min_age_hours: 1, ..named(3) };
    assert_eq!(decide(&history, &set(&changed, operator())).refusal, None);
}

/// Facts with a rule about six, these settings, and profiles.
fn facts(settings: &Settings, profiles: &[Profile]) -> Facts {
    let mut facts = Facts::default();
    facts.apply(1, &RuleAdded { rule: rule(1, "six", ">=2", Mask::Mark) }.into());
    facts.apply(2, &SettingsChanged { settings: settings.clone() }.into());
    for profile in profiles {
        facts.apply(3, &ProfileSet { profile: profile.clone() }.into());
    }
    facts.settle();
    facts
}

fn judged(facts: &Facts, profile: Option<&str>, version: &str, age_hours: i64) -> Verdict {
    let now = Timestamp::EPOCH.plus_seconds(10_000 * HOUR);
    let asker = Asker { token: None, profile };
    let version = Version::parse(Ecosystem::Pypi, version);
    let published_at = Some(now.plus_seconds(-age_hours * HOUR));
    let dossier = facts.about_for(Ecosystem::Pypi, "Six", asker, now);
    dossier.judge(&Candidate::published(Some(&version), published_at))
}

#[test]
fn who_has_a_profile_is_judged_by_it_and_nobody_else_is() {
    let facts = facts(&Settings::default(), &[agent()]);
    assert!(judged(&facts, None, "1.0", 2).allowed());
    let verdict = judged(&facts, Some("agent"), "1.0", 2);
    let told = verdict.refusal().unwrap().to_string();
    assert!(told.contains("must be 168 h old"), "{told}");
    assert!(judged(&facts, Some("agent"), "1.0", 169).allowed());
    assert!(!judged(&facts, None, "2.0", 169).allowed());
}

#[test]
fn nothing_passes_for_a_token_whose_profile_is_gone() {
    let facts = facts(&Settings::default(), &[]);
    let verdict = judged(&facts, Some("agent"), "1.0", 2);
    let told = verdict.refusal().unwrap().to_string();
    assert!(told.contains("the profile `agent` of this token does not exist"), "{told}");
}

#[test]
fn a_profile_that_audits_warns_and_one_that_enforces_overrules_an_ecosystem_that_audits() {
    let audited = EcosystemSettings { mode: Mode::Audit, ..settings::default_of(Ecosystem::Pypi) };
    let of = |name: &str, mode| Profile { name: name.to_owned(), mode, ..Profile::default() };
    let profiles =
        [of("trial", Some(Mode::Audit)), of("strict", Some(Mode::Enforce)), of("plain", None)];
    let enforced = facts(&Settings::default(), &profiles);
    let settings = Settings { ecosystems: vec![audited], ..Settings::default() };
    let audited = facts(&settings, &profiles);
    for (facts, profile, blocked) in [
        (&enforced, None, true),
        (&enforced, Some("trial"), false),
        (&enforced, Some("plain"), true),
        (&audited, None, false),
        (&audited, Some("strict"), true),
        (&audited, Some("plain"), false),
    ] {
        match judged(facts, profile, "2.0", 2) {
            Verdict::Block(_) => assert!(blocked, "{profile:?}"),
            Verdict::Warn(objection) => {
                assert!(!blocked, "{profile:?}");
                assert_eq!(objection.id(), id(1));
            }
            other => panic!("{profile:?}: {other:?}"),
        }
    }
}

#[test]
fn a_list_of_one_profile_is_never_the_list_of_another() {
    let other = Profile { name: "other".to_owned(), ..agent() };
    let facts = facts(&Settings::default(), &[agent(), other]);
    let key = |facts: &Facts, profile| {
        let asker = Asker { token: None, profile };
        facts.about_for(Ecosystem::Pypi, "six", asker, Timestamp::EPOCH).key
    };
    let keys =
        [None, Some("agent"), Some("other"), Some("gone"), Some("far")].map(|p| key(&facts, p));
    for (at, one) in keys.iter().enumerate() {
        assert!(keys.iter().skip(at + 1).all(|other| other != one), "{at}");
    }
    let mut changed = facts;
    let older = Profile { min_age_hours: 200, ..agent() };
    changed.apply(9, &ProfileSet { profile: older }.into());
    changed.settle();
    assert_ne!(key(&changed, Some("agent")), keys[1]);
    assert_eq!([key(&changed, None), key(&changed, Some("other"))], [keys[0], keys[2]]);
    assert_eq!(changed.revision(), 9);
}

fn any_settings() -> impl Strategy<Value = Settings> {
    let ecosystem = (prop::sample::select(Ecosystem::ALL.to_vec()), any_mode(), 0_u32..400)
        .prop_map(|(ecosystem, mode, min_age_hours)| EcosystemSettings {
            mode,
            min_age_hours,
            ..settings::default_of(ecosystem)
        });
    (prop::sample::select(Severity::ALL.to_vec()), ecosystem).prop_map(|(floor, own)| Settings {
        severity_floor: Floor(floor),
        ecosystems: vec![own],
        ..Settings::default()
    })
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Enforce, Mode::Audit])
}

proptest! {
    #[test]
    fn a_profile_that_does_not_audit_lets_nothing_pass_that_would_not_pass_without_it(
        settings in any_settings(), enforces in any::<bool>(), min_age_hours in 0_u32..400,
        floor in prop::option::of(prop::sample::select(Severity::ALL[1..].to_vec())),
        version in prop::sample::select(vec!["1.0", "2.0"]), age in 0_i64..500,
    ) {
        let mode = enforces.then_some(Mode::Enforce);
        let profile = Profile { mode, min_age_hours, severity_floor: floor, ..agent() };
        prop_assert_eq!(check(&profile), Ok(()));
        let facts = facts(&settings, &[profile]);
        let (bound, free) =
            (judged(&facts, Some("agent"), version, age), judged(&facts, None, version, age));
        prop_assert!(free.allowed() || !bound.allowed(), "{bound:?} for {free:?}");
        if free.allowed() && free != Verdict::Allow {
            prop_assert_ne!(bound, Verdict::Allow, "a warning is not lost");
        }
    }
}
