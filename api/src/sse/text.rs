//! The blocks of an event stream, as the HTTP contract writes them.

use bytes::Bytes;
use serde_json::json;
use weir_events::{
    envelope::{EventView, Recorded},
    position::{Incarnation, Position},
    timestamp::Timestamp,
};

/// How long a client waits before it connects again, in milliseconds.
const RETRY_MS: u32 = 1_000;

/// The first block: how to come back, and from where. A client that dies before its first event
/// resumes where it began.
pub(super) fn opening(life: Incarnation, after: Position) -> Bytes {
    format!("retry: {RETRY_MS}\nid: {life}-{after}\n\n").into()
}

/// An event.
pub(super) fn event(life: Incarnation, event: &Recorded) -> Bytes {
    let mut block = format!("id: {life}-{}\ndata: ", event.position).into_bytes();
    // An event's view is made of strings, numbers and JSON values: it can always be written.
    let written = serde_json::to_writer(&mut block, &EventView::from(event));
    debug_assert!(written.is_ok(), "{written:?}");
    block.extend_from_slice(b"\n\n");
    block.into()
}

/// Events up to here were passed over: a client that comes back need not pass over them again.
pub(super) fn place(life: Incarnation, position: Position) -> Bytes {
    format!("id: {life}-{position}\n\n").into()
}

/// Still here, and the log stands there. Without an id: it is no place to resume from.
pub(super) fn heartbeat(head: Position, at: Timestamp) -> Bytes {
    format!("event: heartbeat\ndata: {}\n\n", json!({"head": head, "at": at})).into()
}

/// The client must start again, from what it is told here.
pub(super) fn resync(life: Incarnation, head: Position, reason: &str) -> Bytes {
    let data = json!({"incarnation": life.to_string(), "head": head, "reason": reason});
    format!("event: resync\ndata: {data}\n\n").into()
}

/// This stream ends; the client connects again and resumes.
pub(super) fn closing(reason: &str) -> Bytes {
    let data = json!({ "reason": reason });
    format!("event: closing\nretry: {RETRY_MS}\ndata: {data}\n\n").into()
}

#[cfg(test)]
pub(crate) mod testing {
    use weir_events::{
        codec::EventSet,
        envelope::Meta,
        position::StreamVersion,
        registry::{Event, RuleRemoved},
        stream::StreamName,
    };

    use super::*;

    /// A life of the log.
    pub(crate) const LIFE: Incarnation = Incarnation(uuid::Uuid::from_u128(7));

    /// An event at a position, with something to say.
    pub(crate) fn recorded(position: i64, id: &str) -> Recorded {
        let meta = Meta {
            event_id: uuid::Uuid::from_u128(1),
            actor: "pekko://weir/user/agents/1".into(),
            correlation_id: uuid::Uuid::from_u128(2),
            causation_id: None,
            command_id: uuid::Uuid::from_u128(2),
            principal: "admin".into(),
            traceparent: None,
        };
        let encoded = Event::from(RuleRemoved { id: id.to_owned() }).encode().unwrap();
        Recorded {
            position: Position(position),
            stream: StreamName::new("registry/rules").unwrap(),
            version: StreamVersion(position),
            kind: encoded.kind,
            schema: encoded.schema,
            payload: encoded.payload.into(),
            meta: weir_events::codec::to_bytes("meta", &meta).unwrap().into(),
            recorded_at: Timestamp::from_micros(1_795_824_000_123_456),
            hash: [0xab; 32],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        testing::{LIFE, recorded},
        *,
    };

    #[test]
    fn the_blocks_are_those_of_the_contract() {
        let at = Timestamp::from_micros(1_795_824_000_000_000);
        let blocks = [
            opening(LIFE, Position(41)),
            event(LIFE, &recorded(42, "a\nb")),
            place(LIFE, Position(1_042)),
            heartbeat(Position(1_042), at),
            resync(LIFE, Position(9), "it is ahead of the log's head"),
            closing("this instance is stopping"),
        ];
        let blocks = blocks.map(|block| String::from_utf8(block.to_vec()).unwrap());
        insta::assert_snapshot!(blocks.concat());
    }

    #[test]
    fn an_event_is_one_line_whatever_it_says() {
        let block = event(LIFE, &recorded(1, "line\r\nbreak\u{2028}\n\ndata: x"));
        let text = std::str::from_utf8(&block).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.ends_with("}\n\n") && !text.contains('\r'), "{text}");
    }
}
