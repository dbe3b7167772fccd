//! A crate's list in a sparse index, from the upstream's bytes to what cargo gets.
#![no_main]

use std::sync::LazyLock;

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::{Ecosystem, Mask};
use weir_fuzz::known;
use weir_processors::registry::cargo::{
    document::parse,
    filter::{Fate, filter},
    lists::render,
    name::Name,
};

static KNOWN: LazyLock<Dossier> = LazyLock::new(|| {
    known(
        "serde",
        Ecosystem::Cargo,
        [
            ("serde", ">=1.0.200", Mask::Hide),
            ("s*", "^1.0.100", Mask::Mark),
            ("*", "0.9", Mask::DenyOnly),
            ("serde", "=1.0.0-rc.1", Mask::Hide),
        ],
    )
});

fuzz_target!(|data: &[u8]| {
    let name = Name::new("serde").expect("a name");
    let Ok(document) = parse(&name, &Bytes::copy_from_slice(data)) else { return };
    let filtered = filter(&document, &KNOWN);
    let n_listed = filtered.lines.iter().filter(|fate| **fate != Fate::Hide).count();
    let again = parse(&name, &render(&document, &filtered)).expect("a list of ours");
    assert_eq!((again.lines.len(), again.n_unreadable), (n_listed, 0));
    let kept = document.lines.iter().zip(&filtered.lines).filter(|(_, fate)| **fate != Fate::Hide);
    for ((was, fate), is) in kept.zip(&again.lines) {
        assert_eq!((&was.version, was.cksum), (&is.version, is.cksum));
        // What is marked is yanked for every cargo there is.
        assert_eq!(is.yanked, was.yanked || *fate == Fate::Mark, "{}", is.version.as_str());
    }
    assert!(!filter(&again, &KNOWN).lines.contains(&Fate::Hide));
});
