//! Golden files: every kind in every schema ever written decodes for ever.
//!
//! `golden/<Kind>.v<schema>.msgpack` holds the stored bytes, `….json` what they must be read as
//! today. They are never edited: a new schema adds files and an upcaster.

#![expect(clippy::expect_used, clippy::panic, reason = "a test says what it expected")]

#[path = "golden/registry.rs"]
mod registry;
#[path = "golden/shared.rs"]
mod shared;
#[path = "golden/web.rs"]
mod web;

use std::{fs, path::PathBuf};

use proptest::prelude::*;
use weir_events::{
    access::{self, TokenRevoked},
    codec::{self, EventSet},
    kind::{self, Kind},
    registry::{Ecosystem, Event as RegistryEvent, Mask, PackageBlocked},
};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// One event of every kind, encoded as this build writes it.
fn samples() -> Vec<codec::Encoded> {
    fn encoded<E: EventSet>(events: &[E]) -> Vec<codec::Encoded> {
        let encode = |event: &E| event.encode().expect("a sample that can be encoded");
        events.iter().map(encode).collect()
    }
    [
        encoded(&shared::of_log()),
        encoded(&shared::of_access()),
        encoded(&shared::of_nexus()),
        encoded(&shared::of_mint()),
        encoded(&registry::events()),
        encoded(&web::events()),
    ]
    .concat()
}

/// Reads a golden file; a missing one is proposed beside its place and the test fails.
fn golden(name: &str, proposal: &[u8]) -> Vec<u8> {
    let path = folder().join(name);
    fs::read(&path).unwrap_or_else(|_| {
        let proposed = folder().join(format!("{name}.new"));
        fs::write(&proposed, proposal).expect("propose a golden file");
        panic!("golden file {name} is missing; look at {name}.new and rename it")
    })
}

#[test]
fn every_kind_has_a_golden_file_of_its_schema_and_decodes_to_what_it_was() {
    let samples = samples();
    for info in kind::table() {
        let sample = samples.iter().find(|s| s.kind == info.code);
        let sample = sample.unwrap_or_else(|| panic!("no sample of {}", info.name));
        assert_eq!(sample.schema, info.schema, "{}", info.name);
        let stem = format!("{}.v{}", info.name, info.schema);
        let bytes = golden(&format!("{stem}.msgpack"), &sample.payload);
        let read = codec::payload_json(info.code, info.schema, &bytes).expect(info.name);
        let mut json = serde_json::to_string_pretty(&read).expect("JSON");
        json.push('\n');
        let wanted = golden(&format!("{stem}.json"), json.as_bytes());
        assert_eq!(json.as_bytes(), wanted, "{stem}.json");
        assert_eq!(bytes, sample.payload, "{stem} is written differently now: a new schema?");
    }
}

#[test]
fn every_golden_file_ever_written_still_decodes() {
    let mut n_files = 0;
    for entry in fs::read_dir(folder()).expect("the golden folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a file name");
        let Some(stem) = name.strip_suffix(".msgpack") else { continue };
        let (kind, schema) = stem.split_once(".v").expect("<Kind>.v<schema>");
        let kind = Kind::find(kind).unwrap_or_else(|| panic!("{kind} is gone from the table"));
        let schema = schema.parse().expect("a schema version");
        let bytes = fs::read(folder().join(&name)).expect("the file");
        let read = codec::payload_json(kind, schema, &bytes).expect(stem);
        let wanted = fs::read(folder().join(format!("{stem}.json"))).expect("its JSON");
        let wanted: serde_json::Value = serde_json::from_slice(&wanted).expect("JSON");
        assert_eq!(read, wanted, "{stem}");
        n_files += 1;
    }
    assert_eq!(n_files, kind::table().count(), "one file a kind while no schema has changed");
}

#[test]
fn what_was_added_to_an_event_is_read_as_it_was_written() {
    for event in web::added() {
        let encoded = event.encode().expect("bytes");
        let read = weir_events::web::Event::decode(encoded.kind, encoded.schema, &encoded.payload);
        assert_eq!(read.expect("its kind").expect("read"), event);
    }
    for event in registry::added() {
        let encoded = event.encode().expect("bytes");
        let read = RegistryEvent::decode(encoded.kind, encoded.schema, &encoded.payload);
        assert_eq!(read.expect("its kind").expect("read"), event);
    }
}

#[test]
fn a_field_this_build_does_not_know_is_passed_over() {
    #[derive(serde::Serialize)]
    struct Newer {
        token_id: &'static str,
        revoked_because: &'static str,
    }
    let newer = Newer { token_id: "0123456789abcdef", revoked_because: "leaked" };
    let bytes = codec::to_bytes("TokenRevoked", &newer).expect("bytes");
    let read = access::Event::decode(Kind(0x1102), 1, &bytes).expect("its kind").expect("read");
    assert_eq!(read, TokenRevoked { token_id: "0123456789abcdef".to_owned() }.into());
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_itself(
        package in ".{0,40}", version in proptest::option::of(".{0,20}"), file in ".{0,60}",
        reason in ".{0,200}", revision in 0..i64::MAX,
    ) {
        let event = RegistryEvent::from(PackageBlocked {
            ecosystem: Ecosystem::Npm, package, version, file, source: "rules".to_owned(),
            rule_id: None, reason, mask: Mask::Mark, policy_revision: revision, evidence: None, published_at: None, late: false,
            profile: None, document: None,
        });
        let encoded = event.encode().expect("bytes");
        let read = RegistryEvent::decode(encoded.kind, encoded.schema, &encoded.payload);
        prop_assert_eq!(read.expect("its kind").expect("read"), event);
    }

    #[test]
    fn bytes_that_are_no_event_are_an_error_and_never_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        for info in kind::table() {
            drop(codec::payload_json(info.code, info.schema, &bytes));
        }
        drop(codec::from_bytes::<weir_events::envelope::Meta>("meta", &bytes));
    }
}
