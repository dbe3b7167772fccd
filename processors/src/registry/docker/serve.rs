//! Answers the requests of docker, skopeo and their kin.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::{
    HeaderName, HeaderValue, StatusCode,
    header::{LINK, RETRY_AFTER},
};
use weir_aggregates::registry::dossier::Dossier;
use weir_events::registry::Ecosystem;

use super::{
    Docker, Upstream,
    kin::Standing,
    manifest::{self, Manifest},
    name::{Digest, Name, Reference, Tag},
    request::{Page, Request, Target},
    tags::{passes, passes_but_for_age, render},
    upstream::{CONTENT_DIGEST, Part, Tagged, Tags, below},
    voice::{Errors, error, versioned},
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::{CacheKey, CachePlugin},
        documents::{DocumentsFault, Open},
        download::{Shape, Wanted, read},
        gate::{Artifact, Gate, Listed, Otherwise},
        plugin::RegistryPlugin as _,
        renderings::Rendering,
        sightings::There,
    },
};

/// Says for which registry an answer speaks.
const NAMESPACE: HeaderName = HeaderName::from_static("oci-namespace");

/// How many blocked tags are looked behind before a digest that nobody named is let through.
const MAX_BLOCKED_TAGS: usize = 64;

/// How many pages of tags are looked through for them.
const MAX_PAGES: usize = 50;

/// How many seconds a client waits when the upstream has had enough.
const ENOUGH_SECONDS: u64 = 30;

impl<C: CachePlugin> Docker<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        let answer = versioned(answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking, namespace } = request;
        self.gate.not_again(&asking)?;
        if target == Target::Ping {
            return Ok(Answer::whole(StatusCode::OK, "application/json", "{}"));
        }
        let upstream = self.upstream.as_ref().ok_or_else(|| self.gate.disabled())?;
        let namespace = namespace.map(|asked| upstream.speaks_for(&asked)).transpose()?;
        if let Some((name, what)) = target.about() {
            self.gate.unreserved(name.as_str(), &what, &asking, caller).await?;
        }
        let answer = match &target {
            Target::Ping | Target::Referrers { .. } => {
                // Clients look for the tag that stands for it then, which is judged like any other.
                let why = "referrers are found by their tag here";
                Err(Box::new(error(StatusCode::NOT_FOUND, "UNSUPPORTED", why)))
            }
            Target::Manifest { name, reference } => {
                self.manifest(upstream, name, reference, &asking, caller).await
            }
            Target::Blob { name, digest } => {
                self.blob(upstream, name, *digest, &asking, caller).await
            }
            Target::Tags { name, page } => self.tags(upstream, name, page, &asking, caller).await,
        };
        let told = |answer: Answer| match namespace.clone() {
            Some(namespace) => answer.with(NAMESPACE, namespace),
            None => answer,
        };
        answer.map(told).map_err(|answer| Box::new(told(*answer)))
    }

    async fn manifest(
        &self,
        upstream: &Upstream,
        name: &Name,
        reference: &Reference,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let mut dossier = self.gate.about(name.as_str(), asking, caller)?;
        let instead = |dossier| self.instead(upstream, name, asking, dossier);
        let (digest, tag) = match reference {
            Reference::Digest(digest) => (*digest, None),
            Reference::Tag(tag) => {
                // A tag that is refused is not asked for.
                let artifact = upstream.artifact(name, reference, None)?;
                let _passes =
                    self.gate.judged(&artifact, &dossier, asking, caller, &instead).await?;
                (self.digest_of(upstream, name, tag, asking).await?, Some(tag))
            }
        };
        if self.sight(upstream, name, digest, &dossier, asking, caller).await? {
            dossier = self.gate.remembering(&dossier, name.as_str());
        }
        let by = match tag {
            // Whoever asks by a tag that passes, passes; unless the digest itself does not.
            Some(_) if passes(&dossier, &Reference::Digest(digest)) => reference.clone(),
            Some(_) => Reference::Digest(digest),
            None => {
                let mut standing = self.standing(name, digest, &dossier);
                if matches!(standing, Standing::Nameless(_)) {
                    self.look_behind(upstream, name, &dossier, asking, caller).await?;
                    standing = self.standing(name, digest, &dossier);
                }
                match standing {
                    Standing::Refused(by) => by,
                    Standing::Passes(_) | Standing::Nameless(_) => reference.clone(),
                }
            }
        };
        let mut artifact = upstream.artifact(name, &by, Some(digest))?;
        if by == *reference {
            let manifest = self.load(upstream, name, digest, asking, caller).await?;
            self.kin.learn(name, digest, tag, &manifest);
            artifact.wanted.content_type = manifest.media_type;
        }
        let answer = self.gate.file(&artifact, asking, caller, instead).await?;
        let told = HeaderValue::try_from(digest.to_string());
        Ok(match told {
            Ok(digest) => answer.with(CONTENT_DIGEST, digest),
            Err(_) => answer,
        })
    }

    /// Sees a manifest and what it names, where it matters when that was seen first: not before the
    /// upstream gave it, for nobody may ask early for what is not there yet. Says whether it was new.
    async fn sight(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        dossier: &Dossier,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<bool, Otherwise> {
        let reference = Reference::Digest(digest);
        let seen = || self.gate.has_seen(name.as_str(), &digest.to_string());
        if !self.gate.watches()? || seen() || !passes_but_for_age(dossier, &reference) {
            return Ok(false);
        }
        let manifest = self.load(upstream, name, digest, asking, caller).await?;
        let all = manifest.manifests.iter().chain([&digest]).map(Digest::to_string);
        let all: Vec<String> = all.collect();
        let there = || There::Versions(all.iter().map(String::as_str).collect());
        self.gate.look(name.as_str(), None, there, caller).await?;
        Ok(true)
    }

    async fn blob(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let dossier = self.gate.about(name.as_str(), asking, caller)?;
        let named_by = self.kin.named_by(name, digest);
        let stands = || {
            let mut best = None;
            for (manifest, size) in &named_by {
                match self.standing(name, *manifest, &dossier) {
                    Standing::Passes(by) => return Some((Standing::Passes(by), *size)),
                    nameless @ Standing::Nameless(_) => best = Some((nameless, *size)),
                    refused @ Standing::Refused(_) => {
                        best.get_or_insert((refused, *size));
                    }
                }
            }
            best
        };
        let mut standing = stands();
        if matches!(standing, Some((Standing::Nameless(_), _))) {
            self.look_behind(upstream, name, &dossier, asking, caller).await?;
            standing = stands();
        }
        let Some((standing, size)) = standing else {
            let why = format!(
                "no manifest of `{name}` that passed here names this blob; ask for its manifest \
                 first"
            );
            return Err(Box::new(error(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", &why)));
        };
        let (Standing::Passes(by) | Standing::Nameless(by) | Standing::Refused(by)) = standing;
        let mut artifact = upstream.artifact(name, &by, None)?;
        artifact.file = digest.to_string();
        artifact.wanted = Wanted {
            key: key_of(name, digest).ok_or_else(|| unnameable(name))?,
            url: below(upstream.heads.base(), name, &format!("blobs/{digest}")),
            sha256: Some(digest.sha256()),
            size: Some(size),
            content_type: "application/octet-stream",
            accept: None,
            ..artifact.wanted
        };
        let instead = |dossier| self.instead(upstream, name, asking, dossier);
        let answer = self.gate.file(&artifact, asking, caller, instead).await?;
        Ok(match HeaderValue::try_from(digest.to_string()) {
            Ok(digest) => answer.with(CONTENT_DIGEST, digest),
            Err(_) => answer,
        })
    }

    async fn tags(
        &self,
        upstream: &Upstream,
        name: &Name,
        page: &Page,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let open = self.page(upstream, name, page, asking).await?;
        let dossier = self.gate.about(name.as_str(), asking, caller)?;
        let filtered = Arc::new(self.filter_metadata(&open.document, &dossier));
        let list = Rendering::new(render(name, &filtered), &dossier, "tags", filtered, 0);
        let listed = Listed {
            package: name.as_str(),
            digest: open.document.digest,
            dossier: &dossier,
            content_type: "application/json",
        };
        let answer = self.gate.list(&listed, &list, asking, caller).await?;
        let next = open.document.next.as_ref();
        let link =
            next.map(|next| format!("</v2/{name}/tags/list?{}>; rel=\"next\"", next.query()));
        Ok(match link.map(HeaderValue::try_from) {
            Some(Ok(link)) => answer.with(LINK, link),
            Some(Err(_)) | None => answer,
        })
    }

    fn standing(&self, name: &Name, digest: Digest, dossier: &Dossier) -> Standing {
        self.kin.standing(name, digest, &|reference| passes(dossier, reference))
    }

    /// Looks what is behind the tags that are refused, where there are any, so that a digest that
    /// nobody named here does not lead past them.
    async fn look_behind(
        &self,
        upstream: &Upstream,
        name: &Name,
        dossier: &Dossier,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        if dossier.is_silent() {
            return Ok(());
        }
        let (mut page, mut n_blocked) = (Page::default(), 0);
        for _ in 0..MAX_PAGES {
            let open = self.page(upstream, name, &page, asking).await?;
            for tag in &open.document.tags {
                if passes(dossier, &Reference::Tag(tag.clone())) {
                    continue;
                }
                n_blocked += 1;
                if n_blocked > MAX_BLOCKED_TAGS {
                    return Err(too_many(name));
                }
                let digest = match self.head_of(upstream, name, tag, asking).await {
                    Ok(digest) => digest,
                    // Listed and gone: then nothing is behind it.
                    Err(DocumentsFault::NotFound(_)) => continue,
                    Err(fault) => return Err(no_list::<C>(&fault, "MANIFEST_UNKNOWN")),
                };
                let manifest = self.load(upstream, name, digest, asking, caller).await?;
                self.kin.learn(name, digest, Some(tag), &manifest);
            }
            match &open.document.next {
                Some(next) => page = next.clone(),
                None => return Ok(()),
            }
        }
        Err(too_many(name))
    }

    async fn page(
        &self,
        upstream: &Upstream,
        name: &Name,
        page: &Page,
        asking: &Asking,
    ) -> Result<Open<Tags>, Otherwise> {
        let part = Part { name: name.clone(), page: page.clone() };
        let lists = &upstream.lists;
        let open = lists.get(&part, lists.keeping().ttl, &asking.trail).await;
        open.map(Open::without_room).map_err(|fault| no_list::<C>(&fault, "NAME_UNKNOWN"))
    }

    async fn head_of(
        &self,
        upstream: &Upstream,
        name: &Name,
        tag: &Tag,
        asking: &Asking,
    ) -> Result<Digest, DocumentsFault> {
        let tagged = Tagged { name: name.clone(), tag: tag.clone() };
        let heads = &upstream.heads;
        Ok(*heads.get(&tagged, heads.keeping().ttl, &asking.trail).await?.document)
    }

    async fn digest_of(
        &self,
        upstream: &Upstream,
        name: &Name,
        tag: &Tag,
        asking: &Asking,
    ) -> Result<Digest, Otherwise> {
        let digest = self.head_of(upstream, name, tag, asking).await;
        digest.map_err(|fault| no_list::<C>(&fault, "MANIFEST_UNKNOWN"))
    }

    /// A manifest as a whole, verified.
    async fn load(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Manifest, Otherwise> {
        let artifact = upstream.artifact(name, &Reference::Digest(digest), Some(digest))?;
        let opened = self.manifests.open(&artifact.wanted, caller, &asking.trail).await;
        let opened = opened.map_err(|fault| no_file::<C>(&fault, "MANIFEST_UNKNOWN"))?;
        let (mut pieces, mut bytes) = (std::pin::pin!(read(opened, None)), Vec::new());
        while let Some(piece) = pieces.next().await {
            let broken = |fault| unreadable(name, digest, &fault);
            bytes.extend_from_slice(&piece.map_err(broken)?);
            if bytes.len() as u64 > manifest::MAX_BYTES {
                let why = format!("it has more than {} bytes", manifest::MAX_BYTES);
                return Err(unreadable(name, digest, &why));
            }
        }
        Manifest::read(&bytes).map_err(|fault| unreadable(name, digest, &fault))
    }

    /// A tag that passes, for who is refused another one.
    async fn instead(
        &self,
        upstream: &Upstream,
        name: &Name,
        asking: &Asking,
        dossier: Arc<Dossier>,
    ) -> Option<String> {
        // Whether what it stands for is old enough, no tag tells.
        let open = if dossier.counts_age() {
            None
        } else {
            self.page(upstream, name, &Page::default(), asking).await.ok()
        };
        let filtered = open.map(|open| self.filter_metadata(&open.document, &dossier));
        let mut tags = filtered.into_iter().flat_map(|filtered| filtered.listed);
        let tag = tags.find(|tag| passes(&dossier, &Reference::Tag(tag.clone())));
        Some(tag.map_or_else(|| "what nothing is said against".to_owned(), |tag| tag.to_string()))
    }
}

impl Upstream {
    /// What a manifest, or what belongs to it, is judged and fetched as.
    fn artifact(
        &self,
        name: &Name,
        reference: &Reference,
        digest: Option<Digest>,
    ) -> Result<Artifact, Otherwise> {
        let file = digest.map_or_else(|| reference.to_string(), |digest| digest.to_string());
        let key = match digest {
            Some(digest) => key_of(name, digest),
            None => CacheKey::new(Ecosystem::Docker, name.as_str(), &file.replace(':', "-")),
        };
        Ok(Artifact {
            package: name.as_str().to_owned(),
            version: Some(reference.version()),
            published_at: None,
            wanted: Wanted {
                key: key.ok_or_else(|| unnameable(name))?,
                url: below(self.heads.base(), name, &format!("manifests/{file}")),
                reach: self.content.clone(),
                sha256: digest.map(Digest::sha256),
                promise: None,
                size: None,
                content_type: "application/vnd.oci.image.manifest.v1+json",
                accept: Some(manifest::ACCEPT),
                shape: Shape::Any,
            },
            file,
        })
    }

    /// Whether this Weir stands for a registry of this name: the upstream itself, or the domain it
    /// is in, or an origin that is trusted beside it.
    fn speaks_for(&self, namespace: &str) -> Result<HeaderValue, Otherwise> {
        let known = self.namespaces.iter().any(|host| {
            host == namespace
                || host.strip_suffix(namespace).is_some_and(|rest| rest.ends_with('.'))
        });
        HeaderValue::try_from(namespace).ok().filter(|_| known).ok_or_else(|| {
            let shown: String = namespace.chars().take(100).collect();
            let why = format!(
                "this Weir does not stand in front of `{shown}`; name it in \
                 registries.docker.trusted_origins if its upstream does"
            );
            Box::new(error(StatusCode::NOT_FOUND, "NAME_UNKNOWN", &why))
        })
    }
}

/// Where what has a digest is kept.
pub(super) fn key_of(name: &Name, digest: Digest) -> Option<CacheKey> {
    CacheKey::new(Ecosystem::Docker, name.as_str(), &digest.file())
}

fn unnameable(name: &Name) -> Otherwise {
    let why = format!("the name `{name}` is too long to be kept");
    Box::new(error(StatusCode::BAD_REQUEST, "NAME_INVALID", &why))
}

fn too_many(name: &Name) -> Otherwise {
    let why = format!(
        "`{name}` has more blocked tags than Weir looks behind ({MAX_BLOCKED_TAGS}), so a digest \
         alone is not let through; ask by a tag first"
    );
    Box::new(error(StatusCode::FORBIDDEN, "DENIED", &why).because(&why))
}

fn unreadable(name: &Name, digest: Digest, cause: &dyn std::fmt::Display) -> Otherwise {
    let why = format!("could not read the upstream's manifest {digest} of `{name}`: {cause}");
    Box::new(error(StatusCode::BAD_GATEWAY, "MANIFEST_INVALID", &why).because(&why))
}

fn no_list<C: CachePlugin>(fault: &DocumentsFault, code: &str) -> Otherwise {
    match fault {
        DocumentsFault::NotFound(_) => missing(code, &fault.to_string()),
        DocumentsFault::Status { status, .. } => refused(*status, code, &fault.to_string())
            .unwrap_or_else(|| Gate::<C, Errors>::no_list(fault)),
        DocumentsFault::Stopping
        | DocumentsFault::Unreachable { .. }
        | DocumentsFault::Unreadable { .. } => Gate::<C, Errors>::no_list(fault),
    }
}

fn no_file<C: CachePlugin>(
    fault: &crate::registry::download::DownloadFault,
    code: &str,
) -> Otherwise {
    use crate::registry::download::DownloadFault;
    match fault {
        DownloadFault::NotFound(_) => missing(code, &fault.to_string()),
        DownloadFault::Status { status, .. } => refused(*status, code, &fault.to_string())
            .unwrap_or_else(|| Gate::<C, Errors>::no_file(fault)),
        _ => Gate::<C, Errors>::no_file(fault),
    }
}

fn missing(code: &str, why: &str) -> Otherwise {
    Box::new(error(StatusCode::NOT_FOUND, code, why).because(why))
}

/// What an upstream refuses to us: registries say so of what does not exist.
fn refused(status: StatusCode, code: &str, why: &str) -> Option<Otherwise> {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Some(missing(code, why)),
        StatusCode::TOO_MANY_REQUESTS => {
            let answer = error(status, "TOOMANYREQUESTS", why).because(why);
            Some(Box::new(answer.with(RETRY_AFTER, ENOUGH_SECONDS.into())))
        }
        _ => None,
    }
}
