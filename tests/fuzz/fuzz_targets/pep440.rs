//! Python versions and constraints on them: a constraint in the first line, versions in the next two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::pep440::{Constraint, Version};

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(3, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (constraint, a, b) = (line(), Version::parse(line()), Version::parse(line()));

    assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
    assert_eq!(a == b, a.cmp(&b).is_eq());
    for version in [&a, &b] {
        let again = Version::parse(&version.normal());
        assert_eq!(again.normal(), version.normal());
        assert!(version.legacy() || again == *version, "{version} and {again}");
    }
    let Ok(read) = constraint.parse::<Constraint>() else { return };
    let (of_a, of_b) = (read.matches(&a), read.matches(&b));
    // `===` asks for a spelling; everything else cannot tell equal versions apart.
    if a == b && !constraint.contains("===") {
        assert_eq!(of_a, of_b, "{constraint} of {a} and {b}");
    }
});
