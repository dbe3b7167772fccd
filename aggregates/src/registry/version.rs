//! Versions of packages: one type for five ecosystems, ordered as each one's own tools order them.
//!
//! Python follows PEP 440 ([`pep440`]); npm, cargo and Go follow Semantic Versioning
//! ([`semver`]); the tags and digests of container images have no order that means anything, so
//! they stand in the order of their text, only that there is one.
//!
//! Reading a version never fails: what a reader does not understand stands below everything it
//! does understand. Equality is that of the order, so `1.0` equals `1.0.0` in Python and
//! `1.0.0+a` equals `1.0.0+b` in npm. Versions of different ecosystems are ordered by ecosystem;
//! comparing them says nothing.

use std::fmt;

use weir_events::registry::Ecosystem;

use super::{pep440, semver};

/// A version of a package of one ecosystem.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(Place);

/// Declared in the order of [`Ecosystem`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Pypi(pep440::Version),
    Npm(semver::Version),
    Cargo(semver::Version),
    Go(semver::Version),
    /// A tag, or a digest.
    Docker(Box<str>),
}

impl Version {
    /// Reads a version as the ecosystem writes it, without blanks around it.
    #[must_use]
    pub fn parse(ecosystem: Ecosystem, text: &str) -> Self {
        Self(match ecosystem {
            Ecosystem::Pypi => Place::Pypi(pep440::Version::parse(text)),
            Ecosystem::Npm => Place::Npm(semver::Version::lenient(text)),
            Ecosystem::Cargo => Place::Cargo(semver::Version::lenient(text)),
            Ecosystem::Go => Place::Go(semver::Version::go(text)),
            Ecosystem::Docker => Place::Docker(text.trim().into()),
        })
    }

    /// Reads a version as sources of warnings write it, which some do more loosely than the ecosystem.
    #[must_use]
    pub fn said(ecosystem: Ecosystem, text: &str) -> Self {
        match ecosystem {
            Ecosystem::Go => Self(Place::Go(semver::Version::go_said(text))),
            _ => Self::parse(ecosystem, text),
        }
    }

    /// Whether it has a place in the order of its ecosystem's versions, not only one below them all.
    #[must_use]
    pub const fn readable(&self) -> bool {
        match &self.0 {
            Place::Pypi(version) => !version.legacy(),
            Place::Npm(version) | Place::Cargo(version) | Place::Go(version) => version.readable(),
            Place::Docker(_) => true,
        }
    }

    /// The version that a local version of Python (`2.1.0+cpu`) is one of: what is said of it is meant
    /// of that too. `None` for all others.
    #[must_use]
    pub fn public(&self) -> Option<Self> {
        match &self.0 {
            Place::Pypi(version) => version.public().map(|public| Self(Place::Pypi(public))),
            Place::Npm(_) | Place::Cargo(_) | Place::Go(_) | Place::Docker(_) => None,
        }
    }

    /// The text it was read from, without blanks around it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Place::Pypi(version) => version.as_str(),
            Place::Npm(version) | Place::Cargo(version) | Place::Go(version) => version.as_str(),
            Place::Docker(name) => name,
        }
    }

    /// The ecosystem whose version it is.
    #[must_use]
    pub const fn ecosystem(&self) -> Ecosystem {
        match &self.0 {
            Place::Pypi(_) => Ecosystem::Pypi,
            Place::Npm(_) => Ecosystem::Npm,
            Place::Cargo(_) => Ecosystem::Cargo,
            Place::Go(_) => Ecosystem::Go,
            Place::Docker(_) => Ecosystem::Docker,
        }
    }

    /// Whether installers choose it only when asked to: alpha, beta, candidate, development, a
    /// pseudo-version, or one that cannot be read. Tags never are.
    #[must_use]
    pub fn prerelease(&self) -> bool {
        match &self.0 {
            Place::Pypi(version) => version.prerelease(),
            Place::Npm(version) | Place::Cargo(version) | Place::Go(version) => {
                version.prerelease()
            }
            Place::Docker(_) => false,
        }
    }

    pub(super) const fn place(&self) -> &Place {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::{cmp::Ordering, collections::BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::registry::testing::vectors;

    const PYPI: &str = include_str!("pypi-versions.txt");
    const SEMVER: &str = include_str!("semver-versions.txt");

    /// Those of the vectors that have no place in the order but one below all that have: installers do not
    /// read them either.
    const UNREADABLE: [(Ecosystem, &[&str]); 4] = [
        (
            Ecosystem::Pypi,
            &[
                "-class.-jw.util.version.version-dev",
                "-class.-jw.util.version.version-pre",
                "-class.-jw.util.version.version-preview",
                "0.1-bulbasaur",
                "0.1-charmander",
                "0.9-doduo",
                "0.9-eevee",
                "0.9-fearow",
                "0.9-gyarados",
                "0.9-horsea",
                "0.9-ivysaur",
            ],
        ),
        (Ecosystem::Npm, &[]),
        (Ecosystem::Cargo, &[]),
        // A lone number may be an abbreviated hash, and `v1.2.3.4` is no version of a module.
        (
            Ecosystem::Go,
            &["1.1.3.4.5", "999999999999999999999999999991", "999999999999999999999999999999"],
        ),
    ];

    /// Also as sources of warnings write them.
    #[test]
    fn every_public_vector_is_ordered_right_in_each_ecosystem_it_is_about() {
        for (ecosystem, unreadable) in UNREADABLE {
            let (text, wanted) =
                if ecosystem == Ecosystem::Pypi { (PYPI, 37) } else { (SEMVER, 86) };
            for read in [Version::parse, Version::said] {
                let v = |text| read(ecosystem, text);
                let (mut n_vectors, mut lost) = (0, BTreeSet::new());
                for (left, sign, right) in vectors(text) {
                    assert_eq!(v(left).cmp(&v(right)), sign, "{ecosystem}: {left} {right}");
                    assert_eq!(v(right).cmp(&v(left)), sign.reverse(), "{right} {left}");
                    lost.extend([left, right].into_iter().filter(|text| !v(text).readable()));
                    n_vectors += 1;
                }
                assert_eq!(n_vectors, wanted, "{ecosystem}");
                assert!(lost.iter().eq(unreadable), "{ecosystem}: {lost:?}");
            }
        }
    }

    #[test]
    fn a_version_remembers_its_text_and_its_ecosystem() {
        for (ecosystem, text, prerelease) in [
            (Ecosystem::Pypi, "1.0rc1", true),
            (Ecosystem::Npm, "1.2.3-beta+x", true),
            (Ecosystem::Cargo, "1.2.3+x", false),
            (Ecosystem::Go, "v0.0.0-20200101000000-abcdefabcdef", true),
            (Ecosystem::Docker, "3.1-alpine", false),
        ] {
            let version = Version::parse(ecosystem, &format!(" {text}\n"));
            assert_eq!((version.as_str(), version.to_string().as_str()), (text, text));
            assert_eq!((version.ecosystem(), version.prerelease()), (ecosystem, prerelease));
        }
    }

    #[test]
    fn versions_of_different_ecosystems_are_never_equal() {
        let mut versions = Ecosystem::ALL.map(|ecosystem| Version::parse(ecosystem, "1.2.3"));
        versions.reverse();
        versions.sort();
        assert_eq!(versions.each_ref().map(Version::ecosystem), Ecosystem::ALL);
        assert!(versions.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn tags_are_told_apart_by_their_text() {
        let tag = |text| Version::parse(Ecosystem::Docker, text);
        assert!(tag("1.10") < tag("1.9") && tag("Latest") != tag("latest"));
        assert_eq!(tag("1.0"), tag(" 1.0"));
    }

    #[test]
    fn hostile_text_has_a_place() {
        let hostile = [
            String::new(),
            "\0".to_owned(),
            "9".repeat(8 << 10),
            "1.".repeat(4 << 10),
            format!("1.0.0-{}", "a.".repeat(4 << 10)),
            "-".repeat(8 << 10),
            "v".repeat(8 << 10),
            "+".repeat(8 << 10),
            "1.0.0-".to_owned(),
            "1.0.0-\u{1f}\u{202e}\u{feff}".to_owned(),
            "\u{661}.\u{662}.\u{663}".to_owned(),
            "=v=v= 1".to_owned(),
        ];
        for ecosystem in Ecosystem::ALL {
            let read = hostile.each_ref().map(|text| Version::parse(ecosystem, text));
            for version in &read {
                assert_eq!(version.cmp(version), Ordering::Equal);
                for other in &read {
                    assert_eq!(version.cmp(other), other.cmp(version).reverse());
                }
            }
        }
    }

    fn any_version() -> impl Strategy<Value = String> {
        prop_oneof![
            "v?[0-9]{1,2}(\\.[0-9]{1,2}){0,3}(-[a-c0-9.-]{0,5})?(\\+[a-z0-9]{1,3})?",
            "v?[0-3]\\.[0-3]\\.[0-3](-(0\\.)?2020010[1-9]000000-[a-f0-9]{12})?(\\+incompatible)?",
            "[0-9]{18,30}(\\.[0-9]{18,22}){0,2}",
            "[a-z0-9.!=v+-]{0,12}",
            "\\PC{0,12}",
        ]
    }

    fn any_ecosystem() -> impl Strategy<Value = Ecosystem> {
        prop::sample::select(Ecosystem::ALL.to_vec())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn the_order_is_total(
            ecosystem in any_ecosystem(),
            a in any_version(),
            b in any_version(),
            c in any_version(),
        ) {
            let mut three = [a, b, c].map(|text| Version::parse(ecosystem, &text));
            for a in &three {
                prop_assert_eq!(a.cmp(a), Ordering::Equal);
                for b in &three {
                    prop_assert_eq!(a.cmp(b), b.cmp(a).reverse());
                    prop_assert_eq!(a == b, a.cmp(b) == Ordering::Equal);
                    prop_assert_eq!(Some(a.cmp(b)), a.partial_cmp(b));
                }
            }
            three.sort();
            prop_assert!(three[0] <= three[1] && three[1] <= three[2] && three[0] <= three[2]);
        }

        #[test]
        fn reading_what_was_written_changes_nothing(
            ecosystem in any_ecosystem(), text in any_version()
        ) {
            let version = Version::parse(ecosystem, &text);
            prop_assert_eq!(version.as_str(), text.trim());
            prop_assert_eq!(&Version::parse(ecosystem, version.as_str()), &version);
        }
    }
}
