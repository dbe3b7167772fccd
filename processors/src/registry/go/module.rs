//! Names and versions in addresses of the module proxy protocol.

use std::fmt;

use weir_aggregates::registry::{
    name::{
        go::{escape_go, unescape_go},
        valid,
    },
    version::Version,
};
use weir_events::registry::Ecosystem;

/// The longest version or query, in bytes.
const MAX_VERSION_BYTES: usize = 128;

/// The path of a module, as modules name each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Module(Box<str>);

impl Module {
    /// Checks a path.
    #[must_use]
    pub fn new(path: &str) -> Option<Self> {
        valid(Ecosystem::Go, path).then(|| Self(path.into()))
    }

    /// Reads one as addresses spell it: an upper-case letter is `!` and its lower case. It has that
    /// one spelling only.
    #[must_use]
    pub fn read(escaped: &str) -> Option<Self> {
        Self::new(&unescape_go(escaped)?)
    }

    /// The path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as addresses spell it.
    #[must_use]
    pub fn escaped(&self) -> String {
        // What is a path of a module is ASCII without `!`.
        escape_go(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A version as modules are published with: `v1.2.3`, `v2.0.0-rc.1`, `v2.0.0+incompatible`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Canonical(Box<str>);

impl Canonical {
    /// Checks one.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let release = text.strip_prefix('v')?;
        let (release, build) =
            release.split_once('+').map_or((release, None), |(r, b)| (r, Some(b)));
        let (numbers, pre) = release.split_once('-').map_or((release, None), |(n, p)| (n, Some(p)));
        let number = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_digit())
                && (part == "0" || !part.starts_with('0'))
        };
        let identifier = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let fits = text.len() <= MAX_VERSION_BYTES
            && numbers.split('.').count() == 3
            && numbers.split('.').all(number)
            && pre.is_none_or(|pre| pre.split('.').all(identifier))
            && build.is_none_or(|build| build == "incompatible");
        fits.then(|| Self(text.into()))
    }

    /// The version.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The version as it is compared.
    #[must_use]
    pub fn version(&self) -> Version {
        Version::parse(Ecosystem::Go, &self.0)
    }

    /// The version as addresses spell it.
    #[must_use]
    pub fn escaped(&self) -> String {
        escape_go(&self.0).unwrap_or_default()
    }
}

impl fmt::Display for Canonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a version is asked for by: a version, a branch, a commit, or `latest`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Query {
    /// A version, a branch or a commit, as its owner spells it.
    Named(Box<str>),
    /// What the proxy takes for the newest.
    Latest,
}

impl Query {
    /// Reads one as addresses spell it; never one that could lead elsewhere.
    #[must_use]
    pub fn read(escaped: &str) -> Option<Self> {
        let text = unescape_go(escaped)?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._+~".contains(&b);
        let fits = (1..=MAX_VERSION_BYTES).contains(&text.len())
            && text.bytes().all(plain)
            && !text.starts_with(['.', '-']);
        fits.then(|| Self::Named(text.into()))
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(text) => f.write_str(text),
            Self::Latest => f.write_str("latest"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_module_has_one_spelling_in_addresses() {
        let azure = Module::read("github.com/!azure/x").unwrap();
        assert_eq!(
            (azure.as_str(), &*azure.escaped()),
            ("github.com/Azure/x", "github.com/!azure/x")
        );
        for bad in
            ["github.com/Azure/x", "github.com/!Azure", "github.com/../x", "x", "", "a.b/c@v1"]
        {
            assert_eq!(Module::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_whole_versions_are_versions() {
        for good in [
            "v1.2.3",
            "v0.0.0-20200101000000-abcdefabcdef",
            "v2.0.0+incompatible",
            "v1.0.0-rc.1",
            "v1.0.0-RC-1",
        ] {
            assert_eq!(Canonical::new(good).unwrap().as_str(), good);
        }
        for bad in [
            "1.2.3",
            "v1",
            "v1.2",
            "v01.2.3",
            "v1.2.3.4",
            "v1.2.3-",
            "v1.2.3+meta",
            "v1.2.3-a_b",
            "v1.2.x",
            "master",
            "v",
            "",
            "v1.2.3/..",
        ] {
            assert_eq!(Canonical::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_query_leads_nowhere_else() {
        for good in ["master", "v1", "feature-x", "abcdef123456", "v1.0.0-!r!c1"] {
            assert!(Query::read(good).is_some(), "{good}");
        }
        for bad in ["", ".", "..", "-x", "a/b", "a b", "a\0", "Master", "a%2e", &"a".repeat(129)] {
            assert_eq!(Query::read(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_escaped_is_read_again(
            path in "[a-z]{1,5}\\.[a-z]{2,3}(/[a-zA-Z]{1,6}){1,3}",
            version in "v[1-9]\\.[0-9]\\.[0-9](-[a-zA-Z]{1,5}\\.[1-9])?",
        ) {
            // A few parts are names of devices somewhere (`PrN`), which no module path has.
            let module = Module::new(&path);
            prop_assume!(module.is_some());
            let module = module.unwrap();
            prop_assert_eq!(Module::read(&module.escaped()), Some(module));
            let version = Canonical::new(&version).unwrap();
            let query = Query::read(&version.escaped());
            prop_assert_eq!(query, Some(Query::Named(version.as_str().into())));
        }
    }
}
