//! Answers the requests of the go command.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG},
};
use tracing::warn;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::{Ecosystem, UpstreamRejected};

use super::{
    Go, Upstream,
    dates::Ages,
    document::{Info, List, key_of},
    module::{Canonical, Module, Query},
    request::{Request, Target},
    sumdb::{self, ProofFault, Unproven},
    upstream::{At, Of, below},
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::ArtifactCache,
        documents::{DocumentsFault, Open},
        download::{Shape, Sum, Wanted},
        gate::{Artifact, Gate, LIST, Listed, Otherwise, Plain, Role},
        sightings::There,
    },
};

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

impl<C: ArtifactCache> Go<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking } = request;
        self.gate.not_again(&asking)?;
        let upstream = self.upstream.as_ref().ok_or_else(|| self.gate.disabled())?;
        let (module, what) = match &target {
            Target::List { module } => (Some(module), LIST.to_owned()),
            Target::Info { module, query } => (Some(module), query.to_string()),
            Target::Mod { module, version } | Target::Zip { module, version } => {
                (Some(module), version.to_string())
            }
            Target::Sums { what, .. } => match what {
                sumdb::Asked::Lookup { module, version } => (Some(module), version.to_string()),
                _ => (None, String::new()),
            },
        };
        if let Some(module) = module {
            self.gate.unreserved(module.as_str(), &what, &asking, caller).await?;
        }
        match target {
            Target::List { module } => self.list(upstream, &module, &asking, caller).await,
            Target::Info { module, query } => {
                self.info(upstream, module, query, &asking, caller).await
            }
            Target::Mod { module, version } => {
                let mods = &upstream.mods;
                let of = Of { module, version };
                let body = mods.get(&of, mods.keeping().ttl, &asking.trail).await;
                let body = body.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
                Ok(whole(TEXT, &body.document, &asking))
            }
            Target::Zip { module, version } => {
                self.zip(upstream, &module, &version, &asking, caller).await
            }
            Target::Sums { name, what } => self.sums(upstream, &name, &what, &asking, caller).await,
        }
    }

    async fn list(
        &self,
        upstream: &Upstream,
        module: &Module,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let open = self.open(upstream, module, asking).await?;
        self.look(&open, caller).await?;
        let dossier = self.gate.about(module.as_str(), asking, caller)?;
        let ages = ages(upstream, &open.document, &dossier, asking).await;
        let ages = ages.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
        let list = self.lists.list(&open, &dossier, ages).await;
        let list = list.map_err(|_| Gate::<C, Plain>::stopping())?;
        let listed = Listed {
            package: module.as_str(),
            digest: open.document.digest,
            dossier: &dossier,
            content_type: TEXT,
        };
        self.gate.list(&listed, &list, asking, caller).await
    }

    async fn open(
        &self,
        upstream: &Upstream,
        module: &Module,
        asking: &Asking,
    ) -> Result<Open<List>, Otherwise> {
        let versions = &upstream.versions;
        let open = versions.get(module, versions.keeping().ttl, &asking.trail).await;
        open.map_err(|fault| Gate::<C, Plain>::no_list(&fault))
    }

    async fn look(&self, open: &Open<List>, caller: &Caller) -> Result<(), Otherwise> {
        let list = &open.document;
        let there = || There::Versions(list.versions.iter().map(|it| it.text.as_str()).collect());
        self.gate.look(list.module.as_str(), Some(list.digest), there, caller).await
    }

    /// The same at one version, that the upstream says there is.
    async fn look_at(
        &self,
        module: &Module,
        version: &Canonical,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let there = || There::Versions(vec![version.as_str()]);
        self.gate.look(module.as_str(), None, there, caller).await
    }

    /// What a version is; the latest is the newest one that is allowed.
    async fn info(
        &self,
        upstream: &Upstream,
        module: Module,
        query: Query,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let at = At { module, query };
        let info = find::<C>(upstream, &at, asking).await?;
        self.look_at(&at.module, &info.version, caller).await?;
        let artifact = artifact(upstream, &at.module, &info.version, &info, "info", Sum::Unasked);
        let artifact = artifact.ok_or_else(|| missing(&at))?;
        let instead = |dossier| self.newest(upstream, &at.module, dossier, asking, caller);
        if at.query == Query::Latest {
            let dossier = self.gate.about(at.module.as_str(), asking, caller)?;
            if !dossier.judge(&artifact.candidate()).allowed()
                && let Some(newest) = instead(dossier).await
            {
                let query = Query::Named(newest.into());
                let newest = At { module: at.module.clone(), query };
                let info = find::<C>(upstream, &newest, asking).await?;
                return Ok(whole(JSON, &info.body, asking));
            }
        }
        self.gate.permit(&artifact, asking, caller, instead).await?;
        Ok(whole(JSON, &info.body, asking))
    }

    async fn zip(
        &self,
        upstream: &Upstream,
        module: &Module,
        version: &Canonical,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let at = At { module: module.clone(), query: Query::Named(version.as_str().into()) };
        let info = find::<C>(upstream, &at, asking).await?;
        self.look_at(module, version, caller).await?;
        let sum = match &upstream.database {
            Some(database) => database.sum(module, version, &asking.trail).await,
            None => Ok(Sum::Unasked),
        };
        let sum = match sum {
            Ok(sum) => sum,
            Err(fault) => return Err(self.no_sums(module, version.as_str(), &fault, caller).await),
        };
        let artifact = artifact(upstream, module, version, &info, "zip", sum);
        let artifact = artifact.ok_or_else(|| missing(&at))?;
        let instead = |dossier| self.newest(upstream, module, dossier, asking, caller);
        self.gate.file(&artifact, asking, caller, instead).await
    }

    /// The newest version that is allowed.
    async fn newest(
        &self,
        upstream: &Upstream,
        module: &Module,
        dossier: Arc<Dossier>,
        asking: &Asking,
        caller: &Caller,
    ) -> Option<String> {
        let open = self.open(upstream, module, asking).await.ok()?;
        self.look(&open, caller).await.ok()?;
        let dossier = self.gate.remembering(&dossier, module.as_str());
        let ages = ages(upstream, &open.document, &dossier, asking).await.ok()?;
        self.lists.list(&open, &dossier, ages).await.ok()?.filtered.newest_allowed.clone()
    }

    /// What the checksum database says, as it says it.
    async fn sums(
        &self,
        upstream: &Upstream,
        name: &str,
        what: &sumdb::Asked,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let database = upstream.database.as_ref().filter(|database| database.name() == name);
        let Some(database) = database else {
            // The go command asks the database itself then.
            let why = format!("not found: the checksum database {name} is not passed on here");
            return Err(Box::new(Answer::text(StatusCode::NOT_FOUND, why)));
        };
        if let sumdb::Asked::Lookup { module, .. } = what
            && database.is_private(module)
        {
            let why = format!("{module} is private, and no checksum database hears of it");
            return Err(Gate::<C, Plain>::no(StatusCode::FORBIDDEN, &why));
        }
        match (database.ask(what, &asking.trail).await, what) {
            (Ok(words), _) => Ok(whole(TEXT, &words, asking)),
            (Err(fault), sumdb::Asked::Lookup { module, version }) => {
                Err(self.no_sums(module, version, &fault, caller).await)
            }
            (Err(ProofFault::Documents(fault)), _) => Err(Gate::<C, Plain>::no_list(&fault)),
            (Err(ProofFault::Unproven(cause)), _) => Err(unproven::<C>(what, &cause)),
        }
    }

    /// The checksum database's word about a version is not to be had, or not to be believed; the latter
    /// is on record.
    async fn no_sums(
        &self,
        module: &Module,
        version: &str,
        fault: &ProofFault,
        caller: &Caller,
    ) -> Otherwise {
        let cause = match fault {
            ProofFault::Documents(fault) => return Gate::<C, Plain>::no_list(fault),
            ProofFault::Unproven(cause) => cause,
        };
        let rejected = UpstreamRejected {
            ecosystem: Ecosystem::Go,
            package: module.to_string(),
            file: format!("{version} in the checksum database"),
            cause: cause.to_string(),
        };
        if let Err(fault) = self.gate.ledger().record(rejected, caller).await {
            return Gate::<C, Plain>::unrecorded(&fault);
        }
        unproven::<C>(&format_args!("{module}@{version}"), cause)
    }
}

/// What a version is, as the upstream says.
async fn find<C: ArtifactCache>(
    upstream: &Upstream,
    at: &At,
    asking: &Asking,
) -> Result<Arc<Info>, Otherwise> {
    let infos = &upstream.infos;
    let info = infos.get(at, infos.keeping().ttl, &asking.trail).await;
    Ok(info.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?.document)
}

/// When the newest versions were published, as their authors say, where the list is looked at as of a
/// time.
async fn ages(
    upstream: &Upstream,
    list: &List,
    dossier: &Dossier,
    asking: &Asking,
) -> Result<Option<Arc<Ages>>, DocumentsFault> {
    match dossier.seen_as_of() {
        None => Ok(None),
        Some(_) => upstream.dates.of(list, &asking.trail).await.map(Some),
    }
}

/// What passes or not, for a version.
fn artifact(
    upstream: &Upstream,
    module: &Module,
    version: &Canonical,
    info: &Info,
    kind: &str,
    sum: Sum,
) -> Option<Artifact> {
    let versions = &upstream.versions;
    let path = format!("{}/@v/{}.zip", module.escaped(), version.escaped());
    Some(Artifact {
        package: module.to_string(),
        version: Some(version.version()),
        told: None,
        role: if kind == "zip" { Role::File } else { Role::Beside },
        published_at: info.time,
        document: Some(blake3::hash(&info.body)),
        part: None,
        file: format!("{version}.{kind}"),
        wanted: Wanted {
            key: key_of(module, version)?,
            url: below(versions.base(), &path),
            reach: versions.reach().clone(),
            sha256: None,
            promise: None,
            shape: Shape::GoZip { prefix: format!("{module}@{version}/").into(), sum },
            size: None,
            content_type: "application/zip",
            accept: None,
        },
    })
}

fn missing(at: &At) -> Otherwise {
    let why = format!("not found: {at}");
    Box::new(Answer::text(StatusCode::NOT_FOUND, &why).because(&why))
}

/// A body as the upstream wrote it.
fn whole(content_type: &'static str, body: &Bytes, asking: &Asking) -> Answer {
    let tag = blake3::hash(body).to_hex();
    let etag = HeaderValue::try_from(format!("\"{tag}\""));
    let etag = etag.unwrap_or(HeaderValue::from_static("\"\""));
    let answer = if asking.has(&etag) {
        Answer::empty(StatusCode::NOT_MODIFIED)
    } else {
        Answer::whole(StatusCode::OK, content_type, body.clone())
    };
    answer.with(ETAG, etag).with(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
}

/// What the checksum database is said to say does not verify.
fn unproven<C: ArtifactCache>(of: &dyn fmt::Display, cause: &Unproven) -> Otherwise {
    warn!(record = %of, error = %cause, "the checksum database's word does not verify, nothing of it is kept");
    let why = format!("what the checksum database is said to say of {of} does not verify: {cause}");
    Gate::<C, Plain>::no(StatusCode::BAD_GATEWAY, &why)
}
