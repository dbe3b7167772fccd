//! What a rule says about versions: `>=1.17`, `==1.*`, `~=1.4,!=1.4.2`, `===2004d`, `*`.
//!
//! A rule forbids, so where PEP 440's reading for installers and the plain order of versions
//! disagree, a clause matches if either says so (fail closed):
//! prereleases are never left out (`<1.17` forbids `1.17rc1`, `>=1.17` forbids `2.0.dev1`);
//! local versions count as their public version and as themselves (`==1.17`, `<=1.17` and
//! `>1.17` all forbid `1.17+cpu`, and so does `!=1.17`); `>1.7` forbids `1.7.post1`.
//! What comes before a bound in the order is not behind it: `>=1.17` lets `1.17rc1` pass.
//!
//! A permission is the other way round ([`Constraint::permits`]): a clause holds only where both
//! say so. `==1.17` permits no `1.17+cpu`, `>1.7` no `1.7.post1`, and nothing permits a prerelease
//! but a constraint that names one.

use std::str::FromStr;

use super::{Place, Version};

/// The longest constraint, in characters.
pub const MAX_CHARS: usize = 500;

/// Which versions a rule is about: all of its clauses hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint(Vec<Clause>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Clause {
    Compare(Operator, pep440_rs::Version),
    /// `==1.2.*`, or with `negated` `!=1.2.*`.
    Prefix {
        epoch: u64,
        release: Vec<u64>,
        negated: bool,
    },
    /// `~=1.4.2`: at least this, and of the same release but for the last number.
    Compatible(pep440_rs::Version),
    /// `===text`: this very spelling.
    Exact(Box<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    AtLeast,
    More,
    AtMost,
    Less,
}

/// The text is no constraint on Python versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintFault {
    /// There is nothing to read.
    #[error("a constraint is empty; write `*` for every version")]
    Empty,
    /// There is too much to read.
    #[error("a constraint has at most {MAX_CHARS} characters")]
    TooLong,
    /// A clause does not begin with an operator.
    #[error("`{0}` does not begin with one of ==, !=, <=, >=, <, >, ~=, ===")]
    NoOperator(String),
    /// The version of a clause cannot be read.
    #[error("`{clause}`: {cause}")]
    BadVersion {
        /// The clause.
        clause: String,
        /// What the parser of versions said.
        cause: String,
    },
    /// `.*` belongs to `==` and `!=` only.
    #[error("`{0}`: `.*` may follow == and != only, and only numbers before it")]
    MisplacedStar(String),
    /// `~=` needs two numbers: with one it would mean every version.
    #[error("`{0}`: ~= needs at least two numbers, as in ~=1.4")]
    IncompatibleWithOneNumber(String),
    /// `===` names one spelling, without blanks.
    #[error("`{0}`: === is followed by one version without blanks")]
    BadExact(String),
}

impl Constraint {
    /// Every version, also those that cannot be read.
    #[must_use]
    pub const fn any() -> Self {
        Self(Vec::new())
    }

    /// Whether it is `*`: no version is outside it.
    #[must_use]
    pub const fn everything(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a version is one of those.
    #[must_use]
    pub fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|clause| clause.matches(version))
    }

    /// Whether a version is one of those however they are read: for what is permitted.
    #[must_use]
    pub fn permits(&self, version: &Version) -> bool {
        let named = !version.prerelease() || self.0.iter().any(Clause::names_prerelease);
        self.everything() || (named && self.0.iter().all(|clause| clause.permits(version)))
    }
}

impl FromStr for Constraint {
    type Err = ConstraintFault;

    fn from_str(text: &str) -> Result<Self, ConstraintFault> {
        let text = text.trim();
        match text {
            "" => Err(ConstraintFault::Empty),
            "*" => Ok(Self::any()),
            _ if text.chars().count() > MAX_CHARS => Err(ConstraintFault::TooLong),
            _ => text
                .split(',')
                .map(|clause| Clause::parse(clause.trim()))
                .collect::<Result<_, _>>()
                .map(Self),
        }
    }
}

impl Clause {
    fn parse(clause: &str) -> Result<Self, ConstraintFault> {
        let named = || clause.chars().take(80).collect::<String>();
        if clause.is_empty() {
            return Err(ConstraintFault::Empty);
        }
        if let Some(text) = clause.strip_prefix("===") {
            let text = text.trim();
            if text.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
                return Err(ConstraintFault::BadExact(named()));
            }
            return Ok(Self::Exact(text.to_lowercase().into()));
        }
        let version = |text: &str| {
            pep440_rs::Version::from_str(text.trim()).map_err(|fault| ConstraintFault::BadVersion {
                clause: named(),
                cause: fault.to_string(),
            })
        };
        if let Some(text) = clause.strip_prefix("~=") {
            let floor = version(text)?;
            return if floor.release().len() < 2 {
                Err(ConstraintFault::IncompatibleWithOneNumber(named()))
            } else if floor.is_local() {
                Err(ConstraintFault::BadVersion {
                    clause: named(),
                    cause: "~= takes no local version".to_owned(),
                })
            } else {
                Ok(Self::Compatible(floor))
            };
        }
        let (operator, text) =
            Operator::split(clause).ok_or_else(|| ConstraintFault::NoOperator(named()))?;
        match (text.trim().strip_suffix(".*"), operator) {
            (None, _) if text.contains('*') => Err(ConstraintFault::MisplacedStar(named())),
            (None, _) => Ok(Self::Compare(operator, version(text)?)),
            (Some(text), Operator::Equal | Operator::NotEqual) => {
                let prefix = version(text)?;
                if prefix.any_prerelease() || prefix.is_post() || prefix.is_local() {
                    return Err(ConstraintFault::MisplacedStar(named()));
                }
                Ok(Self::Prefix {
                    epoch: prefix.epoch(),
                    release: prefix.release().to_vec(),
                    negated: operator == Operator::NotEqual,
                })
            }
            (Some(_), _) => Err(ConstraintFault::MisplacedStar(named())),
        }
    }

    fn matches(&self, version: &Version) -> bool {
        let candidate = match (&version.place, self) {
            (_, Self::Exact(text)) => {
                return version.text.to_lowercase() == **text || version.normal() == **text;
            }
            (Place::Pep440(candidate), _) => candidate,
            // Below everything, equal to nothing.
            (Place::Legacy(_), Self::Compare(operator, _)) => {
                return matches!(operator, Operator::NotEqual | Operator::AtMost | Operator::Less);
            }
            (Place::Legacy(_), Self::Prefix { negated, .. }) => return *negated,
            (Place::Legacy(_), Self::Compatible(_)) => return false,
        };
        match self {
            Self::Compare(operator, bound) => operator.holds(candidate, bound),
            Self::Prefix { epoch, release, negated } => {
                begins_with(candidate, *epoch, release) != *negated
            }
            Self::Compatible(floor) => {
                let fixed = floor.release().split_last().map_or(&[][..], |(_, fixed)| fixed);
                candidate >= floor && begins_with(candidate, floor.epoch(), fixed)
            }
            Self::Exact(_) => false,
        }
    }

    /// Whether it holds for a version however it is read. Prereleases are the constraint's business.
    fn permits(&self, version: &Version) -> bool {
        match (&version.place, self) {
            (Place::Pep440(candidate), Self::Compare(operator, bound)) => {
                operator.permits(candidate, bound)
            }
            (Place::Pep440(_), Self::Prefix { .. } | Self::Compatible(_)) | (_, Self::Exact(_)) => {
                self.matches(version)
            }
            // Installers know no order of them.
            (Place::Legacy(_), _) => false,
        }
    }

    /// Whether prereleases are meant: as for installers, where one is named and not excluded.
    fn names_prerelease(&self) -> bool {
        match self {
            Self::Compare(Operator::NotEqual, _) | Self::Prefix { .. } => false,
            Self::Compare(_, bound) | Self::Compatible(bound) => bound.any_prerelease(),
            Self::Exact(_) => true,
        }
    }
}

impl Operator {
    fn split(clause: &str) -> Option<(Self, &str)> {
        [
            ("==", Self::Equal),
            ("!=", Self::NotEqual),
            (">=", Self::AtLeast),
            ("<=", Self::AtMost),
            (">", Self::More),
            ("<", Self::Less),
        ]
        .into_iter()
        .find_map(|(sign, operator)| Some((operator, clause.strip_prefix(sign)?)))
    }

    /// Whether the bound holds for the candidate or for its public version.
    fn holds(self, candidate: &pep440_rs::Version, bound: &pep440_rs::Version) -> bool {
        let public = || candidate.clone().without_local();
        match self {
            Self::Equal => candidate == bound || public() == *bound,
            Self::NotEqual => candidate != bound,
            Self::AtLeast => candidate >= bound,
            Self::More => candidate > bound,
            Self::AtMost => public() <= *bound,
            Self::Less => public() < *bound,
        }
    }

    /// Whether the bound holds for the candidate by the order and for installers.
    fn permits(self, candidate: &pep440_rs::Version, bound: &pep440_rs::Version) -> bool {
        let public = || candidate.clone().without_local();
        let of_bound = || {
            candidate.epoch() == bound.epoch() && candidate.only_release() == bound.only_release()
        };
        match self {
            Self::Equal => candidate == bound,
            Self::NotEqual => candidate != bound && public() != *bound,
            Self::AtLeast => candidate >= bound,
            // A post-release of a bound is not behind it, nor a prerelease before it, but where the
            // bound is one itself.
            Self::More => {
                public() > *bound && !(candidate.is_post() && !bound.is_post() && of_bound())
            }
            Self::AtMost => candidate <= bound,
            Self::Less => {
                let before = candidate.any_prerelease() && !bound.any_prerelease();
                candidate < bound && !(before && of_bound())
            }
        }
    }
}

/// Whether the numbers of a version begin with these; what is not written is zero.
fn begins_with(version: &pep440_rs::Version, epoch: u64, prefix: &[u64]) -> bool {
    let padded = version.release().iter().copied().chain(std::iter::repeat(0));
    version.epoch() == epoch && prefix.iter().copied().eq(padded.take(prefix.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(constraint: &str, version: &str) -> bool {
        constraint.parse::<Constraint>().unwrap().matches(&Version::parse(version))
    }

    #[test]
    fn each_operator_finds_its_versions_and_no_others() {
        for (constraint, inside, outside) in [
            ("*", &["1.0", "2004d", "", "1!0"][..], &[][..]),
            (
                ">=1.17",
                &["1.17", "1.17.0", "1.18rc1", "2.0.dev1", "1.17+cpu", "1!0"],
                &["1.16", "1.17rc1", "2004d"],
            ),
            (">1.7", &["1.7.1", "1.7.post1", "1.7+local"], &["1.7", "1.7.0", "1.7rc1"]),
            (
                "<1.17",
                &["1.16.9", "1.17rc1", "1.17.dev0", "2004d"],
                &["1.17", "1.17+cpu", "1.17.post1"],
            ),
            ("<=1.17", &["1.17", "1.17+cpu", "1.0", "x"], &["1.17.1", "1.17.post1"]),
            (
                "==1.17",
                &["1.17", "1.17.0", "v1.17", "1.17+cpu"],
                &["1.17rc1", "1.17.1", "1.17.post1"],
            ),
            ("==1.17+cpu", &["1.17+cpu", "1.17+CPU"], &["1.17", "1.17+gpu"]),
            ("!=1.17", &["1.16", "1.17rc1", "1.17+cpu", "2004d"], &["1.17", "1.17.0"]),
            (
                "==1.*",
                &["1", "1.0", "1.99rc1", "1.2+x", "1.2.post3"],
                &["2.0", "1!1.0", "0.9", "10.0", "1x"],
            ),
            ("==1.2.*", &["1.2", "1.2.9"], &["1", "1.20", "1.3"]),
            ("!=1.2.*", &["1", "1.20", "2004d"], &["1.2", "1.2.3"]),
            ("~=1.4", &["1.4", "1.9", "1.4.post1", "1.5rc1"], &["1.3", "2.0", "1.4rc1", "x"]),
            ("~=1.4.2", &["1.4.2", "1.4.9"], &["1.4.1", "1.5"]),
            ("===2004d", &["2004d", "2004D"], &["2004", "2004d-1"]),
            ("===1.0", &["1.0", "v1.0"], &["1.0.0"]),
            (">=1.0, <2.0 , !=1.5", &["1.0", "1.5.1", "2.0rc1"], &["1.5", "2.0", "0.9"]),
            (">=18446744073709551615", &[], &["1"]),
        ] {
            for version in inside {
                assert!(matches(constraint, version), "{constraint} must match {version}");
            }
            for version in outside {
                assert!(!matches(constraint, version), "{constraint} must not match {version}");
            }
        }
    }

    #[test]
    fn a_permission_holds_for_what_every_reading_finds() {
        let permits = |constraint: &str, version: &str| {
            constraint.parse::<Constraint>().unwrap().permits(&Version::parse(version))
        };
        for (constraint, inside, outside) in [
            ("*", &["1.0", "1.0rc1", "2004d", ""][..], &[][..]),
            ("==1.17", &["1.17", "1.17.0", "v1.17"], &["1.17+cpu", "1.17rc1", "1.17.post1"]),
            ("==1.17+cpu", &["1.17+cpu"], &["1.17", "1.17+gpu"]),
            ("==1.17rc1", &["1.17rc1"], &["1.17", "1.17rc2"]),
            ("!=1.17", &["1.16"], &["1.17", "1.17+cpu", "1.16rc1", "2004d"]),
            (">1.7", &["1.8", "1.7.1"], &["1.7.post1", "1.7+local", "1.8rc1"]),
            (">1.7.post1", &["1.7.post2"], &["1.7.post1", "1.7"]),
            (">=1.17", &["1.17", "1.18+cpu"], &["1.18rc1", "2.0.dev1"]),
            ("<1.17", &["1.16"], &["1.17rc1", "1.16rc1", "2004d"]),
            (">=1.0rc1,<2.0", &["1.0rc1", "1.5b1"], &["2.0rc1", "2.0.dev0"]),
            ("<2.0rc2", &["2.0rc1", "1.9"], &["2.0rc2", "2.0"]),
            ("<=1.17", &["1.17", "1.0"], &["1.17+cpu", "x"]),
            ("==1.2.*", &["1.2", "1.2.3.post1"], &["1.2.4rc1", "1.3"]),
            ("~=1.4", &["1.4", "1.9"], &["1.5rc1", "2.0"]),
            ("===2004d", &["2004d"], &["2004"]),
        ] {
            for version in inside {
                assert!(permits(constraint, version), "{constraint} must permit {version}");
            }
            for version in outside {
                assert!(!permits(constraint, version), "{constraint} must not permit {version}");
            }
        }
    }

    #[test]
    fn an_absurdly_large_version_does_not_slip_past_a_lower_bound() {
        assert!(matches(">=1.17", "18446744073709551616.0"));
        assert!(matches(">=1.17", &"9".repeat(400)));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        for (text, words) in [
            ("", "write `*`"),
            ("  ", "write `*`"),
            (">=1.0,", "write `*`"),
            ("1.17", "does not begin with one of"),
            ("^1.0", "does not begin with one of"),
            ("=1.0", "does not begin with one of"),
            (">=", "`>=`: "),
            (">=abc", "`>=abc`: "),
            (">=1.*", "may follow == and != only"),
            ("==1.*.2", "may follow == and != only"),
            ("==1.0rc1.*", "may follow == and != only"),
            ("==*", "may follow == and != only"),
            ("~=1", "at least two numbers"),
            ("~=1.0+cpu", "no local version"),
            ("~=x", "`~=x`: "),
            ("===", "without blanks"),
            ("===a b", "without blanks"),
            ("==99999999999999999999", "99999999999999999999"),
        ] {
            let fault = text.parse::<Constraint>().unwrap_err().to_string();
            assert!(fault.contains(words), "{text}: {fault}");
        }
        let long = format!(">={}", "1.".repeat(300));
        assert_eq!(long.parse::<Constraint>(), Err(ConstraintFault::TooLong));
    }

    #[test]
    fn only_the_star_is_everything() {
        assert!("*".parse::<Constraint>().unwrap().everything());
        assert!(!">=0".parse::<Constraint>().unwrap().everything());
        assert_eq!(Constraint::any(), " * ".parse().unwrap());
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_what_is_read_can_be_asked(text in "[=!<>~*,.0-9a-z+ ]{0,20}", version in "\\PC{0,20}") {
            if let Ok(constraint) = text.parse::<Constraint>() {
                let version = Version::parse(&version);
                prop_assert!(!constraint.everything() || constraint.matches(&version));
                prop_assert!(constraint.matches(&version) || !constraint.permits(&version));
            }
        }

        #[test]
        fn a_version_is_below_a_bound_or_not_below_it(a in 0_u64..50, b in 0_u64..50, c in 0_u64..50) {
            let version = Version::parse(&format!("{a}.{b}"));
            let (below, rest) = (format!("<{c}.1"), format!(">={c}.1"));
            prop_assert_ne!(
                below.parse::<Constraint>().unwrap().matches(&version),
                rest.parse::<Constraint>().unwrap().matches(&version)
            );
        }
    }
}
