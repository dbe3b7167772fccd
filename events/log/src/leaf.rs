//! The leaf hash: BLAKE3 over the immutable columns of one event, in canonical bytes.
//!
//! Computed before the append takes its lock, so position and version are not in it: their order
//! is what seals cover, and `verify` checks both against their neighbours.

use weir_events::{
    envelope::{NewEvent, Recorded},
    kind::Kind,
    stream::StreamName,
    timestamp::Timestamp,
};

/// Separates leaves from every other use of the same hash.
const DOMAIN: &[u8] = b"weir.leaf.v1\0";

/// The leaf of an event on its way to the log.
pub fn of_new(stream: &StreamName, event: &NewEvent, recorded_at: Timestamp) -> [u8; 32] {
    let NewEvent { kind, schema, payload, meta } = event;
    let mut bytes = Vec::new();
    canonical(&mut bytes, stream, *kind, *schema, recorded_at, [payload, meta]);
    *blake3::hash(&bytes).as_bytes()
}

/// The leaf that the columns of a stored event ask for.
pub fn of_recorded(event: &Recorded) -> [u8; 32] {
    Leaves::default().of(event)
}

/// Leaves that the columns of stored events ask for, one after the other.
#[derive(Debug, Default)]
pub struct Leaves {
    bytes: Vec<u8>,
}

impl Leaves {
    /// The leaf that an event's columns ask for.
    pub fn of(&mut self, event: &Recorded) -> [u8; 32] {
        let Recorded { stream, kind, schema, recorded_at, payload, meta, .. } = event;
        self.bytes.clear();
        canonical(&mut self.bytes, stream, *kind, *schema, *recorded_at, [payload, meta]);
        *blake3::hash(&self.bytes).as_bytes()
    }
}

/// Adds the canonical bytes of one event: every part of variable length behind its length.
fn canonical(
    bytes: &mut Vec<u8>,
    stream: &StreamName,
    kind: Kind,
    schema: i16,
    recorded_at: Timestamp,
    [payload, meta]: [&[u8]; 2],
) {
    let stream = stream.as_str().as_bytes();
    bytes.reserve(DOMAIN.len() + 38 + stream.len() + payload.len() + meta.len());
    bytes.extend_from_slice(DOMAIN);
    bytes.extend_from_slice(&kind.0.to_be_bytes());
    bytes.extend_from_slice(&schema.to_be_bytes());
    bytes.extend_from_slice(&recorded_at.micros().to_be_bytes());
    for part in [stream, payload, meta] {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn bytes_moved_from_one_column_to_the_next_make_another_leaf() {
        let stream = StreamName::new("a/b").unwrap();
        let event = |payload: &'static [u8], meta: &'static [u8]| NewEvent {
            kind: Kind(1),
            schema: 1,
            payload: Bytes::from_static(payload),
            meta: Bytes::from_static(meta),
        };
        let one = of_new(&stream, &event(b"ab", b"c"), Timestamp::EPOCH);
        let other = of_new(&stream, &event(b"a", b"bc"), Timestamp::EPOCH);
        assert_ne!(one, other);
    }
}
