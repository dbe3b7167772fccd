//! Answers the requests of cargo.

use std::sync::Arc;

use http::{
    HeaderValue, StatusCode,
    header::{CACHE_CONTROL, ETAG},
};
use serde_json::json;
use weir_events::registry::Ecosystem;

use super::{
    Cargo, Upstream,
    document::{Document, Line, file_name, key_of},
    name::Name,
    request::{Request, Target},
    template::Template,
    upstream::TheFile,
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::ArtifactCache,
        canary,
        documents::{DocumentsFault, Keeping, Open},
        download::{Shape, Wanted},
        gate::{Artifact, Gate, LIST, Listed, Otherwise, Plain, Role},
        sightings::There,
    },
};

impl<C: ArtifactCache> Cargo<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking } = request;
        self.gate.not_again(&asking)?;
        let upstream = self.upstream.as_ref().ok_or_else(|| self.gate.disabled())?;
        match &target {
            Target::Config { .. } => {}
            Target::List { name } => {
                self.gate.unreserved(name.as_str(), LIST, &asking, caller).await?;
            }
            Target::File { name, version, .. } => {
                self.gate.unreserved(name.as_str(), version, &asking, caller).await?;
            }
        }
        match &target {
            Target::Config { dl, by_token } => Ok(config(dl, *by_token, &asking)),
            Target::List { name } => self.list(upstream, name, &asking, caller).await,
            Target::File { name, spelling, version } => {
                let (open, line) = self.find(upstream, name, spelling, version, &asking).await?;
                let open = open.without_room();
                self.look(&open, caller).await?;
                let template = self.template(upstream, name, &asking).await?;
                let artifact = artifact(upstream, name, &open.document, &line, &template);
                let artifact = artifact.ok_or_else(|| missing(spelling, version))?;
                let instead = |dossier| {
                    let open = open.clone();
                    async move {
                        let list = self.lists.list(&open, &dossier).await.ok()?;
                        list.filtered.newest_allowed.clone()
                    }
                };
                self.gate.file(&artifact, &asking, caller, instead).await
            }
        }
    }

    async fn list(
        &self,
        upstream: &Upstream,
        name: &Name,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let index = &upstream.index;
        let open = index.get(name, index.keeping().ttl, &asking.trail).await;
        let open = open.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
        self.look(&open, caller).await?;
        let package = name.normalised();
        let dossier = self.gate.about(&package, asking, caller)?;
        let list = self.lists.list(&open, &dossier).await;
        let list = list.map_err(|_| Gate::<C, Plain>::stopping())?;
        let digest = open.document.digest;
        // What is written takes no room any more.
        drop(open);
        let listed = Listed {
            package: &package,
            digest,
            dossier: &dossier,
            content_type: "text/plain; charset=utf-8",
        };
        self.gate.list(&listed, &list, asking, caller).await
    }

    async fn look(&self, open: &Open<Document>, caller: &Caller) -> Result<(), Otherwise> {
        let list = &open.document;
        let there = || {
            let lines = list.lines.iter();
            There::Versions(lines.map(|line| line.version.as_str()).collect())
        };
        self.gate.look(&list.name.normalised(), Some(list.digest), there, caller).await
    }

    /// Finds a version in its crate's list; in a fresh one, before it is said not to exist.
    async fn find(
        &self,
        upstream: &Upstream,
        name: &Name,
        spelling: &str,
        version: &str,
        asking: &Asking,
    ) -> Result<(Open<Document>, Line), Otherwise> {
        let index = &upstream.index;
        let Keeping { ttl, recent, .. } = *index.keeping();
        for max_age in [ttl, recent.min(ttl)] {
            let open = index.get(name, max_age, &asking.trail).await;
            let open = open.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
            let line = open.document.line(version).filter(|line| *line.spelling == *spelling);
            if let Some(line) = line.cloned() {
                return Ok((open, line));
            }
        }
        Err(missing(spelling, version))
    }

    /// Where the upstream has its files.
    async fn template(
        &self,
        upstream: &Upstream,
        name: &Name,
        asking: &Asking,
    ) -> Result<Arc<Template>, Otherwise> {
        // The canary's file is nowhere, wherever the upstream has its own.
        if canary::is(Ecosystem::Cargo, &name.normalised())
            && let Ok(nowhere) = Template::new("https://weir.invalid")
        {
            return Ok(Arc::new(nowhere));
        }
        let settings = &upstream.settings;
        let open = settings.get(&TheFile, settings.keeping().ttl, &asking.trail).await;
        match open {
            Ok(open) => Ok(open.document),
            Err(DocumentsFault::NotFound(_)) => {
                let why = "the upstream has no config.json, so it is no sparse index";
                Err(Gate::<C, Plain>::no(StatusCode::BAD_GATEWAY, why))
            }
            Err(fault) => Err(Gate::<C, Plain>::no_list(&fault)),
        }
    }
}

fn missing(spelling: &str, version: &str) -> Otherwise {
    let why = format!("`{spelling}` has no version {version}");
    Box::new(Answer::text(StatusCode::NOT_FOUND, &why).because(&why))
}

/// The settings of our own index: where our files are, and that there is nothing else.
fn config(dl: &str, by_token: bool, asking: &Asking) -> Answer {
    let body = json!({ "dl": dl, "auth-required": by_token }).to_string();
    let etag = blake3::hash(body.as_bytes()).to_hex();
    let etag =
        HeaderValue::try_from(format!("\"{etag}\"")).unwrap_or(HeaderValue::from_static("\"\""));
    let answer = if asking.has(&etag) {
        Answer::empty(StatusCode::NOT_MODIFIED)
    } else {
        Answer::whole(StatusCode::OK, "application/json", body)
    };
    answer.with(ETAG, etag).with(CACHE_CONTROL, HeaderValue::from_static("no-cache"))
}

/// What to fetch for a version.
fn artifact(
    upstream: &Upstream,
    name: &Name,
    document: &Document,
    line: &Line,
    template: &Template,
) -> Option<Artifact> {
    let version = line.version.as_str();
    let url = template.file(&line.spelling, version, &line.cksum)?;
    Some(Artifact {
        package: name.normalised(),
        version: Some(line.version.clone()),
        told: None,
        role: Role::File,
        published_at: line.published_at,
        document: Some(document.digest),
        part: None,
        file: file_name(&line.spelling, version),
        wanted: Wanted {
            key: key_of(name, version)?,
            reach: upstream.index.reach().and([&url]),
            url,
            sha256: Some(line.cksum),
            promise: None,
            shape: Shape::Any,
            size: None,
            content_type: "application/gzip",
            accept: None,
        },
    })
}
