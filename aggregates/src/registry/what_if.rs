//! A policy that may come to be, tried on decisions of the past: each is judged by what is in force
//! and by what is tried, and where the two part is counted. Pure: no clock, no log, nothing recorded.
//!
//! What is known of a package, and what came of a version, is remembered, so that millions of
//! decisions cost little more than a look each. That it comes to the same as judging every one anew
//! is what the tests hold.

pub mod difference;
pub mod trial;

use std::{collections::HashMap, sync::Arc};

use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use self::{
    difference::{Difference, Effect, Stand},
    trial::Trial,
};
use super::{
    dossier::Dossier,
    seen::is_ahead,
    verdict::{Candidate, Verdict},
    version::Version,
};

/// How much is remembered: packages, and versions of them. Beyond it all is looked up anew.
const MAX_KNOWN: usize = 200_000;

/// How many names that were seen take as much room as one of those.
const NAMES_AS_ONE: usize = 4;

/// A decision on a download, as it was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: &'a str,
    /// The version, or `None` where the file's name did not tell.
    pub version: Option<&'a str>,
    /// When it was published, where that was told.
    pub published_at: Option<Timestamp>,
    /// Whether it came later than its version.
    pub late: bool,
    /// When it was decided.
    pub at: Timestamp,
    /// Who asked.
    pub principal: &'a str,
    /// The id of their token.
    pub token: Option<&'a str>,
    /// The profile that bound them.
    pub profile: Option<&'a str>,
    /// What was decided.
    pub outcome: Outcome,
}

impl Decision<'_> {
    /// What was decided about, as it is judged.
    fn candidate<'v>(&self, version: Option<&'v Version>) -> Candidate<'v> {
        let Self { published_at, late, .. } = *self;
        Candidate { late, ..Candidate::published(version, published_at) }
    }
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was let through.
    Allowed,
    /// It was refused.
    Blocked,
}

/// What is known about a package, by the policy in force.
#[derive(Debug, Clone)]
pub struct About {
    /// All of it, for who asked; with what our own clock says, where an age counts by it or by what is
    /// tried.
    pub dossier: Dossier,
    /// Whether others who ask under the same profile may be told otherwise.
    pub tells_tokens_apart: bool,
    /// From when on this holds.
    pub from: Timestamp,
    /// Before when it does.
    pub until: Timestamp,
}

/// A trial under way.
#[derive(Debug)]
pub struct Replay {
    trial: Trial,
    difference: Difference,
    packages: HashMap<String, Folder>,
    n_known: usize,
    key: String,
    asker: String,
}

/// What is known about a package, for who asked: under a profile, and with a token where that matters.
#[derive(Debug, Default)]
struct Folder {
    apart: bool,
    known: HashMap<Box<str>, Known>,
}

#[derive(Debug)]
struct Known {
    in_force: Dossier,
    tried: Dossier,
    from: Timestamp,
    until: Timestamp,
    versions: HashMap<String, Judged>,
}

/// What came of a version, before and after it is old enough for the one policy and for the other.
#[derive(Debug, Default)]
struct Judged {
    ripe_at: [Option<Timestamp>; 2],
    effects: [Option<Effect>; 4],
}

impl Replay {
    /// Begins. At most `max_rows` of each table of the difference are kept.
    #[must_use]
    pub fn of(trial: Trial, max_rows: usize) -> Self {
        Self {
            trial,
            difference: Difference::within(max_rows),
            packages: HashMap::new(),
            n_known: 0,
            key: String::new(),
            asker: String::new(),
        }
    }

    /// What is tried.
    #[must_use]
    pub const fn trial(&self) -> &Trial {
        &self.trial
    }

    /// Something else is known from now on: nothing that was looked up holds.
    pub fn forget(&mut self) {
        self.packages.clear();
        self.n_known = 0;
    }

    /// What was found so far.
    #[must_use]
    pub const fn difference(&self) -> &Difference {
        &self.difference
    }

    /// What was found.
    #[must_use]
    pub fn into_difference(self) -> Difference {
        self.difference
    }

    /// What was found so far, for who adds to it what cannot be judged.
    pub const fn difference_mut(&mut self) -> &mut Difference {
        &mut self.difference
    }

    /// Judges a decision once more. `about` says what is known about its package, where that is not
    /// remembered.
    pub fn judge<E>(
        &mut self,
        decision: &Decision<'_>,
        about: impl FnOnce() -> Result<About, E>,
    ) -> Result<(), E> {
        if self.n_known >= MAX_KNOWN {
            self.forget();
        }
        let (key, asker) = (&mut self.key, &mut self.asker);
        key.clear();
        key.push_str(decision.ecosystem.as_str());
        key.push('\n');
        key.push_str(decision.package);
        let holds = |known: &Known| known.from <= decision.at && decision.at < known.until;
        let remembered = self.packages.get(key).is_some_and(|folder| {
            asked(asker, decision, folder.apart);
            folder.known.get(asker.as_str()).is_some_and(holds)
        });
        if !remembered {
            let About { dossier: in_force, tells_tokens_apart, from, until } = about()?;
            let tried = in_force.tried(&self.trial, decision.package);
            self.n_known += 1 + in_force.seen.as_ref().map_or(0, |seen| seen.len() / NAMES_AS_ONE);
            let known = Known { in_force, tried, from, until, versions: HashMap::new() };
            let folder = self.packages.entry(key.clone()).or_default();
            folder.apart = tells_tokens_apart;
            asked(asker, decision, tells_tokens_apart);
            folder.known.insert(asker.as_str().into(), known);
        }
        let known = self.packages.get_mut(key);
        let known = known.and_then(|folder| folder.known.get_mut(asker.as_str()));
        let Some(known) = known else { return Ok(()) };
        let (effect, n_new) = known.judge(decision, key);
        self.n_known += n_new;
        if let Some(effect) = effect {
            self.difference.add(decision, effect);
        }
        Ok(())
    }
}

impl Known {
    /// What came of a decision, and how much more is remembered now.
    fn judge(&mut self, decision: &Decision<'_>, key: &mut String) -> (Option<&Effect>, usize) {
        let Decision { ecosystem, version, published_at, late, at, .. } = *decision;
        // One that is ahead of the clock of the day is believed by nobody, and may be later on.
        let ahead = published_at.is_some_and(|told| is_ahead(told, at));
        written(key, published_at, [(late, '+'), (ahead, '>')], version);
        let parse = || version.map(|text| Version::parse(ecosystem, text));
        let mut n_new = 0;
        if !self.versions.contains_key(key) {
            let parsed = parse();
            let candidate = decision.candidate(parsed.as_ref());
            let ripe_at = [&self.in_force, &self.tried];
            let ripe_at = ripe_at.map(|it| it.at(at).ripe_at(&candidate));
            self.versions.insert(key.clone(), Judged { ripe_at, ..Judged::default() });
            n_new = 1;
        }
        let Some(judged) = self.versions.get_mut(key) else { return (None, n_new) };
        let [too_young, would_be] = judged.ripe_at.map(|ripe| ripe.is_some_and(|ripe| ripe > at));
        let [neither, first, second, both] = &mut judged.effects;
        let slot = match (too_young, would_be) {
            (false, false) => neither,
            (true, false) => first,
            (false, true) => second,
            (true, true) => both,
        };
        let effect = slot.get_or_insert_with(|| {
            let parsed = parse();
            let candidate = decision.candidate(parsed.as_ref());
            let of_the_day = [&self.in_force, &self.tried].map(|dossier| dossier.at(at));
            let [before, after] = of_the_day.each_ref().map(|dossier| dossier.judge(&candidate));
            let age_unknown = of_the_day.iter().any(|dossier| dossier.misses_age(&candidate));
            Effect::of(&before, &after, age_unknown)
        });
        (Some(effect), n_new)
    }
}

/// Writes down who asked, as far as it matters: the profile or nothing, then the token or nothing. No two
/// that differ are written alike: the id of a token has one line.
fn asked(key: &mut String, decision: &Decision<'_>, tells_tokens_apart: bool) {
    key.clear();
    if let Some(profile) = decision.profile {
        key.push_str(profile);
        key.push('\n');
    }
    key.push_str(decision.token.filter(|_| tells_tokens_apart).unwrap_or_default());
}

/// Writes down a version and its time: a number or a dash, a sign for what else holds of it (that it came
/// late, that its time is ahead of the clock), then the version or nothing. No two that differ are written
/// alike.
fn written(
    key: &mut String,
    published_at: Option<Timestamp>,
    signs: [(bool, char); 2],
    version: Option<&str>,
) {
    key.clear();
    match published_at {
        Some(at) => key.push_str(&at.micros().to_string()),
        None => key.push('-'),
    }
    for (holds, sign) in signs {
        if holds {
            key.push(sign);
        }
    }
    if let Some(version) = version {
        key.push('\n');
        key.push_str(version);
    }
}

impl Effect {
    /// What two verdicts on one version come to.
    fn of(in_force: &Verdict, tried: &Verdict, age_unknown: bool) -> Self {
        let cause = match (in_force.refusal(), tried.refusal()) {
            (Some(no), None) | (None, Some(no)) => Some(Arc::clone(no)),
            _ => None,
        };
        Self { in_force: Stand::of(in_force), tried: Stand::of(tried), cause, age_unknown }
    }
}

impl Stand {
    const fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Allow | Verdict::Excused(_) => Self::Passes,
            Verdict::Warn(_) | Verdict::Advise(_) => Self::Warned,
            Verdict::Block(_) => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests;
