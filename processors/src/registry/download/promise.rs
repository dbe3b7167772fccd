//! What an index promises of an artifact where it promises no SHA-256 in hexadecimal digits.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// The most hashes of one kind that are looked at.
const MAX_DIGESTS: usize = 8;

/// A hash of an artifact, or several, one of which it has.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Promise {
    algorithm: Algorithm,
    digests: Box<[Box<[u8]>]>,
}

/// The kinds of hashes that are verified here, the best one last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Algorithm {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    fn find(name: &str) -> Option<Self> {
        Some(match name {
            "md5" => Self::Md5,
            "sha1" => Self::Sha1,
            "sha256" => Self::Sha256,
            "sha384" => Self::Sha384,
            "sha512" => Self::Sha512,
            _ => return None,
        })
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    const fn n_bytes(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

impl Promise {
    /// The best of these hashes, each a name and hexadecimal digits; `None` where none can be
    /// verified.
    #[must_use]
    pub fn best_of<'a>(hashes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let readable = hashes.into_iter().filter_map(|(name, digits)| {
            Self::one(Algorithm::find(name)?, hex::decode(digits.trim()).ok()?)
        });
        readable.max_by_key(|promise| promise.algorithm)
    }

    /// Subresource integrity, as in `sha512-…=` and npm's `dist.integrity`: of several hashes those of
    /// the best kind count, and one of them must fit. `None` where none can be verified.
    #[must_use]
    pub fn of_integrity(text: &str) -> Option<Self> {
        let readable = text.split_ascii_whitespace().filter_map(|hash| {
            let (name, digest) = hash.split_once('-')?;
            // Behind a `?` stand options, of which there are none yet.
            let digest = digest.split('?').next()?;
            Self::one(Algorithm::find(name)?, STANDARD.decode(digest).ok()?)
        });
        let readable: Vec<_> = readable.collect();
        let algorithm = readable.iter().map(|promise| promise.algorithm).max()?;
        let best = readable.into_iter().filter(|promise| promise.algorithm == algorithm);
        let mut digests: Vec<_> = best.flat_map(|promise| promise.digests).collect();
        digests.sort();
        digests.dedup();
        digests.truncate(MAX_DIGESTS);
        Some(Self { algorithm, digests: digests.into() })
    }

    fn one(algorithm: Algorithm, digest: Vec<u8>) -> Option<Self> {
        let whole = digest.len() == algorithm.n_bytes();
        whole.then(|| Self { algorithm, digests: [digest.into()].into() })
    }

    /// Whether nobody can make other bytes that fit it. What fits a weak one may still be forged.
    #[must_use]
    pub fn strong(&self) -> bool {
        !matches!(self.algorithm, Algorithm::Md5 | Algorithm::Sha1)
    }

    /// A name for the very bytes that fit it, as long as only some do: 64 hexadecimal digits.
    #[must_use]
    pub fn tag(&self) -> Option<String> {
        let [digest] = &*self.digests else { return None };
        let start = digest.get(..32).filter(|_| self.strong())?;
        Some(hex::encode(start))
    }

    /// Whether bytes that have this hash fit.
    pub(super) fn admits(&self, found: &Self) -> bool {
        self.algorithm == found.algorithm
            && found.digests.iter().all(|found| self.digests.contains(found))
    }

    /// Whether bytes fit that were verified to have a hash of this text.
    pub(super) fn admits_text(&self, found: &str) -> bool {
        let parts = found.split_once(' ');
        let found = parts.and_then(|(name, digits)| Self::best_of([(name, digits)]));
        found.is_some_and(|found| self.admits(&found))
    }

    /// Starts to verify bytes.
    pub(super) fn check(&self) -> Check {
        match self.algorithm {
            Algorithm::Md5 => Check::Md5(Md5::new()),
            Algorithm::Sha1 => Check::Sha1(Sha1::new()),
            Algorithm::Sha256 => Check::Sha256(Sha256::new()),
            Algorithm::Sha384 => Check::Sha384(Sha384::new()),
            Algorithm::Sha512 => Check::Sha512(Sha512::new()),
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.algorithm.name())?;
        self.digests.iter().try_for_each(|digest| write!(f, " {}", hex::encode(digest)))
    }
}

/// Bytes on their way through a hash.
pub(super) enum Check {
    Md5(Md5),
    Sha1(Sha1),
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Check {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hasher) => hasher.update(bytes),
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// What the bytes are.
    pub(super) fn found(self) -> Promise {
        let (algorithm, digest) = match self {
            Self::Md5(hasher) => (Algorithm::Md5, hasher.finalize().to_vec()),
            Self::Sha1(hasher) => (Algorithm::Sha1, hasher.finalize().to_vec()),
            Self::Sha256(hasher) => (Algorithm::Sha256, hasher.finalize().to_vec()),
            Self::Sha384(hasher) => (Algorithm::Sha384, hasher.finalize().to_vec()),
            Self::Sha512(hasher) => (Algorithm::Sha512, hasher.finalize().to_vec()),
        };
        Promise { algorithm, digests: [digest.into()].into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(promise: &Promise, bytes: &[u8]) -> Promise {
        let mut check = promise.check();
        check.update(bytes);
        check.found()
    }

    #[test]
    fn the_best_readable_hash_counts_and_is_that_of_the_bytes() {
        let (md5, sha384, sha512) = ("0f".repeat(16), "0f".repeat(48), "0f".repeat(64));
        let best = |hashes: &[(&str, &str)]| {
            Promise::best_of(hashes.iter().copied()).map(|promise| promise.to_string())
        };
        let all = [("sha512", sha512.as_str()), ("md5", &md5), ("sha384", &sha384)];
        assert_eq!(best(&all), Some(format!("sha512 {sha512}")));
        assert_eq!(best(&[("sha512", "0f"), all[1]]), Some(format!("md5 {md5}")));
        assert_eq!(best(&[("md5", "nonsense"), ("crc32", "00000000")]), None);
        let md5 = Promise::best_of([all[1]]).unwrap();
        assert_eq!(found(&md5, b"abc").to_string(), "md5 900150983cd24fb0d6963f7d28e17f72");
        let sha1 =
            Promise::best_of([("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d")]).unwrap();
        assert!(sha1.admits(&found(&sha1, b"abc")) && !sha1.admits(&found(&sha1, b"abd")));
        assert!(!sha1.strong() && sha1.tag().is_none());
    }

    #[test]
    fn of_several_integrities_one_of_the_best_kind_must_fit() {
        let of = |name: &str, bytes: &[u8]| format!("{name}-{}", STANDARD.encode(bytes));
        let sha512 = |text: &str| of("sha512", &Sha512::digest(text));
        let read = |text: &str| Promise::of_integrity(text);
        let several = format!(
            " {}\n{}?x {} sha999-AAAA ",
            sha512("a"),
            sha512("b"),
            of("sha1", &Sha1::digest("c"))
        );
        let several = read(&several).unwrap();
        for (text, fits) in [("a", true), ("b", true), ("c", false)] {
            let found = found(&several, text.as_bytes());
            assert_eq!(several.admits(&found), fits, "{text}");
            assert_eq!(several.admits_text(&found.to_string()), fits, "{text}");
        }
        assert_eq!((several.strong(), several.tag()), (true, None));
        let one = read(&of("sha256", &Sha256::digest("a"))).unwrap();
        assert_eq!(one.tag(), Some(hex::encode(Sha256::digest("a"))));
        assert!(!one.admits(&found(&several, b"a")), "of another kind");
        for bad in ["", "sha512", "sha512-", "sha512-AAAA", "sha512-!", "crc-AAAA", "-"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
