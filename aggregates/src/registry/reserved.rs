//! Names that are ours: a package of one is never asked of a public registry, where anybody could
//! have put something under it (dependency confusion), and where nobody is to hear of it.
//!
//! It is no judgement on a version. So no waiver and no audit mode lets it pass: whoever wants it to
//! changes the configuration, or releases what was reserved beside it ([`listing`]), and the log says
//! who went by which.

pub mod listing;

use std::sync::Arc;

use weir_events::registry::{Ecosystem, Mask, policy::Reserved};

use super::{
    name::{normalise, pattern::Pattern},
    verdict::{Objection, RESERVED},
};

/// How many patterns there may be.
pub const MAX_RESERVED: usize = 1_000;

/// A name, or many, in the one spelling of those that mean the same. Of images it is as it is: what a
/// name without `/` reserves is more than the official image that it stands for.
#[must_use]
pub fn spelt(reserved: &Reserved) -> Reserved {
    let Reserved { ecosystem, package } = reserved;
    let package = match ecosystem {
        Ecosystem::Docker => package.clone(),
        Ecosystem::Pypi | Ecosystem::Npm | Ecosystem::Cargo | Ecosystem::Go => {
            normalise(*ecosystem, package).into_owned()
        }
    };
    Reserved { ecosystem: *ecosystem, package }
}

/// The patterns, ready to be asked.
#[derive(Debug, Clone, Default)]
pub struct Reservations(Vec<Reservation>);

#[derive(Debug, Clone)]
struct Reservation {
    ecosystem: Ecosystem,
    patterns: Vec<Pattern>,
    objection: Arc<Objection>,
}

impl Reservations {
    /// Makes patterns ready. A module's path, and the name of a repository, reserve what is below them
    /// too.
    #[must_use]
    pub fn new<'a>(reserved: impl IntoIterator<Item = &'a Reserved>) -> Self {
        Self(reserved.into_iter().map(Reservation::new).collect())
    }

    /// Whether nothing is reserved.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why a package, given by its normalised name, is not asked for; `None` if it may be.
    #[must_use]
    pub fn holding(&self, ecosystem: Ecosystem, package: &str) -> Option<&Arc<Objection>> {
        let ours = self.0.iter().filter(|reservation| reservation.ecosystem == ecosystem);
        let mut holding = ours.filter(|it| it.patterns.iter().any(|one| one.matches(package)));
        holding.next().map(|reservation| &reservation.objection)
    }
}

impl Reservation {
    fn new(reserved: &Reserved) -> Self {
        let Reserved { ecosystem, package } = reserved;
        let below = match ecosystem {
            Ecosystem::Go | Ecosystem::Docker if !package.contains('*') => {
                Some(Pattern::new(*ecosystem, &format!("{}/*", package.trim())))
            }
            _ => None,
        };
        let patterns = std::iter::once(Pattern::new(*ecosystem, package)).chain(below).collect();
        let reason = format!("`{package}` is reserved, and never asked of a public registry");
        let (source, mask) = (RESERVED.to_owned(), Mask::Hide);
        let objection = Objection { source, reason, mask, rule_id: None, cited: None };
        Self { ecosystem: *ecosystem, patterns, objection: Arc::new(objection) }
    }
}

#[cfg(test)]
mod tests {
    use weir_events::{
        registry::policy::{
            EcosystemSettings, Mode, Settings, SettingsChanged, Waiver, WaiverGranted,
        },
        timestamp::Timestamp,
    };

    use super::*;
    use crate::registry::{
        facts::Facts, name::normalise, settings::default_of, verdict::Candidate,
    };

    fn holds(ecosystem: Ecosystem, pattern: &str, package: &str) -> bool {
        let reserved = Reserved { ecosystem, package: pattern.to_owned() };
        let all = Reservations::new(&[reserved]);
        all.holding(ecosystem, &normalise(ecosystem, package)).is_some()
    }

    #[test]
    fn a_reservation_holds_what_it_names_in_any_spelling_and_nothing_else() {
        for (ecosystem, pattern, inside, outside) in [
            (
                Ecosystem::Npm,
                "@acme/*",
                &["@acme/tool", "@Acme/Tool"][..],
                &["acme", "@acme2/x"][..],
            ),
            (Ecosystem::Pypi, "acme-*", &["acme_tools", "Acme.Tools"], &["acme", "my-acme-tools"]),
            (Ecosystem::Cargo, "acme-*", &["acme_core"], &["acmecore"]),
            (
                Ecosystem::Go,
                "git.acme.example/team",
                &["git.acme.example/team", "git.acme.example/team/x/v2"],
                &["git.acme.example/teams", "git.acme.example/other"],
            ),
            (Ecosystem::Go, "*.acme.example/*", &["git.acme.example/x"], &["acme.example/x"]),
            (Ecosystem::Docker, "acme", &["acme", "acme/app", "acme/a/b"], &["library/acme2"]),
        ] {
            for name in inside {
                assert!(holds(ecosystem, pattern, name), "{ecosystem}: {pattern} {name}");
            }
            for name in outside {
                assert!(!holds(ecosystem, pattern, name), "{ecosystem}: {pattern} {name}");
            }
        }
        let npm = Reserved { ecosystem: Ecosystem::Npm, package: "acme-*".to_owned() };
        assert!(Reservations::new(&[npm]).holding(Ecosystem::Pypi, "acme-tools").is_none());
    }

    #[test]
    fn neither_a_waiver_nor_audit_mode_lets_what_is_reserved_pass() {
        let audit = EcosystemSettings { mode: Mode::Audit, ..default_of(Ecosystem::Npm) };
        let reserved = Reserved { ecosystem: Ecosystem::Npm, package: "@acme/*".to_owned() };
        let settings =
            Settings { ecosystems: vec![audit], reserved: vec![reserved], ..Settings::default() };
        let waiver = Waiver {
            id: "0193a000-0000-7000-8000-000000000002".to_owned(),
            ecosystem: Ecosystem::Npm,
            package: "*".to_owned(),
            versions: "*".to_owned(),
            waives: vec![RESERVED.to_owned()],
            token: None,
            reason: "please".to_owned(),
            owner: "ann".to_owned(),
            expires_at: Timestamp::from_micros(i64::MAX),
        };
        let (requested_by, granted_by) = ("ann".to_owned(), "bob".to_owned());
        let mut facts = Facts::default();
        facts.apply(1, &SettingsChanged { settings }.into());
        facts.apply(2, &WaiverGranted { waiver, requested_by, granted_by }.into());
        facts.settle();
        let dossier = |package: &str| facts.about(Ecosystem::Npm, package, None, Timestamp::EPOCH);
        let ours = dossier("@Acme/tool");
        let refusal = ours.judge(&Candidate::default()).refusal().cloned().unwrap();
        assert_eq!((refusal.id(), refusal.mask), (RESERVED, Mask::Hide));
        assert!(refusal.to_string().contains("`@acme/*` is reserved"), "{refusal}");
        assert_eq!(ours.objections(&Candidate::default()), [refusal]);
        assert!(!ours.is_silent() && dossier("tool").is_silent());
        assert!(facts.reserved(Ecosystem::Npm, "@ACME/x").is_some());
    }
}
