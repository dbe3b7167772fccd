//! What the tests of every ecosystem share: an upstream in this process, and how they wait.

mod fake;
mod world;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt as _;
use uuid::Uuid;
use weir_aggregates::registry::{
    dossier::Dossier, facts::Facts, rule::RuleSet, settings::default_of,
};
use weir_events::{
    registry::{
        Ecosystem, Event, Mask, Rule,
        policy::{EcosystemSettings, Reserved, Settings, SettingsChanged},
    },
    timestamp::Timestamp,
};

pub(crate) use self::{
    fake::{Canned, Fake},
    world::{INSTANCE, Tested, World},
};
use super::answer::{Answer, Body};

/// The `n`-th rule of a test.
pub(crate) fn rule_of(
    ecosystem: Ecosystem,
    n: u128,
    package: &str,
    versions: &str,
    mask: Mask,
) -> Rule {
    Rule {
        id: Uuid::from_u128(0x019a_0000_0000_7000_8000_0000_0000_0000 + n).to_string(),
        ecosystem,
        package: package.to_owned(),
        versions: versions.to_owned(),
        reason: "too young".to_owned(),
        mask,
    }
}

/// Rules, as of a revision.
pub(crate) fn facts(revision: i64, rules: &[Rule]) -> Facts {
    let mut facts = Facts::of_rules(RuleSet::compile(revision, rules));
    facts.settle();
    facts
}

/// No rules, and a minimum age of one ecosystem.
pub(crate) fn aged(ecosystem: Ecosystem, min_age_hours: u32) -> Facts {
    let own = EcosystemSettings { min_age_hours, ..default_of(ecosystem) };
    let settings = Settings { ecosystems: vec![own], ..Settings::default() };
    let mut facts = Facts::default();
    facts.apply(1, &SettingsChanged { settings }.into());
    facts.settle();
    facts
}

/// No rules, and a reserved name of one ecosystem.
pub(crate) fn reserving(ecosystem: Ecosystem, package: &str) -> Facts {
    let reserved = vec![Reserved { ecosystem, package: package.to_owned() }];
    let settings = Settings { reserved, ..Settings::default() };
    let mut facts = Facts::default();
    facts.apply(1, &SettingsChanged { settings }.into());
    facts.settle();
    facts
}

/// What rules say of a package.
pub(crate) fn dossier(
    ecosystem: Ecosystem,
    package: &str,
    revision: i64,
    rules: &[Rule],
) -> Arc<Dossier> {
    let facts = facts(revision, rules);
    Arc::new(facts.about(ecosystem, package, None, Timestamp::EPOCH))
}

/// Reads a body; an error where it breaks off.
pub(crate) async fn body(answer: Answer) -> Result<Bytes, String> {
    match answer.body {
        Body::Empty => Ok(Bytes::new()),
        Body::Whole(bytes) => Ok(bytes),
        Body::Stream(mut stream) => {
            let mut all = Vec::new();
            while let Some(piece) = stream.next().await {
                all.extend_from_slice(&piece.map_err(|fault| fault.to_string())?);
            }
            Ok(all.into())
        }
    }
}

/// Reads a body of text.
pub(crate) async fn text(answer: Answer) -> String {
    String::from_utf8(body(answer).await.unwrap().to_vec()).unwrap()
}

/// Waits until a fact holds, and fails with what was recorded if it never does.
pub(crate) async fn until(events: impl Fn() -> Vec<Event>, what: &str, fact: impl Fn() -> bool) {
    let waiting = async {
        while !fact() {
            tokio::task::yield_now().await;
        }
    };
    let bound = Duration::from_secs(10);
    assert!(tokio::time::timeout(bound, waiting).await.is_ok(), "{what}: {:?}", events());
}

/// The names of what was recorded, in order.
pub(crate) fn names(events: &[Event]) -> Vec<&'static str> {
    let name = |event: &Event| match event {
        Event::PackageAllowed(_) => "allowed",
        Event::PackageBlocked(_) => "blocked",
        Event::MetadataFiltered(_) => "filtered",
        Event::CacheStored(_) => "stored",
        Event::UpstreamRejected(_) => "rejected",
        Event::VersionsSeen(_) => "seen",
        _ => "other",
    };
    events.iter().map(name).collect()
}
