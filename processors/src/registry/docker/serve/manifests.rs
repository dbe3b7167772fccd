//! Manifests: judged by what they are asked for as, and by what they are.

use std::sync::Arc;

use futures_util::StreamExt as _;
use http::{HeaderValue, header::VARY};
use weir_aggregates::registry::dossier::Dossier;

use super::faults::{NotLoaded, busy, no_list, not_known, not_taken, unreadable};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::ArtifactCache,
        docker::{
            Docker, Upstream,
            kin::{Beyond, Standing},
            manifest::{self, Accepts, Manifest},
            name::{Digest, Name, Reference, Tag},
            tags::{passes, passes_but_for_age},
            upstream::CONTENT_DIGEST,
        },
        download::read,
        gate::{Otherwise, Role},
        sightings::There,
    },
};

impl<C: ArtifactCache> Docker<C> {
    pub(super) async fn manifest(
        &self,
        upstream: &Upstream,
        (name, reference): (&Name, &Reference),
        accepts: Accepts,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let mut dossier = self.gate.about(name.as_str(), asking, caller)?;
        let instead = |dossier| self.instead(upstream, name, asking, dossier);
        // What is asked for, and what that is to who takes indexes: their tags stand for one of their images
        // to others.
        let (digest, whole, tag) = match reference {
            Reference::Digest(digest) => (*digest, *digest, None),
            Reference::Tag(tag) => {
                // A tag that is refused is not asked for.
                let artifact = upstream.artifact(name, reference, None)?;
                let passes =
                    self.gate.judged(&artifact, &dossier, asking, caller, &instead).await?;
                dossier = passes.dossier;
                let digest = self.digest_of(upstream, name, tag, accepts, asking).await?;
                let whole = if accepts.takes_indexes() {
                    digest
                } else {
                    self.digest_of(upstream, name, tag, Accepts::ALL, asking).await?
                };
                (digest, whole, Some(tag))
            }
        };
        let artifact = loop {
            for seen in [whole, digest] {
                if self.sight(upstream, name, seen, &dossier, asking, caller).await? {
                    dossier = self.gate.remembering(&dossier, name.as_str());
                }
            }
            let asked = (name, reference, [whole, digest]);
            let by = self.judged_as(upstream, asked, &dossier, asking, caller).await?;
            let mut artifact = upstream.artifact(name, &by, Some(digest))?;
            let within = self.kin.within(name, digest).iter().map(ToString::to_string).collect();
            artifact.role = Role::Manifest { digest: digest.to_string(), within };
            if by != *reference {
                break artifact;
            }
            let asked = self.gate.judged(&artifact, &dossier, asking, caller, &instead).await?;
            if asked.dossier.key == dossier.key {
                let manifest = self.load(upstream, name, digest, asking, caller).await?;
                if whole == digest {
                    self.kin.learn(name, digest, tag, &manifest);
                } else {
                    let all = self.load(upstream, name, whole, asking, caller).await?;
                    self.kin.learn(name, whole, tag, &all);
                    // What others are not told of by this tag has it in another way.
                    match tag.filter(|_| !all.manifests.contains(&digest)) {
                        Some(tag) => self.kin.learn_narrow(name, digest, tag, &manifest),
                        None => self.kin.learn(name, digest, None, &manifest),
                    }
                }
                if !accepts.takes(manifest.media_type) {
                    return Err(not_taken(name, reference, manifest.media_type));
                }
                artifact.wanted.content_type = manifest.media_type;
                break artifact;
            }
            // A person was waited for, and what is known now is something else.
            dossier = asked.dossier;
        };
        let answer = self.gate.file(&artifact, asking, caller, instead).await?;
        let answer = answer.with(VARY, HeaderValue::from_static("Accept"));
        let told = HeaderValue::try_from(digest.to_string());
        Ok(match told {
            Ok(digest) => answer.with(CONTENT_DIGEST, digest),
            Err(_) => answer,
        })
    }

    /// What a manifest is judged as: what it is asked for as, or what of it does not pass.
    async fn judged_as(
        &self,
        upstream: &Upstream,
        (name, reference, [whole, digest]): (&Name, &Reference, [Digest; 2]),
        dossier: &Dossier,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Reference, Otherwise> {
        if let Reference::Tag(_) = reference {
            // Whoever asks by a tag that passes, passes; unless the digest itself does not.
            let mut own = [whole, digest].into_iter().map(Reference::Digest);
            if let Some(refused) = own.find(|own| !passes(dossier, own)) {
                return Ok(refused);
            }
            // What the tag means to others was told by itself, and may be something newer: then an index that
            // does not pass may be the one that this stands in.
            if whole == digest
                || self.names(upstream, name, [whole, digest], asking, caller).await?
            {
                return Ok(reference.clone());
            }
        }
        let manifests = [digest];
        let among = (name, reference, &manifests[..]);
        let best = self.best(upstream, among, dossier, asking, caller).await?;
        match best.map_or(Standing::Unknown(Beyond::Depth), |(_, standing)| standing) {
            Standing::Refused(by) => Ok(by),
            // Where nothing is said against any name, it matters not how many there are.
            Standing::Unknown(beyond) if !dossier.is_silent() => {
                Err(not_known(reference, name, digest, beyond))
            }
            Standing::Passes(_)
            | Standing::Narrow(_)
            | Standing::Nameless(_)
            | Standing::Unknown(_) => Ok(reference.clone()),
        }
    }

    /// Whether an index names a manifest.
    async fn names(
        &self,
        upstream: &Upstream,
        name: &Name,
        [index, digest]: [Digest; 2],
        asking: &Asking,
        caller: &Caller,
    ) -> Result<bool, Otherwise> {
        let index = self.load(upstream, name, index, asking, caller).await?;
        Ok(index.manifests.contains(&digest))
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

    async fn digest_of(
        &self,
        upstream: &Upstream,
        name: &Name,
        tag: &Tag,
        accepts: Accepts,
        asking: &Asking,
    ) -> Result<Digest, Otherwise> {
        let (called, ttl) = ((Reference::Tag(tag.clone()), accepts), upstream.heads.keeping().ttl);
        let digest = self.head_of(upstream, name, called, ttl, asking).await;
        digest.map_err(|fault| no_list::<C>(&fault, "MANIFEST_UNKNOWN"))
    }

    /// A manifest as a whole, verified, for who asked for it.
    async fn load(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Arc<Manifest>, Otherwise> {
        let loaded = self.loaded(upstream, name, digest, asking, caller).await;
        loaded.map_err(|fault| fault.told::<C>(name, digest))
    }

    /// A manifest as a whole, verified. What was read is remembered: its digest says that it stays the
    /// same.
    pub(super) async fn loaded(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Arc<Manifest>, NotLoaded> {
        if let Some(manifest) = self.read.known(name, digest) {
            return Ok(manifest);
        }
        let artifact = upstream.artifact(name, &Reference::Digest(digest), Some(digest))?;
        let opened = self.manifests.open(&artifact.wanted, caller, &asking.trail).await;
        let opened = opened.map_err(NotLoaded::File)?;
        let _room = self.read.room(opened.size()).await.ok_or_else(|| busy::<C>())?;
        let (mut pieces, mut bytes) = (std::pin::pin!(read(opened, None)), Vec::new());
        while let Some(piece) = pieces.next().await {
            let broken = |fault| unreadable(name, digest, &fault);
            bytes.extend_from_slice(&piece.map_err(broken)?);
            if bytes.len() as u64 > manifest::MAX_BYTES {
                let why = format!("it has more than {} bytes", manifest::MAX_BYTES);
                return Err(unreadable(name, digest, &why).into());
            }
        }
        let manifest = Manifest::read(&bytes).map_err(NotLoaded::Manifest)?;
        Ok(self.read.remember(name, digest, manifest))
    }
}
