//! The events everything is measured with: what a blocked download leaves behind, about 300 bytes
//! of payload and meta together.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use weir_events::{
    codec::EventSet,
    envelope::{Meta, NewEvent},
    kind::Kind,
    position::StreamVersion,
    registry::{self, Ecosystem, Mask, PackageBlocked},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_log::append::{Append, Expected, StreamWrite};

use crate::{Fault, database::fresh};

/// Payload and meta together, in the lines about appending.
pub(crate) const N_BYTES: usize = 300;
/// The share of it that is payload.
pub(crate) const N_PAYLOAD: usize = 180;

/// An event of exactly 300 bytes.
pub(crate) fn plain() -> NewEvent {
    let noise = |n| Bytes::from(letters(n).into_bytes());
    let (payload, meta) = (noise(N_PAYLOAD), noise(N_BYTES - N_PAYLOAD));
    NewEvent { kind: Kind(0x4003), schema: 1, payload, meta }
}

/// Letters without a pattern: nothing to compress.
pub(crate) fn letters(n: usize) -> String {
    (0..n).map(|_| char::from(b'a' + rand::random::<u8>() % 26)).collect()
}

/// The n-th blocked download, as the registry records it.
pub(crate) fn blocked(n: usize) -> Result<NewEvent, Fault> {
    let event: registry::Event = PackageBlocked {
        ecosystem: Ecosystem::Pypi,
        package: format!("package-{}", n % 1_000),
        version: Some(format!("1.{}.{n}", n % 7)),
        file: format!("package_{}-1.{}.{n}-py3-none-any.whl", n % 1_000, n % 7),
        source: "rules".to_owned(),
        rule_id: Some("01941f29-7c00".to_owned()),
        reason: "known to be bad".to_owned(),
        mask: Mask::Mark,
        policy_revision: 1,
        evidence: None,
        published_at: None,
        late: false,
        profile: None,
        document: None,
    }
    .into();
    of(&event)
}

/// An event of somebody's.
pub(crate) fn of<E: EventSet>(event: &E) -> Result<NewEvent, Fault> {
    let meta = Meta {
        event_id: fresh(),
        actor: Arc::from("pekko://weir/user/agents/bench"),
        correlation_id: fresh(),
        causation_id: None,
        command_id: fresh(),
        principal: Arc::from("bench"),
        traceparent: None,
    };
    Ok(NewEvent::new(event, &meta)?)
}

/// An append to one stream.
pub(crate) fn append(stream: &StreamName, expected: Option<i64>, events: Vec<NewEvent>) -> Append {
    let expected =
        expected.map_or(Expected::Any, |version| Expected::Exact(StreamVersion(version)));
    let writes = vec![StreamWrite { stream: stream.clone(), expected, events }];
    Append { writes, remember: None, recorded_at: now() }
}

/// The time, as the door would give it.
#[expect(clippy::disallowed_methods, reason = "a benchmark is its own clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}
