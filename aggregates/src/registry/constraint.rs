//! What a rule says about versions, in the syntax of the ecosystem it is about.
//!
//! | ecosystem | syntax | example |
//! | --- | --- | --- |
//! | pypi | PEP 440 specifiers ([`pep440::constraint`](super::pep440::constraint)) | `>=1.17,!=1.18.2` |
//! | npm | node's ranges | `^1.2 \|\| 3.x` |
//! | cargo | requirements | `>=1, <2` |
//! | go | comparators | `>=v1.2.0 <v1.4.0` |
//! | docker | tags, with `*` for any run of characters, and digests | `3.1-* \|\| latest` |
//!
//! `*` is every version everywhere, also of those that cannot be read. A rule forbids, so it must
//! not miss a version: bounds are compared by the order of versions alone, and the installers'
//! rule that hides prereleases from ranges does not apply (`<1.3.0` forbids `1.3.0-beta`). In npm,
//! cargo and Go a version with missing numbers stands for all that begin with it, prereleases
//! included.
//!
//! A waiver permits, so it must not hold more than it says ([`Constraint::permits`]): a version is in
//! it where both the order and the installers' rule put it, so that `<1.3.0` permits no `1.3.0-beta`.

mod tags;

use weir_events::registry::Ecosystem;

use self::tags::Tags;
use super::{
    pep440,
    semver::{Front, Range},
    version::{Place, Version},
};

/// The longest constraint, in characters.
pub const MAX_CHARS: usize = pep440::constraint::MAX_CHARS;

/// How many comparators, clauses or tags a constraint may hold.
pub const MAX_COMPARATORS: usize = 64;

/// Which versions of one ecosystem a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constraint(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Any,
    Pypi(pep440::Constraint),
    Npm(Range),
    Cargo(Range),
    Go(Range),
    Docker(Tags),
}

/// The text is no constraint on versions of its ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintFault {
    /// There is nothing to read, or nothing where something has to be.
    #[error("a constraint, or a part of it, is empty; write `*` for every version")]
    Empty,
    /// There is too much to read.
    #[error("a constraint has at most {MAX_CHARS} characters")]
    TooLong,
    /// There are too many parts.
    #[error("a constraint has at most {MAX_COMPARATORS} parts")]
    TooMany,
    /// It is no PEP 440 specifier.
    #[error(transparent)]
    Python(#[from] pep440::ConstraintFault),
    /// A part of it cannot be read.
    #[error("`{clause}`: {cause}")]
    BadClause {
        /// The part, or as much as a message should repeat.
        clause: String,
        /// What is wrong with it.
        cause: &'static str,
    },
}

impl Constraint {
    /// Every version, also those that cannot be read, and of any ecosystem.
    #[must_use]
    pub const fn any() -> Self {
        Self(Kind::Any)
    }

    /// Reads a constraint as the ecosystem writes it.
    pub fn parse(ecosystem: Ecosystem, text: &str) -> Result<Self, ConstraintFault> {
        let text = text.trim();
        if text.is_empty() {
            return Err(ConstraintFault::Empty);
        }
        if text == "*" {
            return Ok(Self::any());
        }
        if text.chars().nth(MAX_CHARS).is_some() {
            return Err(ConstraintFault::TooLong);
        }
        let range = |front, kind: fn(Range) -> Kind| {
            let range = Range::parse(front, text)?;
            Ok(if range.everything() { Kind::Any } else { kind(range) })
        };
        match ecosystem {
            Ecosystem::Pypi if text.split(',').nth(MAX_COMPARATORS).is_some() => {
                Err(ConstraintFault::TooMany)
            }
            Ecosystem::Pypi => Ok(Kind::Pypi(text.parse()?)),
            Ecosystem::Npm => range(Front::Npm, Kind::Npm),
            Ecosystem::Cargo => range(Front::Cargo, Kind::Cargo),
            Ecosystem::Go => range(Front::Go, Kind::Go),
            Ecosystem::Docker => {
                let tags = Tags::parse(text)?;
                Ok(if tags.everything() { Kind::Any } else { Kind::Docker(tags) })
            }
        }
        .map(Self)
    }

    /// Whether no version is outside it, as with `*`.
    #[must_use]
    pub const fn everything(&self) -> bool {
        matches!(self.0, Kind::Any)
    }

    /// The digests of images that it names. A pattern names none.
    pub fn digests(&self) -> impl Iterator<Item = &str> {
        let tags = if let Kind::Docker(tags) = &self.0 { Some(tags) } else { None };
        tags.into_iter().flat_map(Tags::digests)
    }

    /// Whether a version is one of those. No version of another ecosystem is.
    #[must_use]
    pub fn matches(&self, version: &Version) -> bool {
        match (&self.0, version.place()) {
            (Kind::Any, _) => true,
            (Kind::Pypi(constraint), Place::Pypi(version)) => constraint.matches(version),
            (Kind::Npm(range), Place::Npm(version))
            | (Kind::Cargo(range), Place::Cargo(version))
            | (Kind::Go(range), Place::Go(version)) => range.contains(version),
            (Kind::Docker(tags), Place::Docker(name)) => tags.contain(name),
            _ => false,
        }
    }

    /// Whether a version is one of those however they are read: for what is permitted. Never where
    /// [`Constraint::matches`] is not.
    #[must_use]
    pub fn permits(&self, version: &Version) -> bool {
        match (&self.0, version.place()) {
            (Kind::Pypi(constraint), Place::Pypi(version)) => constraint.permits(version),
            (Kind::Npm(range), Place::Npm(version))
            | (Kind::Cargo(range), Place::Cargo(version))
            | (Kind::Go(range), Place::Go(version)) => range.permits(version),
            // Neither knows more than one reading.
            (Kind::Any | Kind::Docker(_), _) => self.matches(version),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(ecosystem: Ecosystem, constraint: &str, version: &str) -> bool {
        let version = Version::parse(ecosystem, version);
        Constraint::parse(ecosystem, constraint).unwrap().matches(&version)
    }

    #[test]
    fn each_ecosystem_speaks_its_own_language() {
        for (ecosystem, constraint, inside, outside) in [
            (Ecosystem::Pypi, "~=1.4,!=1.4.2", "1.5rc1", "1.4.2"),
            (Ecosystem::Npm, " ^1.2 || 3.x ", "3.0.0-beta", "2.0.0-beta"),
            (Ecosystem::Cargo, "1.2.3", "1.9.0", "2.0.0"),
            (Ecosystem::Go, ">=v1.2.0 <v1.4.0", "v1.3.0", "v1.4.0"),
            (Ecosystem::Docker, "3.1-* || latest", "3.1-alpine", "3.10"),
        ] {
            assert!(matches(ecosystem, constraint, inside), "{ecosystem}: {constraint} {inside}");
            assert!(
                !matches(ecosystem, constraint, outside),
                "{ecosystem}: {constraint} {outside}"
            );
        }
        for ecosystem in [Ecosystem::Npm, Ecosystem::Cargo] {
            assert!(matches(ecosystem, "<1.3.0", "1.3.0-beta"), "{ecosystem}");
        }
        assert!(matches(Ecosystem::Go, "<v1.3.0", "v1.3.0-beta"));
    }

    #[test]
    fn a_permission_holds_a_prerelease_only_where_one_is_named() {
        let permits = |ecosystem, constraint: &str, version: &str| {
            let version = Version::parse(ecosystem, version);
            Constraint::parse(ecosystem, constraint).unwrap().permits(&version)
        };
        for (ecosystem, constraint, inside, outside) in [
            (Ecosystem::Npm, "<1.3.0", "1.2.9", "1.3.0-beta"),
            (Ecosystem::Npm, "^1.2", "1.9.0", "1.5.0-beta"),
            (Ecosystem::Npm, "<1.3.0", "0.0.0", "latest"),
            (Ecosystem::Npm, "1.2.3-b.1", "1.2.3-b.1", "1.2.3-b.2"),
            (Ecosystem::Npm, ">=1.2.3-b <2", "1.2.3-c", "1.2.4-c"),
            (Ecosystem::Npm, "<1.3.0 || 2.0.0-a", "2.0.0-a", "1.3.0-a"),
            (Ecosystem::Cargo, "1", "1.4.0", "1.4.0-alpha"),
            (Ecosystem::Cargo, "=1.2.3", "1.2.3+build", "1.2.3-a"),
            (Ecosystem::Go, ">=v1.2.0 <v1.4.0", "v1.3.0", "v1.4.0-0.20200101000000-abcdefabcdef"),
            (
                Ecosystem::Go,
                "v0.0.0-20200101000000-abcdefabcdef",
                "v0.0.0-20200101000000-abcdefabcdef",
                "v0.0.0-20200102000000-abcdefabcdef",
            ),
            (Ecosystem::Docker, "3.1-*", "3.1-alpine", "3.10"),
            (Ecosystem::Pypi, "==1.17", "1.17.0", "1.17+cpu"),
        ] {
            assert!(permits(ecosystem, constraint, inside), "{ecosystem}: {constraint} {inside}");
            let outside = permits(ecosystem, constraint, outside);
            assert!(!outside, "{ecosystem}: {constraint}");
        }
        for ecosystem in Ecosystem::ALL {
            assert!(permits(ecosystem, "*", "1.0.0-beta") && permits(ecosystem, "*", ""));
        }
    }

    #[test]
    fn the_star_is_every_version_everywhere_and_little_else_is() {
        for ecosystem in Ecosystem::ALL {
            let star = Constraint::parse(ecosystem, " * ").unwrap();
            assert!(star.everything() && star == Constraint::any());
            for version in ["", "1.0", "\0", "v2", "sha256:0"] {
                assert!(star.matches(&Version::parse(ecosystem, version)));
            }
        }
        for (ecosystem, constraint, everything) in [
            (Ecosystem::Pypi, ">=0", false),
            (Ecosystem::Npm, "x", true),
            (Ecosystem::Npm, ">=0", false),
            (Ecosystem::Cargo, "*.*", true),
            (Ecosystem::Go, ">=v0.0.0", false),
            (Ecosystem::Docker, "1.* || **", true),
            (Ecosystem::Docker, "latest", false),
        ] {
            let read = Constraint::parse(ecosystem, constraint).unwrap();
            assert_eq!(read.everything(), everything, "{ecosystem}: {constraint}");
        }
    }

    #[test]
    fn a_constraint_is_about_its_own_ecosystem_only() {
        for (one, constraint) in [
            (Ecosystem::Pypi, ">=1"),
            (Ecosystem::Npm, ">=1"),
            (Ecosystem::Cargo, ">=1"),
            (Ecosystem::Go, ">=v1"),
            (Ecosystem::Docker, "2.*"),
        ] {
            let constraint = Constraint::parse(one, constraint).unwrap();
            for other in Ecosystem::ALL {
                let version = if other == Ecosystem::Go { "v2.0.0" } else { "2.0.0" };
                assert_eq!(
                    constraint.matches(&Version::parse(other, version)),
                    one == other,
                    "{one} {other}"
                );
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_its_reason() {
        for (ecosystem, text, words) in [
            (Ecosystem::Pypi, "^1.17", "does not begin with one of"),
            (Ecosystem::Npm, ">=1,<2", "is no version"),
            (Ecosystem::Cargo, "1 || 2", "nor a requirement"),
            (Ecosystem::Go, "^v1", "is no version"),
            (Ecosystem::Docker, "<3.1", "no order"),
        ] {
            let fault = Constraint::parse(ecosystem, text).unwrap_err().to_string();
            assert!(fault.contains(words), "{ecosystem}: {text}: {fault}");
        }
        for ecosystem in Ecosystem::ALL {
            let fault = |text: &str| Constraint::parse(ecosystem, text).unwrap_err();
            assert_eq!((fault(""), fault(" \t")), (ConstraintFault::Empty, ConstraintFault::Empty));
            assert_eq!(fault(&"1".repeat(MAX_CHARS + 1)), ConstraintFault::TooLong);
            assert_eq!(fault(&"ö".repeat(8 << 10)), ConstraintFault::TooLong);
            assert!(Constraint::parse(ecosystem, &"ö".repeat(MAX_CHARS)).is_err());
        }
        let clauses = |n| vec![">=1"; n].join(",");
        assert!(Constraint::parse(Ecosystem::Pypi, &clauses(MAX_COMPARATORS)).is_ok());
        let too_many = Constraint::parse(Ecosystem::Pypi, &clauses(MAX_COMPARATORS + 1));
        assert_eq!(too_many, Err(ConstraintFault::TooMany));
    }

    fn any_ecosystem() -> impl Strategy<Value = Ecosystem> {
        prop::sample::select(Ecosystem::ALL.to_vec())
    }

    fn semver() -> impl Strategy<Value = Ecosystem> {
        prop::sample::select(vec![Ecosystem::Npm, Ecosystem::Cargo, Ecosystem::Go])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn reading_never_panics_and_what_is_read_can_be_asked(
            ecosystem in any_ecosystem(),
            text in "[\\^=<>~*,.0-3xXv|+ a-]{0,20}|\\PC{0,30}",
            version in "[0-9.v-]{0,8}|\\PC{0,20}",
        ) {
            if let Ok(constraint) = Constraint::parse(ecosystem, &text) {
                let version = Version::parse(ecosystem, &version);
                prop_assert!(!constraint.everything() || constraint.matches(&version));
                prop_assert!(constraint.matches(&version) || !constraint.permits(&version));
            }
        }

        #[test]
        fn bounds_say_what_the_order_says(
            ecosystem in semver(),
            version in "v[0-3]\\.[0-3]\\.[0-3](-[a-c0-3]{1,2})?",
            bound in "[0-3]\\.[0-3]\\.[0-3](-[1-3a-c])?",
        ) {
            let of = |text: &str| Version::parse(ecosystem, text);
            let order = of(&version).cmp(&of(&bound));
            for (sign, holds) in [
                (">=", order.is_ge()),
                (">", order.is_gt()),
                ("<=", order.is_le()),
                ("<", order.is_lt()),
                ("=", order.is_eq()),
            ] {
                prop_assert_eq!(matches(ecosystem, &format!("{sign}{bound}"), &version), holds);
            }
        }

        #[test]
        fn what_cargo_takes_for_a_match_is_one_and_no_other_release_is(
            requirement in prop::collection::vec(
                "(\\^|~|=|>|>=|<|<=|>= )?[0-3](\\.[0-3](\\.[0-3](-[a-c1-3]\\.?[0-3])?|\\.\\*)?|\\.[x*])?",
                1..3,
            ),
            version in "[0-3]\\.[0-3]\\.[0-3](-[a-c1-3]\\.?[0-3])?(\\+[a-c])?",
            other in "[0-3]\\.[0-3]\\.[0-3](-[a-c1-3]\\.?[0-3])?(\\+[a-c])?",
        ) {
            let requirement = requirement.join(", ");
            let theirs = ::semver::VersionReq::parse(&requirement).unwrap();
            let [v, w] = [&version, &other].map(|text| ::semver::Version::parse(text).unwrap());
            let of = |text: &str| Version::parse(Ecosystem::Cargo, text);
            prop_assert_eq!(of(&version).cmp(&of(&other)), v.cmp_precedence(&w));
            let (ours, theirs) =
                (matches(Ecosystem::Cargo, &requirement, &version), theirs.matches(&v));
            prop_assert!(ours || !theirs, "{} {}", requirement, version);
            prop_assert!(ours == theirs || !v.pre.is_empty(), "{} {}", requirement, version);
        }

        #[test]
        fn a_caret_holds_whatever_a_tilde_holds_and_a_tilde_the_version_itself(
            cargo in any::<bool>(),
            numbers in "[1-3](\\.[0-3]){0,2}",
            version in "[0-3]\\.[0-3]\\.[0-3](-[a-c])?",
        ) {
            let ecosystem = if cargo { Ecosystem::Cargo } else { Ecosystem::Npm };
            let holds = |sign: &str| matches(ecosystem, &format!("{sign}{numbers}"), &version);
            prop_assert!(holds("^") || !holds("~"));
            prop_assert!(holds("~") || !holds("="));
            prop_assert!(holds(">=") || !holds("^"));
        }
    }
}
