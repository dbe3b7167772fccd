//! Where an index says that its files are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_processors::registry::cargo::template::Template;

fuzz_target!(|dl: &str| {
    let Ok(template) = Template::new(dl) else { return };
    for (spelling, version) in [("serde", "1.0.0"), ("a", "0.1.0+b"), ("Inflector", "1.0.0-rc.1")] {
        if let Some(url) = template.file(spelling, version, &[0xab; 32]) {
            assert!(!url.as_str().is_empty());
        }
    }
});
