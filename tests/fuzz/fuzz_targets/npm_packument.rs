//! A packument, from the upstream's bytes to what a client gets in each form.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::{Ecosystem, Mask};
use weir_fuzz::known;
use weir_processors::{
    outbound::Url,
    registry::npm::{
        document::Document,
        filter::{Fate, filter},
        name::Name,
        negotiate::Form,
        render::{render, version},
    },
};

const BASE: &str = "https://weir.example/npm";

static KNOWN: LazyLock<Dossier> = LazyLock::new(|| {
    known(
        "left-pad",
        Ecosystem::Npm,
        [
            ("left-pad", ">=1.3.0", Mask::Hide),
            ("l*", "~1.2.0 || 0.x", Mask::Mark),
            ("*", "1.1.0 - 1.1.3", Mask::DenyOnly),
            ("left-pad", "=1.0.0-beta.1", Mask::Hide),
        ],
    )
});

fuzz_target!(|data: &[u8]| {
    let name = Name::new("left-pad").expect("a name");
    let url = Url::parse("https://registry.example/left-pad").expect("an address");
    let Ok(document) = Document::read(&name, &url, data) else { return };
    let filtered = filter(&document, &KNOWN);
    let n_listed = filtered.fates.iter().filter(|fate| fate.listed()).count();
    for (at, fate) in filtered.fates.iter().enumerate() {
        let one = version(&document, &filtered, at, BASE);
        if fate.listed() {
            serde_json::from_str::<&RawValue>(&one).expect("JSON");
        }
    }
    for form in [Form::Full, Form::Abbreviated] {
        let page = render(&document, &filtered, form, BASE);
        serde_json::from_str::<&RawValue>(&page).expect("JSON");
        let again = Document::read(&name, &url, page.as_bytes()).expect("a packument of ours");
        let fates = filter(&again, &KNOWN).fates;
        assert_eq!(fates.len(), n_listed, "{form:?}");
        assert!(!fates.contains(&Fate::Hide), "{form:?}");
    }
});
