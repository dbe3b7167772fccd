//! Questions about what is known against packages, plain and packed.
#![no_main]

use std::sync::Arc;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use weir_events::registry::{Ecosystem, Mask};
use weir_fuzz::known;
use weir_processors::registry::npm::{audit::answer, request::Audit};

fuzz_target!(|data: &[u8]| {
    let rules = [
        ("left-pad", ">=1.3.0", Mask::Hide),
        ("@acme/*", "*", Mask::Mark),
        ("*", "1.1.0 - 1.1.3", Mask::DenyOnly),
        ("l*", "0.x", Mask::Hide),
    ];
    let about = |name: &str| Ok(Arc::new(known(name, Ecosystem::Npm, rules)));
    let body = Bytes::copy_from_slice(data);
    for kind in [Audit::Bulk, Audit::Quick] {
        for gzip in [false, true] {
            if let Err(fault) = answer(kind, &body, gzip, about, "https://weir.example/npm") {
                assert!(!fault.to_string().is_empty());
            }
        }
    }
});
