//! Records in the OSV format (schema 1.7.5), and what they say about the packages we serve.
//!
//! Reading is tolerant where a newer source may know more than we do: unknown members, ecosystems,
//! kinds of severity and kinds of range are passed over. It is strict about what decides whether a
//! version is affected: where that has another shape than it must have, the record is refused,
//! never read as "nothing is affected". A version of a range that has no place among versions ends
//! nothing ([`ranges`]).

pub mod bound;
pub mod ranges;
mod raw;
pub mod severity;

use std::collections::BTreeMap;

use weir_events::{
    registry::{
        Ecosystem,
        advisory::{Advisory, Affected, Class, Severity, Window},
    },
    timestamp::Timestamp,
};

use self::{
    ranges::Range,
    raw::{AffectedSpecific, RawRecord, RecordSpecific, lenient},
};
use super::{advisory::digest, name::normalise, version::Version};
use crate::words::is_hidden;

/// The largest record that is read, in bytes.
pub const MAX_RECORD_BYTES: usize = 8 << 20;

/// The longest id or alias, in bytes.
pub const MAX_ID_BYTES: usize = 128;

/// The longest name of a package, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// The longest version, in bytes.
pub const MAX_VERSION_BYTES: usize = 256;

/// How many packages of one ecosystem one advisory is about. A record about more becomes several
/// ([`part_id`]).
pub const MAX_PACKAGES: usize = 500;

/// How many packages of one ecosystem a record may be about.
pub const MAX_RECORD_PACKAGES: usize = MAX_PARTS * MAX_PACKAGES;

/// How many advisories a record becomes at most, for one ecosystem.
pub const MAX_PARTS: usize = 40;

/// What stands between the id of a record and the number of its part.
const PART: char = '#';

/// How many aliases are kept; they serve to find records of the same thing.
pub const MAX_ALIASES: usize = 64;

/// How much of a summary is kept, in characters.
pub const MAX_SUMMARY_CHARS: usize = 200;

/// The record says nothing that we could go by.
#[derive(Debug, thiserror::Error)]
pub enum RecordFault {
    /// It is larger than any record should be.
    #[error("a record of {0} bytes; {MAX_RECORD_BYTES} are read at most")]
    TooLarge(usize),
    /// It is no JSON, or what decides about versions has another shape than OSV says.
    #[error("could not read an OSV record")]
    Unreadable(#[source] serde_json::Error),
    /// Its id is empty, too long or not printable.
    #[error(
        "`{0}` is not the id of an advisory: 1 to {MAX_ID_BYTES} printable ASCII characters, none of them `{PART}`"
    )]
    BadId(String),
    /// A part of it is larger than can be kept.
    #[error("{id} cannot be kept: {cause}")]
    OutOfBounds {
        /// The record.
        id: String,
        /// Which part, and its bound.
        cause: &'static str,
    },
}

/// A record, as far as it is about ecosystems we serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its id: `GHSA-…`, `MAL-…`, `PYSEC-…`.
    pub id: String,
    /// When it was last touched, where it says so.
    pub modified: Option<Timestamp>,
    /// When it was withdrawn, if it was. A withdrawn record affects nothing.
    pub withdrawn: Option<Timestamp>,
    /// Other names of the same thing, sorted.
    pub aliases: Vec<String>,
    /// What it is about, in one line of bounded length.
    pub summary: String,
    /// Whether it warns of something that was published to do harm.
    pub malware: bool,
    /// What is affected, in the order of the record.
    pub entries: Vec<Entry>,
}

/// One entry of a record's list of what is affected. Several may be about one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The ecosystem.
    pub ecosystem: Ecosystem,
    /// The package, by its normalised name.
    pub package: String,
    /// How bad it is here: the package's own severity where it has one, else the record's.
    pub severity: Severity,
    /// Whether this is for information only: nothing that can be attacked.
    pub notice: bool,
    /// Affected versions by name.
    pub versions: Vec<String>,
    /// Ranges of affected versions, those of commits left out.
    pub ranges: Vec<Range>,
}

/// The ecosystem we serve under OSV's name for it; what follows a `:` names a part of it.
#[must_use]
pub fn ecosystem(name: &str) -> Option<Ecosystem> {
    match name.split(':').next()? {
        "PyPI" => Some(Ecosystem::Pypi),
        "npm" => Some(Ecosystem::Npm),
        "crates.io" => Some(Ecosystem::Cargo),
        "Go" => Some(Ecosystem::Go),
        _ => None,
    }
}

/// OSV's name for an ecosystem, where it has one.
#[must_use]
pub const fn osv_name(ecosystem: Ecosystem) -> Option<&'static str> {
    match ecosystem {
        Ecosystem::Pypi => Some("PyPI"),
        Ecosystem::Npm => Some("npm"),
        Ecosystem::Cargo => Some("crates.io"),
        Ecosystem::Go => Some("Go"),
        Ecosystem::Docker => None,
    }
}

/// Reads a record.
pub fn parse(bytes: &[u8]) -> Result<Record, RecordFault> {
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(RecordFault::TooLarge(bytes.len()));
    }
    let raw: RawRecord<'_> = serde_json::from_slice(bytes).map_err(RecordFault::Unreadable)?;
    if !is_id(&raw.id) || raw.id.contains(PART) {
        return Err(RecordFault::BadId(raw.id.chars().take(80).collect()));
    }
    let id = raw.id.into_owned();
    let specific: RecordSpecific = lenient(raw.database_specific).unwrap_or_default();
    let mut aliases: Vec<String> = lenient(raw.aliases).unwrap_or_default();
    aliases.retain(|alias| is_id(alias) && *alias != id);
    aliases.sort_unstable();
    aliases.dedup();
    aliases.truncate(MAX_ALIASES);
    let malware = is_malware(&id)
        || aliases.iter().any(|alias| is_malware(alias))
        || specific.origins.is_some_and(|origins| origins.get() != "null");
    let summary = [lenient::<String>(raw.summary), lenient(raw.details)]
        .iter()
        .flatten()
        .map(|text| one_line(text))
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| id.clone());
    let top_scores = lenient(raw.severity).unwrap_or_default();
    let mut entries = Vec::new();
    for affected in raw.affected.unwrap_or_default() {
        let Some(package) = affected.package else { continue };
        let Some(ecosystem) = ecosystem(&package.ecosystem) else { continue };
        let out_of_bounds = |cause| RecordFault::OutOfBounds { id: id.clone(), cause };
        if !is_name(&package.name) {
            return Err(out_of_bounds("a package has a name of more than 256 bytes, or none"));
        }
        let versions = affected.versions.unwrap_or_default();
        let ranges = ranges::read(affected.ranges.unwrap_or_default());
        let texts = ranges.iter().flat_map(|range| range.marks.iter().map(|(_, text)| text));
        if versions.iter().chain(texts).any(|version| version.len() > MAX_VERSION_BYTES) {
            return Err(out_of_bounds("a version is longer than 256 bytes"));
        }
        let own_scores: Vec<severity::Score> = lenient(affected.severity).unwrap_or_default();
        let scores = if own_scores.is_empty() { &top_scores } else { &own_scores };
        let here: AffectedSpecific = lenient(affected.database_specific).unwrap_or_default();
        entries.push(Entry {
            ecosystem,
            package: normalise(ecosystem, &package.name).into_owned(),
            severity: severity::of(scores, specific.severity.as_deref()),
            notice: matches!(here.informational.as_deref(), Some("unmaintained" | "notice")),
            versions,
            ranges,
        });
    }
    let (modified, withdrawn) = (lenient(raw.modified), lenient(raw.withdrawn));
    Ok(Record { id, modified, withdrawn, aliases, summary, malware, entries })
}

impl Record {
    /// What the record says, one warning for each ecosystem it is about; nothing when it was
    /// withdrawn. One about very many packages is told in parts, each an advisory of its own that has
    /// the record's id as an alias.
    ///
    /// Entries about one package become one, with the highest severity among them. A warning of
    /// malware that names no version at all means every version (fail closed). A warning too large
    /// for one event says less precisely what is affected, never less of it ([`bound::fit`]).
    pub fn advisories(&self, source: &str) -> Result<Vec<Advisory>, RecordFault> {
        if self.withdrawn.is_some() {
            return Ok(Vec::new());
        }
        let mut by_ecosystem: BTreeMap<Ecosystem, BTreeMap<&str, Vec<&Entry>>> = BTreeMap::new();
        for entry in &self.entries {
            let packages = by_ecosystem.entry(entry.ecosystem).or_default();
            packages.entry(&entry.package).or_default().push(entry);
        }
        let mut advisories = Vec::new();
        for (ecosystem, packages) in by_ecosystem {
            if packages.len() > MAX_RECORD_PACKAGES {
                let cause = "it is about more than 20,000 packages of one ecosystem";
                return Err(RecordFault::OutOfBounds { id: self.id.clone(), cause });
            }
            let notice = packages.values().flatten().all(|entry| entry.notice);
            let class = match (self.malware, notice) {
                (true, _) => Class::Malware,
                (false, true) => Class::Notice,
                (false, false) => Class::Vulnerability,
            };
            let packages: Vec<_> = packages.into_iter().collect();
            let parts = packages.chunks(MAX_PACKAGES).zip(1..);
            advisories.extend(parts.map(|(packages, part)| {
                let affected = packages.iter().map(|(name, all)| self.merge(name, all)).collect();
                self.advisory(source, ecosystem, class, part, affected)
            }));
        }
        Ok(advisories)
    }

    /// A part of what the record says.
    fn advisory(
        &self,
        source: &str,
        ecosystem: Ecosystem,
        class: Class,
        part: usize,
        affected: Vec<Affected>,
    ) -> Advisory {
        let id = part_id(&self.id, part);
        let whole = (part > 1).then(|| self.id.clone());
        let mut advisory = Advisory {
            source: source.to_owned(),
            ecosystem,
            aliases: whole.into_iter().chain(self.aliases.iter().cloned()).collect(),
            id,
            class,
            summary: self.summary.clone(),
            modified: self.modified,
            affected,
            digest: String::new(),
        };
        bound::fit(&mut advisory);
        advisory.digest = digest::of(&advisory).to_hex().to_string();
        advisory
    }

    /// What is affected of one package, from all entries about it.
    fn merge(&self, package: &str, entries: &[&Entry]) -> Affected {
        let mut versions: Vec<String> = entries.iter().flat_map(|e| e.versions.clone()).collect();
        versions.sort_unstable();
        versions.dedup();
        let ecosystem = entries.first().map_or(Ecosystem::Pypi, |entry| entry.ecosystem);
        versions.sort_by_cached_key(|text| Version::parse(ecosystem, text));
        let ranges = entries.iter().flat_map(|entry| &entry.ranges);
        let (mut windows, mut widened) = (Vec::<Window>::new(), false);
        for found in ranges.map(|range| ranges::windows(ecosystem, range)) {
            widened |= found.widened;
            windows.extend(found.windows);
        }
        windows.sort_unstable();
        windows.dedup();
        windows.sort_by_cached_key(|window| {
            window.introduced.as_ref().map(|text| Version::parse(ecosystem, text))
        });
        if self.malware && versions.is_empty() && windows.is_empty() {
            windows.push(Window::EVERYTHING);
        }
        Affected {
            package: package.to_owned(),
            severity: entries.iter().map(|entry| entry.severity).max().unwrap_or_default(),
            versions,
            windows,
            widened,
        }
    }
}

/// The id of a part of a record: that of the first is the record's own.
#[must_use]
pub fn part_id(id: &str, part: usize) -> String {
    if part < 2 { id.to_owned() } else { format!("{id}{PART}{part}") }
}

fn is_id(text: &str) -> bool {
    (1..=MAX_ID_BYTES).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
}

fn is_malware(id: &str) -> bool {
    id.starts_with("MAL-")
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The beginning of a text with single blanks between its words.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut n_chars = 0;
    for word in text.split(|c: char| c.is_whitespace() || is_hidden(c)) {
        if word.is_empty() {
            continue;
        }
        if n_chars >= MAX_SUMMARY_CHARS {
            break;
        }
        if n_chars > 0 {
            line.push(' ');
            n_chars += 1;
        }
        let kept = word.chars().take(MAX_SUMMARY_CHARS.saturating_sub(n_chars));
        n_chars += kept.clone().count();
        line.extend(kept);
    }
    line
}

#[cfg(test)]
mod tests;
