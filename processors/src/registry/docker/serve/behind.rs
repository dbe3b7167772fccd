//! What is behind the tags that are refused: a digest that nobody named leads past none of them.

use weir_aggregates::registry::dossier::Dossier;

use super::faults::{no_list, too_many};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking,
        cache::ArtifactCache,
        docker::{
            Docker, Upstream,
            kin::Standing,
            manifest::Accepts,
            name::{Digest, Name, Reference, Tag},
            request::Page,
            tags::passes,
            upstream::Tagged,
        },
        documents::DocumentsFault,
        gate::Otherwise,
    },
};

/// How many blocked tags are looked behind before a digest that nobody named is let through.
pub(super) const MAX_BLOCKED_TAGS: usize = 64;

/// How many images one thing is looked for in.
const MAX_IMAGES: usize = 256;

/// How many pages of tags are looked through for them.
const MAX_PAGES: usize = 50;

impl<C: ArtifactCache> Docker<C> {
    pub(super) fn standing(&self, name: &Name, digest: Digest, dossier: &Dossier) -> Standing {
        self.kin.standing(name, digest, &|reference| passes(dossier, reference))
    }

    /// These manifests with the indexes that they stand in, as far as is known: the outermost first.
    pub(super) fn images(
        &self,
        name: &Name,
        manifests: impl Iterator<Item = Digest>,
    ) -> Vec<String> {
        let mut images = Vec::new();
        for manifest in manifests {
            let within = self.kin.within(name, manifest);
            for image in within.into_iter().chain([manifest]).map(|image| image.to_string()) {
                if images.len() < MAX_IMAGES && !images.contains(&image) {
                    images.push(image);
                }
            }
        }
        images
    }

    /// Looks what is behind the tags that are refused, where there are any, so that a digest that
    /// nobody named here does not lead past them.
    pub(super) async fn look_behind(
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
                let digest = match self.head_of(upstream, name, tag, Accepts::ALL, asking).await {
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

    pub(super) async fn head_of(
        &self,
        upstream: &Upstream,
        name: &Name,
        tag: &Tag,
        accepts: Accepts,
        asking: &Asking,
    ) -> Result<Digest, DocumentsFault> {
        let tagged = Tagged { name: name.clone(), tag: tag.clone(), accepts };
        let heads = &upstream.heads;
        Ok(*heads.get(&tagged, heads.keeping().ttl, &asking.trail).await?.document)
    }
}
