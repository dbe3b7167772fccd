//! Everything that is known about one package, and the judgement on its versions: a pure function.

use std::{collections::BTreeSet, sync::Arc};

use blake3::Hash;
use weir_events::{
    registry::{
        Ecosystem, Mask,
        advisory::{Class, Severity},
        policy::{EcosystemSettings, Mode, Reaction, Settings, Unrated},
        sighting::TrustLost,
    },
    timestamp::Timestamp,
};

use super::{
    advisory::{finding::Finding, set::Said},
    hold::Known,
    licence::{self, Licences, NO_ASSERTION, Standing, is_cut_off},
    pins,
    profile::CompiledProfile,
    rule::CompiledRule,
    seen::{Born, Clock, Seen},
    verdict::{
        AS_OF, Candidate, Excuse, INTEGRITY, LICENCE, MINIMUM_AGE, Objection, PROVENANCE,
        PUBLISHER, Verdict,
    },
    version::Version,
    waiver::CompiledWaiver,
};

const SECONDS_AN_HOUR: i64 = 3_600;

const MICROS_A_SECOND: i64 = 1_000_000;

/// How the digest of an image begins.
const DIGEST: &str = "sha256:";

/// Everything that is known about one package, for one who asks. Cheap to keep: what is large is
/// shared.
#[derive(Debug, Clone)]
pub struct Dossier {
    /// The policy: the position of the last event that changed what is gone by.
    pub revision: i64,
    /// What of it concerns this package and who asks: two dossiers of one key judge alike, but for
    /// the time that goes by.
    pub key: Hash,
    pub(super) ecosystem: Ecosystem,
    pub(super) now: Timestamp,
    pub(super) settings: Arc<Settings>,
    /// The licences of the settings, ready to be asked.
    pub(super) licences: Arc<Licences>,
    /// Rules about the package, the strictest first.
    pub(super) rules: Vec<Arc<CompiledRule>>,
    pub(super) said: Said,
    /// Waivers in force about the package, for who asks.
    pub(super) waivers: Vec<Arc<CompiledWaiver>>,
    /// What is said of the canary, where this is it.
    pub(super) canary: Option<Arc<Objection>>,
    /// Why nothing may pass, whatever it is.
    pub(super) unread: Option<Arc<Objection>>,
    /// As of when the registry is looked at: what came later is not there.
    pub(super) as_of: Option<Timestamp>,
    /// The key without that time, where there is one.
    pub(super) at_any_time: Option<Hash>,
    /// What our own clock says, where it was asked.
    pub(super) seen: Option<Arc<Seen>>,
    /// Why the package is never asked of its registry.
    pub(super) reserved: Option<Arc<Objection>>,
    /// What is said of the package's name, where it looks like another.
    pub(super) lookalike: Option<Arc<Objection>>,
    /// The profile that binds who asks.
    pub(super) bound: Option<Arc<CompiledProfile>>,
    /// What persons were asked for who asks, and said.
    pub(super) holds: Vec<Known>,
    /// The name of the profile that would, and is gone.
    pub(super) gone: Option<Arc<str>>,
}

impl Dossier {
    /// The ecosystem.
    #[must_use]
    pub const fn ecosystem(&self) -> Ecosystem {
        self.ecosystem
    }

    /// As of when it judges.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The same, of the registry as it was at a time: what was published later, or tells no time, is not
    /// there. What is known against a version today counts all the same. Seconds count, and what is
    /// smaller does not.
    #[must_use]
    pub fn as_of(mut self, as_of: Timestamp) -> Self {
        let second = second(as_of);
        let mut hasher = blake3::Hasher::new_derive_key("weir registry dossier as of v2");
        hasher.update(self.key.as_bytes());
        self.at_any_time = Some(hasher.finalize());
        self.key = hasher.update(&second.to_le_bytes()).finalize();
        self.as_of = Some(Timestamp::from_micros(second.saturating_mul(MICROS_A_SECOND)));
        self
    }

    /// What says for the log whether something about this package was recorded already. As of which time
    /// the registry was looked at is no part of it: who asks makes that up.
    #[must_use]
    pub fn record_key(&self) -> Hash {
        self.at_any_time.unwrap_or(self.key)
    }

    /// The same, judging at another time.
    #[must_use]
    pub fn at(&self, now: Timestamp) -> Self {
        Self { now, ..self.clone() }
    }

    /// The same, with what our own clock says of the package. It is no part of the key: what was seen
    /// once, and when, never changes.
    #[must_use]
    pub fn seeing(mut self, seen: Arc<Seen>) -> Self {
        self.seen = Some(seen);
        self
    }

    /// From when on the age of a version counts, and by which clock.
    #[must_use]
    pub fn born_at(&self, candidate: &Candidate<'_>) -> Option<Born> {
        match &self.seen {
            Some(seen) => seen.born_at(self.ecosystem, candidate, self.now),
            None => candidate.published_at.map(|at| Born { at, clock: Clock::Registry }),
        }
    }

    /// Whether the age of a version counts, and nobody tells it.
    #[must_use]
    pub fn misses_age(&self, candidate: &Candidate<'_>) -> bool {
        self.min_age_hours() > 0 && !self.is_tag(candidate) && self.born_at(candidate).is_none()
    }

    /// What sources say of the package.
    #[must_use]
    pub const fn said(&self) -> &Said {
        &self.said
    }

    /// Rules about the package, the strictest first.
    #[must_use]
    pub fn rules(&self) -> &[Arc<CompiledRule>] {
        &self.rules
    }

    /// The digests of images that rules and sources name, whatever is made of that. What an image has in
    /// it, its registry tells: who judges that has to look there.
    #[must_use]
    pub fn named_digests(&self) -> BTreeSet<&str> {
        let rules = self.rules.iter().flat_map(|rule| rule.constraint().digests());
        let listed = self.said.about().listed().filter(|version| version.starts_with(DIGEST));
        rules.chain(listed).collect()
    }

    /// Whether no version can be refused, so that none needs to be looked at.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.rules.is_empty()
            && self.said.is_empty()
            && self.canary.is_none()
            && self.unread.is_none()
            && self.reserved.is_none()
            && !self.counts_age()
            && self.lookalike.is_none()
            && !self.reads_lists()
            && !self.reads_licences()
    }

    /// Whether a name that looks like another is only warned of, the first time that anybody here uses
    /// it.
    #[must_use]
    pub fn warns_of_name(&self) -> bool {
        self.lookalike.is_some() && self.settings.lookalikes.reaction == Reaction::Warn
    }

    /// The same, of a package that somebody here uses: whoever was warned of its name was warned.
    #[must_use]
    pub fn used_here(mut self) -> Self {
        if self.warns_of_name() {
            self.lookalike = None;
        }
        self
    }

    /// Whether it matters under which licence a version is.
    #[must_use]
    pub fn reads_licences(&self) -> bool {
        self.settings.licences.ecosystems.contains(&self.ecosystem)
    }

    /// Whether it matters what the list of a package tells of its versions beside their times.
    #[must_use]
    pub fn reads_lists(&self) -> bool {
        let tells = matches!(self.ecosystem, Ecosystem::Pypi | Ecosystem::Npm);
        tells && (!self.settings.trust.is_off() || self.reads_licences())
    }

    /// Whether it matters when a version was published: how old it is, or which ones were before it.
    #[must_use]
    pub fn reads_times(&self) -> bool {
        self.counts_age() || (self.reads_lists() && !self.settings.trust.is_off())
    }

    /// Whether it matters how old a version is.
    #[must_use]
    pub fn counts_age(&self) -> bool {
        self.min_age_hours() > 0 || self.as_of.is_some()
    }

    /// As of when the registry is looked at, where that is not now.
    #[must_use]
    pub const fn seen_as_of(&self) -> Option<Timestamp> {
        self.as_of
    }

    /// Judges a version.
    pub fn judge(&self, candidate: &Candidate<'_>) -> Verdict {
        if let Some(canary) = &self.canary {
            return Verdict::Block(Arc::clone(canary));
        }
        if let Some(reserved) = &self.reserved {
            return Verdict::Block(Arc::clone(reserved));
        }
        if let Some(later) = self.later(candidate) {
            return Verdict::Block(later);
        }
        if let Some(objection) = self.objection(candidate, &self.waivers) {
            return match self.own().mode {
                Mode::Enforce => Verdict::Block(objection),
                Mode::Audit => Verdict::Warn(objection),
            };
        }
        if let Some(excuse) = self.waived(candidate) {
            return Verdict::Excused(excuse);
        }
        if let Some(advisory) = self.exempted(candidate) {
            return Verdict::Excused(Excuse::Fix { advisory });
        }
        let advice = self.remarks(candidate, Reaction::Warn, &self.waivers).into_iter().next();
        advice.map_or(Verdict::Allow, Verdict::Advise)
    }

    /// Judges a version of which a file has another digest than before. Only who names it, and two
    /// persons, waive that.
    pub fn judge_changed(&self, candidate: &Candidate<'_>, refusal: &pins::Refusal) -> Verdict {
        let (source, reason, mask) = (INTEGRITY.to_owned(), refusal.to_string(), Mask::Hide);
        let objection = Arc::new(Objection { source, reason, mask, rule_id: None, cited: None });
        let covers =
            |waiver: &&Arc<CompiledWaiver>| waiver.covers(candidate, &[INTEGRITY], Class::Malware);
        match (self.waivers.iter().find(covers), self.own().mode) {
            (Some(waiver), _) => {
                Verdict::Excused(Excuse::Waiver { id: waiver.waiver.id.clone(), objection })
            }
            (None, Mode::Enforce) => Verdict::Block(objection),
            (None, Mode::Audit) => Verdict::Warn(objection),
        }
    }

    /// When a version that is too young now is old enough.
    #[must_use]
    pub fn ripens_at(&self, candidate: &Candidate<'_>) -> Option<Timestamp> {
        self.ripe_at(candidate).filter(|at| *at > self.now)
    }

    /// When a version is old enough, whether that is over or not; `None` where its age does not count,
    /// or nobody tells it.
    #[must_use]
    pub fn ripe_at(&self, candidate: &Candidate<'_>) -> Option<Timestamp> {
        let hours = i64::from(self.min_age_hours());
        let at = self.born_at(candidate)?.at.plus_seconds(hours * SECONDS_AN_HOUR);
        (hours > 0).then_some(at)
    }

    /// Every objection to a version, whatever is waived: the rules, the advisories that count, the
    /// age, what its list tells. For those who explain.
    #[must_use]
    pub fn objections(&self, candidate: &Candidate<'_>) -> Vec<Arc<Objection>> {
        let rules = self.rules.iter().filter(|rule| rule.forbids(candidate));
        let rules = rules.map(|rule| Arc::clone(rule.objection()));
        let about = self.said.about();
        let findings = about.findings(candidate.version);
        let counts = |finding: &&Finding<'_>| self.counts(finding.class(), finding.severity());
        let findings = findings.iter().filter(counts).map(|finding| self.of_finding(finding));
        let unread = self.reserved.iter().chain(&self.unread).cloned();
        let later = self.later(candidate).into_iter();
        self.canary
            .iter()
            .cloned()
            .chain(later)
            .chain(unread)
            .chain(rules)
            .chain(findings)
            .chain(self.young(candidate))
            .chain(self.remarks(candidate, Reaction::Block, &[]))
            .chain(self.remarks(candidate, Reaction::Warn, &[]))
            .collect()
    }

    /// What is said against the licence of a version, where that has this consequence.
    fn unlicensed(&self, candidate: &Candidate<'_>, reaction: Reaction) -> Option<String> {
        let violation = self.settings.licences.violation;
        let unknown = licence::unknown(&self.settings.licences, self.ecosystem);
        if !self.reads_licences() || ![violation, unknown].contains(&reaction) {
            return None;
        }
        let licence = match self.ecosystem {
            Ecosystem::Pypi | Ecosystem::Npm => candidate.told?.licence.as_deref()?,
            // Their lists tell none.
            Ecosystem::Cargo | Ecosystem::Go | Ecosystem::Docker => NO_ASSERTION,
        };
        let its = || licence::shown(licence);
        match self.licences.standing(licence) {
            Standing::Refused if violation == reaction => {
                Some(format!("its licence, `{}`, is not one that may be used here", its()))
            }
            Standing::TooLong if violation == reaction => Some(format!(
                "its licence, `{}`, is too long to be searched for what may not be used here",
                its()
            )),
            Standing::Unknown if unknown == reaction => Some(match licence {
                NO_ASSERTION => "nobody tells its licence".to_owned(),
                _ if is_cut_off(licence) => {
                    format!("its licence, `{}`, is too long to be read", its())
                }
                _ => format!("its licence, `{}`, is none that SPDX has a name for", its()),
            }),
            Standing::Fine | Standing::Refused | Standing::TooLong | Standing::Unknown => None,
        }
    }

    /// The strictest objection that is not waived; of equally strict ones the first.
    fn objection(
        &self,
        candidate: &Candidate<'_>,
        waivers: &[Arc<CompiledWaiver>],
    ) -> Option<Arc<Objection>> {
        if let Some(unread) = &self.unread {
            return Some(Arc::clone(unread));
        }
        let waived = |names: &[&str], class| {
            waivers.iter().any(|waiver| waiver.covers(candidate, names, class))
        };
        let rule = self.rules.iter().find(|rule| {
            rule.forbids(candidate) && !waived(&[&rule.rule.id], Class::Vulnerability)
        });
        let rule = rule.map(|rule| Arc::clone(rule.objection()));
        let about = self.said.about();
        let finding = about.worst(candidate.version, |finding| {
            self.counts(finding.class(), finding.severity())
                && (waivers.is_empty() || !waived(&names_of(finding), finding.class()))
        });
        let finding = finding.map(|finding| self.of_finding(&finding));
        let young = self.young(candidate).filter(|_| {
            self.fix(candidate).is_none() && !waived(&[MINIMUM_AGE], Class::Vulnerability)
        });
        let remark = self.remarks(candidate, Reaction::Block, waivers).into_iter().next();
        let known = Objection::stricter(Objection::stricter(rule, finding), young);
        Objection::stricter(known, remark)
    }

    /// What is said of a version by what its list tells, where that has this consequence.
    fn remarks(
        &self,
        candidate: &Candidate<'_>,
        reaction: Reaction,
        waivers: &[Arc<CompiledWaiver>],
    ) -> Vec<Arc<Objection>> {
        let told = candidate.told;
        let trust = self.settings.trust;
        let lost =
            told.and_then(|told| told.lost.as_ref()).filter(|_| trust.provenance == reaction);
        let lost = lost.map(|TrustLost { has, had, earlier }| {
            let (had, has) = (had.words(), has.words());
            let own = candidate.version.is_some_and(|version| version.as_str() == earlier);
            let reason = if own {
                format!("added later to {earlier}, which came with {had}, and it has {has}")
            } else {
                format!("{earlier}, published before it, had {had}, and it has {has}")
            };
            (PROVENANCE, reason)
        });
        let newcomer =
            told.and_then(|told| told.newcomer.as_ref()).filter(|_| trust.publisher == reaction);
        let newcomer = newcomer.map(|by| {
            (PUBLISHER, format!("published by `{by}`, who had nothing to do with it before"))
        });
        let waived = |source: &str| {
            let covers = |waiver: &Arc<CompiledWaiver>| {
                waiver.covers(candidate, &[source], Class::Vulnerability)
            };
            waivers.iter().any(covers)
        };
        let licence = self.unlicensed(candidate, reaction).map(|reason| (LICENCE, reason));
        let looks = self.settings.lookalikes.reaction == reaction;
        let name = self.lookalike.as_ref().filter(|it| looks && !waived(&it.source));
        let said =
            lost.into_iter().chain(newcomer).chain(licence).filter(|(source, _)| !waived(source));
        let said = said
            .map(|(source, reason)| Arc::new(Objection::of_setting(source, reason, Mask::Mark)));
        name.cloned().into_iter().chain(said).collect()
    }

    /// What would be said of a version that passes if there were no waivers, and which one it is.
    fn waived(&self, candidate: &Candidate<'_>) -> Option<Excuse> {
        if self.waivers.is_empty() {
            return None;
        }
        let objection = self.objection(candidate, &[])?;
        let class = objection.cited.as_ref().map_or(Class::Vulnerability, |cited| cited.class);
        let about = self.said.about();
        let findings = about.findings(candidate.version);
        let finding = findings.iter().find(|finding| finding.id() == objection.id());
        let names = finding.map_or_else(|| vec![objection.id()], names_of);
        let waiver = self.waivers.iter().find(|waiver| waiver.covers(candidate, &names, class))?;
        Some(Excuse::Waiver { id: waiver.waiver.id.clone(), objection: Arc::clone(&objection) })
    }

    /// Why a version is not there, where the registry is looked at as of a time before it.
    fn later(&self, candidate: &Candidate<'_>) -> Option<Arc<Objection>> {
        let as_of = self.as_of?;
        // What was there of a version was there, whatever was added to it since.
        let own = candidate.file.map_or(candidate.published_at, |file| file.times.published_at);
        let reason = match own {
            Some(at) if second(at) <= second(as_of) => return None,
            Some(at) => format!("published at {at}, after {as_of}"),
            None => format!("nobody tells whether it was there at {as_of}"),
        };
        let (source, mask) = (AS_OF.to_owned(), Mask::Hide);
        Some(Arc::new(Objection { source, reason, mask, rule_id: None, cited: None }))
    }

    pub(super) fn own(&self) -> EcosystemSettings {
        super::settings::of(&self.settings, self.ecosystem)
    }

    fn min_age_hours(&self) -> u32 {
        self.own().min_age_hours
    }

    /// Whether a warning is bad enough.
    fn counts(&self, class: Class, severity: Severity) -> bool {
        match (class, severity) {
            (Class::Malware, _) => true,
            (Class::Notice, _) => false,
            (Class::Vulnerability, Severity::Unknown) => self.settings.unrated == Unrated::Block,
            (Class::Vulnerability, severity) => severity >= self.settings.severity_floor.0,
        }
    }

    fn of_finding(&self, finding: &Finding<'_>) -> Arc<Objection> {
        let mask = match finding.class() {
            Class::Malware => self.settings.masks.malware,
            Class::Vulnerability | Class::Notice => self.settings.masks.vulnerability,
        };
        Arc::new(Objection::of_finding(finding, mask))
    }

    /// What its age says against a version; one whose age nobody tells is too young (fail closed).
    fn young(&self, candidate: &Candidate<'_>) -> Option<Arc<Objection>> {
        let hours = self.min_age_hours();
        if hours == 0 || self.is_tag(candidate) {
            return None;
        }
        let reason = match self.born_at(candidate) {
            None => format!("nobody tells how old it is, and it must be {hours} h old"),
            Some(Born { at, clock }) => {
                self.ripens_at(candidate)?;
                // As text of one value for a version, not one for each second that goes by.
                let known = match clock {
                    Clock::Registry => "published at",
                    Clock::Own => "first seen here at",
                };
                format!("{known} {at}, and it must be {hours} h old")
            }
        };
        let mask = self.settings.masks.young;
        let source = MINIMUM_AGE.to_owned();
        Some(Arc::new(Objection { source, reason, mask, rule_id: None, cited: None }))
    }

    /// Whether it is the tag of an image: it has no age of its own, and what it stands for has. That is
    /// judged by its digest.
    fn is_tag(&self, candidate: &Candidate<'_>) -> bool {
        let tag = |version: &Version| !version.as_str().starts_with(DIGEST);
        self.ecosystem == Ecosystem::Docker && candidate.version.is_some_and(tag)
    }

    /// The advisory because of which a version may be younger: it is what fixes it.
    fn fix(&self, candidate: &Candidate<'_>) -> Option<String> {
        let version = candidate.version.filter(|_| self.own().fix_exemption)?;
        if self.is_late(candidate) {
            return None;
        }
        self.said.fixed_in(version, |class, severity| self.counts(class, severity))
    }

    /// Whether what is asked for came later than the version it is of: who may add a file to an old
    /// version did not fix anything by that. A file of which neither clock tells is late (fail closed).
    #[must_use]
    pub fn is_late(&self, candidate: &Candidate<'_>) -> bool {
        let told = candidate.file.and_then(|file| file.times.late());
        let seen = self.seen.as_ref().and_then(|seen| seen.late(candidate));
        let known = told.into_iter().chain(seen).reduce(|a, b| a || b);
        candidate.late || known.unwrap_or_else(|| candidate.file.is_some())
    }

    /// That advisory, where the version would be too young otherwise.
    fn exempted(&self, candidate: &Candidate<'_>) -> Option<String> {
        self.young(candidate)?;
        self.fix(candidate)
    }
}

/// All names of what is found.
fn names_of<'a>(finding: &Finding<'a>) -> Vec<&'a str> {
    finding.aliases().chain([finding.id()]).collect()
}

/// The second that a time is in.
const fn second(at: Timestamp) -> i64 {
    at.micros().div_euclid(MICROS_A_SECOND)
}

#[cfg(test)]
mod tests;
