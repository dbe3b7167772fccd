//! Answers the requests of docker, skopeo and their kin.

pub(super) mod artifact;
mod behind;
mod blobs;
mod faults;
mod manifests;

use std::{sync::Arc, time::Duration};

use http::{HeaderName, HeaderValue, StatusCode, header::LINK};
use weir_aggregates::registry::dossier::Dossier;

use self::faults::no_list;
use super::{
    Docker, Upstream,
    name::{Name, Reference},
    request::{Page, Request, Target},
    tags::{passes, render},
    upstream::{Part, Tags},
    voice::{error, versioned},
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::ArtifactCache,
        documents::Open,
        gate::{Listed, Otherwise},
        plugin::RegistryPlugin as _,
        renderings::Rendering,
    },
};

/// Says for which registry an answer speaks.
const NAMESPACE: HeaderName = HeaderName::from_static("oci-namespace");

impl<C: ArtifactCache> Docker<C> {
    pub(super) async fn answered(&self, request: Request, caller: &Caller) -> Answer {
        let head = request.asking.head;
        let answer = self.try_answer(request, caller).await.unwrap_or_else(|answer| *answer);
        let answer = versioned(answer);
        if head { answer.without_body() } else { answer }
    }

    async fn try_answer(&self, request: Request, caller: &Caller) -> Result<Answer, Otherwise> {
        let Request { target, asking, namespace, accepts } = request;
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
                self.manifest(upstream, (name, reference), accepts, &asking, caller).await
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

    async fn tags(
        &self,
        upstream: &Upstream,
        name: &Name,
        page: &Page,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let ttl = upstream.lists.keeping().ttl;
        let open = self.page(upstream, name, (page, ttl), asking).await?;
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
        let link = next.map(|next| {
            let (name, page) = (name.asked(), next.link());
            format!("</v2/{name}/tags/list?{page}>; rel=\"next\"")
        });
        Ok(match link.map(HeaderValue::try_from) {
            Some(Ok(link)) => answer.with(LINK, link),
            Some(Err(_)) | None => answer,
        })
    }

    async fn page(
        &self,
        upstream: &Upstream,
        name: &Name,
        (page, max_age): (&Page, Duration),
        asking: &Asking,
    ) -> Result<Open<Tags>, Otherwise> {
        let part = Part { name: name.clone(), page: page.clone() };
        let open = upstream.lists.get(&part, max_age, &asking.trail).await;
        open.map(Open::without_room).map_err(|fault| no_list::<C>(&fault, "NAME_UNKNOWN"))
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
            let ttl = upstream.lists.keeping().ttl;
            self.page(upstream, name, (&Page::default(), ttl), asking).await.ok()
        };
        let filtered = open.map(|open| self.filter_metadata(&open.document, &dossier));
        let mut tags = filtered.into_iter().flat_map(|filtered| filtered.listed);
        let tag = tags.find(|tag| passes(&dossier, &Reference::Tag(tag.clone())));
        Some(tag.map_or_else(|| "what nothing is said against".to_owned(), |tag| tag.to_string()))
    }
}
