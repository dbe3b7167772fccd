//! What is remembered of a command: its events, from which every answer is made anew, and the words
//! of its refusal.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use weir_aggregates::machine::Decision;
use weir_events::{
    codec::{self, CodecFault, EventSet},
    kind::Kind,
};

/// A decision as it is stored with its command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Stored {
    events: Vec<StoredEvent>,
    refused: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredEvent {
    kind: Kind,
    schema: i16,
    payload: Vec<u8>,
}

impl Stored {
    pub(super) fn encode<E: EventSet, R: std::error::Error>(
        decision: &Decision<E, R>,
    ) -> Result<Bytes, CodecFault> {
        let encode = |event: &E| {
            let encoded = event.encode()?;
            let (kind, schema, payload) = (encoded.kind, encoded.schema, encoded.payload);
            Ok(StoredEvent { kind, schema, payload })
        };
        let events = decision.events.iter().map(encode).collect::<Result<_, CodecFault>>()?;
        let refused = decision.refusal.as_ref().map(ToString::to_string);
        codec::to_bytes("an answer", &Self { events, refused }).map(Bytes::from)
    }

    pub(super) fn read<E: EventSet>(bytes: &[u8]) -> Result<(Vec<E>, Option<String>), CodecFault> {
        let stored: Self = codec::from_bytes("an answer", bytes)?;
        let events = stored.events.iter().filter_map(|event| {
            let StoredEvent { kind, schema, payload } = event;
            E::decode(*kind, *schema, payload)
        });
        Ok((events.collect::<Result<_, _>>()?, stored.refused))
    }
}
