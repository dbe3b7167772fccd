//! Records of the open source vulnerability format, as a source publishes them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::osv::parse;
use weir_events::{
    codec::EventSet,
    registry::{Event, advisory::AdvisoryPublished},
};

fuzz_target!(|data: &[u8]| {
    let Ok(record) = parse(data) else { return };
    let Ok(advisories) = record.advisories("osv") else { return };
    for advisory in advisories {
        let event = Event::from(AdvisoryPublished { advisory });
        let stored = event.encode().expect("a payload");
        let read = Event::decode(stored.kind, stored.schema, &stored.payload);
        assert_eq!(read.expect("a kind of ours").expect("a payload of ours"), event);
    }
});
