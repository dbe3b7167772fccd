//! `policy`: how packages are judged beside the rules.

use weir_events::registry::{
    Mask,
    advisory::{OPENSSF, OSV, Severity},
    policy::{EcosystemSettings, Floor, Masks, Mode, Required, Settings, Unrated},
};

use super::Config;
use super::profiles::ProfileEntry;
use super::section::section;
use super::sources::{Sources, Watched, ecosystems};

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
        /// `min_age_hours` and `severity_floor`, each as far as it is stricter.
        profiles: Vec<ProfileEntry> = Vec::new(),
    }
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
