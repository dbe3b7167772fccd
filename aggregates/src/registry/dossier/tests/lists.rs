//! What its list tells against a version: lost provenance, a new publisher, a licence.

use super::*;

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
