//! All that decides about packages, folded from the log: rules, blocklist, advisories, waivers,
//! settings. What of it concerns one package is its [`Dossier`].

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use blake3::{Hash, Hasher};
use weir_events::{
    registry::{Ecosystem, Event, Mask, policy::Settings, profile::Profile},
    timestamp::Timestamp,
};

use super::{
    Firewall, State,
    advisory::set::AdvisorySet,
    blocklist::{self, Blocklist},
    canary,
    dossier::Dossier,
    hold::{self, Holds},
    licence::Licences,
    lookalike::Lookalikes,
    name::normalise,
    profile::{self, CompiledProfile, Profiles},
    reserved::{
        Reservations,
        listing::{self, Reserving},
    },
    rule::{CompiledRule, RuleSet},
    settings::{self, Keeping},
    verdict::{BLOCKLIST, Objection},
    waiver::{self, CompiledWaiver, Waivers},
};
use crate::machine::Machine;

/// All that decides about packages, as of one position of the log.
#[derive(Debug, Default)]
pub struct Facts {
    revision: i64,
    rules: State,
    compiled: RuleSet,
    blocklist: blocklist::State,
    compiled_blocklist: RuleSet,
    advisories: AdvisorySet,
    waivers: waiver::State,
    compiled_waivers: Vec<Arc<CompiledWaiver>>,
    profiles: profile::State,
    holds: hold::State,
    compiled_profiles: Option<BTreeMap<String, Arc<CompiledProfile>>>,
    settings: Arc<Settings>,
    settings_digest: Option<Hash>,
    licences: Arc<Licences>,
    lookalikes: Lookalikes,
    names: listing::State,
    reservations: Reservations,
    signature: Option<String>,
    read: BTreeSet<(String, Option<Ecosystem>)>,
    unsettled: Unsettled,
}

/// What has to be made ready again.
#[derive(Debug, Default)]
struct Unsettled {
    rules: bool,
    blocklist: bool,
    waivers: bool,
}

impl Facts {
    /// Facts of rules alone, as of a revision.
    #[must_use]
    pub fn of_rules(compiled: RuleSet) -> Self {
        Self { revision: compiled.revision, compiled, ..Self::default() }
    }

    /// The same, of a Weir that calls itself this.
    #[must_use]
    pub fn signed(self, signature: String) -> Self {
        Self { signature: Some(signature), ..self }
    }

    /// The position of the last event that changed something.
    #[must_use]
    pub const fn revision(&self) -> i64 {
        self.revision
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &State {
        &self.rules
    }

    /// Whether a rule of an operator or of the blocklist has this id.
    #[must_use]
    pub fn has_rule(&self, id: &str) -> bool {
        self.rules.rule(id).is_some() || self.blocklist.rule(id).is_some()
    }

    /// The blocklist.
    #[must_use]
    pub const fn blocklist(&self) -> &blocklist::State {
        &self.blocklist
    }

    /// The advisories.
    #[must_use]
    pub const fn advisories(&self) -> &AdvisorySet {
        &self.advisories
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The waivers.
    #[must_use]
    pub const fn waivers(&self) -> &waiver::State {
        &self.waivers
    }

    /// The profiles.
    #[must_use]
    pub const fn profiles(&self) -> &profile::State {
        &self.profiles
    }

    /// The holds.
    #[must_use]
    pub const fn holds(&self) -> &hold::State {
        &self.holds
    }

    /// A profile, ready for judging.
    pub(super) fn compiled_profile(&self, name: &str) -> Option<&Arc<CompiledProfile>> {
        self.compiled_profiles.as_ref()?.get(name)
    }

    /// Whether a second person has to grant a waiver of these, by id or alias: where the settings
    /// say so, and where one of them is malware.
    #[must_use]
    pub fn needs_second_person(&self, ecosystem: Ecosystem, waives: &[String]) -> bool {
        self.settings.second_person || self.advisories.any_is_malware(ecosystem, waives)
    }

    /// Folds an event that stands at a position. To be followed by [`Facts::settle`], once for many.
    pub fn apply(&mut self, position: i64, event: &Event) {
        match event {
            Event::RuleAdded(_) | Event::RuleChanged(_) | Event::RuleRemoved(_) => {
                Firewall::apply(&mut self.rules, event);
                self.unsettled.rules = true;
            }
            Event::BlocklistRuleAdded(_) | Event::BlocklistRuleRemoved(_) => {
                Blocklist::apply(&mut self.blocklist, event);
                self.unsettled.blocklist = true;
            }
            Event::AdvisoryPublished(_)
            | Event::AdvisoryChanged(_)
            | Event::AdvisoryWithdrawn(_) => self.advisories.apply(event),
            Event::WaiverRequested(_)
            | Event::WaiverGranted(_)
            | Event::WaiverRevoked(_)
            | Event::WaiverExpired(_) => {
                Waivers::apply(&mut self.waivers, event);
                self.unsettled.waivers = true;
            }
            Event::SettingsChanged(_) => {
                let mut state = settings::State::default();
                Keeping::apply(&mut state, event);
                self.settings = Arc::new(state.settings);
                self.settings_digest = None;
                self.compiled_profiles = None;
            }
            Event::PackageRequested(_) | Event::HoldAnswered(_) => {
                Holds::apply(&mut self.holds, event);
            }
            Event::NameReserved(_) | Event::NameReleased(_) => {
                Reserving::apply(&mut self.names, event);
                self.settings_digest = None;
            }
            Event::ProfileSet(_) | Event::ProfileRemoved(_) => {
                Profiles::apply(&mut self.profiles, event);
                self.compiled_profiles = None;
            }
            Event::SyncSucceeded(succeeded) => {
                if !self.read.insert((succeeded.source.clone(), succeeded.ecosystem)) {
                    return;
                }
            }
            // What happened to packages: nothing is gone by it.
            _ => return,
        }
        self.revision = self.revision.max(position);
    }

    /// Makes what was folded ready for judging.
    pub fn settle(&mut self) {
        if std::mem::take(&mut self.unsettled.rules) {
            self.compiled = self.rules.compile(self.revision);
        }
        if std::mem::take(&mut self.unsettled.blocklist) {
            let rules = self.blocklist.rules();
            self.compiled_blocklist = RuleSet::compile_of(BLOCKLIST, self.revision, rules);
        }
        if std::mem::take(&mut self.unsettled.waivers) {
            self.compiled_waivers = self.waivers.granted().map(Arc::new).collect();
        }
        if self.compiled_profiles.is_none() {
            let compiled = |profile: &Profile| {
                (profile.name.clone(), Arc::new(CompiledProfile::new(profile, &self.settings)))
            };
            self.compiled_profiles = Some(self.profiles.profiles().map(compiled).collect());
        }
        if self.settings_digest.is_none() {
            let settings = format!("{:?} {:?}", self.settings, self.names);
            self.settings_digest = Some(blake3::hash(settings.as_bytes()));
            self.licences = Arc::new(Licences::new(&self.settings.licences));
            let reserved: Vec<_> =
                self.settings.reserved.iter().chain(self.names.names()).collect();
            self.reservations = Reservations::new(reserved.iter().copied());
            self.lookalikes = Lookalikes::new(&self.settings.lookalikes, reserved);
        }
    }

    /// What is known about a package, given by its name in any spelling, for who has this token.
    #[must_use]
    pub fn about(
        &self,
        ecosystem: Ecosystem,
        package: &str,
        token: Option<&str>,
        now: Timestamp,
    ) -> Dossier {
        let package = normalise(ecosystem, package);
        let mut rules = self.compiled.about(ecosystem, &package);
        rules.extend(self.compiled_blocklist.about(ecosystem, &package));
        rules.sort_by(|a, b| a.rank().cmp(&b.rank()));
        let said = self.advisories.said(ecosystem, &package);
        let concerns = |waiver: &&Arc<CompiledWaiver>| {
            let CompiledWaiver { waiver, pattern, .. } = &***waiver;
            waiver.ecosystem == ecosystem
                && waiver.expires_at > now
                && waiver.token.as_deref().is_none_or(|own| Some(own) == token)
                && pattern.matches(&package)
        };
        let waivers: Vec<_> =
            self.compiled_waivers.iter().filter(concerns).map(Arc::clone).collect();
        let unread = self.unread(ecosystem);
        let canary = canary::objection(ecosystem, &package, self.signature.as_deref());
        let mut hasher = Hasher::new_derive_key("weir registry dossier v1");
        if let Some(settings) = &self.settings_digest {
            hasher.update(settings.as_bytes());
        }
        for rule in &rules {
            hasher.update(rule.digest().as_bytes());
        }
        if let Some(said) = said.digest() {
            hasher.update(b"said").update(said.as_bytes());
        }
        for waiver in &waivers {
            hasher.update(b"waiver").update(waiver.waiver.id.as_bytes());
        }
        if let Some(unread) = &unread {
            hasher.update(b"unread").update(unread.source.as_bytes());
        }
        if canary.is_some() {
            hasher.update(b"canary");
        }
        Dossier {
            revision: self.revision,
            key: hasher.finalize(),
            ecosystem,
            now,
            settings: Arc::clone(&self.settings),
            licences: Arc::clone(&self.licences),
            rules,
            said,
            waivers,
            canary,
            unread,
            as_of: None,
            at_any_time: None,
            seen: None,
            reserved: self.reservations.holding(ecosystem, &package).cloned(),
            lookalike: self.lookalikes.objection(ecosystem, &package),
            bound: None,
            holds: Vec::new(),
            gone: None,
        }
    }

    /// Whether what is known about a package, given by its normalised name, may differ between tokens.
    #[must_use]
    pub fn tells_tokens_apart(&self, ecosystem: Ecosystem, package: &str) -> bool {
        self.compiled_waivers.iter().any(|waiver| {
            let CompiledWaiver { waiver, pattern, .. } = &**waiver;
            waiver.ecosystem == ecosystem && waiver.token.is_some() && pattern.matches(package)
        })
    }

    /// Before when [`Facts::about`] says what it says now, if nothing new is folded: the next end of a
    /// waiver, if one ends.
    #[must_use]
    pub fn holds_until(&self, now: Timestamp) -> Option<Timestamp> {
        let ends = self.compiled_waivers.iter().map(|waiver| waiver.waiver.expires_at);
        ends.filter(|end| *end > now).min()
    }

    /// Whether it matters, to anybody, when this Weir first saw the versions of an ecosystem.
    #[must_use]
    pub fn watches(&self, ecosystem: Ecosystem) -> bool {
        let mut profiles = self.profiles.profiles();
        settings::of(&self.settings, ecosystem).min_age_hours > 0
            || profiles.any(|profile| profile.min_age_hours > 0)
    }

    /// Whether it matters, to anybody, what lists tell of versions beside their times.
    #[must_use]
    pub fn reads_lists(&self) -> bool {
        !self.settings.trust.is_off() || !self.settings.licences.is_off()
    }

    /// Whether it matters under which licence packages of an ecosystem are.
    #[must_use]
    pub fn reads_licences(&self, ecosystem: Ecosystem) -> bool {
        self.settings.licences.ecosystems.contains(&ecosystem)
    }

    /// Why a package, given by its name in any spelling, is never asked of its registry.
    #[must_use]
    pub fn reserved(&self, ecosystem: Ecosystem, package: &str) -> Option<Arc<Objection>> {
        self.reservations.holding(ecosystem, &normalise(ecosystem, package)).cloned()
    }

    /// What is said against everything, because a source that must be read first never was.
    fn unread(&self, ecosystem: Ecosystem) -> Option<Arc<Objection>> {
        let was_read = |source: &String| {
            let known = |about| self.read.contains(&(source.clone(), about));
            known(Some(ecosystem)) || known(None)
        };
        let mut required = self.settings.required.iter();
        let missing = required
            .find(|required| required.ecosystem == ecosystem && !was_read(&required.source))?;
        let source = missing.source.clone();
        let reason = format!(
            "the source {source} has never been read, so nothing is let through: see `weir sources`"
        );
        Some(Arc::new(Objection {
            source,
            reason,
            mask: Mask::DenyOnly,
            rule_id: None,
            cited: None,
        }))
    }
}

impl CompiledRule {
    /// BLAKE3 of what it says.
    fn digest(&self) -> Hash {
        let rule = &self.rule;
        let mut hasher = Hasher::new();
        let own = [self.objection().source.as_str(), rule.mask.as_str()];
        let parts = [&rule.id, &rule.package, &rule.versions, &rule.reason].map(String::as_str);
        for part in own.iter().chain(&parts) {
            hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
        }
        hasher.finalize()
    }
}

#[cfg(test)]
mod tests;
