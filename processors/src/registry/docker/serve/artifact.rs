//! What is asked of the upstream, as the gate sees it.

use http::{HeaderValue, StatusCode};
use weir_events::registry::Ecosystem;

use super::faults::unnameable;
use crate::registry::{
    cache::CacheKey,
    docker::{
        Upstream, manifest,
        name::{Digest, Name, Reference},
        upstream::below,
        voice::error,
    },
    download::{Shape, Wanted},
    gate::{Artifact, Otherwise, Role},
};

impl Upstream {
    /// What a manifest, or what belongs to it, is judged and fetched as.
    pub(super) fn artifact(
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
            told: None,
            // A tag tells what its image is; that is asked about, once it is known.
            role: digest.map_or(Role::Beside, |digest| Role::Manifest {
                digest: digest.to_string(),
                within: Vec::new(),
            }),
            published_at: None,
            document: None,
            part: None,
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
    pub(super) fn speaks_for(&self, namespace: &str) -> Result<HeaderValue, Otherwise> {
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
pub(in crate::registry::docker) fn key_of(name: &Name, digest: Digest) -> Option<CacheKey> {
    CacheKey::new(Ecosystem::Docker, name.as_str(), &digest.file())
}
