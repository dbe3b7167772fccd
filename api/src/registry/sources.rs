//! Where advisories come from: how each source stands, when it was visited, and to have it visited
//! now.

use std::{convert::Infallible, time::Duration};

use axum::{
    Json,
    extract::{Path, State},
};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::{
    advisory::difference::Losses,
    visits::{Request, Schedule},
};
use weir_events::{
    position::Position,
    registry::{Ecosystem, sync},
    timestamp::Timestamp,
};
use weir_projections::registry::sync_status::{self, StatusRow, VisitRow};

use crate::{
    answer::Done,
    ask::{Ask, Params},
    auth::{
        By,
        needs::{Admin, RulesRead},
    },
    problem::{
        Problem,
        table::{NO_SUCH_SOURCE, SOURCE_DISABLED},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

/// The read model of all this.
const MODEL: &str = "sync_status";
/// The name of the list of visits, in cursors.
const LIST: &str = "visits";
/// Visits of a page when nobody says how many, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The routes of sources.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(ask)).routes(routes!(history))
}

/// A source as this instance is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its name.
    pub name: &'static str,
    /// Whether it is visited.
    pub enabled: bool,
    /// The ecosystems it is asked about.
    pub ecosystems: Vec<Ecosystem>,
    /// How long after a visit the next one is due.
    pub interval: Duration,
}

/// The sources of advisories.
#[derive(Debug, Serialize, ToSchema)]
pub struct Sources {
    sources: Vec<SourceView>,
}

/// How a source stands. The order is that of how much somebody should look at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum SourceState {
    /// It is not visited.
    Disabled,
    /// The last visit to each part succeeded.
    Ok,
    /// A visit is under way.
    Syncing,
    /// It was never visited to the end.
    Never,
    /// The last visit to a part failed; what it said before stands.
    Failing,
}

/// A source of advisories.
#[derive(Debug, Serialize, ToSchema)]
pub struct SourceView {
    /// Its name.
    name: &'static str,
    /// How it stands: `disabled`, `ok`, `syncing`, `never` or `failing`.
    state: SourceState,
    /// Whether it is visited, as this instance is configured.
    enabled: bool,
    /// The ecosystems it is asked about.
    #[schema(value_type = Vec<String>)]
    ecosystems: Vec<Ecosystem>,
    /// How long after a visit the next one is due, in seconds.
    sync_interval_seconds: u64,
    /// When somebody asked for a visit last.
    #[schema(value_type = Option<String>, format = DateTime)]
    asked_at: Option<Timestamp>,
    /// How many advisories (or rules, for the blocklist) of it stand.
    n_advisories: u64,
    /// How much of that is about each ecosystem.
    advisories: Vec<AdvisoryCount>,
    /// Its parts that are visited each on its own.
    parts: Vec<PartView>,
}

/// How much a source says about an ecosystem.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdvisoryCount {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// How many advisories about it stand.
    n_advisories: u64,
}

/// A part of a source that is visited on its own.
#[derive(Debug, Serialize, ToSchema)]
pub struct PartView {
    /// The ecosystem, or `null`: all the source has.
    #[schema(value_type = Option<String>)]
    ecosystem: Option<Ecosystem>,
    /// How it stands.
    state: SourceState,
    /// When the last visit began.
    #[schema(value_type = Option<String>, format = DateTime)]
    started_at: Option<Timestamp>,
    /// When the last visit that succeeded ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    succeeded_at: Option<Timestamp>,
    /// When the last visit that failed ended.
    #[schema(value_type = Option<String>, format = DateTime)]
    failed_at: Option<Timestamp>,
    /// Why the last visit failed, if it did.
    cause: Option<String>,
    /// When the next visit is due, at the earliest; up to a tenth of the interval later.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_due_at: Option<Timestamp>,
    /// What the source called its state when it was read last.
    revision: Option<String>,
    /// Records read by the last visit that read any.
    n_records: u64,
    /// Those of them that could not be read.
    n_unreadable: u64,
}

impl PartView {
    fn of(row: StatusRow, source: &SourceInfo) -> Self {
        let ended_at = row.succeeded_at.max(row.failed_at);
        let state = if !source.enabled {
            SourceState::Disabled
        } else if row.started_at > ended_at {
            SourceState::Syncing
        } else if row.cause.is_some() {
            SourceState::Failing
        } else if row.succeeded_at.is_some() {
            SourceState::Ok
        } else {
            SourceState::Never
        };
        let interval = i64::try_from(source.interval.as_secs()).unwrap_or(i64::MAX);
        let due = ended_at.filter(|_| source.enabled && state != SourceState::Syncing);
        Self {
            ecosystem: row.ecosystem,
            state,
            started_at: row.started_at,
            succeeded_at: row.succeeded_at,
            failed_at: row.failed_at,
            cause: row.cause,
            next_due_at: due.map(|at| at.plus_seconds(interval)),
            revision: row.revision,
            n_records: row.n_records,
            n_unreadable: row.n_unreadable,
        }
    }
}

/// Shows how the sources of advisories stand
#[utoipa::path(
    get, path = "/api/security-sources", tag = "registry", operation_id = "security_sources",
    params(("min_position" = Option<MinPosition>, Query, description = "At least so new an answer")),
    responses((status = 200, description = "The sources", body = Sources)),
)]
async fn list(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<Sources>, Problem> {
    wait::projection(&state, MODEL, &mut params).await?;
    params.done()?;
    let database = state.database();
    let rows = sync_status::list(database).await?;
    let tally = sync_status::tally(database).await?;
    let requests = sync_status::requests(database).await?;
    let view = |source: &SourceInfo| {
        let its = rows.iter().filter(|row| row.source == source.name);
        let parts: Vec<_> = its.map(|row| PartView::of(row.clone(), source)).collect();
        let worst = parts.iter().map(|part| part.state).max();
        let unvisited = if source.enabled { SourceState::Never } else { SourceState::Disabled };
        let said = || tally.iter().filter(|(name, ..)| name == source.name);
        SourceView {
            name: source.name,
            state: worst.unwrap_or(unvisited),
            enabled: source.enabled,
            ecosystems: source.ecosystems.clone(),
            sync_interval_seconds: source.interval.as_secs(),
            asked_at: requests.iter().find(|(name, _)| name == source.name).map(|(_, at)| *at),
            n_advisories: said().map(|(_, _, n)| n).sum(),
            advisories: said()
                .filter_map(|(_, ecosystem, n)| Some(((*ecosystem)?, *n)))
                .map(|(ecosystem, n_advisories)| AdvisoryCount { ecosystem, n_advisories })
                .collect(),
            parts,
        }
    };
    Ok(Json(Sources { sources: state.packages().sources().iter().map(view).collect() }))
}

/// How a source is to be visited.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SyncRequest {
    /// Whether you have looked, and say that what is gone from the source is gone indeed, however
    /// much that is.
    #[serde(default)]
    believe_losses: bool,
}

/// That a visit was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub struct SyncAsked {
    /// The source.
    name: &'static str,
    /// Where its visits are told.
    history: String,
}

/// Has a source visited now, and all it has read anew
#[utoipa::path(
    post, path = "/api/security-sources/{name}/sync", tag = "registry",
    operation_id = "sync_source",
    params(
        ("name" = String, Path, description = "The source"),
        ("idempotency-key" = Option<String>, Header, description = "Makes a repetition known"),
    ),
    request_body = SyncRequest,
    responses(
        (status = 202, description = "Whoever visits the sources knows", body = SyncAsked),
        (status = 409, description = "The source is not visited"),
    ),
)]
async fn ask(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    Ask { body, caller, key, .. }: Ask<Admin, SyncRequest>,
) -> Result<Done<SyncAsked>, Problem> {
    let source = find(&state, &name)?;
    if !source.enabled {
        let detail = format!(
            "{name} is not visited: enable it in the configuration (sources.*) and restart Weir"
        );
        return Err(Problem::new(&SOURCE_DISABLED, detail));
    }
    let losses = if body.believe_losses { Losses::Believe } else { Losses::Doubt };
    let stream = sync::stream(source.name).map_err(|fault| Problem::internal(&fault))?;
    let request = Request { source: name, losses };
    let executed = state.door().execute::<Schedule>(&stream, &request, &caller, key).await?;
    let history = format!("/api/security-sources/{}/history", source.name);
    Ok(Done::of(&executed, StatusCode::ACCEPTED, SyncAsked { name: source.name, history }))
}

/// Visits to a source that ended, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct VisitPage {
    visits: Vec<VisitView>,
    /// Where the list goes on.
    next: Option<String>,
}

/// A visit that ended.
#[derive(Debug, Serialize, ToSchema)]
pub struct VisitView {
    /// The event that records it.
    #[schema(value_type = i64)]
    position: Position,
    /// The ecosystem, or `null`: all the source has.
    #[schema(value_type = Option<String>)]
    ecosystem: Option<Ecosystem>,
    /// When it ended.
    #[schema(value_type = String, format = DateTime)]
    ended_at: Timestamp,
    /// How long it took, in milliseconds.
    duration_ms: u64,
    /// Why it failed, if it did.
    cause: Option<String>,
    /// What the source calls its state.
    revision: Option<String>,
    /// Records read; 0 when nothing had changed.
    n_records: u64,
    /// Those of them that could not be read.
    n_unreadable: u64,
    /// Advisories that were new.
    n_published: u64,
    /// Advisories that said something else.
    n_changed: u64,
    /// Advisories that were withdrawn.
    n_withdrawn: u64,
}

impl From<VisitRow> for VisitView {
    fn from(row: VisitRow) -> Self {
        Self {
            position: row.position,
            ecosystem: row.ecosystem,
            ended_at: row.ended_at,
            duration_ms: row.duration_ms,
            cause: row.cause,
            revision: row.revision,
            n_records: row.n_records,
            n_unreadable: row.n_unreadable,
            n_published: row.n_published,
            n_changed: row.n_changed,
            n_withdrawn: row.n_withdrawn,
        }
    }
}

/// Lists the visits to a source, the newest first
#[utoipa::path(
    get, path = "/api/security-sources/{name}/history", tag = "registry",
    operation_id = "source_history",
    params(
        ("name" = String, Path, description = "The source"),
        ("limit" = Option<usize>, Query, description = "1 to 1000, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the list before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses((status = 200, description = "The visits", body = VisitPage)),
)]
async fn history(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<VisitPage>, Problem> {
    let name = find(&state, &name)?.name;
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let before = cursor.map(|cursor| state.cursors().read(LIST, name, &cursor)).transpose()?;
    wait::projection(&state, MODEL, &mut params).await?;
    params.done()?;
    let before = before.map(Position);
    let rows = sync_status::history(state.database(), name, before, limit).await?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.position);
    let next = last.map(|last| state.cursors().make(LIST, name, last.0));
    Ok(Json(VisitPage { visits: rows.into_iter().map(VisitView::from).collect(), next }))
}

fn find<'a>(state: &'a ApiState, name: &str) -> Result<&'a SourceInfo, Problem> {
    let sources = state.packages().sources();
    sources.iter().find(|source| source.name == name).ok_or_else(|| {
        let shown: String = name.chars().take(40).collect();
        let known: Vec<_> = sources.iter().map(|source| source.name).collect();
        let known = known.join(", ");
        Problem::new(&NO_SUCH_SOURCE, format!("no source is called `{shown}`; there are {known}"))
    })
}

impl From<Infallible> for Problem {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> StatusRow {
        StatusRow {
            source: "osv".to_owned(),
            ecosystem: Some(Ecosystem::Npm),
            started_at: Some(Timestamp::from_micros(5)),
            succeeded_at: None,
            failed_at: None,
            cause: None,
            revision: None,
            n_records: 0,
            n_unreadable: 0,
            position: Position(1),
        }
    }

    #[test]
    fn a_part_stands_as_its_last_visit_ended_unless_another_has_begun() {
        let source = |enabled| SourceInfo {
            name: "osv",
            enabled,
            ecosystems: vec![Ecosystem::Npm],
            interval: Duration::from_mins(1),
        };
        let at = |micros| Some(Timestamp::from_micros(micros));
        let state = |row: &StatusRow| PartView::of(row.clone(), &source(true)).state;
        assert_eq!(state(&row()), SourceState::Syncing);
        let ok = StatusRow { succeeded_at: at(6), ..row() };
        assert_eq!(state(&ok), SourceState::Ok);
        let failing = StatusRow { failed_at: at(7), cause: Some("x".to_owned()), ..ok.clone() };
        assert_eq!(state(&failing), SourceState::Failing);
        assert_eq!(state(&StatusRow { started_at: at(9), ..failing }), SourceState::Syncing);
        assert_eq!(PartView::of(ok.clone(), &source(false)).state, SourceState::Disabled);
        let due = PartView::of(ok, &source(true)).next_due_at;
        assert_eq!(due, Some(Timestamp::from_micros(60_000_006)));
    }
}
