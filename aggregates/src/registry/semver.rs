//! Semantic versions: the order that npm, cargo and Go share, and the ranges each of them writes.
//!
//! Follows Semantic Versioning 2.0.0, section 11: numbers by value, a prerelease below its
//! release, build metadata counts for nothing. The `semver` crates are not used: their order
//! counts build metadata, their numbers end at 64 bits, and anything but three numbers is an
//! error to them, where a firewall must give every text that somebody published one place.
//!
//! - npm and cargo are read leniently, as old packages need it: `v` and `=` in front are
//!   skipped, missing numbers are zero, numbers after the third count like build metadata, and
//!   what follows the numbers without a dash is a prerelease all the same (`1.2.3beta`).
//!   What does not begin with a number cannot be read.
//! - Go is read as `golang.org/x/mod/semver` reads it: `v1` and `v1.2` are short for `v1.0.0` and
//!   `v1.2.0`, `+incompatible` counts for nothing, a pseudo-version is a prerelease. The `v` may
//!   be missing from three numbers, as advisories write them. Branches and hashes cannot be read:
//!   ask for the version they stand for.
//!
//! What cannot be read stands below every version, ordered by its text.

mod grammar;
mod number;
mod range;

use std::cmp::Ordering;

use number::Number;
use range::Partial;
pub(super) use {grammar::Front, range::Range};

/// The longest number that is a version by itself.
const MAX_LONE_DIGITS: usize = 3;

/// A semantic version. Equality is that of the order: `1.2.3+a` equals `1.2.3+b`.
#[derive(Debug, Clone)]
pub struct Version {
    text: Box<str>,
    place: Place,
}

/// Where a version stands. Declared in ascending order, as everything that it holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Unreadable(Box<str>),
    Semver(Key),
}

/// What a version that can be read is ordered by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    release: [Number; 3],
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// A prerelease. No version has an empty list: as a bound it is below all of them.
    Before(Vec<Identifier>),
    Release,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(Number),
    Word(Box<str>),
}

impl Version {
    /// Reads a version as npm and cargo have them.
    #[must_use]
    pub fn lenient(text: &str) -> Self {
        Self::placed(text, Key::lenient)
    }

    /// Reads a version as Go has them.
    #[must_use]
    pub fn go(text: &str) -> Self {
        Self::placed(text, Key::go)
    }

    /// Reads a version of Go as sources of warnings write it: also without the `v` and with fewer than
    /// three numbers. A single one of many digits may as well be an abbreviated hash.
    #[must_use]
    pub fn go_said(text: &str) -> Self {
        let (text, numbers) = (text.trim(), |c: char| c.is_ascii_digit());
        let read = Self::go(text);
        let hash = text.chars().all(numbers) && text.len() > MAX_LONE_DIGITS;
        if read.readable() || hash { read } else { Self::go(&format!("v{text}")).or(read) }
    }

    fn or(self, other: Self) -> Self {
        if self.readable() { self } else { other }
    }

    /// Whether it has a place among versions.
    #[must_use]
    pub const fn readable(&self) -> bool {
        matches!(self.place, Place::Semver(_))
    }

    fn placed(text: &str, read: fn(&str) -> Option<Key>) -> Self {
        let text = text.trim();
        let place = read(text).map_or_else(|| Place::Unreadable(text.into()), Place::Semver);
        Self { text: text.into(), place }
    }

    /// The text it was read from, without blanks around it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a prerelease, or cannot be read.
    #[must_use]
    pub const fn prerelease(&self) -> bool {
        !matches!(self.place, Place::Semver(Key { stage: Stage::Release, .. }))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl Key {
    fn lenient(text: &str) -> Option<Self> {
        let sign = |c: char| matches!(c, 'v' | 'V' | '=') || c.is_whitespace();
        let text = text.trim_start_matches(sign);
        let text = text.split_once('+').map_or(text, |(version, _)| version);
        let (first, mut rest) = split_digits(text)?;
        let mut release = [Number::parse(first), Number::ZERO, Number::ZERO];
        let mut slots = release.iter_mut().skip(1);
        while let Some((digits, after)) = rest.strip_prefix('.').and_then(split_digits) {
            if let Some(slot) = slots.next() {
                *slot = Number::parse(digits);
            }
            rest = after;
        }
        let stage = if rest.is_empty() {
            Stage::Release
        } else {
            let rest = rest.strip_prefix(['-', '.']).unwrap_or(rest);
            Stage::Before(rest.split('.').map(Identifier::parse).collect())
        };
        Some(Self { release, stage })
    }

    fn go(text: &str) -> Option<Self> {
        let numbers = text.strip_prefix('v');
        let partial = Partial::parse(numbers.unwrap_or(text), false)?;
        // An abbreviated hash may hold nothing but digits.
        (numbers.is_some() || partial.full()).then(|| partial.key())
    }
}

impl Identifier {
    fn parse(text: &str) -> Self {
        if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
            Self::Number(Number::parse(text))
        } else {
            Self::Word(text.into())
        }
    }
}

/// The digits a text begins with, if any, and what follows them.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ascending(read: fn(&str) -> Version, versions: &[&str]) {
        for (n, lower) in versions.iter().enumerate() {
            for higher in &versions[n + 1..] {
                assert!(read(lower) < read(higher), "{lower} < {higher}");
            }
        }
    }

    #[test]
    fn old_spellings_stand_where_their_numbers_put_them() {
        ascending(
            Version::lenient,
            &[
                "",
                "latest",
                "x.1.2",
                "0.9",
                "1.0.0-0",
                "1.0.0-1",
                "1.0.0-",
                "1.0.0-alpha.1",
                "1.0.0beta",
                "1",
                "1.0.1-x.y",
                "v1.0.1",
                "= v 1.1",
                "18446744073709551616.0.0",
            ],
        );
        for (a, b) in [
            ("1", "1.0.0"),
            ("1.2.3.4.5", "1.2.3"),
            ("01.002.3", "1.2.3"),
            ("1.2.3beta", "1.2.3-beta"),
            ("1.2.x", "1.2.0-x"),
            ("1.2.3-01", "1.2.3-1"),
            ("1.2.3+a+b", "V1.2.3"),
        ] {
            assert_eq!(Version::lenient(a), Version::lenient(b));
        }
        assert!(Version::lenient("latest").prerelease() && Version::lenient("1b").prerelease());
        assert!(!Version::lenient("1.0.0+b").prerelease());
    }

    #[test]
    fn go_versions_stand_in_the_order_of_the_go_command() {
        ascending(
            Version::go,
            &[
                "",
                "1.2",
                "1234567",
                "abcdef012345",
                "master",
                "v01.0.0",
                "v1.0.0-01",
                "v1.0.0-a..b",
                "v1.2-pre",
                "v1.2.3.4",
                "v2+x",
                // From here on they can be read.
                "v0.0.0-20190101000000-abcdefabcdef",
                "v0.0.0-20200101000000-000000000000",
                "v0.0.0",
                "v0.1.0",
                "v1.2.3-0.20191109021931-daa7c04131f5",
                "v1.2.3-pre",
                "v1.2.3-pre.0.20191109021931-daa7c04131f5",
                "1.2.3",
                "v2.0.0+incompatible",
                "v2.0.1",
                "v10",
            ],
        );
        for (a, b) in [
            ("v1", "v1.0.0"),
            ("v1.2", "v1.2.0"),
            ("1.2.3", "v1.2.3"),
            ("v2.0.0+incompatible", "v2.0.0"),
        ] {
            assert_eq!(Version::go(a), Version::go(b));
        }
        assert!(Version::go("main").prerelease() && Version::go("v1.0.0-rc.1").prerelease());
        assert!(!Version::go("v2.0.0+incompatible").prerelease());
    }
}
