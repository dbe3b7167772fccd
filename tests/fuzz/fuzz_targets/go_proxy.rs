//! What a module proxy says, from the upstream's bytes to what the go command gets.
#![no_main]

use std::sync::LazyLock;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::{Ecosystem, Mask};
use weir_fuzz::known;
use weir_processors::registry::go::{
    document::{Info, List},
    filter::filter,
    lists::render,
    module::{Canonical, Module, Query},
    sumdb::{Asked, sum_in},
};

const MODULE: &str = "example.com/m";

static KNOWN: LazyLock<Dossier> = LazyLock::new(|| {
    known(
        MODULE,
        Ecosystem::Go,
        [
            (MODULE, ">=v1.2.0", Mask::Hide),
            ("example.com/*", "v1.1.0", Mask::Mark),
            ("*", "<v0.9.0", Mask::DenyOnly),
            (MODULE, "v1.0.0-rc.1", Mask::Hide),
        ],
    )
});

fuzz_target!(|data: &[u8]| {
    let module = Module::new(MODULE).expect("a module");
    if let Ok(list) = List::read(&module, data) {
        let filtered = filter(&list, &KNOWN, None);
        let again = List::read(&module, &render(&list, &filtered)).expect("a list of ours");
        assert_eq!(again.versions.len(), filtered.stays.iter().filter(|stays| **stays).count());
        assert!(filter(&again, &KNOWN, None).hidden.is_empty());
    }
    let version = Canonical::new("v1.0.0").expect("a version");
    drop(sum_in(data, &module, &version));
    let body = Bytes::copy_from_slice(data);
    for query in [Query::Latest, Query::Named("v1.0.0".into())] {
        if let Ok(info) = Info::read(&query, &body) {
            let again = Canonical::new(info.version.as_str());
            assert_eq!(again.as_ref(), Some(&info.version));
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        if let Some(module) = Module::read(text) {
            assert_eq!(module.escaped(), text);
        }
        if let Some((_, asked)) = Asked::read(text) {
            assert!(!asked.to_string().contains(".."));
        }
    }
});
