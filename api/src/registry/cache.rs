//! What lies in the cache, how much it is used, and to have some of it forgotten.

use axum::{Json, extract::State};
use http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};
use weir_aggregates::registry::selection;
use weir_events::{
    registry::{CachePurged, Ecosystem},
    timestamp::Timestamp,
};
use weir_processors::registry::{
    cache::{Forgotten, Kept},
    purging::{PurgeFault, Request},
    stats::Stats,
};

use crate::{
    answer::Done,
    ask::{Ask, Nothing, Params, bad_parameter},
    auth::{
        By,
        needs::{Admin, RulesRead},
    },
    problem::{
        Problem,
        table::{BAD_PARAMETER, NO_CACHE, STOPPING},
    },
    state::ApiState,
};

/// The routes of the cache.
pub fn routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new().routes(routes!(stats)).routes(routes!(purge))
}

/// What lies in the cache of this instance, and how much it is used.
#[derive(Debug, Serialize, ToSchema)]
pub struct CacheView {
    /// Since when this instance counts hits, misses and what was forgotten: since it started.
    #[schema(value_type = String, format = DateTime)]
    since: Timestamp,
    /// How many bytes of files may be kept; what was used longest ago goes first.
    max_bytes: u64,
    /// How much of that is used, from 0 to 1.
    used: f64,
    /// Of all ecosystems together.
    total: CachePartView,
    /// Of each ecosystem that is served, or of which something is kept.
    ecosystems: Vec<CacheEcosystemView>,
}

/// What is kept of an ecosystem.
#[derive(Debug, Serialize, ToSchema)]
pub struct CacheEcosystemView {
    /// Which.
    #[schema(value_type = String)]
    ecosystem: Ecosystem,
    /// What is kept of it.
    #[serde(flatten)]
    part: CachePartView,
}

/// What is kept, by kind.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub struct CachePartView {
    /// Verified files, in the cache's folder. Instances that share the folder share them.
    files: CacheKindView,
    /// Lists of versions, in the memory of this instance.
    documents: CacheKindView,
    /// The share of both that was answered from here; `null` before the first request.
    hit_rate: Option<f64>,
    /// Files that were forgotten.
    evictions: EvictionsView,
}

/// What is kept of a kind.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub struct CacheKindView {
    /// How many.
    n: u64,
    /// Their size in bytes.
    size_bytes: u64,
    /// When the oldest of them was fetched, or last confirmed by the upstream.
    #[schema(value_type = Option<String>, format = DateTime)]
    oldest_at: Option<Timestamp>,
    /// When the newest of them was.
    #[schema(value_type = Option<String>, format = DateTime)]
    newest_at: Option<Timestamp>,
    /// How often one was here already.
    hits: u64,
    /// How often one had to be fetched.
    misses: u64,
    /// The share of hits; `null` where there was neither.
    hit_rate: Option<f64>,
}

/// How many files were forgotten, and why.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub struct EvictionsView {
    /// There was no more room.
    lru: u64,
    /// They were kept as long as they may be.
    expired: u64,
    /// Somebody asked for it.
    purged: u64,
    /// They were not what they were, or the disk could not take them.
    broken: u64,
}

impl CacheKindView {
    fn of(kept: Kept, hits: u64, misses: u64) -> Self {
        let Kept { n, size_bytes, oldest_at, newest_at } = kept;
        Self { n, size_bytes, oldest_at, newest_at, hits, misses, hit_rate: share(hits, misses) }
    }

    fn and(self, other: Self) -> Self {
        let kept = |view: Self| {
            let Self { n, size_bytes, oldest_at, newest_at, .. } = view;
            Kept { n, size_bytes, oldest_at, newest_at }
        };
        let (hits, misses) = (self.hits + other.hits, self.misses + other.misses);
        Self::of(kept(self).and(kept(other)), hits, misses)
    }
}

impl CachePartView {
    fn of(files: Kept, documents: Kept, forgotten: Forgotten, stats: &Stats) -> Self {
        let Stats { hits, misses, file_hits, file_misses, .. } = *stats;
        let page = |all: u64, of_files: u64| all.saturating_sub(of_files);
        let Forgotten { lru, expired, purged, broken } = forgotten;
        Self {
            files: CacheKindView::of(files, file_hits, file_misses),
            documents: CacheKindView::of(
                documents,
                page(hits, file_hits),
                page(misses, file_misses),
            ),
            hit_rate: share(hits, misses),
            evictions: EvictionsView { lru, expired, purged, broken },
        }
    }

    fn and(self, other: Self) -> Self {
        let (files, documents) = (self.files.and(other.files), self.documents.and(other.documents));
        let (hits, misses) = (files.hits + documents.hits, files.misses + documents.misses);
        let (ours, theirs) = (self.evictions, other.evictions);
        let evictions = EvictionsView {
            lru: ours.lru + theirs.lru,
            expired: ours.expired + theirs.expired,
            purged: ours.purged + theirs.purged,
            broken: ours.broken + theirs.broken,
        };
        Self { files, documents, hit_rate: share(hits, misses), evictions }
    }
}

/// The share of the first in both; nothing where there is neither. In whole hundredths of a percent:
/// exact enough to read, and no number is too large for it.
pub(super) fn share(of: u64, others: u64) -> Option<f64> {
    let share = (u128::from(of) * 10_000).checked_div(u128::from(of) + u128::from(others))?;
    Some(f64::from(u32::try_from(share).ok()?) / 10_000.0)
}

/// Shows what lies in the cache of this instance, and how much it is used
#[utoipa::path(
    get, path = "/api/cache/stats", tag = "registry", operation_id = "cache_stats",
    responses(
        (status = 200, description = "What lies there", body = CacheView),
        (status = 503, description = "This process keeps no cache"),
    ),
)]
async fn stats(
    State(state): State<ApiState>,
    _: By<RulesRead>,
    params: Params,
) -> Result<Json<CacheView>, Problem> {
    params.done()?;
    let packages = state.packages();
    let census = packages.census().ok_or_else(no_cache)?.await;
    let census = census.map_err(|fault| Problem::internal(&fault))?;
    let shelves = packages.shelved(state.door().now());
    let mut ecosystems = Vec::new();
    for ecosystem in Ecosystem::ALL {
        let served = packages.served().iter().find(|served| served.ecosystem == ecosystem);
        let files = census.kept.get(&ecosystem).copied();
        if served.is_none() && files.is_none() {
            continue;
        }
        let documents = shelves.get(&ecosystem).copied().unwrap_or_default();
        let forgotten = census.forgotten.get(&ecosystem).copied().unwrap_or_default();
        let stats = served.map(|served| (served.stats)()).unwrap_or_default();
        let part = CachePartView::of(files.unwrap_or_default(), documents, forgotten, &stats);
        ecosystems.push(CacheEcosystemView { ecosystem, part });
    }
    let parts = ecosystems.iter().map(|view| view.part);
    let total = parts.fold(CachePartView::default(), CachePartView::and);
    let size = total.files.size_bytes;
    Ok(Json(CacheView {
        since: state.started_at(),
        max_bytes: census.max_bytes,
        used: share(size, census.max_bytes.saturating_sub(size)).unwrap_or(0.0),
        total,
        ecosystems,
    }))
}

/// What was forgotten.
#[derive(Debug, Serialize, ToSchema)]
pub struct PurgedView {
    /// Of which ecosystem; of all, without one.
    #[schema(value_type = Option<String>)]
    ecosystem: Option<Ecosystem>,
    /// Of which packages; of all, without one.
    package: Option<String>,
    /// Of which versions; of all, without one.
    versions: Option<String>,
    /// What began to be fetched up to this time is kept no more.
    #[schema(value_type = String, format = DateTime)]
    before: Timestamp,
    /// How many files were forgotten here.
    n_files: u64,
    /// Their size in bytes.
    size_bytes: u64,
    /// How many lists of versions were forgotten here.
    n_documents: u64,
}

impl From<CachePurged> for PurgedView {
    fn from(purged: CachePurged) -> Self {
        let CachePurged { ecosystem, package, versions, before, .. } = purged;
        let CachePurged { n_files, size_bytes, n_documents, .. } = purged;
        Self { ecosystem, package, versions, before, n_files, size_bytes, n_documents }
    }
}

/// Has files and lists forgotten, here and on every other instance
///
/// What is asked for next is fetched anew. Who downloads one of the files now gets the whole of it.
/// Everything goes only if `all=true` says so. To do it again is harmless, and on record again.
#[utoipa::path(
    delete, path = "/api/cache", tag = "registry", operation_id = "purge_cache",
    params(
        ("ecosystem" = Option<String>, Query, description = "Of this ecosystem"),
        ("package" = Option<String>, Query, description = "Of these packages: a name, with `*` for any run of characters"),
        ("versions" = Option<String>, Query, description = "Of these versions: a constraint in the ecosystem's own syntax; images are told by digest"),
        ("all" = Option<bool>, Query, description = "`true`: everything; with nothing else"),
    ),
    responses(
        (status = 200, description = "What was forgotten here", body = PurgedView),
        (status = 400, description = "It is not said what, or it makes no sense"),
        (status = 503, description = "This process keeps no cache"),
    ),
)]
async fn purge(
    State(state): State<ApiState>,
    mut params: Params,
    Ask { caller, .. }: Ask<Admin, Nothing>,
) -> Result<Done<PurgedView>, Problem> {
    let request = request(&mut params)?;
    params.done()?;
    let mut executed = state.packages().purge(request, caller).ok_or_else(no_cache)?.await?;
    let missing = || Problem::internal(&std::io::Error::other("a purge without its event"));
    let purged = executed.events.pop().ok_or_else(missing)?;
    Ok(Done::of(&executed, StatusCode::OK, purged.into()))
}

/// What is to go. Nothing that is said means all by itself.
fn request(params: &mut Params) -> Result<Request, Problem> {
    let all: Option<bool> = params.take("all")?;
    let request = Request {
        ecosystem: super::ecosystem(params)?,
        package: params.take("package")?,
        versions: params.take("versions")?,
    };
    let says_nothing = request == Request::default();
    match (all, says_nothing) {
        (Some(true), true) | (None | Some(false), false) => Ok(request),
        (Some(true), false) => {
            Err(bad_parameter("all", "everything, or some of it? name one of them"))
        }
        (None | Some(false), true) => {
            let detail = "say which ecosystem, package and versions; everything goes with all=true";
            Err(Problem::new(&BAD_PARAMETER, detail))
        }
    }
}

fn no_cache() -> Problem {
    Problem::new(&NO_CACHE, "this process serves no packages, and keeps no cache")
}

impl From<PurgeFault> for Problem {
    fn from(fault: PurgeFault) -> Self {
        match fault {
            PurgeFault::Refused(refusal) => {
                let field = match refusal {
                    selection::Refusal::NoEcosystem => "ecosystem",
                    selection::Refusal::NoPackage | selection::Refusal::BadPattern { .. } => {
                        "package"
                    }
                    selection::Refusal::BadConstraint { .. } => "versions",
                };
                bad_parameter(field, refusal.to_string())
            }
            PurgeFault::Disk(fault) => Self::internal(&fault),
            PurgeFault::Record(fault) => fault.into(),
            PurgeFault::Stopping => Self::new(&STOPPING, fault.to_string()).retry_after(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_total() {
        let at = |micros| Some(Timestamp::from_micros(micros));
        let kept = |n, oldest, newest| Kept {
            n,
            size_bytes: n * 10,
            oldest_at: at(oldest),
            newest_at: at(newest),
        };
        let stats = Stats { hits: 5, misses: 3, file_hits: 3, file_misses: 1, ..Stats::default() };
        let gone = Forgotten { lru: 1, expired: 2, purged: 3, broken: 4 };
        let one = CachePartView::of(kept(1, 5, 6), kept(2, 3, 4), gone, &stats);
        assert_eq!((one.documents.hits, one.documents.misses), (2, 2));
        assert_eq!((one.files.hit_rate, one.hit_rate), (Some(0.75), Some(0.625)));
        let both =
            one.and(CachePartView::of(kept(4, 1, 2), Kept::default(), gone, &Stats::default()));
        assert_eq!((both.files.n, both.files.size_bytes), (5, 50));
        assert_eq!((both.files.oldest_at, both.files.newest_at), (at(1), at(6)));
        assert_eq!((both.documents.oldest_at, both.hit_rate), (at(3), Some(0.625)));
        assert_eq!((both.evictions.lru, both.evictions.purged, both.evictions.broken), (2, 6, 8));
        assert_eq!(CachePartView::default().hit_rate, None);
    }
}
