//! How npm, cargo and Go write ranges: one set of signs, three ways to put them together.
//!
//! - npm: comparators between blanks all hold, `||` stands between alternatives, `1.2 - 2.3` is
//!   from and to; a version without a sign is that version.
//! - cargo: comparators between commas all hold; a version without a sign means `^`.
//! - Go has version queries, not ranges: their signs (`=`, `>=`, `>`, `<=`, `<`) are put together
//!   as in npm. A version without a sign is that version, `v1.2` all that begin so. As in the go
//!   command, `>v1.2` and `<=v1.2` are ambiguous and refused.

use super::range::{Bound, Partial, Range, Sign};
use crate::registry::constraint::{ConstraintFault, MAX_COMPARATORS};

/// Whose ranges they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::registry) enum Front {
    Npm,
    Cargo,
    Go,
}

/// A sign, if there is one, and what it is about.
type Comparator<'a> = (Option<Sign>, &'a str);

/// Longer signs first.
const SIGNS: [(&str, Sign); 8] = [
    (">=", Sign::AtLeast),
    ("<=", Sign::AtMost),
    ("~>", Sign::Tilde),
    (">", Sign::More),
    ("<", Sign::Less),
    ("=", Sign::Exactly),
    ("~", Sign::Tilde),
    ("^", Sign::Caret),
];

impl Range {
    /// Reads a range.
    pub(in crate::registry) fn parse(front: Front, text: &str) -> Result<Self, ConstraintFault> {
        let mut n_comparators = 0;
        let alternative = |text| {
            let mut bounds = Vec::new();
            for (sign, version) in front.comparators(text)? {
                n_comparators += 1;
                if n_comparators > MAX_COMPARATORS {
                    return Err(ConstraintFault::TooMany);
                }
                bounds.extend(front.bounds(sign, version)?);
            }
            Ok(bounds)
        };
        let alternatives = match front {
            Front::Npm | Front::Go => text.split("||").collect(),
            Front::Cargo => vec![text],
        };
        alternatives.into_iter().map(alternative).collect::<Result<_, _>>().map(Self)
    }
}

impl Front {
    /// Cuts an alternative into comparators, at least one.
    fn comparators(self, text: &str) -> Result<Vec<Comparator<'_>>, ConstraintFault> {
        let mut comparators = Vec::new();
        if self == Self::Cargo {
            comparators.extend(text.split(',').map(|comparator| self.split_sign(comparator)));
        } else {
            let words: Vec<&str> = text.split_whitespace().collect();
            if let ([from, "-", to], Self::Npm) = (&words[..], self) {
                return Ok(vec![(Some(Sign::From), from), (Some(Sign::AtMost), to)]);
            }
            let mut words = words.into_iter();
            while let Some(word) = words.next() {
                comparators.push(match self.split_sign(word) {
                    (Some(sign), "") => (Some(sign), words.next().unwrap_or_default()),
                    comparator => comparator,
                });
            }
        }
        let empty = comparators.is_empty() || comparators.iter().any(|(_, v)| v.is_empty());
        if empty { Err(ConstraintFault::Empty) } else { Ok(comparators) }
    }

    fn split_sign(self, comparator: &str) -> Comparator<'_> {
        let comparator = comparator.trim();
        SIGNS
            .into_iter()
            .filter(|(text, sign)| match self {
                Self::Npm => true,
                Self::Cargo => *text != "~>",
                Self::Go => !matches!(sign, Sign::Tilde | Sign::Caret),
            })
            .find_map(|(text, sign)| Some((Some(sign), comparator.strip_prefix(text)?.trim())))
            .unwrap_or((None, comparator))
    }

    fn bounds(self, sign: Option<Sign>, version: &str) -> Result<Vec<Bound>, ConstraintFault> {
        let fault = |cause| ConstraintFault::BadClause {
            clause: version.chars().take(80).collect(),
            cause,
        };
        let numbers = match self {
            Self::Npm => version.trim_start_matches(['v', '=']),
            Self::Cargo => version,
            Self::Go => version.strip_prefix('v').unwrap_or(version),
        };
        let partial =
            Partial::parse(numbers, self != Self::Go).ok_or_else(|| fault(self.unreadable()))?;
        let sign = match sign {
            Some(sign) => sign,
            None if self == Self::Cargo && !partial.wild => Sign::Caret,
            None => Sign::Exactly,
        };
        if self == Self::Go && !partial.full() && matches!(sign, Sign::More | Sign::AtMost) {
            return Err(fault("after > and <= Go wants all three numbers"));
        }
        sign.bounds(&partial).ok_or_else(|| fault("there is no version beyond all versions"))
    }

    const fn unreadable(self) -> &'static str {
        match self {
            Self::Npm => "it is no version, nor a range as npm writes them",
            Self::Cargo => "it is no version, nor a requirement as cargo writes them",
            Self::Go => "it is no version with one of =, >=, >, <=, < or nothing before it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::semver::Version;

    fn check(front: Front, range: &str, inside: &[&str], outside: &[&str]) {
        let read = Range::parse(front, range).unwrap();
        let version = |text| match front {
            Front::Go => Version::go(text),
            _ => Version::lenient(text),
        };
        for text in inside {
            assert!(read.contains(&version(text)), "{front:?}: {range} must match {text}");
        }
        for text in outside {
            assert!(!read.contains(&version(text)), "{front:?}: {range} must not match {text}");
        }
    }

    #[test]
    fn npm_ranges_mean_what_node_means_and_never_leave_a_prerelease_out() {
        for (range, inside, outside) in [
            ("1.2.3", &["1.2.3", "v1.2.3", "1.2.3+b"][..], &["1.2.4", "1.2.3-b", "x"][..]),
            ("=v1.2.3", &["1.2.3"], &["1.2.4"]),
            ("==1.2.3", &["1.2.3"], &["1.2.4"]),
            ("1.2.3-b.1+x", &["1.2.3-b.1"], &["1.2.3", "1.2.3-b"]),
            ("1.2", &["1.2.0-a", "1.2.0", "1.2.9", "1.2.9-a"], &["1.3.0-a", "1.1.9", "x"]),
            ("1.x", &["1.0.0-a", "1.0.0", "1.99.1"], &["2.0.0-0", "2.0.0", "0.9.9"]),
            ("1.X.*", &["1.0.0"], &["2.0.0"]),
            ("^1.2.3", &["1.2.3", "1.9.0-a"], &["1.2.2", "1.2.3-a", "2.0.0-a", "2.0.0"]),
            ("^1.2", &["1.2.0-a", "1.2.0", "1.9.0"], &["1.1.9", "2.0.0-a"]),
            ("^0.2.3", &["0.2.3", "0.2.9"], &["0.3.0-a", "0.2.2"]),
            ("^0.0.3", &["0.0.3"], &["0.0.4-a", "0.0.2"]),
            ("^0.0.0", &["0.0.0"], &["0.0.1"]),
            ("^0.0", &["0.0.0-a", "0.0.9"], &["0.1.0"]),
            ("^0.x", &["0.0.0", "0.9.0"], &["1.0.0-a"]),
            ("^1.2.3-b.2", &["1.2.3-b.2", "1.2.3", "1.3.0"], &["1.2.3-b.1"]),
            ("~1.2.3", &["1.2.3", "1.2.9"], &["1.3.0-a", "1.2.2"]),
            ("~>1.2", &["1.2.0", "1.2.9"], &["1.3.0"]),
            ("~1", &["1.0.0", "1.9.0"], &["2.0.0-a"]),
            ("~ 1.2.3-b", &["1.2.3-b", "1.2.4"], &["1.2.3-a"]),
            ("<1.3.0", &["1.3.0-beta", "1.2.9", "0.0.0", "x", "latest"], &["1.3.0", "1.3.1"]),
            ("<1.3", &["1.3.0-beta", "x"], &["1.3.0"]),
            ("<=1.2", &["1.2.9", "1.2.9-a", "x"], &["1.3.0-a", "1.3.0"]),
            ("<=1.2.3", &["1.2.3", "1.2.3+b"], &["1.2.4"]),
            (">1.2", &["1.3.0-a", "1.3.0"], &["1.2.9"]),
            (">1.2.3", &["1.2.4-a", "1.2.4"], &["1.2.3", "1.2.3+b"]),
            (">=1.2", &["1.2.0-a", "1.2.0", "9.0.0"], &["1.1.9"]),
            (">=1.2.3", &["1.2.3", "2.0.0-a"], &["1.2.3-a"]),
            (">= 1.2.3 < 2 || 3.x", &["1.2.3", "2.0.0-a", "3.1.0"], &["2.0.0", "1.2.2", "4.0.0"]),
            ("1.2.3 - 2.3.4", &["1.2.3-a", "1.2.3", "2.3.4"], &["1.2.2", "2.3.5-a"]),
            ("1.2.3-b - 2", &["1.2.3-b", "2.9.9"], &["1.2.3-a", "3.0.0-a"]),
            ("1.2 - 2.3", &["1.2.0-a", "2.3.9"], &["2.4.0-a", "1.1.9"]),
            ("1 - *", &["1.0.0", "9.0.0"], &["0.9.0"]),
            (
                ">99999999999999999999.0.0 <=18446744073709551615",
                &[],
                &["1.0.0", "99999999999999999999.0.1"],
            ),
            ("^18446744073709551615", &["18446744073709551615.9.0"], &["18446744073709551616"]),
        ] {
            check(Front::Npm, range, inside, outside);
        }
    }

    #[test]
    fn cargo_requirements_mean_what_cargo_means() {
        for (range, inside, outside) in [
            ("1", &["1.0.0", "1.9.0", "1.0.0-a"][..], &["2.0.0-a", "0.9.0", "x"][..]),
            ("1.2.3", &["1.2.3", "1.9.0", "1.2.3+b"], &["1.2.2", "2.0.0"]),
            ("0.2.3", &["0.2.3", "0.2.9"], &["0.3.0"]),
            ("^1", &["1.0.0"], &["2.0.0"]),
            ("~1.2", &["1.2.9"], &["1.3.0"]),
            ("=1.2.3", &["1.2.3", "1.2.3+build"], &["1.2.4", "1.2.3-a"]),
            ("= 1.2", &["1.2.0", "1.2.9"], &["1.3.0"]),
            (">=1, <2", &["1.0.0-a", "1.0.0", "2.0.0-a"], &["2.0.0", "0.9.0"]),
            (">= 1.2.3 , 1", &["1.2.3"], &["1.2.2", "2.0.0"]),
            ("1.*", &["1.0.0", "1.9.0"], &["2.0.0"]),
            ("1.2.*", &["1.2.9"], &["1.3.0"]),
            ("0.*.*", &["0.1.0", "0.9.0"], &["1.0.0"]),
            (">1.2, <=1.4", &["1.3.0", "1.4.9"], &["1.2.9", "1.5.0"]),
        ] {
            check(Front::Cargo, range, inside, outside);
        }
    }

    #[test]
    fn go_comparators_are_put_together_as_in_npm() {
        for (range, inside, outside) in [
            ("v1.2.3", &["v1.2.3", "1.2.3"][..], &["v1.2.4", "v1.2.3-pre", "master"][..]),
            ("=v2.0.0", &["v2.0.0+incompatible"], &["v2.0.1"]),
            ("v2.0.0+incompatible", &["v2.0.0+incompatible"], &["v2.0.1"]),
            ("v1.2", &["v1.2.0-rc.1", "v1.2.9"], &["v1.3.0"]),
            ("v1", &["v1.9.0"], &["v2.0.0"]),
            (
                ">=v1.2.0 <v1.4.0",
                &["v1.2.0", "v1.4.0-rc.1", "v1.4.0-0.20200101000000-abcdefabcdef"],
                &["v1.4.0", "v1.2.0-0.20200101000000-abcdefabcdef", "main"],
            ),
            (
                "< 1.0.0 || = v3.0.1",
                &["v0.0.0-20200101000000-abcdefabcdef", "v3.0.1", "main"],
                &["v1.0.0"],
            ),
            (
                "v0.0.0-20200101000000-abcdefabcdef",
                &["v0.0.0-20200101000000-abcdefabcdef"],
                &["v0.0.0-20200102000000-abcdefabcdef"],
            ),
            (">=v1.2 <v1.4", &["v1.2.0"], &["v1.4.0"]),
        ] {
            check(Front::Go, range, inside, outside);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        let bad_version = "it is no version";
        for (front, range, words) in [
            (Front::Npm, ">=", "is empty"),
            (Front::Npm, "1 ||", "is empty"),
            (Front::Npm, "|| 1", "is empty"),
            (Front::Npm, "latest", bad_version),
            (Front::Npm, "1.2.3.4", bad_version),
            (Front::Npm, "1.x.3", bad_version),
            (Front::Npm, "1.2-beta", bad_version),
            (Front::Npm, "1.x-beta", bad_version),
            (Front::Npm, "1.2+b", bad_version),
            (Front::Npm, "01.2.3", bad_version),
            (Front::Npm, "1.2.3-01", bad_version),
            (Front::Npm, "1.2.3-", bad_version),
            (Front::Npm, "1.2.3-a..b", bad_version),
            (Front::Npm, "1.2.3+", bad_version),
            (Front::Npm, "1.2.3+a_b", bad_version),
            (Front::Npm, "1. 2", bad_version),
            (Front::Npm, ">=1,<2", bad_version),
            (Front::Npm, "1 - 2 - 3", bad_version),
            (Front::Npm, ">1 - 2", bad_version),
            (Front::Npm, "!=1.2.3", bad_version),
            (Front::Npm, "\u{661}", bad_version),
            (Front::Npm, ">*", "beyond all versions"),
            (Front::Npm, "<x", "beyond all versions"),
            (Front::Cargo, "1 || 2", bad_version),
            (Front::Cargo, ">=1 <2", bad_version),
            (Front::Cargo, ">=1,", "is empty"),
            (Front::Cargo, "v1", bad_version),
            (Front::Cargo, "~>1", bad_version),
            (Front::Cargo, "1 - 2", bad_version),
            (Front::Go, "^v1", bad_version),
            (Front::Go, "~v1", bad_version),
            (Front::Go, "v1.x", bad_version),
            (Front::Go, "master", bad_version),
            (Front::Go, ">=v1.2.0, <v1.4.0", bad_version),
            (Front::Go, "<=v1.2", "all three numbers"),
            (Front::Go, ">v1", "all three numbers"),
        ] {
            let fault = Range::parse(front, range).unwrap_err().to_string();
            assert!(fault.contains(words), "{front:?}: {range}: {fault}");
        }
    }

    #[test]
    fn there_are_no_more_comparators_than_can_be_kept() {
        for (front, separator) in [(Front::Npm, " "), (Front::Npm, "||"), (Front::Cargo, ",")] {
            let range = |n| vec!["1"; n].join(separator);
            assert!(Range::parse(front, &range(MAX_COMPARATORS)).is_ok());
            assert_eq!(
                Range::parse(front, &range(MAX_COMPARATORS + 1)),
                Err(ConstraintFault::TooMany)
            );
        }
    }

    #[test]
    fn a_range_without_bounds_is_everything() {
        for range in ["*", "x", "X.x", ">=*", "^*", "1 || *", "* - *"] {
            assert!(Range::parse(Front::Npm, range).unwrap().everything(), "{range}");
        }
        assert!(!Range::parse(Front::Npm, ">=0 || 1.x").unwrap().everything());
    }
}
