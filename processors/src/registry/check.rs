//! What a lock file, a list of requirements, a software bill of materials or a list of package URLs
//! names: parsers without IO, and the judgement on each version.
//!
//! Nothing is dropped without a word: an entry that names no version of a package of an ecosystem
//! known here stands in [`Listing::unjudged`], with why. The parsers read what the clients write
//! and no more than the few fields that matter; a file that breaks off or holds a conflict marker
//! is a fault, not a shorter list.

mod cyclonedx;
mod go;
mod judge;
mod kind;
mod loose;
mod npm;
mod pnpm;
mod purl;
mod requirements;
mod spdx;
mod toml;
mod yaml;
mod yarn;

use std::collections::{BTreeMap, BTreeSet};

use weir_aggregates::registry::{
    advisory::release,
    name::{normalise, valid},
};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

pub use self::{
    judge::{Judged, judge},
    kind::Kind,
    purl::{BadPurl, Purl},
};

/// The largest file, in bytes.
pub const MAX_TEXT_BYTES: usize = 16 << 20;

/// How many different entries one file may have, judged or not.
pub const MAX_ENTRIES: usize = 50_000;

/// The longest version, in bytes.
const MAX_VERSION_BYTES: usize = 256;

/// As much of an entry as is told, in characters.
const MAX_SHOWN: usize = 200;

/// A file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CheckFault {
    /// It is too large.
    #[error("a file to be checked has at most {MAX_TEXT_BYTES} bytes")]
    TooLarge,
    /// It names too much.
    #[error("a file to be checked names at most {MAX_ENTRIES} different things")]
    TooMany,
    /// What it is cannot be told.
    #[error("it cannot be told what kind of file this is; name its kind: {}", Kind::names())]
    Unknown,
    /// It is not what it should be.
    #[error("no {kind} file can be read here: {what}")]
    Unreadable {
        /// What it should be.
        kind: Kind,
        /// What is wrong, and where.
        what: String,
    },
}

/// A version of a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// The version, as it is written there.
    pub version: String,
}

/// When a version was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dated {
    /// The time, of the newest of its files.
    pub published_at: Timestamp,
    /// Whether one of its files came later than the version.
    pub late: bool,
}

/// Something that cannot be judged, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unjudged {
    /// The entry, as much of it as tells which.
    pub entry: String,
    /// Why not.
    pub reason: String,
}

/// What a file names, each thing once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    components: BTreeMap<Component, Option<Dated>>,
    unjudged: BTreeSet<Unjudged>,
}

impl Listing {
    /// The versions of packages, with when each was published as far as the file tells.
    pub fn components(&self) -> impl Iterator<Item = (&Component, Option<Dated>)> {
        self.components.iter().map(|(component, at)| (component, *at))
    }

    /// How many versions of packages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.components.len()
    }

    /// Whether it names nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.components.is_empty() && self.unjudged.is_empty()
    }

    /// What cannot be judged.
    pub fn unjudged(&self) -> impl Iterator<Item = &Unjudged> {
        self.unjudged.iter()
    }

    /// Adds what one package URL names.
    pub fn purl(&mut self, text: &str) -> Result<(), CheckFault> {
        self.purl_or(text, None)
    }

    /// The same, with a version for where the URL names none.
    fn purl_or(&mut self, text: &str, version: Option<&str>) -> Result<(), CheckFault> {
        match Purl::parse(text) {
            Ok(purl) => match purl.version.as_deref().or(version) {
                Some(version) => self.add(purl.ecosystem, &purl.package, version),
                None => self.skip(text, "it names no version"),
            },
            Err(bad) => self.skip(text, &bad.to_string()),
        }
    }

    /// Adds a version of a package; what cannot be one is kept as that.
    fn add(
        &mut self,
        ecosystem: Ecosystem,
        package: &str,
        version: &str,
    ) -> Result<(), CheckFault> {
        self.add_dated(ecosystem, package, version, None)
    }

    /// The same, with when it was published.
    fn add_dated(
        &mut self,
        ecosystem: Ecosystem,
        package: &str,
        version: &str,
        dated: Option<Dated>,
    ) -> Result<(), CheckFault> {
        let (package, version) = (package.trim(), version.trim());
        let entry = || format!("{package}@{version}");
        let go = ecosystem == Ecosystem::Go && release::PARTS.contains(&package);
        // Bills say so of a release of Go, with the `go` before its number or without.
        let version = if go { version.strip_prefix("go").unwrap_or(version) } else { version };
        if !go && !valid(ecosystem, package) {
            let reason = format!("no package of {ecosystem} can have this name");
            return self.skip(&entry(), &reason);
        }
        if version.is_empty() || version.chars().any(|c| c.is_control() || c.is_whitespace()) {
            return self.skip(&entry(), "it names no version");
        }
        if version.len() > MAX_VERSION_BYTES {
            return self.skip(&entry(), "its version is too long to be one");
        }
        let package = normalise(ecosystem, package).into_owned();
        let component = Component { ecosystem, package, version: version.to_owned() };
        let known = self.components.entry(component).or_insert(None);
        *known = (*known).max(dated);
        self.within_bounds()
    }

    /// Notes what cannot be judged.
    fn skip(&mut self, entry: &str, reason: &str) -> Result<(), CheckFault> {
        let shown = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
        let entry: String = entry.trim().chars().take(MAX_SHOWN).map(shown).collect();
        self.unjudged.insert(Unjudged { entry, reason: reason.to_owned() });
        self.within_bounds()
    }

    fn within_bounds(&self) -> Result<(), CheckFault> {
        let n_entries = self.components.len() + self.unjudged.len();
        if n_entries > MAX_ENTRIES { Err(CheckFault::TooMany) } else { Ok(()) }
    }
}

/// Reads a file. What kind it is, its content tells where it is not said.
pub fn read(kind: Option<Kind>, text: &str) -> Result<(Kind, Listing), CheckFault> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(CheckFault::TooLarge);
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let kind = kind.or_else(|| Kind::of(text)).ok_or(CheckFault::Unknown)?;
    let mut listing = Listing::default();
    let list = &mut listing;
    match kind {
        Kind::PackageLock => npm::read(text, list),
        Kind::Yarn => yarn::read(text, list),
        Kind::Pnpm => pnpm::read(text, list),
        Kind::Cargo | Kind::Uv | Kind::Poetry => toml::read(kind, text, list),
        Kind::Requirements => requirements::read(text, list),
        Kind::GoSum => go::sum(text, list),
        Kind::GoMod => go::module(text, list),
        Kind::CycloneDx => cyclonedx::read(text, list),
        Kind::Spdx => spdx::read(text, list),
    }?;
    Ok((kind, listing))
}

/// A file is not what it should be.
fn unreadable(kind: Kind, what: &impl ToString) -> CheckFault {
    let what: String = what.to_string().chars().take(MAX_SHOWN).collect();
    CheckFault::Unreadable { kind, what }
}

/// Whether what a lock file calls a version or an address is anything but a version of the registry.
fn elsewhere(text: &str) -> bool {
    text.contains([':', '/'])
}

#[cfg(test)]
mod tests;
