//! Answers the requests of Python clients.

use http::StatusCode;
use weir_aggregates::registry::licence::NO_ASSERTION;
use weir_events::registry::Ecosystem;

use super::{
    Pypi,
    document::{CoreMetadata, Document, File},
    filename::{Filename, Project, Sidecar},
    licence,
    negotiate::Form,
    request::{Request, Target},
    upstream::Simple,
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::{ArtifactCache, CacheKey},
        documents::{Documents, Keeping, Open},
        download::{DownloadFault, Shape, Wanted, read},
        gate::{Artifact, Gate, LIST, Listed, Otherwise, Part, Plain, Role},
    },
};

impl<C: ArtifactCache> Pypi<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking } = request;
        self.gate.not_again(&asking)?;
        let index = self.index.as_ref().ok_or_else(|| self.gate.disabled())?;
        let (project, what) = match &target {
            Target::Page { project, .. } => (project, LIST),
            Target::File { project, filename } => (project, filename.as_str()),
        };
        self.gate.unreserved(project.as_str(), what, &asking, caller).await?;
        match &target {
            Target::Page { project, form } => {
                self.page(index, project, *form, &asking, caller).await
            }
            Target::File { project, filename } => {
                let (open, mut artifact) = self.find(index, project, filename, &asking).await?;
                let open = open.without_room();
                artifact.told = self.gate.telling(|| open.document.told_of(filename))?;
                self.look(&open, caller).await?;
                let instead = |dossier| {
                    let open = open.clone();
                    async move {
                        let page = self.pages.page(&open, &dossier, Form::Json).await.ok()?;
                        page.filtered.newest_allowed.clone()
                    }
                };
                // What lies beside a file is no file that anybody uses.
                if filename.sidecar().is_none() && self.gate.reads_licences()? {
                    let licence = || self.licence(index, &open.document, filename, &asking, caller);
                    self.gate.licensed(&mut artifact, licence, &asking, caller, &instead).await?;
                }
                self.gate.file(&artifact, &asking, caller, instead).await
            }
        }
    }

    async fn page(
        &self,
        index: &Documents<Simple>,
        project: &Project,
        form: Form,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let open = index.get(project, index.keeping().ttl, &asking.trail).await;
        let open = open.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
        self.look(&open, caller).await?;
        let dossier = self.gate.about(project.as_str(), asking, caller)?;
        let page = self.pages.page(&open, &dossier, form).await;
        let page = page.map_err(|_| Gate::<C, Plain>::stopping())?;
        let digest = open.document.digest;
        // What is written takes no room any more.
        drop(open);
        let listed = Listed {
            package: project.as_str(),
            digest,
            dossier: &dossier,
            content_type: form.content_type(),
        };
        self.gate.list(&listed, &page, asking, caller).await
    }

    async fn look(&self, open: &Open<Document>, caller: &Caller) -> Result<(), Otherwise> {
        let page = &open.document;
        self.gate.look(page.project.as_str(), Some(page.digest), || page.there(), caller).await
    }

    /// The licence of a file, as its metadata tell, where the index has them.
    async fn licence(
        &self,
        index: &Documents<Simple>,
        document: &Document,
        filename: &Filename,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<String, Otherwise> {
        let beside = Filename::new(&format!("{filename}{}", Sidecar::Metadata.suffix()));
        let wanted = beside.and_then(|beside| wanted(index, document, &beside));
        let Some(wanted) = wanted else { return Ok(NO_ASSERTION.to_owned()) };
        let opened = self.gate.downloads().open(&wanted, caller, &asking.trail).await;
        let metadata = match opened {
            Ok(opened) => licence::head(read(opened, None)).await,
            Err(fault) if matches!(*fault, DownloadFault::NotFound(_)) => {
                return Ok(NO_ASSERTION.to_owned());
            }
            Err(fault) => return Err(Gate::<C, Plain>::no_file(&fault)),
        };
        let metadata = metadata.map_err(|fault| {
            let why = format!("the metadata of `{filename}` broke off: {fault}");
            Gate::<C, Plain>::no(StatusCode::BAD_GATEWAY, &why)
        })?;
        Ok(licence::of(metadata.as_deref()))
    }

    /// Finds a file on its project's page; on a fresh one, before it is said not to exist.
    async fn find(
        &self,
        index: &Documents<Simple>,
        project: &Project,
        filename: &Filename,
        asking: &Asking,
    ) -> Result<(Open<Document>, Artifact), Otherwise> {
        let Keeping { ttl, recent, .. } = *index.keeping();
        for max_age in [ttl, recent.min(ttl)] {
            let open = index.get(project, max_age, &asking.trail).await;
            let open = open.map_err(|fault| Gate::<C, Plain>::no_list(&fault))?;
            if let Some(wanted) = wanted(index, &open.document, filename) {
                let version = filename.version(project);
                let published_at = version.as_ref().and_then(|v| open.document.published_at(v));
                let file = file_of(&open.document, filename);
                let part = file.map(|file| Part {
                    file: file.filename.to_string(),
                    times: open.document.times(file),
                });
                let listed = open.document.file(filename).is_some();
                let artifact = Artifact {
                    package: project.to_string(),
                    published_at,
                    part,
                    told: None,
                    document: Some(open.document.digest),
                    role: if listed { Role::File } else { Role::Beside },
                    version,
                    file: filename.to_string(),
                    wanted,
                };
                return Ok((open, artifact));
            }
        }
        let why = format!("`{project}` has no file `{filename}`");
        Err(Gate::<C, Plain>::no(StatusCode::NOT_FOUND, &why))
    }
}

/// A file, or the one that something lies beside.
fn file_of<'a>(document: &'a Document, filename: &Filename) -> Option<&'a File> {
    document.file(filename).or_else(|| document.file(&filename.sidecar()?.0))
}

/// What to fetch for a file, or for what lies beside one.
fn wanted(index: &Documents<Simple>, document: &Document, filename: &Filename) -> Option<Wanted> {
    let key = CacheKey::new(Ecosystem::Pypi, document.project.as_str(), filename.as_str())?;
    let reach = index.reach().and(&document.origins);
    if let Some(file) = document.file(filename) {
        return Some(Wanted {
            key,
            url: file.url.clone(),
            reach,
            sha256: file.sha256.map(|hash| hash.0),
            promise: file.promise.clone(),
            shape: Shape::Any,
            size: file.size,
            content_type: "application/octet-stream",
            accept: None,
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
    Some(Wanted {
        key,
        url,
        reach,
        sha256,
        promise: None,
        shape: Shape::Any,
        size: None,
        content_type,
        accept: None,
    })
}
