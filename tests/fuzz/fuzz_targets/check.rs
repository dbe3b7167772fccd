//! Lock files, requirements, bills of materials and package URLs, each text as a file of every kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::name::{normalise, valid};
use weir_processors::registry::check::{Kind, Listing, read};

fuzz_target!(|text: &str| {
    for kind in Kind::ALL.map(Some).into_iter().chain([None]) {
        match read(kind, text) {
            Ok((_, listing)) => holds(&listing),
            Err(fault) => assert!(!fault.to_string().is_empty()),
        }
    }
    let mut listing = Listing::default();
    for line in text.lines().take(100) {
        listing.purl(line).expect("few enough");
    }
    holds(&listing);
});

fn holds(listing: &Listing) {
    for (it, _) in listing.components() {
        assert!(valid(it.ecosystem, &it.package) && !it.version.is_empty());
        assert_eq!(normalise(it.ecosystem, &it.package), it.package);
    }
    assert!(listing.unjudged().all(|it| !it.reason.is_empty()));
}
