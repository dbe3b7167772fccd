//! What an index promises of an artifact where it promises no SHA-256.

use std::fmt;

use md5::Md5;
use sha2::{Digest as _, Sha384, Sha512};

/// A hash of another kind than SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Promise {
    algorithm: Algorithm,
    digest: Box<[u8]>,
}

/// The kinds of hashes that are verified here, the best one last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Algorithm {
    Md5,
    Sha384,
    Sha512,
}

impl Promise {
    /// The best of these hashes, each a name and hexadecimal digits; `None` where none can be
    /// verified.
    #[must_use]
    pub fn best_of<'a>(hashes: impl IntoIterator<Item = (&'a str, &'a str)>) -> Option<Self> {
        let readable = hashes.into_iter().filter_map(|(name, digits)| Self::parse(name, digits));
        readable.max_by_key(|promise| promise.algorithm)
    }

    fn parse(name: &str, digits: &str) -> Option<Self> {
        let (algorithm, length) = match name {
            "md5" => (Algorithm::Md5, 16),
            "sha384" => (Algorithm::Sha384, 48),
            "sha512" => (Algorithm::Sha512, 64),
            _ => return None,
        };
        let digest = hex::decode(digits.trim()).ok().filter(|digest| digest.len() == length)?;
        Some(Self { algorithm, digest: digest.into() })
    }

    /// Whether nobody can make other bytes that fit it. What fits a weak one may still be forged.
    #[must_use]
    pub fn strong(&self) -> bool {
        self.algorithm != Algorithm::Md5
    }

    /// Starts to verify bytes.
    pub(super) fn check(&self) -> Check {
        match self.algorithm {
            Algorithm::Md5 => Check::Md5(Md5::new()),
            Algorithm::Sha384 => Check::Sha384(Sha384::new()),
            Algorithm::Sha512 => Check::Sha512(Sha512::new()),
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.algorithm {
            Algorithm::Md5 => "md5",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
        };
        write!(f, "{name} {}", hex::encode(&self.digest))
    }
}

/// Bytes on their way through a hash.
pub(super) enum Check {
    Md5(Md5),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl Check {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Md5(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// What the bytes are.
    pub(super) fn found(self) -> Promise {
        let (algorithm, digest) = match self {
            Self::Md5(hasher) => (Algorithm::Md5, hasher.finalize().to_vec()),
            Self::Sha384(hasher) => (Algorithm::Sha384, hasher.finalize().to_vec()),
            Self::Sha512(hasher) => (Algorithm::Sha512, hasher.finalize().to_vec()),
        };
        Promise { algorithm, digest: digest.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut check = Promise::best_of([all[1]]).unwrap().check();
        check.update(b"abc");
        assert_eq!(check.found().to_string(), "md5 900150983cd24fb0d6963f7d28e17f72");
    }
}
