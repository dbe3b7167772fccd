//! Where in a Redis a list lies: `weir:1:page:pypi:six:<hash of what was asked for>`, and beside it,
//! under `word`, when its upstream last confirmed it.

use std::fmt::Write as _;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use weir_events::registry::Ecosystem;

/// How values are written. Another number lies elsewhere: builds that differ do not meet.
const VERSION: u8 = 1;

/// The longest name of a package, as it is written.
const MAX_PACKAGE_BYTES: usize = 600;

/// What a list is found by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageKey {
    ecosystem: Ecosystem,
    package: Option<Box<str>>,
    /// Of everything that decides what an upstream answers.
    asked: [u8; 16],
}

impl PageKey {
    /// A list about a package, or about none, by what was asked for: every part of the question that
    /// may change the answer. `None` where the package has a name that no package has.
    #[must_use]
    pub fn new(ecosystem: Ecosystem, package: Option<&str>, asked: &[&[u8]]) -> Option<Self> {
        let fits = |package: &str| {
            !package.is_empty() && package.len().saturating_mul(3) <= MAX_PACKAGE_BYTES
        };
        if !package.is_none_or(fits) {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        for part in asked {
            hasher.update(&(part.len() as u64).to_be_bytes()).update(part);
        }
        let mut asked = [0; 16];
        hasher.finalize_xof().fill(&mut asked);
        Some(Self { ecosystem, package: package.map(Into::into), asked })
    }

    /// The ecosystem.
    #[must_use]
    pub const fn ecosystem(&self) -> Ecosystem {
        self.ecosystem
    }

    /// The package it is about.
    #[must_use]
    pub fn package(&self) -> Option<&str> {
        self.package.as_deref()
    }
}

/// The keys of a list in Redis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) page: String,
    pub(super) word: String,
}

/// All places below a prefix.
#[derive(Debug)]
pub(super) struct Places {
    pages: String,
    words: String,
}

impl Places {
    pub(super) fn new(prefix: &str) -> Self {
        let below = |kind| format!("{prefix}:{VERSION}:{kind}:");
        Self { pages: below("page"), words: below("word") }
    }

    pub(super) fn of(&self, key: &PageKey) -> Place {
        let package = key.package.as_deref().unwrap_or_default();
        let package = utf8_percent_encode(package, NON_ALPHANUMERIC);
        let mut rest = format!("{}:{package}:", key.ecosystem);
        for byte in key.asked {
            // Writing into a text has no way to fail.
            let _infallible = write!(rest, "{byte:02x}");
        }
        Place { page: format!("{}{rest}", self.pages), word: format!("{}{rest}", self.words) }
    }

    /// What all pages match.
    pub(super) fn pattern(&self) -> String {
        format!("{}*", self.pages)
    }

    /// What is kept in the place of a page.
    pub(super) fn read(&self, page: &str) -> Option<PageKey> {
        let mut parts = page.strip_prefix(&self.pages)?.split(':');
        let (ecosystem, package, hash) = (parts.next()?, parts.next()?, parts.next()?);
        let ecosystem = Ecosystem::ALL.into_iter().find(|known| known.as_str() == ecosystem)?;
        let package = percent_decode_str(package).decode_utf8().ok()?;
        let package = Some(package).filter(|package| !package.is_empty());
        let mut asked = [0; 16];
        hex::decode_to_slice(hash, &mut asked).ok()?;
        let package = package.map(|package| package.as_ref().into());
        parts.next().is_none().then_some(PageKey { ecosystem, package, asked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_what_lies_there_whatever_the_package_is_called() {
        let places = Places::new("weir");
        for package in [None, Some("six"), Some("@types/node"), Some("a:b*[c]"), Some("ä\n\\")] {
            let key = PageKey::new(Ecosystem::Npm, package, &[b"GET", b"x"]).unwrap();
            let Place { page, word } = places.of(&key);
            assert_eq!(places.read(&page), Some(key), "{page}");
            assert!(page.starts_with("weir:1:page:npm:") && word.starts_with("weir:1:word:npm:"));
            assert_eq!((places.read(&word), Places::new("w").read(&page)), (None, None));
        }
    }

    #[test]
    fn each_question_has_a_place_of_its_own() {
        let key = |asked: &[&[u8]]| PageKey::new(Ecosystem::Npm, Some("a"), asked).unwrap();
        assert_eq!(key(&[b"a", b"b"]), key(&[b"a", b"b"]));
        for other in [&[&b"ab"[..]][..], &[b"a", b"c"], &[b"", b"ab"], &[b"b", b"a"]] {
            assert_ne!(key(&[b"a", b"b"]), key(other));
        }
        assert_eq!(PageKey::new(Ecosystem::Npm, Some(""), &[]), None);
        assert_eq!(PageKey::new(Ecosystem::Npm, Some(&"x".repeat(700)), &[]), None);
    }
}
