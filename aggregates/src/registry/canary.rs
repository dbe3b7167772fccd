//! The canary: a package of each ecosystem that Weir has by itself and lets nobody have, whatever
//! rules and settings say. Who asks for it learns whether they ask Weir.

use std::sync::Arc;

use weir_events::registry::{Ecosystem, Mask};

use super::verdict::Objection;

/// The source that speaks for the canary.
pub const SOURCE: &str = "canary";

/// What is said to who asks for it. A client that prints it has asked Weir: it stands nowhere in
/// what is asked.
pub const REASON: &str = "the canary sings, so this client asks Weir";

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

/// What is said against a package, given by its normalised name, if it is the canary.
pub(super) fn objection(ecosystem: Ecosystem, package: &str) -> Option<Arc<Objection>> {
    (package == self::package(ecosystem)).then(|| {
        Arc::new(Objection {
            source: SOURCE.to_owned(),
            reason: REASON.to_owned(),
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
