//! What a manifest says of others: the manifests of an index, the blobs of an image. Its bytes stay
//! what they are.

mod members;

use http::{HeaderMap, HeaderValue, header};

use self::members::{Descriptor, Read};
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

/// Which kinds of manifests a client takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Accepts([bool; KINDS.len()]);

impl Accepts {
    /// All there are.
    pub const ALL: Self = Self([true; KINDS.len()]);

    /// Reads it from the headers of a request. Who says nothing of manifests takes what comes.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let types = values.flat_map(|value| value.split(','));
        let types = types.map(|one| one.split(';').next().unwrap_or_default().trim());
        let types: Vec<_> = types.filter(|one| !one.is_empty()).collect();
        let any = ["*/*", "application/*", "application/json"];
        if types.is_empty() || types.iter().any(|one| any.contains(one)) {
            return Self::ALL;
        }
        Self(KINDS.map(|kind| types.contains(&kind)))
    }

    /// Whether one of this media type is taken.
    #[must_use]
    pub fn takes(self, media_type: &str) -> bool {
        self.kinds().any(|kind| kind == media_type)
    }

    /// Whether indexes are taken of whichever kind: who takes none is told of an image in their place.
    #[must_use]
    pub fn takes_indexes(self) -> bool {
        self.takes(OCI_INDEX) && self.takes(LIST)
    }

    /// How an upstream is asked for these kinds, and no others.
    #[must_use]
    pub fn header(self) -> HeaderValue {
        let kinds: Vec<_> = self.kinds().collect();
        HeaderValue::try_from(kinds.join(", ")).unwrap_or(HeaderValue::from_static(ACCEPT))
    }

    fn kinds(self) -> impl Iterator<Item = &'static str> {
        KINDS.into_iter().zip(self.0).filter_map(|(kind, taken)| taken.then_some(kind))
    }
}

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
    #[error("it is not the JSON of a manifest: {0}")]
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
    /// Those of them that it calls indexes, or nothing. What it calls something else, no client takes for
    /// an index.
    pub indexes: Vec<Digest>,
    /// The blobs it names, with their sizes. What has no digest of SHA-256 is left out: it cannot be
    /// asked for here, but nothing is wrong with the rest.
    pub blobs: Vec<(Digest, u64)>,
}

impl Descriptor {
    /// Whether it may name an index.
    fn may_be_index(&self) -> bool {
        self.media_type.as_deref().is_none_or(|said| [OCI_INDEX, LIST].contains(&said))
    }

    /// What it names, where that can be asked for here.
    fn read(self) -> Result<Option<(Digest, u64)>, ManifestFault> {
        let Self { digest, size, .. } = self;
        if is_sha512(&digest) {
            return Ok(None);
        }
        let read = digest.parse();
        let shown = || digest.chars().take(100).collect();
        let read = read.map_err(|cause| ManifestFault::Digest { digest: shown(), cause })?;
        Ok(Some((read, size)))
    }
}

/// Whether it is a digest of the other kind that the specification knows.
fn is_sha512(digest: &str) -> bool {
    let digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let digits = digest.strip_prefix("sha512:");
    digits.is_some_and(|digits| digits.len() == 128 && digits.bytes().all(digit))
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
        let named = |named: Vec<Descriptor>| {
            let named = named.into_iter().filter_map(|named| named.read().transpose());
            named.collect::<Result<Vec<_>, ManifestFault>>()
        };
        let (indexes, images): (Vec<_>, Vec<_>) =
            manifests.into_iter().partition(Descriptor::may_be_index);
        let digests = |(digest, _)| digest;
        let indexes: Vec<_> = named(indexes)?.into_iter().map(digests).collect();
        let images = named(images)?.into_iter().map(digests);
        let manifests = indexes.iter().copied().chain(images).collect();
        Ok(Self { media_type, manifests, indexes, blobs: named(blobs)? })
    }

    /// How much memory it takes, roughly.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        512 + 64 * (self.manifests.len() + self.indexes.len() + self.blobs.len()) as u64
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
        assert_eq!(read.indexes, [a], "it may be one");
        let image = format!(
            r#"{{"schemaVersion":2,"mediaType":"{IMAGE}","config":{{"digest":"{a}","size":3}},"layers":[{{"digest":"{b}","size":4}}]}}"#
        );
        let read = Manifest::read(image.as_bytes()).unwrap();
        assert_eq!((read.media_type, &read.blobs[..]), (IMAGE, &[(a, 3), (b, 4)][..]));
    }

    #[test]
    fn indexes_in_an_index_are_told_by_what_it_calls_them() {
        let digests = [b"a", b"b", b"c", b"d"].map(|text| Digest::of(text));
        let called = [OCI_IMAGE, OCI_INDEX, LIST, "application/vnd.oci.image.layer.v1.tar+gzip"];
        let named = digests.iter().zip(called).map(|(digest, called)| {
            format!(r#"{{"mediaType":"{called}","digest":"{digest}","size":1}}"#)
        });
        let named: Vec<_> = named.collect();
        let index = format!(r#"{{"schemaVersion":2,"manifests":[{}]}}"#, named.join(","));
        let Manifest { mut manifests, indexes, .. } = Manifest::read(index.as_bytes()).unwrap();
        manifests.sort();
        let mut all = digests;
        all.sort();
        assert_eq!((&manifests[..], &indexes[..]), (&all[..], &digests[1..3]));
    }

    #[test]
    fn what_has_another_kind_of_digest_does_not_spoil_the_rest() {
        let (a, other) = (Digest::of(b"a"), "0f".repeat(64));
        let image = format!(
            r#"{{"schemaVersion":2,"config":{{"digest":"{a}","size":3}},"layers":[{{"digest":"sha512:{other}","size":4}}]}}"#
        );
        assert_eq!(Manifest::read(image.as_bytes()).unwrap().blobs, [(a, 3)]);
        let short = image.replace(&other, "0f");
        assert!(matches!(Manifest::read(short.as_bytes()), Err(ManifestFault::Digest { .. })));
    }

    #[test]
    fn a_client_takes_what_it_says_it_takes() {
        let of = |values: &[&str]| {
            let values = values.iter().map(|value| (header::ACCEPT, value.parse().unwrap()));
            Accepts::of(&values.collect())
        };
        for all in [&[][..], &["*/*"], &[IMAGE, "text/html, */*;q=0.1"], &["application/json"]] {
            assert_eq!(of(all), Accepts::ALL, "{all:?}");
        }
        assert_eq!(Accepts::ALL.header(), ACCEPT);
        let some = of(&[&format!("{IMAGE};q=0.5,{OCI_IMAGE}"), "text/html"]);
        assert_eq!(some.header(), format!("{OCI_IMAGE}, {IMAGE}").as_str());
        assert!(some.takes(IMAGE) && !some.takes(OCI_INDEX));
        let both = of(&[&format!("{IMAGE}, {OCI_INDEX}, {LIST}")]);
        assert!(both.takes_indexes() && !some.takes_indexes());
        assert!(!of(&[&format!("{IMAGE}, {OCI_INDEX}")]).takes_indexes());
        let none = of(&["application/vnd.docker.distribution.manifest.v1+json"]);
        assert!(!KINDS.iter().any(|kind| none.takes(kind)));
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
