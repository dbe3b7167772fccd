use weir_events::registry::{
    RuleAdded, RuleRemoved,
    blocklist::{BlocklistRuleAdded, BlocklistRuleRemoved},
    policy::{
        EcosystemSettings, Required, SettingsChanged, Waiver, WaiverExpired, WaiverGranted,
        WaiverRequested,
    },
    profile::ProfileSet,
    sync::{SyncFailed, SyncSucceeded},
};

use super::*;
use crate::registry::{
    testing::{id, rule},
    verdict::Candidate,
};

fn about(facts: &mut Facts, package: &str) -> Dossier {
    facts.settle();
    facts.about(Ecosystem::Pypi, package, None, Timestamp::EPOCH)
}

#[test]
fn a_rule_changes_what_is_known_of_its_package_and_of_no_other() {
    let mut facts = Facts::default();
    let (six, seven) = (about(&mut facts, "six"), about(&mut facts, "seven"));
    assert_eq!(six.key, seven.key, "nothing is known of either");
    facts.apply(7, &RuleAdded { rule: rule(1, "six", "*", Mask::Mark) }.into());
    let changed = about(&mut facts, "six");
    assert_ne!(changed.key, six.key);
    assert_eq!((changed.revision, facts.revision()), (7, 7));
    assert_eq!(about(&mut facts, "seven").key, seven.key);
    facts.apply(9, &RuleRemoved { id: id(1) }.into());
    assert_eq!(about(&mut facts, "six").key, six.key);
    assert_eq!(facts.rules().rules().len(), 0);
}

#[test]
fn what_the_blocklist_names_is_refused_in_its_name_and_the_strictest_word_counts() {
    let mut facts = Facts::default();
    let clean = about(&mut facts, "six");
    let listed = blocklist::identified(rule(0, "six", "*", Mask::Hide));
    facts.apply(3, &RuleAdded { rule: rule(1, "six", "*", Mask::Mark) }.into());
    facts.apply(4, &BlocklistRuleAdded { rule: listed.clone() }.into());
    let dossier = about(&mut facts, "six");
    let verdict = dossier.judge(&Candidate::default());
    let refusal = verdict.refusal().unwrap();
    assert_eq!((refusal.source.as_str(), refusal.mask), (BLOCKLIST, Mask::Hide));
    assert_eq!(dossier.revision, 4);
    facts.apply(5, &BlocklistRuleRemoved { id: listed.id }.into());
    facts.apply(6, &RuleRemoved { id: id(1) }.into());
    assert_eq!(about(&mut facts, "six").key, clean.key);
    assert_eq!(facts.blocklist().rules().len(), 0);
}

fn succeeded(source: &str, ecosystem: Option<Ecosystem>) -> Event {
    SyncSucceeded {
        source: source.to_owned(),
        ecosystem,
        n_records: 0,
        n_unreadable: 0,
        n_published: 0,
        n_changed: 0,
        n_withdrawn: 0,
        duration_ms: 1,
        revision: None,
    }
    .into()
}

#[test]
fn nothing_passes_before_a_source_that_is_required_was_read() {
    let mut facts = Facts::default();
    let required = Required { source: "osv".to_owned(), ecosystem: Ecosystem::Pypi };
    let settings = Settings { required: vec![required], ..Settings::default() };
    facts.apply(1, &SettingsChanged { settings }.into());
    let refused = |facts: &mut Facts| {
        let verdict = about(facts, "six").judge(&Candidate::default());
        verdict.refusal().map(ToString::to_string)
    };
    let told = refused(&mut facts).unwrap();
    assert!(told.contains("the source osv has never been read"), "{told}");
    let failed = SyncFailed {
        source: "osv".to_owned(),
        ecosystem: None,
        duration_ms: 1,
        cause: "x".to_owned(),
    };
    facts.apply(2, &failed.into());
    facts.apply(3, &succeeded("osv", Some(Ecosystem::Npm)));
    facts.apply(4, &succeeded("openssf-malicious", None));
    assert!(refused(&mut facts).is_some(), "another ecosystem, another source");
    facts.settle();
    let npm = facts.about(Ecosystem::Npm, "six", None, Timestamp::EPOCH);
    assert!(npm.judge(&Candidate::default()).allowed(), "nothing is required there");
    let before = facts.revision();
    facts.apply(5, &succeeded("osv", None));
    assert_eq!((refused(&mut facts), facts.revision()), (None, before + 1));
    facts.apply(6, &succeeded("osv", None));
    assert_eq!(facts.revision(), 5, "that it was read again changes nothing");
}

#[test]
fn a_waiver_counts_from_its_grant_until_its_end() {
    let mut facts = Facts::default();
    facts.apply(1, &RuleAdded { rule: rule(1, "six", "*", Mask::Mark) }.into());
    let waiver = Waiver {
        id: id(9),
        ecosystem: Ecosystem::Pypi,
        package: "s*".to_owned(),
        versions: "*".to_owned(),
        waives: vec![],
        token: None,
        reason: "x".to_owned(),
        owner: "x".to_owned(),
        expires_at: Timestamp::EPOCH.plus_seconds(60),
    };
    let passes = |facts: &mut Facts| about(facts, "six").judge(&Candidate::default()).allowed();
    let requested_by = "ann".to_owned();
    let requested = WaiverRequested { waiver: waiver.clone(), requested_by: requested_by.clone() };
    facts.apply(2, &requested.into());
    assert!(!passes(&mut facts));
    facts.apply(3, &WaiverGranted { waiver, requested_by, granted_by: "bob".to_owned() }.into());
    assert!(passes(&mut facts));
    facts.apply(4, &WaiverExpired { id: id(9) }.into());
    assert!(!passes(&mut facts));
}

#[test]
fn first_sights_matter_where_the_settings_or_any_profile_have_a_minimum_age() {
    let mut facts = Facts::default();
    facts.settle();
    assert!(!facts.watches(Ecosystem::Go));
    let own = EcosystemSettings { min_age_hours: 1, ..settings::default_of(Ecosystem::Npm) };
    let settings = Settings { ecosystems: vec![own], ..Settings::default() };
    facts.apply(1, &SettingsChanged { settings }.into());
    facts.settle();
    assert!(facts.watches(Ecosystem::Npm) && !facts.watches(Ecosystem::Go));
    let profile = Profile { name: "agent".to_owned(), min_age_hours: 72, ..Profile::default() };
    facts.apply(2, &ProfileSet { profile }.into());
    facts.settle();
    assert!(facts.watches(Ecosystem::Go));
}
