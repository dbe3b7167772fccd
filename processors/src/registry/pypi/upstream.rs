//! Projects' pages, fetched from the upstream and kept in memory while they are fresh.
//!
//! One request at a time for each project, conditional where the upstream gave a validator. An old
//! page is given when the upstream fails; that there is no such project is remembered briefly, and
//! never mistaken for a failure.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use tokio::time::Instant;
use tracing::warn;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::{Document, DocumentFault},
    filename::Project,
    html, json,
};
use crate::{
    outbound::{Ask, Encoding, Outbound, OutboundFault, Page, Reach, ReachFault, Room, Trail, Url},
    registry::{
        flights::Flights,
        lru::Lru,
        stats::{Count, Counters},
    },
};

const WANTED: HeaderValue = HeaderValue::from_static(
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, \
     text/html;q=0.1",
);

/// How pages are fetched and kept.
#[derive(Debug, Clone, Copy)]
pub struct Keeping {
    /// How long a page is fresh.
    pub ttl: Duration,
    /// How old a page may be that says that a file does not exist: the file may be newer.
    pub recent: Duration,
    /// How long it is remembered that there is no such project.
    pub negative_ttl: Duration,
    /// How long an old page may be given when the upstream fails.
    pub stale_for: Duration,
    /// How long a failing upstream is left in peace while an old page can be given.
    pub retry_after: Duration,
    /// The bound on the whole time of a fetch.
    pub bound: Duration,
    /// The largest page.
    pub max_page_bytes: u64,
    /// How much memory all pages may take.
    pub max_bytes: u64,
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            ttl: Duration::from_mins(5),
            recent: Duration::from_secs(10),
            negative_ttl: Duration::from_secs(30),
            stale_for: Duration::from_hours(24),
            retry_after: Duration::from_secs(5),
            bound: Duration::from_mins(1),
            max_page_bytes: 32 << 20,
            // Enough for one page of the largest size.
            max_bytes: 192 << 20,
        }
    }
}

/// There is no page.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PageFault {
    /// The upstream knows no such project.
    #[error("the upstream has no project `{0}`")]
    NotFound(Project),
    /// The upstream answers with a status that is no answer.
    #[error("the upstream answers {status} for project `{project}`")]
    Status {
        /// The project.
        project: Project,
        /// The status.
        status: StatusCode,
    },
    /// The upstream cannot be reached, or its answer breaks off.
    #[error("could not fetch project `{project}` from the upstream")]
    Unreachable {
        /// The project.
        project: Project,
        /// What broke.
        #[source]
        cause: Arc<OutboundFault>,
    },
    /// The upstream's page cannot be read.
    #[error("could not read the upstream's page of project `{project}`")]
    Unreadable {
        /// The project.
        project: Project,
        /// What is wrong with it.
        #[source]
        cause: Arc<DocumentFault>,
    },
    /// This process is stopping.
    #[error("this instance is stopping")]
    Stopping,
}

/// An upstream index and what was fetched from it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Upstream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    base: Url,
    reach: Reach,
    outbound: Outbound,
    keeping: Keeping,
    counters: Arc<Counters>,
    kept: Mutex<Lru<Project, Kept>>,
    flights: Flights<Project, Result<Open, PageFault>>,
}

/// A page somebody works with. A large one that was just fetched holds its room until the last one
/// who waited for it is done: it may be too large to be kept.
#[derive(Debug, Clone)]
pub struct Open {
    /// The page.
    pub document: Arc<Document>,
    /// The room it takes.
    pub room: Option<Room>,
}

impl Open {
    const fn kept(document: Arc<Document>) -> Self {
        Self { document, room: None }
    }
}

/// What is known of a project.
#[derive(Debug, Clone)]
struct Kept {
    /// Its page; `None` when there is no such project.
    page: Option<Arc<Document>>,
    /// When the upstream last said so.
    confirmed_at: Instant,
    /// When it may be asked again after a failure.
    retry_at: Instant,
    validators: Validators,
}

#[derive(Debug, Clone, Default)]
struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

impl Upstream {
    /// An index at an address like `https://index.example/simple/`, whose files may also stand at
    /// the trusted origins.
    pub fn new(
        address: &Url,
        trusted: &[Url],
        outbound: Outbound,
        keeping: Keeping,
        counters: Arc<Counters>,
        lifecycle: &Lifecycle,
    ) -> Result<Self, ReachFault> {
        let (reach, mut base) = Reach::of_upstream(address)?;
        if !base.path().ends_with('/') {
            let path = format!("{}/", base.path());
            base.set_path(&path);
        }
        Ok(Self(Arc::new(Inner {
            base,
            reach: reach.trusting(trusted),
            outbound,
            keeping,
            counters,
            kept: Mutex::new(Lru::new(keeping.max_bytes)),
            flights: Flights::new("pypi page", lifecycle.clone()),
        })))
    }

    /// The reach of a page's files: the upstream, and the hosts that the page names.
    #[must_use]
    pub fn reach_of(&self, document: &Document) -> Reach {
        self.0.reach.and(document.files.iter().map(|file| &file.url))
    }

    /// How pages are kept.
    #[must_use]
    pub fn keeping(&self) -> &Keeping {
        &self.0.keeping
    }

    /// A project's page that the upstream confirmed at most `max_age` ago; an older one only when
    /// the upstream fails.
    pub async fn page(
        &self,
        project: &Project,
        max_age: Duration,
        trail: &Trail,
    ) -> Result<Open, PageFault> {
        let inner = &self.0;
        if let Some(answer) = inner.known(project, max_age) {
            inner.counters.count(Count::Hit);
            return answer.map(Open::kept);
        }
        inner.counters.count(Count::Miss);
        let work = {
            let (inner, project, trail) = (Arc::clone(inner), project.clone(), trail.clone());
            || async move { inner.refresh(&project, &trail).await }
        };
        inner.flights.join(project.clone(), work).await.unwrap_or(Err(PageFault::Stopping))
    }
}

impl Inner {
    fn kept(&self) -> MutexGuard<'_, Lru<Project, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What can be answered without asking.
    fn known(
        &self,
        project: &Project,
        max_age: Duration,
    ) -> Option<Result<Arc<Document>, PageFault>> {
        let mut all = self.kept();
        let kept = all.get(project)?;
        let age = kept.confirmed_at.elapsed();
        match &kept.page {
            Some(page) if age < max_age => Some(Ok(Arc::clone(page))),
            Some(page) if Instant::now() < kept.retry_at && age < self.keeping.stale_for => {
                self.counters.count(Count::Stale);
                Some(Ok(Arc::clone(page)))
            }
            None if age < self.keeping.negative_ttl.min(max_age) => {
                Some(Err(PageFault::NotFound(project.clone())))
            }
            _ => None,
        }
    }

    async fn refresh(&self, project: &Project, trail: &Trail) -> Result<Open, PageFault> {
        let old = self.kept().get(project).cloned();
        match self.fetch(project, old.as_ref(), trail).await {
            Ok((kept, room)) => {
                let page = kept.page.clone();
                self.keep(project, kept);
                let document = page.ok_or_else(|| PageFault::NotFound(project.clone()))?;
                Ok(Open { document, room })
            }
            Err(fault) => {
                self.counters.count(Count::UpstreamFailure);
                let stale = old.and_then(|old| {
                    let fits = old.confirmed_at.elapsed() < self.keeping.stale_for;
                    old.page.clone().filter(|_| fits).map(|page| (page, old))
                });
                let Some((page, old)) = stale else { return Err(fault) };
                warn!(%project, error = %fault, "upstream failed, giving an old page");
                self.counters.count(Count::Stale);
                let retry_at = Instant::now() + self.keeping.retry_after;
                self.keep(project, Kept { retry_at, ..old });
                Ok(Open::kept(page))
            }
        }
    }

    fn keep(&self, project: &Project, kept: Kept) {
        let weight = kept.page.as_ref().map_or(512, |page| page.size_bytes as u64);
        self.kept().put(project.clone(), kept, weight);
    }

    async fn fetch(
        &self,
        project: &Project,
        old: Option<&Kept>,
        trail: &Trail,
    ) -> Result<(Kept, Option<Room>), PageFault> {
        let fault =
            |cause| PageFault::Unreachable { project: project.clone(), cause: Arc::new(cause) };
        let confirmed = |page, validators, room| {
            let now = Instant::now();
            Ok((Kept { page, confirmed_at: now, retry_at: now, validators }, room))
        };
        let mut url = self.base.clone();
        url.set_path(&format!("{}{project}/", self.base.path()));
        let with_page = old.filter(|old| old.page.is_some());
        let ask = Ask {
            method: Method::GET,
            url,
            reach: &self.reach,
            encoding: Encoding::Decoded,
            headers: conditions(with_page.map(|old| &old.validators)),
            trail,
        };
        self.counters.count(Count::UpstreamRequest);
        let Keeping { bound, max_page_bytes, .. } = self.keeping;
        let page = self.outbound.page(ask, max_page_bytes, bound).await.map_err(fault)?;
        match (page.status, with_page) {
            (StatusCode::OK, _) => {
                let validators = Validators {
                    etag: page.headers.get(ETAG).cloned(),
                    last_modified: page.headers.get(LAST_MODIFIED).cloned(),
                };
                let (document, room) = read(project.clone(), page).await?;
                confirmed(Some(Arc::new(document)), validators, room)
            }
            (StatusCode::NOT_MODIFIED, Some(old)) => {
                confirmed(old.page.clone(), old.validators.clone(), None)
            }
            (StatusCode::NOT_FOUND | StatusCode::GONE, _) => {
                confirmed(None, Validators::default(), None)
            }
            (status, _) => Err(PageFault::Status { project: project.clone(), status }),
        }
    }
}

fn conditions(validators: Option<&Validators>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, WANTED);
    let Some(Validators { etag, last_modified }) = validators else { return headers };
    if let Some(etag) = etag {
        headers.insert(IF_NONE_MATCH, etag.clone());
    } else if let Some(last_modified) = last_modified {
        headers.insert(IF_MODIFIED_SINCE, last_modified.clone());
    }
    headers
}

/// Reads a page, away from the threads that serve: the largest take tens of milliseconds.
async fn read(project: Project, page: Page) -> Result<(Document, Option<Room>), PageFault> {
    let of = project.clone();
    let reading = move || {
        let Page { headers, url, body, room, .. } = page;
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
        let essence = essence.trim().to_ascii_lowercase();
        let document = if essence.ends_with("json") {
            json::parse(&of, &url, &body)?
        } else if essence.ends_with("html") {
            html::parse(&of, &url, &body)?
        } else {
            return Err(DocumentFault::UnknownType(essence.chars().take(80).collect()));
        };
        Ok((document, room))
    };
    match tokio::task::spawn_blocking(reading).await {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(cause)) => Err(PageFault::Unreadable { project, cause: Arc::new(cause) }),
        Err(_) => Err(PageFault::Stopping),
    }
}
