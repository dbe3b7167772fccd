//! How the package firewall fares: what the log says was decided, and what this instance counted.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};
use weir_processors::registry::stats::Stats;
use weir_projections::registry::traffic::{self, Counts, PackageRow, Step, TrafficRow};

use super::cache::share;
use crate::{
    ask::{Params, bad_parameter},
    auth::{By, needs::RulesRead},
    problem::Problem,
    state::ApiState,
    wait::{self, MinPosition},
};

/// Packages when nobody says how many, and at most.
const TOP: (usize, usize) = (10, 100);
const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// The routes of the dashboard.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(show))
}

/// How far back to look, and in steps of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    name: &'static str,
    seconds: i64,
    step: Step,
}

/// The ranges. None has more rows than a query answers with.
const RANGES: [Range; 4] = [
    Range { name: "24h", seconds: DAY, step: Step::Hour },
    Range { name: "7d", seconds: 7 * DAY, step: Step::Hour },
    Range { name: "30d", seconds: 30 * DAY, step: Step::Day },
    Range { name: "90d", seconds: 90 * DAY, step: Step::Day },
];

impl Range {
    /// Where the first of its steps began: the last step holds `now`.
    fn since(self, now: Timestamp) -> Timestamp {
        let width = match self.step {
            Step::Hour => HOUR,
            Step::Day => DAY,
        };
        floor(now.plus_seconds(width - self.seconds), width)
    }
}

/// The beginning of the hour or day that holds a moment.
fn floor(at: Timestamp, width: i64) -> Timestamp {
    let width = width * 1_000_000;
    Timestamp::from_micros(at.micros().div_euclid(width) * width)
}

/// How the package firewall fares.
#[derive(Debug, Serialize, ToSchema)]
pub struct Dashboard {
    /// The range that was asked for: `24h`, `7d`, `30d` or `90d`.
    range: &'static str,
    /// How wide a step of `over_time` is: `hour` or `day`, of UTC.
    step: &'static str,
    /// When the first step began; what is recorded counts from here.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// When this was asked.
    #[schema(value_type = String, format = DateTime)]
    until: Timestamp,
    /// What the log says was decided, by all instances together.
    recorded: CountsView,
    /// The same for each ecosystem that had any.
    by_ecosystem: Vec<EcosystemView>,
    /// The same step by step, the oldest first; where nothing was decided there is no entry.
    over_time: Vec<StepView>,
    /// The packages whose files were asked for most, since the beginning of a day of UTC.
    top_packages: Vec<PackageView>,
    /// The beginning of that day.
    #[schema(value_type = String, format = DateTime)]
    top_since: Timestamp,
    /// What this instance counted since it started: also answers that are no events, such as lists
    /// that nothing was hidden in, and 304s.
    instance: InstanceView,
}

/// What was decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct CountsView {
    /// Downloads let through.
    allowed: u64,
    /// Downloads refused.
    blocked: u64,
    /// Lists with something hidden or marked; one for each principal, package and policy.
    filtered: u64,
}

impl CountsView {
    const fn add(&mut self, counts: Counts) {
        self.allowed += counts.n_allowed;
        self.blocked += counts.n_blocked;
        self.filtered += counts.n_filtered;
    }
}

/// What was decided for an ecosystem.
#[derive(Debug, Serialize, ToSchema)]
pub struct EcosystemView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// What was decided.
    #[serde(flatten)]
    counts: CountsView,
}

/// What was decided for an ecosystem in an hour or a day.
#[derive(Debug, Serialize, ToSchema)]
pub struct StepView {
    /// When it began.
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// What was decided.
    #[serde(flatten)]
    counts: CountsView,
}

/// How often the files of a package were asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct PackageView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// Downloads let through.
    allowed: u64,
    /// Downloads refused.
    blocked: u64,
}

impl From<PackageRow> for PackageView {
    fn from(row: PackageRow) -> Self {
        let PackageRow { ecosystem, package, n_allowed: allowed, n_blocked: blocked } = row;
        Self { ecosystem, package, allowed, blocked }
    }
}

/// What an instance counted since it started.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceView {
    /// When it started.
    #[schema(value_type = String, format = DateTime)]
    started_at: Timestamp,
    /// The hit rate of all its ecosystems together; `null` before the first request.
    cache_hit_rate: Option<f64>,
    /// Each ecosystem it serves.
    ecosystems: Vec<ServedView>,
}

/// What an instance counted of an ecosystem.
#[derive(Debug, Serialize, ToSchema)]
pub struct ServedView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// Where its addresses begin.
    prefix: &'static str,
    /// Answers.
    requests: u64,
    /// Of those, how many said that the client has it already (304).
    not_modified: u64,
    /// Of those, how many were failures of Weir or of the upstream (5xx).
    failed: u64,
    /// Downloads refused.
    blocked: u64,
    /// Lists answered with something hidden or marked.
    filtered: u64,
    /// Files and lists answered from what was here already.
    cache_hits: u64,
    /// Files and lists that had to be fetched.
    cache_misses: u64,
    /// Lists answered from an old copy, because the upstream failed.
    stale: u64,
    /// Requests to the upstream.
    upstream_requests: u64,
    /// Of those, how many failed.
    upstream_failures: u64,
}

impl ServedView {
    fn of(ecosystem: Ecosystem, prefix: &'static str, stats: &Stats) -> Self {
        let with = |chosen: fn(u16) -> bool| {
            stats.requests.iter().filter(|(status, _)| chosen(**status)).map(|(_, n)| n).sum()
        };
        Self {
            ecosystem,
            prefix,
            requests: with(|_| true),
            not_modified: with(|status| status == 304),
            failed: with(|status| 500 <= status),
            blocked: stats.blocked,
            filtered: stats.filtered,
            cache_hits: stats.hits,
            cache_misses: stats.misses,
            stale: stats.stale,
            upstream_requests: stats.upstream_requests,
            upstream_failures: stats.upstream_failures,
        }
    }
}

/// The share of hits; nothing when there was neither hit nor miss.
fn hit_rate(served: &[ServedView]) -> Option<f64> {
    let sum = |of: fn(&ServedView) -> u64| served.iter().map(of).sum::<u64>();
    let (hits, misses) = (sum(|s| s.cache_hits), sum(|s| s.cache_misses));
    share(hits, misses)
}

/// Shows how the package firewall fares
///
/// `recorded`, `by_ecosystem`, `over_time` and `top_packages` come from the log, so that all
/// instances are in them and a replay gives them again; `instance` is what this process counted.
#[utoipa::path(
    get, path = "/api/dashboard", tag = "registry", operation_id = "dashboard",
    params(
        ("range" = Option<String>, Query, description = "`24h` (without one), `7d`, `30d` or `90d`"),
        ("ecosystem" = Option<String>, Query, description = "Of this ecosystem"),
        ("top" = Option<usize>, Query, description = "How many packages: 1 to 100, 10 by default"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "How it fares", body = Dashboard)),
)]
async fn show(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<Dashboard>, Problem> {
    let range = range(&mut params)?;
    let ecosystem = super::ecosystem(&mut params)?;
    let top = params.take("top")?.unwrap_or(TOP.0);
    if !(1..=TOP.1).contains(&top) {
        return Err(bad_parameter("top", format!("{top} is not within 1 to {}", TOP.1)));
    }
    wait::projection(&state, "traffic", &mut params).await?;
    params.done()?;
    let until = state.door().now();
    let since = range.since(until);
    let top_since = floor(since, DAY);
    let (rows, packages) = tokio::try_join!(
        traffic::over_time(state.database(), since, range.step, ecosystem),
        traffic::top(state.database(), top_since, ecosystem, top),
    )?;
    let (recorded, by_ecosystem) = sums(&rows);
    Ok(Json(Dashboard {
        range: range.name,
        step: range.step.as_str(),
        since,
        until,
        recorded,
        by_ecosystem,
        over_time: rows.iter().map(step).collect(),
        top_packages: packages.into_iter().map(PackageView::from).collect(),
        top_since,
        instance: instance(&state, ecosystem),
    }))
}

fn range(params: &mut Params) -> Result<Range, Problem> {
    let name = params.take::<String>("range")?.unwrap_or_else(|| RANGES[0].name.to_owned());
    RANGES.into_iter().find(|range| range.name == name).ok_or_else(|| {
        let shown: String = name.chars().take(40).collect();
        bad_parameter("range", format!("`{shown}` is none of 24h, 7d, 30d, 90d"))
    })
}

fn step(row: &TrafficRow) -> StepView {
    let mut counts = CountsView::default();
    counts.add(row.counts);
    StepView { at: row.at, ecosystem: row.ecosystem, counts }
}

fn sums(rows: &[TrafficRow]) -> (CountsView, Vec<EcosystemView>) {
    let mut all = CountsView::default();
    for row in rows {
        all.add(row.counts);
    }
    let of = |ecosystem| {
        let mut counts = CountsView::default();
        for row in rows.iter().filter(|row| row.ecosystem == ecosystem) {
            counts.add(row.counts);
        }
        EcosystemView { ecosystem, counts }
    };
    let had_any = |view: &EcosystemView| view.counts != CountsView::default();
    (all, Ecosystem::ALL.into_iter().map(of).filter(had_any).collect())
}

fn instance(state: &ApiState, ecosystem: Option<Ecosystem>) -> InstanceView {
    let served = state.packages().served().iter();
    let ecosystems: Vec<_> = served
        .filter(|served| ecosystem.is_none_or(|wanted| wanted == served.ecosystem))
        .map(|served| ServedView::of(served.ecosystem, served.prefix, &(served.stats)()))
        .collect();
    let cache_hit_rate = hit_rate(&ecosystems);
    InstanceView { started_at: state.started_at(), cache_hit_rate, ecosystems }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(hits: u64, misses: u64) -> ServedView {
        let stats = Stats {
            requests: [(200, 5), (304, 3), (502, 2)].into(),
            hits,
            misses,
            ..Stats::default()
        };
        ServedView::of(Ecosystem::Npm, "/npm", &stats)
    }

    #[test]
    fn a_range_ends_in_the_step_that_holds_now_and_begins_with_a_whole_one() {
        let now = Timestamp::from_micros((1_000 * DAY + 5 * HOUR + 59) * 1_000_000);
        let since = |n: usize| RANGES[n].since(now).micros() / 1_000_000;
        assert_eq!(since(0), 999 * DAY + 6 * HOUR);
        assert_eq!(since(2), 971 * DAY);
        let widest = RANGES.map(|range| match range.step {
            Step::Hour => range.seconds / HOUR,
            Step::Day => range.seconds / DAY,
        });
        let rows = widest.into_iter().max().unwrap() * 5;
        assert!(rows <= i64::try_from(weir_projections::query::MAX_ROWS).unwrap());
    }

    #[test]
    fn the_hit_rate_is_the_share_of_hits_and_unknown_before_the_first() {
        assert_eq!(hit_rate(&[]), None);
        assert_eq!(hit_rate(&[served(0, 0)]), None);
        assert_eq!(hit_rate(&[served(3, 1), served(0, 4)]), Some(0.375));
        assert_eq!(hit_rate(&[served(u64::MAX / 2, 0)]), Some(1.0));
    }

    #[test]
    fn answers_are_told_apart_by_status() {
        let view = served(0, 0);
        assert_eq!((view.requests, view.not_modified, view.failed), (10, 3, 2));
    }

    #[test]
    fn sums_are_those_of_all_steps() {
        let row = |ecosystem, n_allowed, n_blocked| TrafficRow {
            at: Timestamp::EPOCH,
            ecosystem,
            counts: Counts { n_allowed, n_blocked, n_filtered: 1 },
        };
        let rows =
            [row(Ecosystem::Npm, 1, 2), row(Ecosystem::Pypi, 3, 0), row(Ecosystem::Npm, 4, 0)];
        let (all, each) = sums(&rows);
        assert_eq!(all, CountsView { allowed: 8, blocked: 2, filtered: 3 });
        let each: Vec<_> = each.iter().map(|e| (e.ecosystem.as_str(), e.counts.allowed)).collect();
        assert_eq!(each, [("pypi", 3), ("npm", 5)]);
    }
}
