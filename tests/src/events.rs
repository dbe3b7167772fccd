//! Events to append in tests.

use std::sync::Arc;

use weir_events::{
    codec::EventSet,
    envelope::{Meta, NewEvent},
    position::StreamVersion,
    registry::{Ecosystem, Event, Mask, PackageAllowed, PackageBlocked},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_log::append::{Append, Expected, StreamWrite};

use crate::database::fresh;

/// When the events of tests happen.
const NOW: Timestamp = Timestamp::from_micros(1_795_824_000_000_000);

/// A stream by its name.
///
/// # Panics
/// When it is no name.
pub fn stream(name: &str) -> StreamName {
    StreamName::new(name).expect("a stream's name")
}

/// Meta for an event that nobody in particular caused.
pub fn meta() -> Meta {
    let id = fresh();
    Meta {
        event_id: id,
        actor: text("pekko://weir/user/tester"),
        correlation_id: id,
        causation_id: None,
        command_id: fresh(),
        principal: text("tester"),
        traceparent: None,
    }
}

/// Meta for an event that somebody at the API caused.
pub fn meta_of(principal: &str, token: &str) -> Meta {
    let actor = text(&format!("pekko://weir/user/agents/{token}"));
    Meta { actor, principal: text(principal), ..meta() }
}

/// An event on its way.
///
/// # Panics
/// When it cannot be encoded.
pub fn event<E: EventSet>(event: &E) -> NewEvent {
    NewEvent::new(event, &meta()).expect("an event that can be encoded")
}

/// The n-th download of a made-up package.
pub fn allowed(n: u64) -> Event {
    let allowed = PackageAllowed {
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        version: Some(format!("1.{n}")),
        file: format!("six-1.{n}.tar.gz"),
        sha256: None,
        policy_revision: 0,
        published_at: None,
        late: false,
        warning: None,
        excuse: None,
        profile: None,
        served: None,
        document: None,
    };
    allowed.into()
}

/// The n-th refusal of a made-up package.
pub fn blocked(n: u64) -> Event {
    let blocked = PackageBlocked {
        ecosystem: Ecosystem::Pypi,
        package: "six".to_owned(),
        version: Some(format!("1.{n}")),
        file: format!("six-1.{n}.tar.gz"),
        source: "rules".to_owned(),
        rule_id: Some("0190a1b2-0000-7000-8000-000000000001".to_owned()),
        reason: format!("six 1.{n} is not to be used here"),
        mask: Mask::Mark,
        policy_revision: 0,
        evidence: None,
        published_at: None,
        late: false,
        profile: None,
        document: None,
    };
    blocked.into()
}

/// An append of facts to a stream, whatever its version.
pub fn facts<E: EventSet>(to: &str, events: &[E]) -> Append {
    write(to, Expected::Any, events)
}

/// An append to a stream at a version.
pub fn at_version<E: EventSet>(to: &str, version: i64, events: &[E]) -> Append {
    write(to, Expected::Exact(StreamVersion(version)), events)
}

fn write<E: EventSet>(to: &str, expected: Expected, events: &[E]) -> Append {
    let events = events.iter().map(event).collect();
    let write = StreamWrite { stream: stream(to), expected, events };
    Append { writes: vec![write], remember: None, recorded_at: NOW }
}

/// Shared text.
fn text(text: &str) -> Arc<str> {
    text.into()
}
