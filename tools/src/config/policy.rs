//! `policy`: how packages are judged beside the rules.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use weir_aggregates::registry::{name::pattern::Pattern, reserved::spelt};
use weir_events::registry::{
    Ecosystem, Mask,
    advisory::{OPENSSF, OSV, Severity},
    policy::{EcosystemSettings, Floor, Masks, Mode, Required, Reserved, Settings, Trust, Unrated},
};
use weir_processors::registry::patience::MAX_WAIT;

use super::Config;
use super::licences::Licences;
use super::lookalikes::Lookalikes;
use super::profiles::ProfileEntry;
use super::reaction::Consequence;
use super::section::section;
use super::sources::{Sources, Watched, ecosystems};
use super::value::Span;

section! {
    /// How packages are judged beside the rules. What stands here when a Weir starts is recorded, and
    /// holds on every instance from then on.
    Policy at "policy" {
        /// The least severity of a vulnerability that counts: low, medium, high or critical.
        severity_floor: Severity = Severity::Medium,
        /// What becomes of a vulnerability that nobody rated: `block` or `allow`.
        unrated: Unrated = Unrated::Block,
        /// How vulnerable versions look in lists: mark, hide or deny-only.
        vulnerability_mask: Mask = Mask::Mark,
        /// How malware looks in lists.
        malware_mask: Mask = Mask::Hide,
        /// How versions younger than the minimum age look in lists.
        young_mask: Mask = Mask::Mark,
        /// Whether every waiver needs a second person; one for malware always does.
        second_person: bool = false,
        /// Profiles: stricter policies that tokens can name. Those that stand here are set again at
        /// each start; others are kept. As `[{name: agent, min_age_hours: 168}]`, with `mode`,
        /// `min_age_hours` and `severity_floor`, each as far as it is stricter, and `quota`, with
        /// `downloads_per_hour`, `downloads_per_day` and `bytes_per_day`,
        /// and `hold`, of new-package, new-version and advisory.
        profiles: Vec<ProfileEntry> = Vec::new(),
        /// Names of your own, as `ecosystem:pattern`: `npm:@acme/*`, `pypi:acme-*`,
        /// `go:git.acme.example` and what is below it. No public registry is ever asked for them or
        /// hears of them, and no waiver and no audit mode changes that.
        reserved: Vec<Reservation> = Vec::new(),
        /// What becomes of a version of npm or PyPI that has no provenance, or no trusted publisher, where
        /// one before it had, and of a file that is added without one to a version that came with it:
        /// `off`, `warn` or `block`. What a list does not tell is not missed.
        provenance: Consequence = Consequence::OFF,
        /// What becomes of a version of npm that somebody published who had neither published nor
        /// maintained one before it: `off`, `warn` or `block`. It makes nobody known until it has stood
        /// for 30 days.
        publisher: Consequence = Consequence::OFF,
        sections {
            holds: Holds,
            licences: Licences,
            lookalikes: Lookalikes,
        }
    }
}

section! {
    /// What a profile has a person answer before it passes.
    Holds at "policy.holds" {
        /// How long a download waits for the answer before it is refused, up to 5m. Less than what the
        /// clients wait for an answer themselves (pip: 15s), or they ask again.
        wait: Wait = Wait(Duration::ZERO),
    }
}

/// How long a request waits for a person: no longer than anybody should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait(pub(crate) Duration);

impl FromStr for Wait {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Span(span) = text.parse()?;
        if MAX_WAIT < span {
            return Err(format!("`{text}` is too long: {} at most", Span(MAX_WAIT)));
        }
        Ok(Self(span))
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

/// A name, or many, of an ecosystem: `npm:@acme/*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reservation(pub(crate) Reserved);

impl FromStr for Reservation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (ecosystem, package) = text.split_once(':').unwrap_or_default();
        let Some(ecosystem) = Ecosystem::find(ecosystem) else {
            let all = Ecosystem::ALL.map(Ecosystem::as_str).join(", ");
            return Err(format!("`{text}` is not `ecosystem:pattern`; there are {all}"));
        };
        match Pattern::objection(ecosystem, package) {
            Some(cause) => Err(format!("`{package}` is no pattern of {ecosystem}: {cause}")),
            None => Ok(Self(spelt(&Reserved { ecosystem, package: package.to_owned() }))),
        }
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.ecosystem, self.0.package)
    }
}

super::value::as_text!(Reservation, Wait);

/// The names, each once.
fn once(reserved: &[Reservation]) -> Vec<Reserved> {
    let mut names: Vec<Reserved> = Vec::new();
    for Reservation(reserved) in reserved {
        if !names.contains(reserved) {
            names.push(reserved.clone());
        }
    }
    names
}

impl Config {
    /// What is recorded of it.
    pub(crate) fn policy_settings(&self) -> Settings {
        let Policy {
            severity_floor,
            unrated,
            vulnerability_mask,
            malware_mask,
            young_mask,
            second_person,
            profiles: _,
            ref reserved,
            holds: _,
            provenance,
            publisher,
            ref licences,
            ref lookalikes,
        } = self.policy;
        let of = |registry: super::registries::Registry<'_>| EcosystemSettings {
            ecosystem: registry.ecosystem,
            mode: registry.mode,
            min_age_hours: registry.min_age_hours,
            fix_exemption: registry.fix_exemption,
        };
        let masks =
            Masks { vulnerability: vulnerability_mask, malware: malware_mask, young: young_mask };
        // Those that say what nobody has to say are left out: the default changes nothing.
        let plain = |own: &EcosystemSettings| {
            own.mode == Mode::Enforce && own.min_age_hours == 0 && own.fix_exemption
        };
        let ecosystems = self.registries.all().map(of).into_iter().filter(|own| !plain(own));
        Settings {
            severity_floor: Floor(severity_floor),
            unrated,
            masks,
            ecosystems: ecosystems.collect(),
            required: self.required(),
            second_person,
            reserved: once(reserved),
            trust: Trust { provenance: provenance.0, publisher: publisher.0 },
            licences: licences.settings(),
            lookalikes: lookalikes.settings(),
        }
    }

    /// The sources that must have been read once before anything passes: those that are visited.
    fn required(&self) -> Vec<Required> {
        let Sources { osv, openssf, .. } = &self.sources;
        let osv = (OSV, osv.enabled && osv.must_be_read, &osv.ecosystems);
        let openssf = (OPENSSF, openssf.enabled && openssf.must_be_read, &openssf.ecosystems);
        let required = [osv, openssf].into_iter().filter(|(_, required, _)| *required);
        let of = |(source, _, watched): (&str, _, &Vec<Watched>)| {
            let source = source.to_owned();
            let each = |ecosystem| Required { source: source.clone(), ecosystem };
            ecosystems(watched).into_iter().map(each).collect::<Vec<_>>()
        };
        required.flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_ever() {
        let read: Wait = "20s".parse().unwrap();
        assert_eq!((read.0, read.to_string()), (Duration::from_secs(20), "20s".to_owned()));
        assert_eq!("301s".parse::<Wait>().unwrap_err(), "`301s` is too long: 5m at most");
        assert!("20".parse::<Wait>().is_err());
        assert_eq!(Policy::default().holds.wait.0, Duration::ZERO);
    }

    #[test]
    fn a_reservation_is_a_pattern_of_an_ecosystem() {
        for text in ["npm:@acme/*", "pypi:acme-*", "go:git.acme.example", "docker:acme"] {
            let read: Reservation = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        let same: Vec<Reservation> =
            ["pypi:Foo_Bar", "pypi:foo-bar"].map(|text| text.parse().unwrap()).to_vec();
        let package = "foo-bar".to_owned();
        assert_eq!(once(&same), [Reserved { ecosystem: Ecosystem::Pypi, package }]);
        for (text, why) in [
            ("@acme/*", "`@acme/*` is not `ecosystem:pattern`"),
            ("gem:acme", "there are pypi, npm, cargo, go, docker"),
            ("npm:@acme", "`@acme` is no pattern of npm: no package can have such a name"),
            ("npm:", "it is empty"),
        ] {
            let fault = text.parse::<Reservation>().unwrap_err();
            assert!(fault.contains(why), "{fault}");
        }
    }
}
