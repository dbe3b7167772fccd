//! What a rule says about container images: tags by name, tags by pattern, digests.
//!
//! An image is asked for by tag or by digest, and only what was asked for is compared: a pattern
//! over tags says nothing about digests. Whoever serves images judges both.

use super::{ConstraintFault, MAX_COMPARATORS};
use crate::registry::name::pattern::{MAX_STARS, fits};

/// The longest tag, in characters, as the distribution specification has it.
const MAX_TAG_CHARS: usize = 128;

const NO_ORDER: &str =
    "tags have no order; name one, use `*` for any run of characters, or name a digest";
const NO_TAG: &str = "no tag is spelt like this: letters, digits, _, and behind those . and -";
const NO_DIGEST: &str =
    "a digest is `sha256:` and 64, or `sha512:` and 128, hexadecimal digits, without `*`";

/// Tags and digests of which one has to fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tags(Vec<Tag>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Tag {
    /// A tag, with `*` for any run of characters.
    Named(Box<str>),
    /// A digest in lower case.
    Digest(Box<str>),
}

impl Tags {
    /// Reads tags with `||` between them.
    pub(super) fn parse(text: &str) -> Result<Self, ConstraintFault> {
        if text.split("||").nth(MAX_COMPARATORS).is_some() {
            return Err(ConstraintFault::TooMany);
        }
        text.split("||").map(|tag| Tag::parse(tag.trim())).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn everything(&self) -> bool {
        self.0.iter().any(|tag| matches!(tag, Tag::Named(tag) if tag.bytes().all(|b| b == b'*')))
    }

    /// The digests among them.
    pub(super) fn digests(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|tag| match tag {
            Tag::Digest(digest) => Some(&**digest),
            Tag::Named(_) => None,
        })
    }

    pub(super) fn contain(&self, name: &str) -> bool {
        let digest = name.contains(':');
        self.0.iter().any(|tag| match tag {
            Tag::Named(tag) => !digest && fits(tag, name),
            Tag::Digest(known) => known.eq_ignore_ascii_case(name),
        })
    }
}

impl Tag {
    fn parse(text: &str) -> Result<Self, ConstraintFault> {
        let fault =
            |cause| ConstraintFault::BadClause { clause: text.chars().take(80).collect(), cause };
        if text.is_empty() {
            return Err(ConstraintFault::Empty);
        }
        if text.starts_with(['<', '>', '=', '!', '~', '^']) {
            return Err(fault(NO_ORDER));
        }
        if let Some((algorithm, digits)) = text.split_once(':') {
            let n_digits = match algorithm {
                "sha256" => 64,
                "sha512" => 128,
                _ => return Err(fault(NO_DIGEST)),
            };
            let well = digits.len() == n_digits && digits.bytes().all(|b| b.is_ascii_hexdigit());
            return if well {
                Ok(Self::Digest(text.to_ascii_lowercase().into()))
            } else {
                Err(fault(NO_DIGEST))
            };
        }
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b'*');
        let n_stars = text.bytes().filter(|b| *b == b'*').count();
        if text.len() - n_stars > MAX_TAG_CHARS
            || n_stars > MAX_STARS
            || text.starts_with(['.', '-'])
            || !text.bytes().all(allowed)
        {
            return Err(fault(NO_TAG));
        }
        Ok(Self::Named(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn contain(tags: &str, name: &str) -> bool {
        Tags::parse(tags).unwrap().contain(name)
    }

    #[test]
    fn images_are_forbidden_by_tag_by_pattern_and_by_digest() {
        assert!(contain("latest", "latest") && !contain("latest", "Latest"));
        assert!(contain("3.*-alpine", "3.1-alpine") && !contain("3.*-alpine", "3.1"));
        assert!(contain("1 || 2||3", "2") && !contain("1 || 2", "3"));
        assert!(contain(DIGEST, DIGEST) && contain(&DIGEST.replace('f', "F"), DIGEST));
        assert!(contain(&format!("latest || {DIGEST}"), DIGEST) && !contain("*a*", DIGEST));
        assert!(contain(&format!("sha512:{}", "0".repeat(128)), &format!("sha512:{:0128}", 0)));
        assert!(contain(&"a".repeat(128), &"a".repeat(128)));
    }

    #[test]
    fn what_can_be_no_tag_is_refused_with_its_reason() {
        for (text, words) in [
            ("1 ||", "is empty"),
            (">=1.2", "no order"),
            ("^1", "no order"),
            ("1.2 1.3", "no tag"),
            ("1,2", "no tag"),
            (".hidden", "no tag"),
            ("-x", "no tag"),
            ("a/b", "no tag"),
            ("ä", "no tag"),
            ("*********", "no tag"),
            (&"a".repeat(129), "no tag"),
            ("sha256:*", "a digest is"),
            ("sha256:abc", "a digest is"),
            (&format!("{DIGEST}0"), "a digest is"),
            ("md5:0123", "a digest is"),
            (&DIGEST.replace('f', "g"), "a digest is"),
        ] {
            let fault = Tags::parse(text).unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        let tags = |n| vec!["1"; n].join("||");
        assert!(Tags::parse(&tags(MAX_COMPARATORS)).is_ok());
        assert_eq!(Tags::parse(&tags(MAX_COMPARATORS + 1)), Err(ConstraintFault::TooMany));
    }
}
