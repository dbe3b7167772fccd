//! The operator's blocklist: a list that is taken holds together and is the same read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::check;
use weir_processors::registry::sources::blocklist::parse;

fuzz_target!(|text: &str| match parse("list.yaml", text) {
    Ok(rules) => {
        assert!(rules.iter().all(|rule| check(rule).is_ok()));
        assert_eq!(parse("list.yaml", text).expect("the same list"), rules);
    }
    Err(fault) => assert!(fault.to_string().starts_with("list.yaml")),
});
