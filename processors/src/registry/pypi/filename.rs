//! Names in addresses and on disk: which are taken at all, and which version a file's name tells.
//!
//! Follows PEP 427 (wheels) and PEP 625 with what was usual before it (source distributions). A
//! name that only looks like a version (eggs, installers, dumb archives) tells none: what cannot
//! be told is not guessed, and judged as unknown.

use std::fmt;

use weir_aggregates::registry::{
    name::{normalise, valid},
    version::Version,
};
use weir_events::registry::Ecosystem;

/// The longest name of a file, in bytes: with `.meta.json` after it, it still fits a file system.
pub const MAX_FILENAME_BYTES: usize = 240;

/// The name of a Python project, in normal form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Project(Box<str>);

impl Project {
    /// Checks and normalises a name.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        valid(Ecosystem::Pypi, name).then(|| Self(normalise(Ecosystem::Pypi, name).into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a file: letters, digits and `._+-!~`, no dot at its beginning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Filename(Box<str>);

impl Filename {
    /// Checks a name.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b"._+-!~".contains(&b);
        let good = name.len() <= MAX_FILENAME_BYTES
            && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.bytes().all(letter)
            // Ours, beside each file in the cache.
            && !name.ends_with(".meta.json");
        good.then(|| Self(name.into()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the file a sidecar belongs to, and which sidecar it is.
    #[must_use]
    pub fn sidecar(&self) -> Option<(Self, Sidecar)> {
        let (of, sidecar) = match self.0.strip_suffix(".metadata") {
            Some(of) => (of, Sidecar::Metadata),
            None => (self.0.strip_suffix(".asc")?, Sidecar::Signature),
        };
        Some((Self::new(of)?, sidecar))
    }

    /// The version this name tells, for a file of this project. A sidecar is of the version of the
    /// file it belongs to.
    #[must_use]
    pub fn version(&self, project: &Project) -> Option<Version> {
        match self.sidecar() {
            Some((of, _)) => of.version_text(project).map(read_version),
            None => self.version_text(project).map(read_version),
        }
    }

    fn version_text(&self, project: &Project) -> Option<&str> {
        if let Some(stem) = strip_suffix_any_case(&self.0, ".whl") {
            let parts: Vec<_> = stem.split('-').collect();
            let [name, version, ..] = parts[..] else { return None };
            let whole = parts.len() == 5 || parts.len() == 6;
            return (whole && same(name, project) && !version.is_empty()).then_some(version);
        }
        let stem = [".tar.gz", ".tgz", ".zip", ".tar.bz2", ".tar.xz", ".tar.Z", ".tar"]
            .into_iter()
            .find_map(|suffix| strip_suffix_any_case(&self.0, suffix))?;
        // The name may hold dashes itself, and so may an old version: the split is right where
        // what stands before it is this very project. A built archive (`six-1.0.linux-x86_64`)
        // has a platform where its version ends, and tells none.
        let version = stem
            .match_indices('-')
            .find_map(|(at, _)| same(stem.get(..at)?, project).then(|| stem.get(at + 1..))?)?;
        (!version.is_empty() && !names_a_platform(version)).then_some(version)
    }
}

impl fmt::Display for Filename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What may lie beside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sidecar {
    /// Core metadata (PEP 658).
    Metadata,
    /// A detached PGP signature.
    Signature,
}

impl Sidecar {
    /// What is added to the file's address.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Metadata => ".metadata",
            Self::Signature => ".asc",
        }
    }
}

/// Reads a version as it stands in a file's name, where `_` is written for `-`.
fn read_version(text: &str) -> Version {
    Version::parse(Ecosystem::Pypi, &text.replace('_', "-"))
}

fn same(name: &str, project: &Project) -> bool {
    normalise(Ecosystem::Pypi, name) == project.as_str()
}

fn strip_suffix_any_case<'a>(name: &'a str, suffix: &str) -> Option<&'a str> {
    let (stem, end) = name.split_at_checked(name.len().checked_sub(suffix.len())?)?;
    end.eq_ignore_ascii_case(suffix).then_some(stem)
}

fn names_a_platform(version: &str) -> bool {
    let lower = version.to_ascii_lowercase();
    [".linux-", ".win32", ".win-", ".macosx-", ".darwin-", ".cygwin-"]
        .iter()
        .any(|p| lower.contains(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(project: &str, file: &str) -> Option<String> {
        let project = Project::new(project).unwrap();
        Filename::new(file).unwrap().version(&project).map(|v| v.to_string())
    }

    #[test]
    fn wheels_and_source_distributions_tell_their_version() {
        for (project, file, version) in [
            ("six", "six-1.16.0-py2.py3-none-any.whl", "1.16.0"),
            ("six", "six-1.16.0.tar.gz", "1.16.0"),
            ("six", "six-1.16.0.zip", "1.16.0"),
            ("six", "six-1.16.0.tar.bz2", "1.16.0"),
            ("numpy", "numpy-1.0-1-cp311-cp311-manylinux_2_17_x86_64.whl", "1.0"),
            ("zope.interface", "zope.interface-5.0.0.tar.gz", "5.0.0"),
            ("zope.interface", "zope_interface-5.0.0-cp39-cp39-win32.whl", "5.0.0"),
            ("Flask-SQLAlchemy", "Flask-SQLAlchemy-3.0.tar.gz", "3.0"),
            ("foo", "foo-2-1.0.tar.gz", "2-1.0"),
            ("foo-2", "foo-2-1.0.tar.gz", "1.0"),
            ("torch", "torch-2.1.0+cpu-cp310-cp310-linux_x86_64.whl", "2.1.0+cpu"),
            ("foo", "foo-1.0_1.tar.gz", "1.0-1"),
            ("foo", "FOO-1.0.TAR.GZ", "1.0"),
            ("pytz", "pytz-2004d.tar.gz", "2004d"),
            ("six", "six-1.16.0-py2.py3-none-any.whl.metadata", "1.16.0"),
            ("six", "six-1.16.0.tar.gz.asc", "1.16.0"),
        ] {
            assert_eq!(told(project, file).as_deref(), Some(version), "{file}");
        }
    }

    #[test]
    fn what_a_name_does_not_tell_is_not_guessed() {
        for (project, file) in [
            ("six", "six-1.16.0-py3.9.egg"),
            ("six", "six-1.16.0.win32.exe"),
            ("six", "six-1.16.0.linux-x86_64.tar.gz"),
            ("six", "six-1.16.0-py3-none.whl"),
            ("six", "seven-1.16.0-py3-none-any.whl"),
            ("six", "seven-1.16.0.tar.gz"),
            ("six", "six.tar.gz"),
            ("six", "six-.tar.gz"),
            ("six", "six--py3-none-any.whl"),
            ("six", "six-1.0.rpm"),
        ] {
            assert_eq!(told(project, file), None, "{file}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_no_names() {
        for bad in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            ".hidden",
            "-x",
            "a b",
            "a\0",
            "ä.whl",
            "a%2eb",
            "six-1.0.whl.meta.json",
            &"x".repeat(241),
        ] {
            assert_eq!(Filename::new(bad), None, "{bad:?}");
        }
        assert_eq!(Project::new("../six"), None);
        assert_eq!(Project::new("Zope.Interface").unwrap().as_str(), "zope-interface");
    }

    #[test]
    fn a_sidecar_knows_whose_it_is() {
        let wheel = Filename::new("six-1.0-py3-none-any.whl").unwrap();
        let beside = |suffix| Filename::new(&format!("{wheel}{suffix}")).unwrap().sidecar();
        assert_eq!(beside(".metadata"), Some((wheel.clone(), Sidecar::Metadata)));
        assert_eq!(beside(".asc"), Some((wheel.clone(), Sidecar::Signature)));
        assert_eq!(wheel.sidecar(), None);
    }
}
