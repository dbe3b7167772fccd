//! Names in addresses: of packages, and of their tarballs.

use std::{fmt, sync::Arc};

use weir_aggregates::registry::{
    name::{normalise, valid},
    osv::MAX_VERSION_BYTES,
};
use weir_events::registry::Ecosystem;

/// The longest name of a file, in bytes: with `.meta.json` after it, it still fits a file system.
pub const MAX_FILE_BYTES: usize = 240;

/// The name of a package as it was spelt: packages from before names had to be lower case are asked
/// for as they are called, and judged by the form in which names are compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// Checks a name.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        valid(Ecosystem::Npm, name).then(|| Self(name.into()))
    }

    /// As it was spelt.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As it is judged.
    #[must_use]
    pub fn judged(&self) -> String {
        normalise(Ecosystem::Npm, &self.0).into_owned()
    }

    /// Without its scope.
    #[must_use]
    pub fn unscoped(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// As part of an address: one step, also with a scope.
    #[must_use]
    pub fn in_path(&self) -> String {
        self.0.replace('/', "%2f")
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a tarball: letters, digits and `-._+!~'()@`, no dot at its beginning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File(Box<str>);

impl File {
    /// Checks a name.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b"-._+!~'()@".contains(&b);
        let good = name.len() <= MAX_FILE_BYTES
            && !name.is_empty()
            && !name.starts_with('.')
            && name.bytes().all(letter)
            // Ours, beside each file in the cache.
            && !name.ends_with(".meta.json");
        good.then(|| Self(name.into()))
    }

    /// What the tarball of a version is called where nobody calls it otherwise.
    #[must_use]
    pub fn usual(package: &Name, version: &str) -> Option<Self> {
        Self::new(&format!("{}-{version}.tgz", package.unscoped()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a text may be what a version or a tag is called: anything of bounded length that a person
/// can read, for old packages have all kinds of versions. What cannot be read is in no event.
#[must_use]
pub fn is_version(text: &str) -> bool {
    (1..=MAX_VERSION_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The version that a tarball's name tells where it is called as usual, whatever the case of the
/// package's name in it.
#[must_use]
pub fn usual_version<'a>(package: &str, file: &'a str) -> Option<&'a str> {
    let unscoped = package.rsplit('/').next()?;
    let (name, version) = file.strip_suffix(".tgz")?.split_at_checked(unscoped.len())?;
    let version = version.strip_prefix('-')?;
    (name.eq_ignore_ascii_case(unscoped) && !version.is_empty()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_asked_for_as_it_is_spelt_and_judged_without_case() {
        let name = Name::new("@Types/JSONStream").unwrap();
        assert_eq!((name.as_str(), name.unscoped()), ("@Types/JSONStream", "JSONStream"));
        assert_eq!(
            (name.judged(), name.in_path()),
            ("@types/jsonstream".into(), "@Types%2fJSONStream".into())
        );
        for bad in ["", "..", "../a", "@a", "@a/..", "a/b", "a b", "a%2fb", "a\"b", "_a"] {
            assert_eq!(Name::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_of_files_that_lead_elsewhere_are_no_names() {
        for bad in ["", ".", "..", ".a", "a/b", "a\\b", "a%b", "a\0", "a\"", "ä", "a.meta.json"] {
            assert_eq!(File::new(bad), None, "{bad}");
        }
        let name = Name::new("@s/n").unwrap();
        assert_eq!(File::usual(&name, "1.0.0-rc.1+b").unwrap().as_str(), "n-1.0.0-rc.1+b.tgz");
        assert_eq!(File::usual(&name, "1/0"), None);
    }
}
