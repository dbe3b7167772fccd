//! What read models take from the events of a batch.

mod nul;

use std::sync::Arc;

use serde::Deserialize;
use weir_events::{
    codec::{self, EventSet},
    envelope::Recorded,
};

use crate::engine::ApplyFault;

/// The events of a subsystem in a batch, with what they were recorded as. No text in them has a NUL:
/// U+FFFD stands in its place.
pub(crate) fn events<E: EventSet>(
    batch: &[Arc<Recorded>],
) -> impl Iterator<Item = Result<(&Recorded, E), ApplyFault>> {
    batch.iter().filter_map(|event| {
        let undecodable = |cause| ApplyFault::Undecodable { position: event.position, cause };
        let decoded = match nul::without_nul(&event.payload) {
            Some(payload) => E::decode(event.kind, event.schema, &payload)?,
            None => event.decode::<E>()?,
        };
        Some(decoded.map(|decoded| (&**event, decoded)).map_err(undecodable))
    })
}

/// In whose name an event was recorded.
pub(crate) fn principal(event: &Recorded) -> Result<&str, ApplyFault> {
    #[derive(Deserialize)]
    struct Named<'a> {
        principal: &'a str,
    }
    meta::<Named<'_>>(event).map(|named| named.principal)
}

/// In whose name an event was recorded, and by the id of which token: two tokens may have one name.
/// Empty where it was nobody at the API.
pub(crate) fn who(event: &Recorded) -> Result<(&str, &str), ApplyFault> {
    #[derive(Deserialize)]
    struct Named<'a> {
        principal: &'a str,
        actor: &'a str,
    }
    let Named { principal, actor } = meta(event)?;
    let (folder, id) = actor.rsplit_once('/').unwrap_or_default();
    Ok((principal, if folder.ends_with("/user/agents") { id } else { "" }))
}

/// A part of an event's meta.
pub(crate) fn meta<'a, T: Deserialize<'a>>(event: &'a Recorded) -> Result<T, ApplyFault> {
    rmp_serde::from_slice(&event.meta).map_err(|cause| ApplyFault::Undecodable {
        position: event.position,
        cause: codec::CodecFault::Decode { what: "meta", cause },
    })
}
