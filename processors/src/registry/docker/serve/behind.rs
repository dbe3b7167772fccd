//! What is behind the names that are refused: a digest that nobody named leads past none of them.

use std::{collections::BTreeSet, time::Duration};

use futures_util::future::try_join_all;
use weir_aggregates::registry::dossier::Dossier;

use super::faults::{no_look, too_deep, too_many};
use crate::{
    caller::Caller,
    registry::{
        asking::Asking,
        cache::ArtifactCache,
        docker::{
            Docker, Upstream,
            kin::{MAX_DEPTH, Standing},
            manifest::Accepts,
            name::{Digest, Name, Reference, Tag},
            request::Page,
            tags::{passes, refused_digests},
            upstream::Called,
        },
        documents::DocumentsFault,
        gate::Otherwise,
    },
};

/// How many blocked tags are looked behind before a digest that nobody named is let through.
const MAX_BLOCKED_TAGS: usize = 64;

/// How many blocked digests are.
const MAX_BLOCKED_DIGESTS: usize = 256;

/// How many of these are looked for at once.
const DIGESTS_AT_ONCE: usize = 8;

/// How many manifests are read behind all of them.
const MAX_BEHIND: usize = 512;

/// How many images one thing is looked for in.
const MAX_IMAGES: usize = 256;

/// How many pages of tags are looked through for them.
const MAX_PAGES: usize = 50;

/// How far was looked behind what is refused: each further look has done the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Looked {
    Nowhere,
    Digests,
    Everywhere,
}

/// What was looked into for one request.
#[derive(Debug)]
struct Behind<'a> {
    /// What is asked for.
    asked: &'a Reference,
    /// How old what the upstream said may be. What nobody has asked for yet may have come with something
    /// that was not there a moment ago.
    max_age: Duration,
    looked: Looked,
    /// What was looked into already.
    digests: BTreeSet<Digest>,
}

impl<C: ArtifactCache> Docker<C> {
    /// Which of these manifests stands best for who asks by this reference, and how: after a look behind what
    /// is refused, as far as that has to be known. Whoever asks by a tag, asks by one that passes, and takes
    /// no index.
    pub(super) async fn best(
        &self,
        upstream: &Upstream,
        (name, asked, manifests): (&Name, &Reference, &[Digest]),
        dossier: &Dossier,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Option<(Digest, Standing)>, Otherwise> {
        let tag = match asked {
            Reference::Tag(tag) => Some(tag),
            Reference::Digest(_) => None,
        };
        let keeping = upstream.heads.keeping();
        let is_new = manifests.iter().any(|digest| self.read.known(name, *digest).is_none());
        let max_age = if is_new { keeping.negative_ttl.min(keeping.ttl) } else { keeping.ttl };
        let (looked, digests) = (Looked::Nowhere, BTreeSet::new());
        let mut behind = Behind { asked, max_age, looked, digests };
        loop {
            let best = self.kin.best(name, manifests, tag, &|called| passes(dossier, called));
            let needed = match best {
                Some((_, Standing::Narrow(_))) => Looked::Digests,
                Some((_, Standing::Nameless(_))) => Looked::Everywhere,
                _ => return Ok(best),
            };
            // Where nothing is refused, nothing is behind it.
            if dossier.is_silent() || needed <= behind.looked {
                return Ok(best);
            }
            if behind.looked < Looked::Digests {
                self.look_behind_digests(upstream, name, dossier, &mut behind, asking, caller)
                    .await?;
            }
            if needed == Looked::Everywhere {
                self.look_behind_tags(upstream, name, dossier, &mut behind, asking, caller).await?;
            }
            behind.looked = needed;
        }
    }

    /// These manifests with the indexes that they stand in, as far as is known: the outermost first.
    pub(super) fn images(&self, name: &Name, manifests: &[Digest]) -> Vec<String> {
        let images = self.kin.images(name, manifests, MAX_IMAGES);
        images.iter().map(Digest::to_string).collect()
    }

    /// Looks what is behind the digests that are refused, so that nothing that is not known to stand in them
    /// leads past them.
    async fn look_behind_digests(
        &self,
        upstream: &Upstream,
        name: &Name,
        dossier: &Dossier,
        behind: &mut Behind<'_>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let digests = refused_digests(dossier);
        if digests.len() > MAX_BLOCKED_DIGESTS {
            let why =
                format!("more blocked digests than Weir looks behind ({MAX_BLOCKED_DIGESTS})");
            return Err(too_many(behind.asked, name, &why));
        }
        let (asked, max_age) = (behind.asked, behind.max_age);
        for digests in digests.chunks(DIGESTS_AT_ONCE) {
            let looking = digests.iter().map(|digest| {
                let digest = *digest;
                async move {
                    let is_there =
                        self.is_there(upstream, (name, asked), (digest, max_age), asking).await?;
                    Ok::<_, Otherwise>(is_there.then_some(digest))
                }
            });
            let looked: Vec<Option<Digest>> = try_join_all(looking).await?;
            for digest in looked.into_iter().flatten() {
                let from = (name, digest, None);
                self.look_into(upstream, from, behind, asking, caller).await?;
            }
        }
        Ok(())
    }

    /// Looks what is behind the tags that are refused.
    async fn look_behind_tags(
        &self,
        upstream: &Upstream,
        name: &Name,
        dossier: &Dossier,
        behind: &mut Behind<'_>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let asked = behind.asked;
        let many = || {
            let why = format!("more blocked tags than Weir looks behind ({MAX_BLOCKED_TAGS})");
            too_many(asked, name, &why)
        };
        let (mut page, mut n_blocked) = (Page::default(), 0);
        for _ in 0..MAX_PAGES {
            let open = self.page(upstream, name, (&page, behind.max_age), asking).await?;
            for tag in &open.document.tags {
                let reference = Reference::Tag(tag.clone());
                if passes(dossier, &reference) {
                    continue;
                }
                n_blocked += 1;
                if n_blocked > MAX_BLOCKED_TAGS {
                    return Err(many());
                }
                let called = (reference, Accepts::ALL);
                let head = self.head_of(upstream, name, called, behind.max_age, asking).await;
                let digest = match head {
                    Ok(digest) => digest,
                    // Listed and gone: then nothing is behind it.
                    Err(DocumentsFault::NotFound(_)) => continue,
                    Err(fault) => return Err(no_look::<C>(asked, name, tag, &fault)),
                };
                let from = (name, digest, Some(tag));
                self.look_into(upstream, from, behind, asking, caller).await?;
            }
            match &open.document.next {
                Some(next) => page = next.clone(),
                None => return Ok(()),
            }
        }
        Err(many())
    }

    /// Remembers what a manifest names, and what the indexes in it name. What is in `behind` was looked
    /// into already: only its tag is new.
    ///
    /// What an index calls an image is taken for one, and not read: to read every image behind what is
    /// blocked would use up what the upstream lets us have.
    async fn look_into(
        &self,
        upstream: &Upstream,
        (name, digest, tag): (&Name, Digest, Option<&Tag>),
        behind: &mut Behind<'_>,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<(), Otherwise> {
        let (mut layer, mut tag) = (vec![digest], tag);
        for depth in 0..MAX_DEPTH {
            let mut below = Vec::new();
            for digest in layer {
                let is_new = behind.digests.insert(digest);
                if !is_new && tag.is_none() {
                    continue;
                }
                if behind.digests.len() > MAX_BEHIND {
                    let why = format!("more behind what is blocked than Weir reads ({MAX_BEHIND})");
                    return Err(too_many(behind.asked, name, &why));
                }
                let manifest = match self.loaded(upstream, name, digest, asking, caller).await {
                    Ok(manifest) => manifest,
                    // Named by something else than a tag, and not there: then nothing is behind it.
                    Err(fault) if tag.is_none() && fault.is_missing() => continue,
                    // Blocked itself, and of a kind that leads to nothing here.
                    Err(fault) if depth == 0 && fault.is_foreign() => continue,
                    Err(fault) => {
                        return Err(fault.told_of_others::<C>(behind.asked, name, digest));
                    }
                };
                self.kin.learn_behind(name, digest, tag, &manifest);
                if is_new {
                    below.extend_from_slice(&manifest.indexes);
                }
            }
            layer = below;
            tag = None;
        }
        if layer.is_empty() { Ok(()) } else { Err(too_deep(behind.asked, name, digest)) }
    }

    /// Whether there is a manifest of this digest, here or at the upstream.
    async fn is_there(
        &self,
        upstream: &Upstream,
        (name, asked): (&Name, &Reference),
        (digest, max_age): (Digest, Duration),
        asking: &Asking,
    ) -> Result<bool, Otherwise> {
        if self.read.known(name, digest).is_some() {
            return Ok(true);
        }
        let reference = Reference::Digest(digest);
        let called = (reference.clone(), Accepts::ALL);
        match self.head_of(upstream, name, called, max_age, asking).await {
            Ok(_) => Ok(true),
            Err(DocumentsFault::NotFound(_)) => {
                let artifact = upstream.artifact(name, &reference, Some(digest))?;
                let kept = self.manifests.kept(&artifact.wanted).await;
                // What cannot be looked at is found out when it is read.
                Ok(!matches!(kept, Ok(None)))
            }
            Err(fault) => Err(no_look::<C>(asked, name, &digest, &fault)),
        }
    }

    /// What a manifest of this name is, in words no older than that.
    pub(super) async fn head_of(
        &self,
        upstream: &Upstream,
        name: &Name,
        (reference, accepts): (Reference, Accepts),
        max_age: Duration,
        asking: &Asking,
    ) -> Result<Digest, DocumentsFault> {
        let heads = match reference {
            Reference::Tag(_) => &upstream.heads,
            Reference::Digest(_) => &upstream.digests,
        };
        let called = Called { name: name.clone(), reference, accepts };
        Ok(*heads.get(&called, max_age, &asking.trail).await?.document)
    }
}
