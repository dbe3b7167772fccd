//! Where what is tried parts from what is in force: counted exactly, and in bounded tables by version,
//! by who asked, and by day.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    sync::Arc,
};

use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::{Decision, Outcome};
use crate::registry::verdict::Objection;

const MICROS_A_DAY: i64 = 86_400_000_000;

/// How something stands before a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// It passes.
    Passes,
    /// It passes with a warning: its ecosystem is audited only.
    Warned,
    /// It does not pass.
    Refused,
}

/// What came of a decision that was judged once more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    pub(super) in_force: Stand,
    pub(super) tried: Stand,
    /// What is said against it by the policy that refuses it alone.
    pub(super) cause: Option<Arc<Objection>>,
    pub(super) age_unknown: bool,
}

/// How many decisions stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stands {
    /// Those that pass.
    pub n_passing: u64,
    /// Those that pass with a warning.
    pub n_warned: u64,
    /// Those that do not pass.
    pub n_refused: u64,
}

impl Stands {
    const fn add(&mut self, stand: Stand) {
        match stand {
            Stand::Passes => self.n_passing += 1,
            Stand::Warned => self.n_warned += 1,
            Stand::Refused => self.n_refused += 1,
        }
    }
}

/// How many decisions would have been others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// Those that pass now, and would be refused.
    pub n_blocked: u64,
    /// Those that are refused now, and would pass.
    pub n_allowed: u64,
    /// When the first of them was asked for.
    pub first_at: Timestamp,
    /// When the last of them was.
    pub last_at: Timestamp,
}

impl Changed {
    const fn none(at: Timestamp) -> Self {
        Self { n_blocked: 0, n_allowed: 0, first_at: at, last_at: at }
    }

    fn add(&mut self, turn: Turn, at: Timestamp) {
        match turn {
            Turn::Blocked => self.n_blocked += 1,
            Turn::Allowed => self.n_allowed += 1,
        }
        self.first_at = self.first_at.min(at);
        self.last_at = self.last_at.max(at);
    }

    /// How many in all.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n_blocked + self.n_allowed
    }
}

#[derive(Debug, Clone, Copy)]
enum Turn {
    Blocked,
    Allowed,
}

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Of {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, where a file's name told.
    pub version: Option<String>,
}

/// Who asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// The principal.
    pub principal: String,
    /// The id of their token: two tokens may have one name.
    pub token: Option<String>,
}

/// Rows under a bound.
#[derive(Debug)]
pub struct Table<K, X = ()> {
    max: usize,
    rows: HashMap<K, (Changed, X)>,
    n_beyond: u64,
}

impl<K: Eq + Hash + Ord, X> Table<K, X> {
    fn within(max: usize) -> Self {
        Self { max, rows: HashMap::new(), n_beyond: 0 }
    }

    fn add(&mut self, key: K, turn: Turn, at: Timestamp, with: X) {
        if self.rows.len() >= self.max && !self.rows.contains_key(&key) {
            self.n_beyond += 1;
            return;
        }
        match self.rows.entry(key) {
            std::collections::hash_map::Entry::Occupied(mut row) => row.get_mut().0.add(turn, at),
            std::collections::hash_map::Entry::Vacant(free) => {
                let mut changed = Changed::none(at);
                changed.add(turn, at);
                free.insert((changed, with));
            }
        }
    }

    /// The rows, those of which most would have been others first.
    pub fn rows(&self) -> Vec<(&K, &Changed, &X)> {
        let rows = self.rows.iter().map(|(key, (changed, with))| (key, changed, with));
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|a, b| b.1.n().cmp(&a.1.n()).then_with(|| a.0.cmp(b.0)));
        rows
    }

    /// How many decisions would have been others, and are in no row: there are too many rows.
    #[must_use]
    pub const fn n_beyond(&self) -> u64 {
        self.n_beyond
    }
}

/// What was found.
#[derive(Debug)]
pub struct Difference {
    /// Decisions that were judged once more.
    pub n_judged: u64,
    /// Of these, those that were let through when they were asked for.
    pub n_were_allowed: u64,
    /// How they stand before the policy in force.
    pub in_force: Stands,
    /// How they would stand before what is tried.
    pub tried: Stands,
    /// Those that pass now, and would be refused.
    pub n_newly_blocked: u64,
    /// Those that are refused now, and would pass.
    pub n_newly_allowed: u64,
    /// Those that the policy in force answers otherwise than they were answered: it was another then,
    /// or what it goes by was not known.
    pub n_answered_otherwise: u64,
    /// Those whose age counts and was told by nobody, not even by our own clock: they are too young, as
    /// they would be.
    pub n_age_unknown: u64,
    /// Those whose version no file name told: whatever is said of the package is said of them.
    pub n_version_unknown: u64,
    /// Refusals that no policy is about: of what was not there as of the time that was asked for, of who
    /// had their quota, of a digest that changed. They are not judged.
    pub n_outside: u64,
    /// Decisions that this build cannot read.
    pub n_unreadable: u64,
    /// By version, with what is said against the first.
    pub by_version: Table<Of, Option<Arc<Objection>>>,
    /// By who asked.
    pub by_who: Table<Who>,
    by_day: BTreeMap<i64, Changed>,
}

impl Difference {
    pub(super) fn within(max_rows: usize) -> Self {
        Self {
            n_judged: 0,
            n_were_allowed: 0,
            in_force: Stands::default(),
            tried: Stands::default(),
            n_newly_blocked: 0,
            n_newly_allowed: 0,
            n_answered_otherwise: 0,
            n_age_unknown: 0,
            n_version_unknown: 0,
            n_outside: 0,
            n_unreadable: 0,
            by_version: Table::within(max_rows),
            by_who: Table::within(max_rows),
            by_day: BTreeMap::new(),
        }
    }

    /// By day, the first one first: its midnight in UTC. As many as the past that was looked at has.
    pub fn by_day(&self) -> impl Iterator<Item = (Timestamp, &Changed)> {
        let midnight = |day: &i64| Timestamp::from_micros(day.saturating_mul(MICROS_A_DAY));
        self.by_day.iter().map(move |(day, changed)| (midnight(day), changed))
    }

    pub(super) fn add(&mut self, decision: &Decision<'_>, effect: &Effect) {
        let Effect { in_force, tried, cause, age_unknown } = effect;
        let were_allowed = decision.outcome == Outcome::Allowed;
        self.n_judged += 1;
        self.n_were_allowed += u64::from(were_allowed);
        self.in_force.add(*in_force);
        self.tried.add(*tried);
        self.n_answered_otherwise += u64::from(were_allowed == (*in_force == Stand::Refused));
        self.n_age_unknown += u64::from(*age_unknown);
        self.n_version_unknown += u64::from(decision.version.is_none());
        let turn = match (in_force, tried) {
            (Stand::Refused, Stand::Refused) => return,
            (Stand::Refused, _) => Turn::Allowed,
            (_, Stand::Refused) => Turn::Blocked,
            _ => return,
        };
        match turn {
            Turn::Blocked => self.n_newly_blocked += 1,
            Turn::Allowed => self.n_newly_allowed += 1,
        }
        let of = Of {
            ecosystem: decision.ecosystem,
            package: decision.package.to_owned(),
            version: decision.version.map(str::to_owned),
        };
        let who = Who {
            principal: decision.principal.to_owned(),
            token: decision.token.map(str::to_owned),
        };
        self.by_version.add(of, turn, decision.at, cause.clone());
        self.by_who.add(who, turn, decision.at, ());
        let day = decision.at.micros().div_euclid(MICROS_A_DAY);
        self.by_day.entry(day).or_insert_with(|| Changed::none(decision.at)).add(turn, decision.at);
    }
}
