//! A project's page in JSON, from the upstream's bytes to what a client gets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_fuzz::{judge_and_render, project, url};
use weir_processors::registry::pypi::json;

fuzz_target!(|page: &[u8]| {
    if let Ok(document) = json::parse(&project(), &url(), page) {
        judge_and_render(&document);
    }
});
