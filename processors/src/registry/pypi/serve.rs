//! Answers the requests of Python clients. A file is judged when it is served, whether it was here
//! or not, and its decision is in the log before its first byte leaves.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{
        ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, ETAG, RETRY_AFTER, VARY,
        WARNING, X_CONTENT_TYPE_OPTIONS,
    },
};
use tracing::{error, warn};
use weir_aggregates::registry::{
    rule::{CompiledRule, RuleSet},
    verdict::{Verdict, judge_among},
};
use weir_events::{
    position::Position,
    registry::{Ecosystem, MetadataFiltered, PackageAllowed, PackageBlocked},
};

use super::{
    Pypi,
    document::{CoreMetadata, Document},
    filename::{Filename, Project, Sidecar},
    filter::told,
    negotiate::Form,
    request::{Part, Request, Target},
    upstream::{Keeping, Open, PageFault, Upstream},
};
use crate::{
    caller::Caller,
    registry::{
        answer::{Answer, Body},
        cache::{CacheKey, CachePlugin},
        download::{DownloadFault, Opened, Wanted, read},
        stats::Count,
    },
};

/// Where an answer stands in the log.
const POSITION: HeaderName = HeaderName::from_static("weir-position");

/// An answer that is not what was asked for.
type Otherwise = Box<Answer>;

impl<C: CachePlugin> Pypi<C> {
    pub(super) async fn answer(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        if request.trail.closes_a_circle_at(self.instance) {
            let why =
                "the upstream of this Weir is this Weir; set registries.pypi.upstream to an index";
            return Err(otherwise(StatusCode::LOOP_DETECTED, why));
        }
        let Some(upstream) = &self.upstream else {
            let why = "Python packages are disabled: set registries.pypi.upstream";
            return Err(otherwise(StatusCode::NOT_IMPLEMENTED, why));
        };
        match &request.target {
            Target::Page { project, form } => {
                self.page(upstream, project, *form, &request, caller).await
            }
            Target::File { project, filename, part, if_range } => {
                let found = self.find(upstream, project, filename, &request).await?;
                self.file(found, *part, if_range.as_deref(), &request, caller).await
            }
        }
    }

    async fn page(
        &self,
        upstream: &Upstream,
        project: &Project,
        form: Form,
        request: &Request,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let open = upstream
            .page(project, upstream.keeping().ttl, &request.trail)
            .await
            .map_err(|fault| no_page(&fault))?;
        let rules = self.rules()?;
        let page = self.pages.page(&open, &rules, form).await.map_err(|_| stopping())?;
        let digest = open.document.digest;
        // What is written takes no room any more.
        drop(open);
        let unchanged = request.has(&page.etag);
        if page.filtered.changed() {
            self.counters.count(Count::Filtered);
            if !unchanged && !request.head {
                let filtered = MetadataFiltered {
                    ecosystem: Ecosystem::Pypi,
                    package: project.to_string(),
                    hidden: page.filtered.hidden.clone(),
                    marked: page.filtered.marked.clone(),
                    policy_revision: rules.revision,
                    document: digest.to_hex().to_string(),
                };
                self.ledger.filtered(filtered, caller).await.map_err(|f| unrecorded(&f))?;
            }
        }
        let answer = if unchanged {
            Answer::empty(StatusCode::NOT_MODIFIED)
        } else {
            Answer::whole(StatusCode::OK, form.content_type(), page.body.clone())
        };
        Ok(answer
            .with(ETAG, page.etag.clone())
            .with(VARY, HeaderValue::from_static("Accept, Accept-Encoding"))
            .with(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }

    /// Finds a file on its project's page; on a fresh one, before it is said not to exist.
    async fn find(
        &self,
        upstream: &Upstream,
        project: &Project,
        filename: &Filename,
        request: &Request,
    ) -> Result<Found, Otherwise> {
        let Keeping { ttl, recent, .. } = *upstream.keeping();
        for max_age in [ttl, recent.min(ttl)] {
            let open = upstream
                .page(project, max_age, &request.trail)
                .await
                .map_err(|fault| no_page(&fault))?;
            if let Some(wanted) = wanted(upstream, &open.document, filename) {
                let filename = filename.clone();
                return Ok(Found { open, filename, wanted });
            }
        }
        let why = format!("`{project}` has no file `{filename}`");
        Err(otherwise(StatusCode::NOT_FOUND, why))
    }

    async fn file(
        &self,
        found: Found,
        part: Option<Part>,
        if_range: Option<&str>,
        request: &Request,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let rules = self.rules()?;
        self.judged(&found, &rules, request, caller).await?;
        let etag = found.etag();
        if etag.as_ref().is_some_and(|etag| request.has(etag)) {
            return Ok(headed(Answer::empty(StatusCode::NOT_MODIFIED), etag));
        }
        if request.head {
            return self.head(&found, request).await;
        }
        let opened = self.downloads.open(&found.wanted, caller, &request.trail).await;
        let opened = opened.map_err(|fault| no_file(&fault))?;
        // The rules may have changed while the upstream was asked.
        let now = self.rules()?;
        if now.revision != rules.revision {
            self.judged(&found, &now, request, caller).await?;
        }
        let size = match &opened {
            Opened::Kept(cached) => Some(cached.meta.size),
            Opened::Coming(transfer) => transfer.size(),
        };
        let same = if_range.is_none_or(|known| etag.as_ref().is_some_and(|etag| etag == known));
        let range = match (part.filter(|_| same), size) {
            (Some(part), Some(size)) => match part.of(size) {
                Some(range) => Some((range, size)),
                None => return Err(unsatisfiable(size)),
            },
            _ => None,
        };
        let position = self.record_allowed(&found, &now, caller).await?;
        let content_type = found.wanted.content_type;
        let answer = match range {
            None => {
                let body = Body::Stream(read(opened, None).boxed());
                Answer::stream(StatusCode::OK, content_type, size, body)
            }
            Some((range, size)) => {
                let length = range.end - range.start;
                let told = format!("bytes {}-{}/{size}", range.start, range.end - 1);
                let told = HeaderValue::try_from(told).map_err(|_| unsatisfiable(size))?;
                let body = Body::Stream(read(opened, Some(range)).boxed());
                Answer::stream(StatusCode::PARTIAL_CONTENT, content_type, Some(length), body)
                    .with(CONTENT_RANGE, told)
            }
        };
        Ok(found.warned(headed(answer, etag)).with(POSITION, position.0.into()))
    }

    /// Lets an allowed file through, and refuses a forbidden one; the refusal is on record.
    async fn judged(
        &self,
        found: &Found,
        rules: &Arc<RuleSet>,
        request: &Request,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let project = &found.open.document.project;
        let about = rules.about(Ecosystem::Pypi, project.as_str());
        match judge_among(&about, found.filename.version(project).as_ref()) {
            Verdict::Allow => Ok(()),
            Verdict::Block { rule } => {
                Err(Box::new(self.refuse(found, rules, &rule, request, caller).await?))
            }
        }
    }

    async fn refuse(
        &self,
        found: &Found,
        rules: &Arc<RuleSet>,
        rule: &CompiledRule,
        request: &Request,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        self.counters.count(Count::Blocked);
        let (project, told) = (&found.open.document.project, told(rule));
        let version = found.filename.version(project).map(|version| version.to_string());
        let what = match &version {
            Some(version) => format!("version {version} of `{project}`"),
            None => format!("`{}`, a file of `{project}` that tells no version,", found.filename),
        };
        let page = self.pages.page(&found.open, rules, Form::Json).await;
        let page = page.map_err(|_| stopping())?;
        let instead = match &page.filtered.newest_allowed {
            Some(version) => format!("{version} is allowed"),
            None => "no version of it is allowed".to_owned(),
        };
        let mut text = format!("{told}\n{what} is not let through; {instead}");
        let mut position = None;
        // To ask whether a file is there is no download yet.
        if !request.head {
            let blocked = PackageBlocked {
                ecosystem: Ecosystem::Pypi,
                package: project.to_string(),
                version,
                file: found.filename.to_string(),
                source: "rules".to_owned(),
                rule_id: Some(rule.rule.id.clone()),
                reason: rule.rule.reason.clone(),
                mask: rule.rule.mask,
                policy_revision: rules.revision,
            };
            let at = self.ledger.record(blocked, caller).await.map_err(|f| unrecorded(&f))?;
            text = format!("{text}\nrecorded as event {at}");
            position = Some(at);
        }
        let answer = Answer::text(StatusCode::FORBIDDEN, text).because(&told);
        Ok(match position {
            Some(Position(at)) => answer.with(POSITION, at.into()),
            None => answer,
        })
    }

    async fn head(&self, found: &Found, request: &Request) -> Result<Answer, Otherwise> {
        let kept = self.downloads.kept(&found.wanted).await;
        let kept = kept.map_err(|fault| no_file(&fault.into()))?;
        let size = match (kept, found.wanted.size) {
            (Some(cached), _) => Some(cached.meta.size),
            (None, Some(size)) => Some(size),
            (None, None) => {
                let asked = self.downloads.size(&found.wanted, &request.trail).await;
                asked.map_err(|fault| no_file(&fault))?
            }
        };
        let answer = Answer::stream(StatusCode::OK, found.wanted.content_type, size, Body::Empty);
        Ok(found.warned(headed(answer, found.etag())))
    }

    async fn record_allowed(
        &self,
        found: &Found,
        rules: &RuleSet,
        caller: &Caller,
    ) -> Result<Position, Otherwise> {
        let project = &found.open.document.project;
        let allowed = PackageAllowed {
            ecosystem: Ecosystem::Pypi,
            package: project.to_string(),
            version: found.filename.version(project).map(|version| version.to_string()),
            file: found.filename.to_string(),
            sha256: found.wanted.sha256.map(hex::encode),
            policy_revision: rules.revision,
        };
        self.ledger.record(allowed, caller).await.map_err(|fault| unrecorded(&fault))
    }

    fn rules(&self) -> Result<Arc<RuleSet>, Otherwise> {
        self.policy.current().map_err(|unreadable| {
            let answer = Answer::text(StatusCode::SERVICE_UNAVAILABLE, unreadable.to_string());
            Box::new(answer.because("Weir cannot read its rules"))
        })
    }
}

/// A file on its project's page.
struct Found {
    open: Open,
    filename: Filename,
    wanted: Wanted,
}

impl Found {
    fn etag(&self) -> Option<HeaderValue> {
        HeaderValue::try_from(format!("\"{}\"", hex::encode(self.wanted.sha256?))).ok()
    }

    /// Says so where the index promises too little to verify the bytes.
    fn warned(&self, answer: Answer) -> Answer {
        if self.wanted.can_be_kept() {
            return answer;
        }
        let warning = match self.wanted.promise {
            Some(_) => "299 - \"the index promises only a weak hash of this file, it is not kept\"",
            None => {
                "299 - \"the index promises no hash that Weir verifies, this file is not kept\""
            }
        };
        answer.with(WARNING, HeaderValue::from_static(warning))
    }
}

/// What to fetch for a file, or for what lies beside one.
fn wanted(upstream: &Upstream, document: &Document, filename: &Filename) -> Option<Wanted> {
    let key = CacheKey::new(Ecosystem::Pypi, document.project.as_str(), filename.as_str())?;
    let reach = upstream.reach_of(document);
    if let Some(file) = document.file(filename) {
        return Some(Wanted {
            key,
            url: file.url.clone(),
            reach,
            sha256: file.sha256.map(|hash| hash.0),
            promise: file.promise.clone(),
            size: file.size,
            content_type: "application/octet-stream",
        });
    }
    let (of, sidecar) = filename.sidecar()?;
    let file = document.file(&of)?;
    let (sha256, content_type) = match (sidecar, file.core_metadata, file.gpg_sig) {
        (Sidecar::Metadata, CoreMetadata::Yes(hash), _) => {
            (hash.map(|hash| hash.0), "text/plain; charset=utf-8")
        }
        (Sidecar::Signature, _, None | Some(true)) => (None, "application/pgp-signature"),
        (Sidecar::Metadata, CoreMetadata::No, _) | (Sidecar::Signature, _, Some(false)) => {
            return None;
        }
    };
    let mut url = file.url.clone();
    url.set_path(&format!("{}{}", file.url.path(), sidecar.suffix()));
    Some(Wanted { key, url, reach, sha256, promise: None, size: None, content_type })
}

fn headed(answer: Answer, etag: Option<HeaderValue>) -> Answer {
    let answer = answer
        // Clients must ask again, so that the rules of that day decide.
        .with(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
        .with(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let answer = if answer.headers.contains_key(CONTENT_LENGTH) {
        answer.with(ACCEPT_RANGES, HeaderValue::from_static("bytes"))
    } else {
        answer
    };
    match etag {
        Some(etag) => answer.with(ETAG, etag),
        None => answer,
    }
}

fn otherwise(status: StatusCode, why: impl Into<String>) -> Otherwise {
    let why = why.into();
    let answer = Answer::text(status, why.as_str());
    Box::new(answer.because(&why))
}

fn stopping() -> Otherwise {
    let answer = otherwise(StatusCode::SERVICE_UNAVAILABLE, "this Weir is stopping");
    Box::new(answer.with(RETRY_AFTER, 1.into()))
}

fn unsatisfiable(size: u64) -> Otherwise {
    let answer = otherwise(StatusCode::RANGE_NOT_SATISFIABLE, format!("the file has {size} bytes"));
    Box::new(match HeaderValue::try_from(format!("bytes */{size}")) {
        Ok(range) => answer.with(CONTENT_RANGE, range),
        Err(_) => *answer,
    })
}

/// Nothing passes unrecorded.
fn unrecorded(fault: &dyn std::error::Error) -> Otherwise {
    error!(error = chain(fault), "a decision could not be recorded, nothing passes");
    let why = "Weir cannot record its decision now, so nothing passes; try again";
    let answer = otherwise(StatusCode::SERVICE_UNAVAILABLE, why);
    Box::new(answer.with(RETRY_AFTER, 1.into()))
}

fn no_page(fault: &PageFault) -> Otherwise {
    match fault {
        PageFault::NotFound(_) => otherwise(StatusCode::NOT_FOUND, fault.to_string()),
        PageFault::Stopping => stopping(),
        PageFault::Status { .. } | PageFault::Unreachable { .. } | PageFault::Unreadable { .. } => {
            warn!(error = chain(fault), "no page from the upstream");
            otherwise(StatusCode::BAD_GATEWAY, chain(fault))
        }
    }
}

fn no_file(fault: &DownloadFault) -> Otherwise {
    match fault {
        DownloadFault::NotFound(_) => {
            otherwise(StatusCode::NOT_FOUND, "the upstream lists this file, but does not have it")
        }
        DownloadFault::Stopping => stopping(),
        DownloadFault::Disk(_) => {
            error!(error = chain(fault), "the place for files does not work");
            otherwise(StatusCode::SERVICE_UNAVAILABLE, "Weir cannot keep files now; try again")
        }
        DownloadFault::Status { .. }
        | DownloadFault::Outbound(_)
        | DownloadFault::Mismatch(_)
        | DownloadFault::NothingCame(_)
        | DownloadFault::TooSlow(_) => otherwise(StatusCode::BAD_GATEWAY, chain(fault)),
    }
}

/// A fault and what caused it, in one line.
fn chain(fault: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(fault.source(), |cause| cause.source());
    causes.fold(fault.to_string(), |line, cause| format!("{line}: {cause}"))
}
