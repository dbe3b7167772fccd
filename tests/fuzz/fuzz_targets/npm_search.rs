//! Results of a search, from the upstream's bytes to what a client gets.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use weir_events::registry::{Ecosystem, Mask};
use weir_fuzz::known;
use weir_processors::registry::npm::search::filter;

fuzz_target!(|data: &[u8]| {
    let rules = [
        ("left-pad", "*", Mask::Hide),
        ("@acme/*", ">=1", Mask::Mark),
        ("react", "<19", Mask::DenyOnly),
        ("l*", "1.x", Mask::Hide),
    ];
    let about = |name: &str| Ok(Arc::new(known(name, Ecosystem::Npm, rules)));
    if let Some(results) = filter(data, about).expect("rules") {
        serde_json::from_str::<&RawValue>(&results.page).expect("JSON");
        let again = filter(results.page.as_bytes(), about).expect("rules");
        let again = again.expect("its own results");
        assert_eq!(again.page, results.page);
        assert!(again.left_out.is_empty(), "{:?}", again.left_out);
    }
});
