//! Versions of every ecosystem and constraints on them: an ecosystem, a constraint, three versions, a
//! line each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_aggregates::registry::{constraint::Constraint, version::Version};
use weir_events::registry::Ecosystem;

fuzz_target!(|text: &str| {
    let mut lines = text.splitn(5, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let Some(ecosystem) = Ecosystem::find(line()) else { return };
    let constraint = line();
    let [a, b, c] = [line(), line(), line()].map(|text| Version::parse(ecosystem, text));

    assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
    assert_eq!(a == b, a.cmp(&b).is_eq());
    assert!(!(a <= b && b <= c) || a <= c);
    assert!(!(a >= b && b >= c) || a >= c);
    let again = Version::parse(ecosystem, a.as_str());
    assert_eq!((again.as_str(), &again), (a.as_str(), &a));

    let Ok(read) = Constraint::parse(ecosystem, constraint) else { return };
    let (of_a, of_b) = (read.matches(&a), read.matches(&b));
    // `===` asks for a spelling; everything else cannot tell equal versions apart.
    if a == b && !constraint.contains("===") {
        assert_eq!(of_a, of_b, "{constraint} of {} and {}", a.as_str(), b.as_str());
    }
    assert!(!read.everything() || (of_a && of_b));
});
