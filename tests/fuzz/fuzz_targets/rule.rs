//! A rule on its way from a command to a verdict: pattern, constraint, reason, name, version and
//! ecosystem, a line each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::{
    machine::{Context, Machine},
    registry::{
        Command, Firewall, State,
        facts::Facts,
        name::{normalise, valid},
        verdict::Candidate,
        version::Version,
    },
};
use weir_events::{
    codec::EventSet,
    registry::{Ecosystem, Event, Mask, Rule},
    timestamp::Timestamp,
};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(6, '\n');
    let mut line = || lines.next().unwrap_or_default();
    // Without an ecosystem it is about Python.
    let ecosystem = text.splitn(6, '\n').nth(5).and_then(Ecosystem::find);
    let ecosystem = ecosystem.unwrap_or(Ecosystem::Pypi);
    let rule = Rule {
        id: uuid::Uuid::from_u128(1).to_string(),
        ecosystem,
        package: line().to_owned(),
        versions: line().to_owned(),
        reason: line().to_owned(),
        mask: Mask::Mark,
    };
    let (name, version) = (line(), Version::parse(ecosystem, line()));

    let mut state = State::default();
    let context = Context { now: Timestamp::EPOCH };
    let decision = Firewall::decide(&state, &Command::Add(rule.clone()), &context);
    assert_eq!(decision.refusal.is_none(), !decision.events.is_empty());
    for event in &decision.events {
        let stored = event.encode().expect("a payload");
        let read = Event::decode(stored.kind, stored.schema, &stored.payload);
        assert_eq!(&read.expect("a kind of ours").expect("a payload of ours"), event);
        Firewall::apply(&mut state, event);
    }
    assert_eq!(state.rules().len(), decision.events.len());

    let policy = state.compile(1);
    let name = normalise(ecosystem, name);
    let about = policy.about(ecosystem, &name);
    let mut facts = Facts::default();
    for event in &decision.events {
        facts.apply(1, event);
    }
    facts.settle();
    let dossier = facts.about(ecosystem, &name, None, Timestamp::EPOCH);
    let verdict = dossier.judge(&Candidate::of(Some(&version)));
    if about.is_empty() {
        assert!(verdict.allowed());
    } else {
        assert_eq!(verdict.allowed(), !about[0].constraint().matches(&version));
    }
    // A rule that names a package is about that package, however it is spelt.
    if valid(ecosystem, &rule.package) && decision.refusal.is_none() {
        let name = normalise(ecosystem, &rule.package);
        assert_eq!(policy.about(ecosystem, &name).len(), 1);
    }
});
