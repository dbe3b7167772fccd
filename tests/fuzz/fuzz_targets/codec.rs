//! The events codec: any bytes, as the payload of every kind there is, and as an event's meta.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_events::{
    access,
    codec::{CodecFault, Encoded, EventSet, payload_json},
    envelope::{EventView, Meta},
    kind, log, registry,
};
use weir_fuzz::recorded;

fuzz_target!(|data: &[u8]| {
    for info in kind::table() {
        let json = payload_json(info.code, info.schema, data);
        let sets = [
            again::<log::Event>(info, data),
            again::<access::Event>(info, data),
            again::<registry::Event>(info, data),
        ];
        let of_kind: Vec<_> = sets.into_iter().flatten().collect();
        let [decoded] = of_kind.as_slice() else { panic!("{} is in no set, or in two", info.name) };
        assert_eq!(json.is_ok(), decoded.is_ok(), "{}", info.name);
        for unknown in [i16::MIN, 0, info.schema + 1] {
            let fault = payload_json(info.code, unknown, data);
            assert!(matches!(fault, Err(CodecFault::UnknownSchema { .. })), "{}", info.name);
        }
        // What an API and a command line make of it is read back by the other side.
        let event = recorded(info.code, info.schema, data);
        let shown = serde_json::to_string(&EventView::from(&event)).expect("a view");
        serde_json::from_str::<EventView>(&shown).expect("a view of ours");
    }
    if let Ok(meta) = weir_events::codec::from_bytes::<Meta>("meta", data) {
        let written = weir_events::codec::to_bytes("meta", &meta).expect("a meta");
        assert_eq!(weir_events::codec::from_bytes::<Meta>("meta", &written).ok(), Some(meta));
    }
});

/// Decodes, and whether encoding is then stable; `None` when the kind is another set's.
fn again<E: EventSet>(info: &kind::KindInfo, data: &[u8]) -> Option<Result<Encoded, CodecFault>> {
    let decoded = E::decode(info.code, info.schema, data)?;
    Some(decoded.map(|event| {
        let first = event.encode().expect("a payload");
        let read = E::decode(first.kind, first.schema, &first.payload).expect("its own kind");
        assert_eq!(read.expect("its own payload").encode().expect("a payload"), first);
        first
    }))
}
