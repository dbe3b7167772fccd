//! What is tried: rules beside those in force, some of those left out, some settings other than they
//! are. What is not named stays as it is.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use weir_events::registry::{
    Ecosystem, Mask, Rule,
    advisory::Severity,
    policy::{Floor, Lookalikes, Mode, Reserved, Settings, Unrated},
};

use crate::registry::{
    dossier::Dossier, lookalike, name::normalise, reserved::Reservations, rule::RuleSet, settings,
};

/// Settings that would be other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The least severity of a vulnerability that counts.
    pub severity_floor: Option<Severity>,
    /// What becomes of a vulnerability that nobody rated.
    pub unrated: Option<Unrated>,
    /// How vulnerable versions look in lists.
    pub vulnerability_mask: Option<Mask>,
    /// How malware looks in lists.
    pub malware_mask: Option<Mask>,
    /// How versions younger than the minimum age look in lists.
    pub young_mask: Option<Mask>,
    /// What would be other for one ecosystem.
    pub ecosystems: BTreeMap<Ecosystem, EcosystemChanges>,
}

/// Settings of one ecosystem that would be other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EcosystemChanges {
    /// Whether a "no" is acted upon.
    pub mode: Option<Mode>,
    /// How old a version must be, in hours.
    pub min_age_hours: Option<u32>,
    /// Whether a version that fixes an advisory may be younger.
    pub fix_exemption: Option<bool>,
}

impl Changes {
    /// Settings with these changes.
    #[must_use]
    pub fn over(&self, settings: &Settings) -> Settings {
        let mut changed = settings.clone();
        let set = |to: &mut Mask, mask: Option<Mask>| *to = mask.unwrap_or(*to);
        set(&mut changed.masks.vulnerability, self.vulnerability_mask);
        set(&mut changed.masks.malware, self.malware_mask);
        set(&mut changed.masks.young, self.young_mask);
        changed.severity_floor = self.severity_floor.map_or(changed.severity_floor, Floor);
        changed.unrated = self.unrated.unwrap_or(changed.unrated);
        for (ecosystem, own) in &self.ecosystems {
            let mut of = settings::of(settings, *ecosystem);
            of.mode = own.mode.unwrap_or(of.mode);
            of.min_age_hours = own.min_age_hours.unwrap_or(of.min_age_hours);
            of.fix_exemption = own.fix_exemption.unwrap_or(of.fix_exemption);
            changed.ecosystems.retain(|other| other.ecosystem != *ecosystem);
            changed.ecosystems.push(of);
        }
        changed
    }
}

/// What is tried.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    changes: Changes,
    rules: RuleSet,
    without: BTreeSet<String>,
    reserved: Reservations,
    lookalikes: Option<(Lookalikes, lookalike::Lookalikes)>,
}

impl Trial {
    /// Settings that would be other, rules beside those in force, and the ids of rules that would not
    /// be there any more: an operator's or the blocklist's.
    #[must_use]
    pub fn new(changes: Changes, rules: &[Rule], without: BTreeSet<String>) -> Self {
        let rules = RuleSet::compile(0, rules);
        let (reserved, lookalikes) = (Reservations::default(), None);
        Self { changes, rules, without, reserved, lookalikes }
    }

    /// The same, with names that would be reserved beside those that are.
    #[must_use]
    pub fn reserving(self, reserved: &[Reserved]) -> Self {
        Self { reserved: Reservations::new(reserved), ..self }
    }

    /// The same, with names that would be looked after instead of those that are.
    #[must_use]
    pub fn looking_after(self, lookalikes: Lookalikes, reserved: &[Reserved]) -> Self {
        let ready = lookalike::Lookalikes::new(&lookalikes, reserved);
        Self { lookalikes: Some((lookalikes, ready)), ..self }
    }

    /// Settings that would be other.
    #[must_use]
    pub const fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Rules beside those in force.
    #[must_use]
    pub const fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Rules that would not be there any more.
    #[must_use]
    pub const fn without(&self) -> &BTreeSet<String> {
        &self.without
    }

    /// Whether the age of an ecosystem's versions would count by it.
    #[must_use]
    pub fn counts_age(&self, ecosystem: Ecosystem) -> bool {
        let own = self.changes.ecosystems.get(&ecosystem);
        own.and_then(|own| own.min_age_hours).is_some_and(|hours| hours > 0)
    }

    /// Whether nothing would be other.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes == Changes::default()
            && self.rules.is_empty()
            && self.without.is_empty()
            && self.reserved.is_empty()
            && self.lookalikes.is_none()
    }
}

impl Dossier {
    /// What would be known about the package, given by its normalised name, if a trial were in force.
    /// The key is that of no dossier in force: what is judged by it is not to be kept.
    pub(super) fn tried(&self, trial: &Trial, package: &str) -> Self {
        let mut tried = self.clone();
        tried.rules.retain(|rule| !trial.without.contains(&rule.rule.id));
        tried.rules.extend(trial.rules.about(self.ecosystem, &normalise(self.ecosystem, package)));
        tried.rules.sort_by(|a, b| a.rank().cmp(&b.rank()));
        if trial.changes != Changes::default() {
            let over = |settings: &Settings| trial.changes.over(settings);
            tried.settings = Arc::new(match &self.bound {
                Some(bound) => bound.over(over),
                None => over(&self.settings),
            });
        }
        if let Some(ours) =
            trial.reserved.holding(self.ecosystem, &normalise(self.ecosystem, package))
        {
            tried.reserved = Some(Arc::clone(ours));
        }
        if let Some((lookalikes, ready)) = &trial.lookalikes {
            let lookalikes = lookalikes.clone();
            tried.settings = Arc::new(Settings { lookalikes, ..Settings::clone(&tried.settings) });
            tried.lookalike = ready.objection(self.ecosystem, &normalise(self.ecosystem, package));
        }
        let mut hasher = blake3::Hasher::new_derive_key("weir registry dossier of a trial v1");
        hasher.update(self.key.as_bytes());
        tried.key = hasher.finalize();
        tried
    }
}

#[cfg(test)]
mod tests {
    use weir_events::registry::policy::EcosystemSettings;

    use super::*;
    use crate::registry::settings::default_of;

    #[test]
    fn what_is_not_named_stays_as_it_is() {
        let strict = EcosystemSettings { min_age_hours: 72, ..default_of(Ecosystem::Npm) };
        let settings = Settings {
            ecosystems: vec![strict],
            severity_floor: Floor(Severity::High),
            second_person: true,
            ..Settings::default()
        };
        assert_eq!(Changes::default().over(&settings), settings);
        let audited = EcosystemChanges { mode: Some(Mode::Audit), ..EcosystemChanges::default() };
        let young = EcosystemChanges { fix_exemption: Some(false), ..EcosystemChanges::default() };
        let changes = Changes {
            unrated: Some(Unrated::Allow),
            malware_mask: Some(Mask::DenyOnly),
            ecosystems: [(Ecosystem::Npm, audited), (Ecosystem::Go, young)].into(),
            ..Changes::default()
        };
        let changed = changes.over(&settings);
        let of = |ecosystem| settings::of(&changed, ecosystem);
        assert_eq!(of(Ecosystem::Npm), EcosystemSettings { mode: Mode::Audit, ..strict });
        let without = EcosystemSettings { fix_exemption: false, ..default_of(Ecosystem::Go) };
        assert_eq!(of(Ecosystem::Go), without);
        assert_eq!(changed.ecosystems.len(), 2, "an ecosystem stands there once");
        assert_eq!(
            (changed.severity_floor, changed.unrated),
            (Floor(Severity::High), Unrated::Allow)
        );
        assert_eq!((changed.masks.malware, changed.masks.young), (Mask::DenyOnly, Mask::Mark));
        assert!(changed.second_person);
    }
}
