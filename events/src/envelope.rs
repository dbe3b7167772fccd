//! The envelope: what stands around every payload, and what a reader of the log gets.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    codec::{self, CodecFault, EventSet},
    kind::{Kind, Subsystem},
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};

/// Who caused an event, in answer to what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    /// The event's own id (UUID version 7).
    pub event_id: Uuid,
    /// Who caused it: a canonical actor path.
    pub actor: Arc<str>,
    /// The id shared by everything that one first cause set off.
    pub correlation_id: Uuid,
    /// The event this one answers to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<Uuid>,
    /// The command that was judged.
    pub command_id: Uuid,
    /// In whose name.
    pub principal: Arc<str>,
    /// W3C trace context of the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Arc<str>>,
}

impl Meta {
    /// Bytes that every encoded meta in a principal's name holds: a search for them finds all of its
    /// events. Others may hold them by chance, so what is found has to be decoded and compared.
    pub fn trace_of(principal: &str) -> Result<Vec<u8>, CodecFault> {
        let words = ["principal", principal].map(|word| codec::to_bytes("meta", &word));
        let [key, value] = words;
        Ok([key?, value?].concat())
    }
}

/// An event on its way to the log: encoded, but without a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// The code of its kind.
    pub kind: Kind,
    /// The schema version of the payload.
    pub schema: i16,
    /// The payload, `MessagePack`.
    pub payload: Bytes,
    /// The encoded [`Meta`].
    pub meta: Bytes,
}

impl NewEvent {
    /// Encodes an event and its meta.
    pub fn new<E: EventSet>(event: &E, meta: &Meta) -> Result<Self, CodecFault> {
        let encoded = event.encode()?;
        let meta = codec::to_bytes("meta", meta)?;
        Ok(Self {
            kind: encoded.kind,
            schema: encoded.schema,
            payload: encoded.payload.into(),
            meta: meta.into(),
        })
    }
}

/// An event as the log keeps it. Payload and meta are decoded only when asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its place in the total order.
    pub position: Position,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// Its place in that stream.
    pub version: StreamVersion,
    /// The code of its kind.
    pub kind: Kind,
    /// The schema version of the payload.
    pub schema: i16,
    /// The payload, `MessagePack`.
    pub payload: Bytes,
    /// The encoded [`Meta`].
    pub meta: Bytes,
    /// When the process that appended it did so, by its own clock.
    pub recorded_at: Timestamp,
    /// The leaf hash over the immutable columns.
    pub hash: [u8; 32],
}

impl Recorded {
    /// Decodes the meta.
    pub fn meta(&self) -> Result<Meta, CodecFault> {
        codec::from_bytes("meta", &self.meta)
    }

    /// Decodes the payload as one of a subsystem's events; `None` when its kind is another's.
    pub fn decode<E: EventSet>(&self) -> Option<Result<E, CodecFault>> {
        E::decode(self.kind, self.schema, &self.payload)
    }

    /// The subsystem whose range holds its kind.
    pub fn subsystem(&self) -> Option<Subsystem> {
        Subsystem::of(self.kind)
    }

    /// Bytes it holds in memory, roughly: what bounds of buffers count.
    pub fn size_bytes(&self) -> usize {
        self.payload.len() + self.meta.len() + self.stream.as_str().len() + 128
    }
}

/// What the API, SSE and the CLI show of an event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventView {
    /// Its place in the total order.
    pub position: Position,
    /// The stream it belongs to.
    pub stream: StreamName,
    /// Its place in that stream.
    pub version: StreamVersion,
    /// The name of its kind, or its code in hexadecimal where this build does not know it.
    pub kind: String,
    /// The code of its kind.
    pub kind_code: Kind,
    /// The subsystem whose range holds its kind.
    pub subsystem: Option<Subsystem>,
    /// The schema version of the stored payload.
    pub schema: i16,
    /// When it was appended.
    pub recorded_at: Timestamp,
    /// Who caused it, in answer to what.
    pub meta: Option<Meta>,
    /// The payload in today's schema; `null` with `undecodable` set when it cannot be read.
    pub payload: serde_json::Value,
    /// Why payload or meta could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undecodable: Option<String>,
    /// The leaf hash, hexadecimal.
    pub hash: String,
}

impl From<&Recorded> for EventView {
    fn from(event: &Recorded) -> Self {
        let payload = codec::payload_json(event.kind, event.schema, &event.payload);
        let meta = event.meta();
        let undecodable = match (&payload, &meta) {
            (Err(fault), _) | (_, Err(fault)) => Some(fault.to_string()),
            _ => None,
        };
        Self {
            position: event.position,
            stream: event.stream.clone(),
            version: event.version,
            kind: event.kind.name(),
            kind_code: event.kind,
            subsystem: event.subsystem(),
            schema: event.schema,
            recorded_at: event.recorded_at,
            meta: meta.ok(),
            payload: payload.unwrap_or(serde_json::Value::Null),
            undecodable,
            hash: hex(&event.hash),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'?'));
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(principal: &str) -> Vec<u8> {
        let meta = Meta {
            event_id: Uuid::nil(),
            actor: "pekko://weir/user/api".into(),
            correlation_id: Uuid::nil(),
            causation_id: None,
            command_id: Uuid::nil(),
            principal: principal.into(),
            traceparent: None,
        };
        codec::to_bytes("meta", &meta).unwrap()
    }

    #[test]
    fn the_trace_of_a_principal_is_in_every_meta_of_its_and_in_no_other() {
        let names = ["robot", "robot 2", "obot", "", &"é".repeat(20), &"x".repeat(300)];
        for name in names {
            let trace = Meta::trace_of(name).unwrap();
            for other in names {
                let holds = meta(other).windows(trace.len()).any(|part| part == trace);
                assert_eq!(holds, name == other, "{name} in {other}");
            }
        }
    }
}
