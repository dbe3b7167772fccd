//! Python versions: their order, and the constraints a rule may put on them.
//!
//! Follows PEP 440, with two additions. Versions that are older than PEP 440 (`0.7.4.svn.r2010`)
//! have the order that Python's tools gave them then, all of them below every PEP 440 version.
//! Numbers too large for a machine word are clamped, so that no version escapes a rule by being
//! absurd. Reading a version never fails; reading a constraint does, with the parser's words.

pub mod constraint;
mod legacy;

use std::{borrow::Cow, cmp::Ordering, fmt, str::FromStr};

pub use constraint::{Constraint, ConstraintFault};

/// A version of a Python package. Equality is that of the order: `1.0` equals `1.0.0`.
#[derive(Debug, Clone)]
pub struct Version {
    text: Box<str>,
    place: Place,
}

/// Where a version stands in the order: every legacy version is below every PEP 440 version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Legacy(legacy::Key),
    Pep440(pep440_rs::Version),
}

impl Version {
    /// Reads a version. What PEP 440 does not know is a legacy version.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        let place =
            pep440(text).map_or_else(|| Place::Legacy(legacy::Key::parse(text)), Place::Pep440);
        Self { text: text.into(), place }
    }

    /// The text it was read from, without blanks around it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is older than PEP 440, or nonsense.
    #[must_use]
    pub const fn legacy(&self) -> bool {
        matches!(self.place, Place::Legacy(_))
    }

    /// Whether installers choose it only when asked to: alpha, beta, candidate, development, or a
    /// legacy version.
    #[must_use]
    pub fn prerelease(&self) -> bool {
        match &self.place {
            Place::Legacy(_) => true,
            Place::Pep440(version) => version.any_prerelease(),
        }
    }

    /// The public version of a local one; `None` where it is none.
    #[must_use]
    pub fn public(&self) -> Option<Self> {
        match &self.place {
            Place::Pep440(version) if version.is_local() => {
                Some(Self::parse(&version.clone().without_local().to_string()))
            }
            Place::Pep440(_) | Place::Legacy(_) => None,
        }
    }

    /// The spelling PEP 440 recommends; a legacy version in lower case.
    #[must_use]
    pub fn normal(&self) -> String {
        match &self.place {
            Place::Legacy(_) => self.text.to_lowercase(),
            Place::Pep440(version) => version.to_string(),
        }
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

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a PEP 440 version, with numbers beyond a machine word clamped just below its end.
fn pep440(text: &str) -> Option<pep440_rs::Version> {
    pep440_rs::Version::from_str(text).ok().or_else(|| match clamp(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clamped) => pep440_rs::Version::from_str(&clamped).ok(),
    })
}

/// Replaces every run of digits that does not fit 64 bits by the largest number that is safe to
/// order: the very last one means "no development release" inside the parser.
fn clamp(text: &str) -> Cow<'_, str> {
    const LARGEST: u64 = u64::MAX - 1;
    if !text.is_ascii() || longest_number(text) < 20 {
        return Cow::Borrowed(text);
    }
    let mut clamped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        let number = digits.parse::<u64>().map_or(LARGEST, |n| n.min(LARGEST));
        clamped.push_str(before);
        clamped.push_str(&number.to_string());
        rest = after;
    }
    clamped.push_str(rest);
    Cow::Owned(clamped)
}

fn longest_number(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_digit()).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::registry::testing::vectors;

    const VECTORS: &str = include_str!("pypi-versions.txt");

    fn v(text: &str) -> Version {
        Version::parse(text)
    }

    #[test]
    fn every_public_vector_is_ordered_right() {
        let mut n_vectors = 0;
        for (left, wanted, right) in vectors(VECTORS) {
            assert_eq!(v(left).cmp(&v(right)), wanted, "{left} {right}");
            assert_eq!(v(right).cmp(&v(left)), wanted.reverse(), "{right} {left}");
            n_vectors += 1;
        }
        assert_eq!(n_vectors, 37);
    }

    #[test]
    fn legacy_versions_stand_below_all_others_in_their_own_order() {
        for (lower, higher) in [
            ("0.7.4.svn.r2010", "0.0.dev0"),
            ("2004d", "0"),
            ("2004d", "2004g"),
            ("1.0-foo-2", "1.0-foo-10"),
            ("bad-1", "bad-1-patch"),
        ] {
            assert!(v(lower) < v(higher), "{lower} < {higher}");
        }
        assert!(v("2004d").legacy() && !v("2004").legacy());
    }

    #[test]
    fn a_number_no_machine_holds_is_still_the_largest() {
        let absurd = v("99999999999999999999999999.0");
        assert!(!absurd.legacy());
        assert!(absurd > v("18446744073709551613"));
        assert!(v("1.0.dev99999999999999999999") < v("1.0"));
        assert_eq!(v("00000000000000000000000001.0"), v("1"));
    }

    #[test]
    fn spellings_of_one_version_are_equal() {
        assert_eq!(v(" v1.0 "), v("1.0.0"));
        assert_eq!(v("1.0-1"), v("1.0.post1"));
        assert_eq!(v("1.0RC1").normal(), "1.0rc1");
        assert!(v("1.0rc1").prerelease() && v("1.0.dev1").prerelease() && v("x.y").prerelease());
        assert!(!v("1.0.post1+local").prerelease());
        assert_eq!(v("X-Y").normal(), "x-y");
        assert_eq!(v("1.0.0").to_string(), "1.0.0");
    }

    fn any_version() -> impl Strategy<Value = String> {
        prop_oneof![
            "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}((a|b|rc)[0-9]{1,2})?(\\.post[0-9])?(\\.dev[0-9])?(\\+[a-z0-9]{1,3})?",
            "[0-9]!?[0-9]{1,30}(\\.[0-9]{1,30})?",
            "[a-z0-9.!+-]{0,12}",
            "\\PC{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in any_version(), b in any_version(), c in any_version()) {
            let (a, b, c) = (v(&a), v(&b), v(&c));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a == b, a.cmp(&b) == Ordering::Equal);
            prop_assert_eq!(a.cmp(&a), Ordering::Equal);
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }

        #[test]
        fn reading_the_normal_form_changes_nothing(a in any_version()) {
            prop_assert_eq!(v(&a).normal(), v(&v(&a).normal()).normal());
        }
    }
}
