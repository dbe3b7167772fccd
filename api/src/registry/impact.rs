//! What an advisory or a rule of today means for what was let through before: who has it, since when,
//! and whether its files still lie here.

mod affected;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use axum::{
    Json,
    extract::{Path, State},
};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::{advisory::called::Record, impact::Subject};
use weir_events::{position::Position, registry::Ecosystem, timestamp::Timestamp};
use weir_processors::registry::cache::CacheKey;
use weir_projections::registry::downloads::{self, DownloadRow, TotalRow, Versions};

use self::affected::{Affected, ByVersion, affected};
use crate::{
    ask::Params,
    auth::{By, needs::RulesRead},
    problem::{
        Problem,
        table::{INTERNAL, NOTHING_CALLED_SO},
    },
    state::ApiState,
    wait::{self, MinPosition},
};

const LIST: &str = "impact";

/// How many downloads one page has, and at most.
const PAGE: (usize, usize) = (50, 1_000);

/// The route of impacts.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(impact))
}

/// What an advisory or a rule means for what was let through.
#[derive(Debug, Serialize, ToSchema)]
pub struct Impact {
    /// What was asked about.
    name: String,
    /// All names of the advisory; the id of a rule.
    names: BTreeSet<String>,
    /// What sources say about it, now. None for a rule.
    records: Vec<RecordView>,
    /// Whether all downloads were looked at; otherwise there may be more than is told here.
    complete: bool,
    /// By how many principals affected versions were downloaded.
    n_principals: u64,
    /// How many files of affected versions they were let through to.
    n_downloads: u64,
    /// How many files of affected versions lie in this instance's cache.
    n_cached: usize,
    /// When the first of them was let through.
    #[schema(value_type = Option<String>, format = DateTime)]
    first_at: Option<Timestamp>,
    /// When the last of them was let through.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
    /// The affected versions that were downloaded.
    versions: Vec<AffectedView>,
    /// Who downloaded them, the last one first.
    downloads: Vec<DownloadView>,
    /// The cursor of the next page of downloads, if there may be one.
    next: Option<String>,
}

/// What a source says.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordView {
    /// The source.
    source: String,
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The record's id.
    id: String,
    /// What it is about.
    summary: String,
}

impl From<Record> for RecordView {
    fn from(record: Record) -> Self {
        let Record { source, ecosystem, id, summary } = record;
        Self { source, ecosystem, id, summary }
    }
}

/// An affected version that was downloaded.
#[derive(Debug, Serialize, ToSchema)]
pub struct AffectedView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version, where a file's name tells.
    version: Option<String>,
    /// What of it the version falls under.
    hit: String,
    /// By how many principals it was downloaded.
    n_principals: u64,
    /// How many files they were let through to.
    n_downloads: u64,
    /// When first.
    #[schema(value_type = Option<String>, format = DateTime)]
    first_at: Option<Timestamp>,
    /// When last.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
    /// Its files that somebody was let through to.
    files: Vec<FileView>,
}

/// A file of an affected version.
#[derive(Debug, Serialize, ToSchema)]
pub struct FileView {
    /// Its name.
    file: String,
    /// Whether it lies in this instance's cache. Whoever asks for it is judged all the same.
    cached: bool,
}

/// Somebody downloaded an affected version.
#[derive(Debug, Serialize, ToSchema)]
pub struct DownloadView {
    /// The ecosystem.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// The package, by its normalised name.
    package: String,
    /// The version, where a file's name tells.
    version: Option<String>,
    /// Who.
    principal: String,
    /// The id of their token: two tokens may have one name.
    token: Option<String>,
    /// How many files they were let through to.
    n_downloads: u64,
    /// When first.
    #[schema(value_type = String, format = DateTime)]
    first_at: Timestamp,
    /// When last.
    #[schema(value_type = String, format = DateTime)]
    last_at: Timestamp,
    /// The event that records the last of them.
    #[schema(value_type = i64)]
    last_position: Position,
}

impl From<DownloadRow> for DownloadView {
    fn from(row: DownloadRow) -> Self {
        Self {
            ecosystem: row.ecosystem,
            package: row.package,
            version: row.version,
            principal: row.principal,
            token: row.token,
            n_downloads: row.n_downloads,
            first_at: row.first_at,
            last_at: row.last_at,
            last_position: row.last_position,
        }
    }
}

/// Says who downloaded what an advisory or a rule is about
#[utoipa::path(
    get, path = "/api/registry/impact/{name}", tag = "registry", operation_id = "impact",
    params(
        ("name" = String, Path, description = "The id or an alias of an advisory, or a rule's id"),
        ("limit" = Option<usize>, Query, description = "1 to 1000 downloads, 50 by default"),
        ("cursor" = Option<String>, Query, description = "Where the downloads before ended"),
        ("min_position" = Option<MinPosition>, Query, description = "At least so new an answer"),
    ),
    responses(
        (status = 200, description = "Who has it, since when, and what lies here", body = Impact),
        (status = 404, description = "Nothing is called so"),
    ),
)]
async fn impact(
    State(state): State<ApiState>,
    Path(name): Path<String>,
    _: By<RulesRead>,
    mut params: Params,
) -> Result<Json<Impact>, Problem> {
    let limit = params.limit(PAGE.0, PAGE.1)?;
    let cursor: Option<String> = params.take("cursor")?;
    let before = cursor.map(|cursor| state.cursors().read(LIST, &name, &cursor)).transpose()?;
    wait::projection(&state, "downloads", &mut params).await?;
    params.done()?;
    let subject = subject(&state, &name).await?;
    let database = state.database();
    let (affected, complete) = affected(database, &subject).await?;
    let mut of = Versions::default();
    for (ecosystem, package, version) in affected.keys() {
        of.push(*ecosystem, package, version);
    }
    let (totals, n_principals, rows) = tokio::try_join!(
        downloads::totals(database, &of),
        downloads::n_principals(database, &of),
        downloads::list(database, &of, before.map(Position), limit),
    )?;
    let last = rows.last().filter(|_| rows.len() == limit).map(|row| row.last_position);
    let held = held(&state, &affected).await?;
    let n_downloads = totals.iter().map(|total| total.n_downloads).sum();
    let first_at = totals.iter().map(|total| total.first_at).min();
    let last_at = totals.iter().map(|total| total.last_at).max();
    let versions = told(affected, totals, &held);
    let (names, records) = match subject {
        Subject::Rule(rule) => (BTreeSet::from([rule.rule.id.clone()]), Vec::new()),
        Subject::Advisory(called, _) => (called.names, called.records),
    };
    Ok(Json(Impact {
        names,
        records: records.into_iter().map(RecordView::from).collect(),
        complete,
        n_principals,
        n_downloads,
        n_cached: versions.iter().flat_map(|it| &it.files).filter(|file| file.cached).count(),
        first_at,
        last_at,
        versions,
        downloads: rows.into_iter().map(DownloadView::from).collect(),
        next: last.map(|last| state.cursors().make(LIST, &name, last.0)),
        name,
    }))
}

/// What is asked about. All that is known is looked at, away from the threads that serve.
async fn subject(state: &ApiState, name: &str) -> Result<Subject, Problem> {
    let (ours, wanted) = (state.clone(), name.to_owned());
    let find = move || Ok::<_, Problem>(ours.packages().facts()?.subject(&wanted));
    let found = tokio::task::spawn_blocking(find).await;
    let found = found.map_err(|_| Problem::new(&INTERNAL, "the search broke off"))??;
    found.ok_or_else(|| {
        let shown: String = name.chars().take(100).collect();
        let detail = format!("no advisory and no rule is called `{shown}`");
        Problem::new(&NOTHING_CALLED_SO, detail)
    })
}

/// Which of the files lie in this instance's cache.
async fn held(state: &ApiState, affected: &ByVersion) -> Result<HashSet<CacheKey>, Problem> {
    let keys = affected.iter().flat_map(|((ecosystem, package, version), affected)| {
        affected
            .files
            .iter()
            .filter_map(|file| CacheKey::of_download(*ecosystem, package, version, file))
    });
    state.packages().held(keys.collect()).await.map_err(|fault| {
        tracing::warn!(error = %fault, "could not look into the cache");
        Problem::new(&INTERNAL, "could not look into the cache")
    })
}

/// The affected versions as they are told.
fn told(affected: ByVersion, totals: Vec<TotalRow>, held: &HashSet<CacheKey>) -> Vec<AffectedView> {
    let key =
        |total: TotalRow| ((total.ecosystem, total.package.clone(), total.version.clone()), total);
    let totals: BTreeMap<_, _> = totals.into_iter().map(key).collect();
    let mut views = Vec::with_capacity(affected.len());
    for (key, Affected { hit, files }) in affected {
        let total = totals.get(&key);
        let (ecosystem, package, version) = key;
        let cached = |file: &str| {
            let key = CacheKey::of_download(ecosystem, &package, &version, file);
            key.is_some_and(|key| held.contains(&key))
        };
        let file = |file: String| FileView { cached: cached(&file), file };
        views.push(AffectedView {
            ecosystem,
            hit,
            n_principals: total.map_or(0, |total| total.n_principals),
            n_downloads: total.map_or(0, |total| total.n_downloads),
            first_at: total.map(|total| total.first_at),
            last_at: total.map(|total| total.last_at),
            files: files.into_iter().map(file).collect(),
            package,
            version: Some(version).filter(|version| !version.is_empty()),
        });
    }
    views
}
