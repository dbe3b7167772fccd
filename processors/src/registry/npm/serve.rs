//! Answers the requests of npm's clients.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, StatusCode,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER},
};
use tracing::warn;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::{Ecosystem, MetadataFiltered};

use super::{
    Npm,
    audit::{self, AuditFault},
    document::Document,
    filter::Fate,
    name::{File, Name},
    negotiate::Form,
    render,
    request::{Audit, Request, Target},
    search::{self, LeftOut},
    upstream::{Packuments, below},
    voice::{Json, json, nothing},
};
use crate::{
    caller::Caller,
    outbound::{Ask, Encoding, Page},
    registry::{
        answer::Answer,
        asking::Asking,
        cache::{ArtifactCache, CacheKey},
        documents::{Documents, Keeping, Open},
        download::{Shape, Wanted},
        gate::{Artifact, Gate, LIST, Listed, Otherwise, Role, Voice as _},
        ledger::List,
        renderings::Rendering,
        stats::Count,
    },
};

/// The largest answer that is passed through.
const MAX_PASSED_BYTES: u64 = 4 << 20;

/// How long the upstream may take for it.
const PASSED_WITHIN: Duration = Duration::from_secs(20);

/// How long a question about packages waits for those before it.
const TURN_WITHIN: Duration = Duration::from_secs(10);

impl<C: ArtifactCache> Npm<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking, base } = request;
        self.gate.not_again(&asking)?;
        let registry = self.registry.as_ref().ok_or_else(|| self.gate.disabled())?;
        match &target {
            Target::Package { name, .. } => self.ours(name, LIST, &asking, caller).await?,
            Target::Version { name, version } => {
                self.ours(name, version, &asking, caller).await?;
            }
            Target::Tarball { name, file } => {
                self.ours(name, file.as_str(), &asking, caller).await?;
            }
            Target::Passed { path, about: Some(name) } => {
                self.ours(name, path, &asking, caller).await?;
            }
            Target::Search { query } => {
                for name in search::names(query.as_deref().unwrap_or_default()) {
                    self.ours(&name, "a search", &asking, caller).await?;
                }
            }
            Target::Passed { about: None, .. }
            | Target::Ping
            | Target::Whoami
            | Target::Audit { .. } => {}
        }
        match target {
            Target::Package { name, form } => {
                let open = self.open(registry, &name, &asking, caller).await?;
                self.package(open, form, &asking, &base, caller).await
            }
            Target::Version { name, version } => {
                let open = self.open(registry, &name, &asking, caller).await?;
                self.version((registry, &name), open, &version, (&asking, caller), &base).await
            }
            Target::Tarball { name, file } => {
                let (open, mut artifact) =
                    self.find(registry, &name, &file, &asking, caller).await?;
                let open = open.without_room();
                artifact.told = self.gate.telling(|| open.document.told_of(&file))?;
                self.look(&open, caller).await?;
                let instead = |dossier: Arc<Dossier>| {
                    let (open, base) = (open.clone(), Arc::clone(&base));
                    // Written once for each policy, as clients ask for it.
                    async move {
                        let page = self.pages.page(&open, &dossier, Form::Abbreviated, &base).await;
                        page.ok()?.filtered.newest_allowed.clone()
                    }
                };
                self.gate.file(&artifact, &asking, caller, instead).await
            }
            Target::Ping => Ok(json(StatusCode::OK, &serde_json::json!({}))),
            Target::Whoami => {
                let who = serde_json::json!({ "username": &*caller.principal });
                Ok(json(StatusCode::OK, &who))
            }
            Target::Search { query } => {
                self.search(registry, query.as_deref(), &asking, caller).await
            }
            Target::Passed { path, .. } => self.passed(registry, &path, &asking).await,
            Target::Audit { kind, body, gzip } => self.audit(kind, body, gzip, &base, caller).await,
        }
    }

    /// Refuses what is reserved.
    async fn ours(
        &self,
        name: &Name,
        what: &str,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        self.gate.unreserved(name.as_str(), what, asking, caller).await
    }

    async fn open(
        &self,
        registry: &Documents<Packuments>,
        name: &Name,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Open<Document>, Otherwise> {
        self.packument(registry, name, registry.keeping().ttl, (asking, caller)).await
    }

    /// A packument of at most this age. One that leaves out when its versions were published is to be
    /// newer where that matters, as it may be told again; where it matters to nothing that they are judged
    /// by, neither to an age nor to who vouched for those before them, it is taken before an older one that
    /// tells.
    async fn packument(
        &self,
        registry: &Documents<Packuments>,
        name: &Name,
        max_age: Duration,
        (asking, caller): (&Asking, &Caller),
    ) -> Result<Open<Document>, Otherwise> {
        let open = registry.get(name, max_age, &asking.trail).await;
        let open = open.map_err(|fault| Gate::<C, Json>::no_list(&fault))?;
        let brief = registry.keeping().negative_ttl;
        let lesser = registry.lesser(name);
        let is_old = brief < max_age && open.document.lacks_times();
        if lesser.is_none() && !is_old {
            return Ok(open);
        }
        // Not as the gate knows it: nobody has looked at what is there yet.
        let (policy, now) = (self.gate.policy(), self.gate.ledger().now());
        let dossier = policy.about(Ecosystem::Npm, &name.judged(), caller, now);
        let dossier = dossier.map_err(|unreadable| Gate::<C, Json>::unreadable(&unreadable))?;
        if asking.as_of.is_none() && !dossier.reads_times() {
            return Ok(lesser.unwrap_or(open));
        }
        if lesser.is_some() {
            self.gate.counters().count(Count::Stale);
        }
        if !is_old {
            return Ok(open);
        }
        // Its room goes before another one is waited for.
        drop(open);
        let open = registry.get(name, brief, &asking.trail).await;
        open.map_err(|fault| Gate::<C, Json>::no_list(&fault))
    }

    async fn look(&self, open: &Open<Document>, caller: &Caller) -> Result<(), Otherwise> {
        let document = &open.document;
        let (package, digest) = (document.name.judged(), Some(document.digest));
        self.gate.look(&package, digest, || document.there(), caller).await
    }

    async fn package(
        &self,
        open: Open<Document>,
        form: Form,
        asking: &Asking,
        base: &Arc<str>,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        self.look(&open, caller).await?;
        let (judged, digest) = (open.document.name.judged(), open.document.digest);
        let dossier = self.gate.about(&judged, asking, caller)?;
        let page = self.pages.page(&open, &dossier, form, base).await;
        let page = page.map_err(|_| Gate::<C, Json>::stopping())?;
        // What is written takes no room any more.
        drop(open);
        let content_type = form.media_type();
        let listed = Listed { package: &judged, digest, dossier: &dossier, content_type };
        let answer = self.gate.list(&listed, &page, asking, caller).await?;
        match &page.filtered.nothing_left {
            None => Ok(answer),
            Some(told) => {
                let why = format!("{told}\nno version of `{judged}` is allowed");
                Err(Box::new(Json::say(StatusCode::FORBIDDEN, &why, told)))
            }
        }
    }

    async fn version(
        &self,
        (registry, name): (&Documents<Packuments>, &Name),
        open: Open<Document>,
        version: &str,
        (asking, caller): (&Asking, &Caller),
        base: &Arc<str>,
    ) -> Result<Answer, Otherwise> {
        self.look(&open, caller).await?;
        let judged = open.document.name.judged();
        let dossier = self.gate.about(&judged, asking, caller)?;
        let page = self.pages.page(&open, &dossier, Form::Full, base).await;
        let page = page.map_err(|_| Gate::<C, Json>::stopping())?;
        // What is written takes no room any more.
        let open = open.without_room();
        let (document, filtered) = (&open.document, &page.filtered);
        let listed = Listed {
            package: &judged,
            digest: document.digest,
            dossier: &dossier,
            content_type: Form::Full.media_type(),
        };
        let named = document.version(version).map(|(at, _)| at);
        let at = named.or_else(|| filtered.tagged(document, version));
        let there = |at: &usize| filtered.fates.get(*at).is_some_and(Fate::listed);
        let Some(at) = at.filter(there) else {
            if at.is_none() {
                let what = format!("version `{version}`");
                let has = |lesser: &Document| lesser.version(version).is_some();
                not_withheld::<C>(registry, name, &what, has)?;
            }
            // That it is not there may be the rules' doing, and is on record then.
            self.gate.list(&listed, &page, asking, caller).await?;
            let why = format!("version not found: {version}");
            return Err(Gate::<C, Json>::no(StatusCode::NOT_FOUND, &why));
        };
        let body = Bytes::from(render::version(document, filtered, at, base));
        let one = Rendering::new(body, &dossier, "version", Arc::clone(filtered), 0);
        self.gate.list(&listed, &one, asking, caller).await
    }

    /// Finds a tarball in its packument; in a fresh one, before it is said not to exist.
    async fn find(
        &self,
        registry: &Documents<Packuments>,
        name: &Name,
        file: &File,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(Open<Document>, Artifact), Otherwise> {
        let Keeping { ttl, recent, .. } = *registry.keeping();
        for max_age in [ttl, recent.min(ttl)] {
            let open = self.packument(registry, name, max_age, (asking, caller)).await?;
            if let Some(artifact) = artifact(registry, &open.document, file) {
                return Ok((open, artifact));
            }
        }
        let what = format!("tarball `{file}`");
        let has = |lesser: &Document| artifact(registry, lesser, file).is_some();
        not_withheld::<C>(registry, name, &what, has)?;
        let why = format!("`{name}` has no tarball `{file}`");
        Err(Gate::<C, Json>::no(StatusCode::NOT_FOUND, &why))
    }

    async fn search(
        &self,
        registry: &Documents<Packuments>,
        query: Option<&str>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let page = self.ask(registry, "-/v1/search", query, asking).await?;
        let document = blake3::hash(&page.body).to_hex().to_string();
        let (policy, now) = (self.gate.policy().clone(), self.gate.ledger().now());
        let asker = caller.clone();
        // Megabytes are read, and nobody who changes the policy waits for that.
        let filtering = move || {
            let about = |name: &str| policy.about(Ecosystem::Npm, name, &asker, now);
            search::filter(&page.body, about)
        };
        let results = tokio::task::spawn_blocking(filtering).await;
        let results = results.map_err(|_| Gate::<C, Json>::stopping())?;
        let results = results.map_err(|unreadable| Gate::<C, Json>::unreadable(&unreadable))?;
        let results = results.ok_or_else(|| {
            let why = "the upstream's answer to a search is none";
            Gate::<C, Json>::no(StatusCode::BAD_GATEWAY, why)
        })?;
        if !results.left_out.is_empty() {
            self.gate.counters().count(Count::Filtered);
        }
        for LeftOut { package, version, known, revision } in results.left_out {
            let filtered = MetadataFiltered {
                ecosystem: Ecosystem::Npm,
                package,
                hidden: version.into_iter().collect(),
                marked: Vec::new(),
                policy_revision: revision,
                document: document.clone(),
            };
            let recorded = self.gate.ledger();
            let recorded = recorded.filtered(List::Search, filtered, &known, caller).await;
            recorded.map_err(|fault| Gate::<C, Json>::unrecorded(&fault))?;
        }
        Ok(Answer::whole(StatusCode::OK, "application/json", results.page)
            .with(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }

    async fn passed(
        &self,
        registry: &Documents<Packuments>,
        path: &str,
        asking: &Asking,
    ) -> Result<Answer, Otherwise> {
        let page = self.ask(registry, path, None, asking).await?;
        Ok(Answer::whole(StatusCode::OK, "application/json", page.body)
            .with(CACHE_CONTROL, HeaderValue::from_static("no-cache")))
    }

    /// Asks the upstream for something in JSON that is not kept here.
    async fn ask(
        &self,
        registry: &Documents<Packuments>,
        path: &str,
        query: Option<&str>,
        asking: &Asking,
    ) -> Result<Page, Otherwise> {
        let mut url = below(registry.base(), path);
        url.set_query(query);
        let ask = Ask {
            method: Method::GET,
            url,
            reach: registry.reach(),
            encoding: Encoding::Decoded,
            headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]),
            trail: &asking.trail,
        };
        self.gate.counters().count(Count::UpstreamRequest);
        let asked_at = Instant::now();
        let page = self.outbound.page(ask, MAX_PASSED_BYTES, PASSED_WITHIN).await;
        self.gate.counters().upstream(asked_at.elapsed());
        let page = page.map_err(|fault| {
            warn!(error = %fault, path, "the upstream could not be asked");
            self.gate.counters().count(Count::UpstreamFailure);
            let why = format!("the upstream could not be asked: {fault}");
            Gate::<C, Json>::no(StatusCode::BAD_GATEWAY, &why)
        })?;
        let content_type = page.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let in_json = content_type.is_some_and(|value| value.contains("json"));
        match page.status {
            StatusCode::OK if in_json => Ok(page),
            StatusCode::NOT_FOUND | StatusCode::GONE => Err(Box::new(nothing())),
            status => {
                self.gate.counters().count(Count::UpstreamFailure);
                let why = format!("the upstream answers {status}, or not in JSON");
                Err(Gate::<C, Json>::no(StatusCode::BAD_GATEWAY, &why))
            }
        }
    }

    async fn audit(
        &self,
        kind: Audit,
        body: Bytes,
        gzip: bool,
        base: &Arc<str>,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let (policy, base) = (self.gate.policy().clone(), Arc::clone(base));
        let (caller, now) = (caller.clone(), self.gate.ledger().now());
        // A tree in memory is many times what it is on the wire: one at a time.
        let turn = Arc::clone(&self.auditing).acquire_owned();
        let turn = tokio::time::timeout(TURN_WITHIN, turn).await.map_err(|_| {
            let why = "too many questions about packages are waiting; try again";
            let answer = Gate::<C, Json>::no(StatusCode::SERVICE_UNAVAILABLE, why);
            Box::new(answer.with(RETRY_AFTER, 1.into()))
        })?;
        let turn = turn.map_err(|_| Gate::<C, Json>::stopping())?;
        let work = move || {
            // Also when nobody waits for the answer any more, the next one waits for its end.
            let _turn = turn;
            let about = |name: &str| policy.about(Ecosystem::Npm, name, &caller, now);
            audit::answer(kind, &body, gzip, about, &base)
        };
        let answer = tokio::task::spawn_blocking(work).await;
        let answer = answer.map_err(|_| Gate::<C, Json>::stopping())?;
        let answer = answer.map_err(|fault| match &fault {
            AuditFault::Unreadable(unreadable) => Gate::<C, Json>::unreadable(unreadable),
            AuditFault::TooLarge | AuditFault::Packed(_) | AuditFault::Json(_) => {
                Gate::<C, Json>::no(StatusCode::BAD_REQUEST, &fault.to_string())
            }
        })?;
        Ok(json(StatusCode::OK, &answer))
    }
}

/// Refuses for the moment what the packument that is given does not have, where the upstream has it by
/// now, in one without the times that it would be judged by.
fn not_withheld<C: ArtifactCache>(
    registry: &Documents<Packuments>,
    name: &Name,
    what: &str,
    has: impl FnOnce(&Document) -> bool,
) -> Result<(), Otherwise> {
    if registry.lesser(name).is_none_or(|lesser| !has(&lesser.document)) {
        return Ok(());
    }
    let why = format!(
        "the upstream has {what} of `{name}`, but does not say at this moment when any version was \
         published, and that counts here; try again"
    );
    let answer = Gate::<C, Json>::no(StatusCode::SERVICE_UNAVAILABLE, &why);
    let brief = registry.keeping().negative_ttl.as_secs().max(1);
    Err(Box::new(answer.with(RETRY_AFTER, brief.into())))
}

/// What to fetch for a tarball.
fn artifact(
    registry: &Documents<Packuments>,
    document: &Document,
    file: &File,
) -> Option<Artifact> {
    let release = document.file(file)?;
    let source = document.source(release, registry.base())?;
    let package = document.name.judged();
    // Under the name that it is listed by, whoever asks by another one.
    let key = CacheKey::new(Ecosystem::Npm, &package, release.file.as_str())?;
    let wanted = Wanted {
        key,
        reach: registry.reach().and(&document.origins),
        url: source.url,
        sha256: None,
        promise: source.promise,
        shape: Shape::Any,
        size: None,
        content_type: "application/octet-stream",
        accept: None,
    };
    let version = Some(release.version.clone());
    let published_at = release.published_at;
    let file = release.file.to_string();
    let (part, told, role) = (None, None, Role::File);
    let document = Some(document.digest);
    Some(Artifact { package, version, published_at, part, told, document, role, file, wanted })
}
