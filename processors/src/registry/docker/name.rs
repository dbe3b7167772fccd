//! Names in addresses: repositories, tags, digests. Which are taken at all, and how they are spelt.

use std::{fmt, str::FromStr};

use sha2::{Digest as _, Sha256};
use weir_aggregates::registry::{
    name::{normalise, valid},
    version::Version,
};
use weir_events::registry::Ecosystem;

/// The longest tag, in characters, as the distribution specification has it.
const MAX_TAG_CHARS: usize = 128;

/// Not spelt as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameFault {
    /// A repository.
    #[error(
        "a repository is lower-case letters and digits, with `.`, `_`, `__` or dashes between them, and `/` between its parts"
    )]
    Name,
    /// A digest.
    #[error("a digest is `sha256:` and 64 hexadecimal digits in lower case")]
    Digest,
    /// A tag.
    #[error("a tag is at most 128 letters, digits, `_`, and behind the first of them `.` and `-`")]
    Tag,
}

/// What stands before a name without `/` where it is judged, and where the hub is asked for it.
const LIBRARY: &str = "library/";

/// The name of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// With `library/` before one without `/`.
    judged: Box<str>,
    /// Whether it stands there for the judgement only.
    single: bool,
}

impl Name {
    /// The name as it is judged.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.judged
    }

    /// The name as the upstream is asked for it, and as clients ask for it here.
    #[must_use]
    pub fn asked(&self) -> &str {
        match self.judged.strip_prefix(LIBRARY) {
            Some(single) if self.single => single,
            Some(_) | None => &self.judged,
        }
    }

    /// The same, for an upstream that has what has a name without `/` under `library/`.
    #[must_use]
    pub fn in_library(self) -> Self {
        Self { single: false, ..self }
    }
}

impl FromStr for Name {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        let (judged, single) = (normalise(Ecosystem::Docker, text), !text.contains('/'));
        let valid = valid(Ecosystem::Docker, &judged);
        valid.then(|| Self { judged: judged.into(), single }).ok_or(NameFault::Name)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.judged)
    }
}

/// The SHA-256 of a manifest or a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash.
    #[must_use]
    pub const fn sha256(self) -> [u8; 32] {
        self.0
    }

    /// What has this digest is called so in a cache, where no name has a colon.
    #[must_use]
    pub fn file(self) -> String {
        format!("sha256-{}", hex::encode(self.0))
    }
}

impl FromStr for Digest {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        let digits = text.strip_prefix("sha256:").ok_or(NameFault::Digest)?;
        if digits.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(NameFault::Digest);
        }
        let mut hash = [0; 32];
        hex::decode_to_slice(digits, &mut hash).map_err(|_| NameFault::Digest)?;
        Ok(Self(hash))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(Box<str>);

impl Tag {
    /// The tag.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Tag {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let well = (1..=MAX_TAG_CHARS).contains(&text.len())
            && !text.starts_with(['.', '-'])
            && text.bytes().all(allowed);
        well.then(|| Self(text.into())).ok_or(NameFault::Tag)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a manifest is asked for by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reference {
    /// Whatever has this tag now.
    Tag(Tag),
    /// The one with this digest, forever.
    Digest(Digest),
}

impl Reference {
    /// The version that is judged.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::parse(Ecosystem::Docker, &self.to_string())
    }
}

impl FromStr for Reference {
    type Err = NameFault;

    fn from_str(text: &str) -> Result<Self, NameFault> {
        if text.contains(':') {
            text.parse().map(Self::Digest)
        } else {
            text.parse().map(Self::Tag)
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => fmt::Display::fmt(tag, f),
            Self::Digest(digest) => fmt::Display::fmt(digest, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_names_of_repositories_are_names() {
        for (text, wanted) in [("alpine", "library/alpine"), ("a/b-c/d__e", "a/b-c/d__e")] {
            assert_eq!(text.parse::<Name>().unwrap().as_str(), wanted);
        }
        for bad in ["", "A/b", "a//b", "/a/b", "a/../b", "a/b/", "a_/b", "a/b:c", "a/%62", "a/ä"] {
            assert_eq!(bad.parse::<Name>(), Err(NameFault::Name), "{bad}");
        }
        assert_eq!("a".repeat(300).parse::<Name>(), Err(NameFault::Name));
    }

    #[test]
    fn a_reference_is_a_tag_or_a_digest() {
        let digest = Digest::of(b"x").to_string();
        assert_eq!(digest.parse::<Reference>(), Ok(Reference::Digest(Digest::of(b"x"))));
        assert!(matches!("v1.2_3-x".parse::<Reference>(), Ok(Reference::Tag(_))));
        for bad in [&digest.to_uppercase(), &digest[..70], "sha512:00", "sha256:", ":", "a:b"] {
            assert_eq!(bad.parse::<Reference>(), Err(NameFault::Digest), "{bad}");
        }
        for bad in ["", ".a", "-a", "a/b", "a b", "ä", &"a".repeat(129)] {
            assert_eq!(bad.parse::<Reference>(), Err(NameFault::Tag), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_again_as_it_was(text in "\\PC{0,80}", hash: [u8; 32]) {
            if let Ok(reference) = text.parse::<Reference>() {
                prop_assert_eq!(reference.to_string(), &*text);
            }
            if let Ok(name) = text.parse::<Name>() {
                prop_assert_eq!(name.as_str().parse(), Ok(name.clone().in_library()));
                prop_assert_eq!(name.asked(), text.as_str());
                prop_assert_eq!(name.as_str().strip_prefix("library/").unwrap_or(name.as_str()), text.strip_prefix("library/").unwrap_or(&text));
            }
            let digest = Digest(hash);
            prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        }

        #[test]
        fn tags_and_names_of_the_specification_are_taken(
            tag in "[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}",
            name in "[a-z0-9]+((\\.|_|__|-{1,3})[a-z0-9]+){0,2}(/[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+){0,2}){0,2}",
        ) {
            prop_assert!(tag.parse::<Reference>().is_ok());
            prop_assume!(name.len() < 240);
            prop_assert!(name.parse::<Name>().is_ok());
        }
    }
}
