//! Blobs: let through for the sake of a manifest that names them.

use http::{HeaderValue, StatusCode};

use super::{
    artifact::key_of,
    faults::{not_known, unnameable},
};
use crate::{
    caller::Caller,
    registry::{
        answer::Answer,
        asking::Asking,
        cache::ArtifactCache,
        docker::{
            Docker, Upstream,
            kin::Standing,
            name::{Digest, Name, Reference},
            upstream::{CONTENT_DIGEST, below},
            voice::error,
        },
        download::Wanted,
        gate::{Otherwise, Role},
    },
};

impl<C: ArtifactCache> Docker<C> {
    pub(super) async fn blob(
        &self,
        upstream: &Upstream,
        name: &Name,
        digest: Digest,
        asking: &Asking,
        caller: &Caller,
    ) -> Result<Answer, Otherwise> {
        let dossier = self.gate.about(name.as_str(), asking, caller)?;
        let named_by = self.kin.named_by(name, digest);
        let manifests: Vec<Digest> = named_by.keys().copied().collect();
        let asked = Reference::Digest(digest);
        let among = (name, &asked, &manifests[..]);
        let best = self.best(upstream, among, &dossier, asking, caller).await?;
        let Some((manifest, standing)) = best else {
            let why = format!(
                "no manifest of `{name}` that passed here names this blob; ask for its manifest \
                 first"
            );
            return Err(Box::new(error(StatusCode::NOT_FOUND, "BLOB_UNKNOWN", &why)));
        };
        let by = match standing {
            Standing::Passes(by)
            | Standing::Narrow(by)
            | Standing::Nameless(by)
            | Standing::Refused(by) => by,
            // Nothing is said against any name, however many there are.
            Standing::Unknown(_) if dossier.is_silent() => Reference::Digest(manifest),
            Standing::Unknown(beyond) => return Err(not_known(&asked, name, manifest, beyond)),
        };
        let mut artifact = upstream.artifact(name, &by, None)?;
        artifact.file = digest.to_string();
        artifact.role = Role::Blob { within: self.images(name, &manifests) };
        artifact.wanted = Wanted {
            key: key_of(name, digest).ok_or_else(|| unnameable(name))?,
            url: below(upstream.heads.base(), name, &format!("blobs/{digest}")),
            sha256: Some(digest.sha256()),
            size: named_by.get(&manifest).copied(),
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
}
