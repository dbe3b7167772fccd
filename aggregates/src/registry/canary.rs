//! The canary: packages of each ecosystem that Weir has by itself and lets nobody have, whatever rules
//! and settings say. Who asks for one learns whether they ask Weir, and which: a name that nobody asked
//! for before is answered from no cache on the way, and the answer says whose log it is on.

use std::sync::Arc;

use uuid::Uuid;
use weir_events::registry::{Ecosystem, Mask};

use super::verdict::Objection;

/// The source that speaks for the canary.
pub const SOURCE: &str = "canary";

/// What is said to who asks for it. A client that prints it has asked Weir: it stands nowhere in
/// what is asked.
pub const REASON: &str = "the canary sings, so this client asks Weir";

/// The longest word that may stand behind its name.
const MAX_WORD_BYTES: usize = 32;

/// The version of it that there is; Go's begins with a `v`.
pub const VERSION: &str = "1.0.0";

/// What it is called.
#[must_use]
pub const fn package(ecosystem: Ecosystem) -> &'static str {
    match ecosystem {
        Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo => "weir-canary",
        // A module begins with a domain; nobody can ever own this one.
        Ecosystem::Go => "weir.invalid/canary",
        Ecosystem::Docker => "library/weir-canary",
    }
}

/// What it is called with a word behind its name, of which each is another: `weir-canary-0a1b`.
#[must_use]
pub fn package_with(ecosystem: Ecosystem, word: &str) -> String {
    format!("{}-{word}", package(ecosystem))
}

/// Whether a package, given by its normalised name, is one of them.
#[must_use]
pub fn is(ecosystem: Ecosystem, package: &str) -> bool {
    let Some(rest) = package.strip_prefix(self::package(ecosystem)) else { return false };
    let word = |word: &str| {
        (1..=MAX_WORD_BYTES).contains(&word.len())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    rest.is_empty() || rest.strip_prefix('-').is_some_and(word)
}

/// What a Weir calls itself: the end of its log's id, as short as a person can compare.
#[must_use]
pub fn signature(incarnation: Uuid) -> String {
    let digits = incarnation.simple().to_string();
    digits.chars().skip(20).collect()
}

/// What is said against a package, given by its normalised name, if it is the canary; signed, where it
/// is known by whom.
pub(super) fn objection(
    ecosystem: Ecosystem,
    package: &str,
    signature: Option<&str>,
) -> Option<Arc<Objection>> {
    is(ecosystem, package).then(|| {
        let signature = signature.map(|signature| format!(" {signature}")).unwrap_or_default();
        Arc::new(Objection {
            source: SOURCE.to_owned(),
            reason: format!("{REASON}{signature}"),
            // Listed, so that clients come to ask for its file.
            mask: Mask::DenyOnly,
            rule_id: None,
            cited: None,
        })
    })
}

#[cfg(test)]
mod tests {
    use weir_events::{
        registry::policy::{EcosystemSettings, Mode, Settings, SettingsChanged},
        timestamp::Timestamp,
    };

    use super::*;
    use crate::registry::{facts::Facts, name::normalise, settings, verdict::Candidate};

    #[test]
    fn it_is_refused_by_every_spelling_and_nothing_else_is() {
        let facts = Facts::default();
        for (ecosystem, asked) in [
            (Ecosystem::Pypi, "Weir_Canary"),
            (Ecosystem::Npm, "weir-canary"),
            (Ecosystem::Cargo, "weir-canary"),
            (Ecosystem::Go, "weir.invalid/canary"),
            (Ecosystem::Docker, "weir-canary"),
        ] {
            assert_eq!(normalise(ecosystem, asked), package(ecosystem));
            let about = |package| facts.about(ecosystem, package, None, Timestamp::EPOCH);
            let (canary, other) = (about(asked), about("weir-canaries"));
            assert!(!canary.is_silent() && other.is_silent());
            let refused = canary.judge(&Candidate::default());
            let told = refused.refusal().unwrap().to_string();
            assert_eq!(told, format!("Blocked by Weir: {REASON} (canary)"));
            assert_eq!(canary.objections(&Candidate::default()).len(), 1);
            assert!(other.judge(&Candidate::default()).allowed());
            assert_ne!(canary.key, other.key);
        }
    }

    #[test]
    fn each_word_is_another_canary_and_the_answer_is_signed() {
        let incarnation = Uuid::from_u128(0x0197_0000_0000_7000_8000_0a1b_2c3d_4e5f);
        assert_eq!(signature(incarnation), "0a1b2c3d4e5f");
        let facts = Facts::default().signed(signature(incarnation));
        for ecosystem in Ecosystem::ALL {
            let named = package_with(ecosystem, "0a1b");
            assert_eq!(normalise(ecosystem, &named), named);
            let canary = facts.about(ecosystem, &named, None, Timestamp::EPOCH);
            let told = canary.judge(&Candidate::default()).refusal().unwrap().to_string();
            assert_eq!(told, format!("Blocked by Weir: {REASON} 0a1b2c3d4e5f (canary)"));
            let long = "a".repeat(MAX_WORD_BYTES + 1);
            for word in ["", "A", "a-b", "a.b", &long] {
                assert!(!is(ecosystem, &package_with(ecosystem, word)), "{word}");
            }
        }
    }

    #[test]
    fn neither_an_audit_nor_another_day_lets_it_pass() {
        let mut facts = Facts::default();
        let own = settings::default_of(Ecosystem::Npm);
        let own = EcosystemSettings { mode: Mode::Audit, ..own };
        let settings = Settings { ecosystems: vec![own], ..Settings::default() };
        facts.apply(1, &SettingsChanged { settings }.into());
        facts.settle();
        let canary = facts.about(Ecosystem::Npm, "weir-canary", None, Timestamp::EPOCH);
        let canary = canary.as_of(Timestamp::EPOCH);
        let refused = canary.judge(&Candidate::default());
        assert_eq!(refused.refusal().unwrap().mask, Mask::DenyOnly);
    }
}
