//! How a trial is told.

use std::time::Duration;

use serde::Serialize;
use utoipa::ToSchema;
use weir_aggregates::registry::{
    verdict::Objection,
    what_if::difference::{Changed, Difference, Stands, Table},
};
use weir_events::{position::Position, registry::Ecosystem, timestamp::Timestamp};
use weir_processors::registry::what_if::Reached;

use super::lines::Told;
use crate::problem::Problem;

/// A line of a trial: all but the last say how far it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum WhatIfLine {
    /// How far it is.
    Progress(Progress),
    /// The end: what was found.
    Result(Box<WhatIfView>),
    /// The end: why nothing was.
    #[schema(value_type = Object)]
    Problem(serde_json::Value),
}

impl WhatIfLine {
    pub(super) fn failed(problem: &Problem) -> Self {
        Self::Problem(serde_json::to_value(problem.view(None)).unwrap_or_default())
    }
}

/// How far a trial is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Progress {
    /// How many positions of the log were looked at.
    n_looked: i64,
    /// How many there are to look at.
    n_to_look: i64,
    /// How many decisions were judged once more.
    n_judged: u64,
    /// Those that pass now, and would be refused.
    n_newly_blocked: u64,
    /// Those that are refused now, and would pass.
    n_newly_allowed: u64,
    /// How many decisions a second.
    rate: u64,
}

impl Progress {
    pub(super) fn of(reached: Reached, difference: &Difference, took: Duration) -> Self {
        Self {
            n_looked: reached.upto.0 - reached.first.0,
            n_to_look: reached.last.0 - reached.first.0,
            n_judged: difference.n_judged,
            n_newly_blocked: difference.n_newly_blocked,
            n_newly_allowed: difference.n_newly_allowed,
            rate: rate(difference.n_judged, took),
        }
    }
}

/// How many decisions stand how before a policy.
#[derive(Debug, Serialize, ToSchema)]
struct StandsView {
    /// Those that pass.
    passing: u64,
    /// Those that pass with a warning, for their ecosystem is audited only.
    warned: u64,
    /// Those that do not pass.
    refused: u64,
}

impl From<Stands> for StandsView {
    fn from(stands: Stands) -> Self {
        let Stands { n_passing, n_warned, n_refused } = stands;
        Self { passing: n_passing, warned: n_warned, refused: n_refused }
    }
}

/// What a policy would change about what was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WhatIfView {
    /// How many days back.
    days: usize,
    /// From when on decisions were judged.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// By which facts: `today` or `then`.
    facts: &'static str,
    /// Whether every decision since was judged: otherwise the time ran out, and the latest were not.
    complete: bool,
    /// The position up to which the log was looked at.
    #[schema(value_type = i64)]
    upto: Position,
    /// Whether all was judged by one policy: otherwise the one in force became another meanwhile.
    by_one_policy: bool,
    /// Decisions that were judged once more.
    n_judged: u64,
    /// Of these, those that were let through when they were asked for.
    n_were_allowed: u64,
    /// How they stand before the policy in force.
    in_force: StandsView,
    /// How they would stand before the policy that is tried.
    tried: StandsView,
    /// Those that pass now, and would be refused.
    n_newly_blocked: u64,
    /// Those that are refused now, and would pass.
    n_newly_allowed: u64,
    /// Those that the policy in force answers otherwise than they were answered: it was another then,
    /// or what it goes by was not known.
    n_answered_otherwise: u64,
    /// Those whose age counts and was told by nobody, not even by our own clock: they are too young, as
    /// they would be.
    n_age_unknown: u64,
    /// Those whose version no file name told: whatever is said of the package is said of them.
    n_version_unknown: u64,
    /// Refusals that no policy is about: of what was not there as of the time that was asked for, of who
    /// had their quota, of a digest that changed. They were not judged.
    n_outside: u64,
    /// Decisions that this build cannot read.
    n_unreadable: u64,
    /// What would be other, by version.
    by_version: Listed<VersionView>,
    /// The same by who asked.
    by_token: Listed<TokenView>,
    /// The same by day, the first one first.
    by_day: Vec<DayView>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// How many decisions a second.
    rate: u64,
}

/// The rows of which most would be other.
#[derive(Debug, Serialize, ToSchema)]
struct Listed<T> {
    /// How many rows there are.
    n_rows: usize,
    /// Decisions that would be other and are in no row, because there are too many rows.
    n_beyond: u64,
    /// The first rows.
    rows: Vec<T>,
}

/// A version about which something would be other.
#[derive(Debug, Serialize, ToSchema)]
struct VersionView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version, where a file's name told.
    version: Option<String>,
    /// The source that says no, by the policy that does.
    source: Option<String>,
    /// The id of its rule or advisory, or its own name; `new-3` is the third rule of the policy.
    id: Option<String>,
    /// What the first one would have been told, or would not be told any more.
    told: Option<String>,
    /// How many.
    #[serde(flatten)]
    changed: ChangedView,
}

/// Somebody for whom something would be other.
#[derive(Debug, Serialize, ToSchema)]
struct TokenView {
    /// Who.
    principal: String,
    /// The id of their token: two tokens may have one name.
    token: Option<String>,
    /// How many.
    #[serde(flatten)]
    changed: ChangedView,
}

/// A day on which something would have been other.
#[derive(Debug, Serialize, ToSchema)]
struct DayView {
    /// The day, in UTC: `2026-10-01`.
    day: String,
    /// Those that pass now, and would be refused.
    n_newly_blocked: u64,
    /// Those that are refused now, and would pass.
    n_newly_allowed: u64,
}

/// How many decisions would have been other.
#[derive(Debug, Serialize, ToSchema)]
struct ChangedView {
    /// Those that pass now, and would be refused.
    n_newly_blocked: u64,
    /// Those that are refused now, and would pass.
    n_newly_allowed: u64,
    /// When the first of them was asked for.
    #[schema(value_type = String, format = DateTime)]
    first_at: Timestamp,
    /// When the last of them was.
    #[schema(value_type = String, format = DateTime)]
    last_at: Timestamp,
}

impl From<&Changed> for ChangedView {
    fn from(changed: &Changed) -> Self {
        let Changed { n_blocked, n_allowed, first_at, last_at } = *changed;
        Self { n_newly_blocked: n_blocked, n_newly_allowed: n_allowed, first_at, last_at }
    }
}

impl WhatIfView {
    pub(super) fn of(
        told: Told,
        reached: Reached,
        difference: &Difference,
        took: Duration,
        by_one_policy: bool,
    ) -> Self {
        let Told { days, since, by, limit } = told;
        let days_of = difference.by_day().map(|(day, changed)| DayView {
            day: day.date(),
            n_newly_blocked: changed.n_blocked,
            n_newly_allowed: changed.n_allowed,
        });
        Self {
            days,
            since,
            facts: by.as_str(),
            complete: reached.done(),
            upto: reached.upto,
            by_one_policy,
            n_judged: difference.n_judged,
            n_were_allowed: difference.n_were_allowed,
            in_force: difference.in_force.into(),
            tried: difference.tried.into(),
            n_newly_blocked: difference.n_newly_blocked,
            n_newly_allowed: difference.n_newly_allowed,
            n_answered_otherwise: difference.n_answered_otherwise,
            n_age_unknown: difference.n_age_unknown,
            n_version_unknown: difference.n_version_unknown,
            n_outside: difference.n_outside,
            n_unreadable: difference.n_unreadable,
            by_version: rows(&difference.by_version, limit, |of, changed, cause| {
                let objection = cause.as_deref();
                VersionView {
                    ecosystem: of.ecosystem,
                    package: of.package.clone(),
                    version: of.version.clone(),
                    source: objection.map(|no| no.source.clone()),
                    id: objection.map(|no| no.id().to_owned()),
                    told: objection.map(Objection::to_string),
                    changed: changed.into(),
                }
            }),
            by_token: rows(&difference.by_who, limit, |who, changed, ()| TokenView {
                principal: who.principal.clone(),
                token: who.token.clone(),
                changed: changed.into(),
            }),
            by_day: days_of.collect(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            rate: rate(difference.n_judged, took),
        }
    }
}

fn rows<K: Eq + std::hash::Hash + Ord, X, T>(
    table: &Table<K, X>,
    limit: usize,
    view: impl Fn(&K, &Changed, &X) -> T,
) -> Listed<T> {
    let rows = table.rows();
    let n_rows = rows.len();
    let rows = rows.into_iter().take(limit).map(|(key, changed, with)| view(key, changed, with));
    Listed { n_rows, n_beyond: table.n_beyond(), rows: rows.collect() }
}

fn rate(n: u64, took: Duration) -> u64 {
    let micros = took.as_micros().max(1);
    u64::try_from(u128::from(n) * 1_000_000 / micros).unwrap_or(u64::MAX)
}
