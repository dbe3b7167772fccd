//! What of a cache somebody means: everything, an ecosystem, packages of it, versions of them. Pure,
//! so that every instance that reads a purge in the log finds the same.

use weir_events::registry::{CachePurged, Ecosystem};

use super::{
    constraint::{Constraint, ConstraintFault},
    name::{normalise, pattern::Pattern},
    version::Version,
};

/// What is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    All,
    Ecosystem(Ecosystem),
    Packages { ecosystem: Ecosystem, package: Pattern, versions: Constraint },
}

/// It means nothing that can be said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A package is one of an ecosystem.
    #[error("a package is looked for in one ecosystem: name it")]
    NoEcosystem,
    /// A version is one of a package.
    #[error("versions are those of packages: name them, `*` for all")]
    NoPackage,
    /// No package can have such a name.
    #[error("`{pattern}` is no pattern over packages: {cause}")]
    BadPattern {
        /// The pattern, or as much as a message should repeat.
        pattern: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The ecosystem does not write versions so.
    #[error("`{constraint}` is no constraint on versions: {cause}")]
    BadConstraint {
        /// The constraint, or as much as a message should repeat.
        constraint: String,
        /// What is wrong with it.
        cause: ConstraintFault,
    },
}

impl Selection {
    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self(Kind::All)
    }

    /// What three words mean, each of which may be missing: then it means all.
    pub fn new(
        ecosystem: Option<Ecosystem>,
        package: Option<&str>,
        versions: Option<&str>,
    ) -> Result<Self, Refusal> {
        let kind = match (ecosystem, package, versions) {
            (_, None, Some(_)) => return Err(Refusal::NoPackage),
            (None, Some(_), _) => return Err(Refusal::NoEcosystem),
            (None, None, None) => Kind::All,
            (Some(ecosystem), None, None) => Kind::Ecosystem(ecosystem),
            (Some(ecosystem), Some(package), versions) => {
                let bad = |cause| Refusal::BadPattern { pattern: short(package), cause };
                Pattern::objection(ecosystem, package).map_or(Ok(()), |cause| Err(bad(cause)))?;
                let text = versions.unwrap_or("*");
                let versions = Constraint::parse(ecosystem, text)
                    .map_err(|cause| Refusal::BadConstraint { constraint: short(text), cause })?;
                let package = Pattern::new(ecosystem, package);
                Kind::Packages { ecosystem, package, versions }
            }
        };
        Ok(Self(kind))
    }

    /// What a purge meant. One that this build cannot read meant at least its ecosystem: what is
    /// forgotten too much is fetched again, what is forgotten too little stays.
    #[must_use]
    pub fn of(purged: &CachePurged) -> Self {
        let CachePurged { ecosystem, package, versions, .. } = purged;
        Self::new(*ecosystem, package.as_deref(), versions.as_deref())
            .unwrap_or_else(|_| Self(ecosystem.map_or(Kind::All, Kind::Ecosystem)))
    }

    /// The ecosystem, where only one is meant.
    #[must_use]
    pub const fn ecosystem(&self) -> Option<Ecosystem> {
        match self.0 {
            Kind::All => None,
            Kind::Ecosystem(ecosystem) | Kind::Packages { ecosystem, .. } => Some(ecosystem),
        }
    }

    /// Whether a file is meant, of a package in any spelling. One whose version nobody can tell is: what is forgotten too much is
    /// fetched again.
    #[must_use]
    pub fn has_file(&self, ecosystem: Ecosystem, package: &str, version: Option<&Version>) -> bool {
        self.has_package(ecosystem, Some(package))
            && match &self.0 {
                Kind::Packages { versions, .. } => {
                    version.is_none_or(|version| versions.matches(version))
                }
                Kind::All | Kind::Ecosystem(_) => true,
            }
    }

    /// Whether what is known of a package as a whole is meant, whichever versions are; or what is
    /// known of no package.
    #[must_use]
    pub fn has_package(&self, ecosystem: Ecosystem, package: Option<&str>) -> bool {
        match &self.0 {
            Kind::All => true,
            Kind::Ecosystem(meant) => *meant == ecosystem,
            Kind::Packages { ecosystem: meant, package: pattern, .. } => {
                let fits = |name| pattern.matches(&normalise(ecosystem, name));
                *meant == ecosystem && package.is_some_and(fits)
            }
        }
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use weir_events::timestamp::Timestamp;

    use super::*;

    const PYPI: Option<Ecosystem> = Some(Ecosystem::Pypi);

    #[test]
    fn a_file_is_meant_by_its_ecosystem_its_package_and_its_version() {
        let version = |text: &str| Version::parse(Ecosystem::Pypi, text);
        for (ecosystem, package, versions, wanted) in [
            (None, None, None, [true; 4]),
            (PYPI, None, None, [true, true, true, false]),
            (PYPI, Some("S*x"), None, [true, true, false, false]),
            (PYPI, Some("six"), Some(">=1.17"), [true, false, false, false]),
            (PYPI, Some("*"), Some("<1.17"), [false, true, true, false]),
            (Some(Ecosystem::Npm), Some("*"), None, [false, false, false, true]),
        ] {
            let selection = Selection::new(ecosystem, package, versions).unwrap();
            let found = [
                selection.has_file(Ecosystem::Pypi, "six", Some(&version("1.17.0"))),
                selection.has_file(Ecosystem::Pypi, "six", Some(&version("1.16"))),
                selection.has_file(Ecosystem::Pypi, "attrs", Some(&version("1.0"))),
                selection.has_file(Ecosystem::Npm, "six", Some(&version("1.17"))),
            ];
            assert_eq!(found, wanted, "{ecosystem:?} {package:?} {versions:?}");
            assert_eq!(selection.ecosystem(), ecosystem);
        }
    }

    #[test]
    fn what_cannot_be_told_is_meant_too_and_lists_are_meant_whole() {
        let some = Selection::new(PYPI, Some("six"), Some(">=1.17")).unwrap();
        assert!(some.has_file(Ecosystem::Pypi, "six", None));
        assert!(some.has_package(Ecosystem::Pypi, Some("six")));
        assert!(!some.has_package(Ecosystem::Pypi, None), "the index itself is no package");
        assert!(Selection::new(PYPI, None, None).unwrap().has_package(Ecosystem::Pypi, None));
    }

    #[test]
    fn what_means_nothing_is_refused_and_never_means_more() {
        for (ecosystem, package, versions) in [
            (None, Some("six"), None),
            (None, Some("six"), Some("*")),
            (PYPI, None, Some("*")),
            (PYPI, Some(""), None),
            (PYPI, Some("a b"), None),
            (PYPI, Some("six"), Some("^1")),
            (PYPI, Some("six"), Some("")),
        ] {
            let refused = Selection::new(ecosystem, package, versions);
            assert!(refused.is_err(), "{ecosystem:?} {package:?} {versions:?}");
        }
    }

    #[test]
    fn a_purge_of_a_newer_weir_that_cannot_be_read_means_its_ecosystem() {
        let purged = CachePurged {
            ecosystem: PYPI,
            package: Some("six".to_owned()),
            versions: Some("in a syntax of tomorrow".to_owned()),
            before: Timestamp::EPOCH,
            n_files: 0,
            size_bytes: 0,
            n_documents: 0,
        };
        assert_eq!(Selection::of(&purged), Selection::new(PYPI, None, None).unwrap());
        let readable = CachePurged { versions: None, ..purged };
        assert_eq!(Selection::of(&readable), Selection::new(PYPI, Some("six"), None).unwrap());
    }
}
