//! What a manifest says of others: the manifests of an index, the blobs of an image. Its bytes stay
//! what they are.

use serde::Deserialize;

use super::name::{Digest, NameFault};

/// The largest manifest. Registries take those of 4 MiB at least.
pub const MAX_BYTES: u64 = 16 << 20;

/// The most that one may name.
const MAX_NAMED: usize = 10_000;

const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const OCI_IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";
const LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const IMAGE: &str = "application/vnd.docker.distribution.manifest.v2+json";
const ARTIFACT: &str = "application/vnd.oci.artifact.manifest.v1+json";

/// What manifests may be.
const KINDS: [&str; 5] = [OCI_INDEX, OCI_IMAGE, LIST, IMAGE, ARTIFACT];

/// What is accepted of an upstream.
pub const ACCEPT: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.docker.distribution.manifest.v2+json, \
    application/vnd.oci.artifact.manifest.v1+json";

/// It is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestFault {
    /// It is not the JSON of one.
    #[error("it is not the JSON of a manifest")]
    Json(#[from] serde_json::Error),
    /// It is of the first schema, or of none.
    #[error("it is no manifest of the second schema, and older ones cannot be verified")]
    Schema,
    /// It says what it is in a word that is not known.
    #[error("`{0}` is no media type of a manifest")]
    Kind(String),
    /// It names something that has no digest.
    #[error("it names `{digest}`: {cause}")]
    Digest {
        /// What it names.
        digest: String,
        /// What is wrong with it.
        cause: NameFault,
    },
    /// It names too much.
    #[error("it names more than {MAX_NAMED} others")]
    TooMany,
}

/// What is read of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What it is.
    pub media_type: &'static str,
    /// The manifests it names.
    pub manifests: Vec<Digest>,
    /// The blobs it names, with their sizes.
    pub blobs: Vec<(Digest, u64)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    schema_version: Option<u64>,
    media_type: Option<String>,
    #[serde(default)]
    manifests: Option<Vec<Descriptor>>,
    config: Option<Descriptor>,
    #[serde(default)]
    layers: Option<Vec<Descriptor>>,
    /// The layers of an artifact.
    #[serde(default)]
    blobs: Option<Vec<Descriptor>>,
}

#[derive(Deserialize)]
struct Descriptor {
    digest: String,
    size: u64,
}

impl Descriptor {
    fn read(self) -> Result<(Digest, u64), ManifestFault> {
        let Self { digest, size } = self;
        let read = digest.parse();
        let shown = || digest.chars().take(100).collect();
        Ok((read.map_err(|cause| ManifestFault::Digest { digest: shown(), cause })?, size))
    }
}

impl Manifest {
    /// Reads one. Where it does not say what it is, its members do.
    pub fn read(bytes: &[u8]) -> Result<Self, ManifestFault> {
        let read: Read = serde_json::from_slice(bytes)?;
        let artifact = read.media_type.as_deref() == Some(ARTIFACT);
        if read.schema_version != Some(2) && !artifact {
            return Err(ManifestFault::Schema);
        }
        let media_type = match read.media_type {
            Some(said) => KINDS
                .into_iter()
                .find(|kind| *kind == said)
                .ok_or_else(|| ManifestFault::Kind(said.chars().take(100).collect()))?,
            None if read.manifests.is_some() => OCI_INDEX,
            None => OCI_IMAGE,
        };
        let manifests = read.manifests.unwrap_or_default();
        let layers = [read.layers, read.blobs].into_iter().flatten().flatten();
        let blobs: Vec<_> = read.config.into_iter().chain(layers).collect();
        if manifests.len() + blobs.len() > MAX_NAMED {
            return Err(ManifestFault::TooMany);
        }
        let manifests = manifests.into_iter().map(|named| Ok(named.read()?.0));
        Ok(Self {
            media_type,
            manifests: manifests.collect::<Result<_, ManifestFault>>()?,
            blobs: blobs.into_iter().map(Descriptor::read).collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_names_manifests_and_an_image_blobs() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let index = format!(
            r#"{{"schemaVersion":2,"manifests":[{{"digest":"{a}","size":1,"platform":{{}}}}],"x":1}}"#
        );
        let read = Manifest::read(index.as_bytes()).unwrap();
        assert_eq!((read.media_type, &read.manifests[..]), (OCI_INDEX, &[a][..]));
        let image = format!(
            r#"{{"schemaVersion":2,"mediaType":"{IMAGE}","config":{{"digest":"{a}","size":3}},"layers":[{{"digest":"{b}","size":4}}]}}"#
        );
        let read = Manifest::read(image.as_bytes()).unwrap();
        assert_eq!((read.media_type, &read.blobs[..]), (IMAGE, &[(a, 3), (b, 4)][..]));
    }

    #[test]
    fn what_is_no_manifest_is_refused() {
        for (text, words) in [
            ("", "not the JSON"),
            ("[]", "not the JSON"),
            ("{}", "second schema"),
            (r#"{"schemaVersion":1,"fsLayers":[]}"#, "second schema"),
            (r#"{"schemaVersion":2,"mediaType":"text/html"}"#, "no media type"),
            (r#"{"schemaVersion":2,"config":{"digest":"md5:0","size":0}}"#, "a digest is"),
            (r#"{"schemaVersion":2,"config":{"digest":"","size":-1}}"#, "not the JSON"),
        ] {
            let fault = Manifest::read(text.as_bytes()).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        let named = format!(r#"{{"digest":"{}","size":1}}"#, Digest::of(b""));
        let many = vec![named; MAX_NAMED + 1].join(",");
        let many = format!(r#"{{"schemaVersion":2,"layers":[{many}]}}"#);
        assert!(matches!(Manifest::read(many.as_bytes()), Err(ManifestFault::TooMany)));
    }
}
