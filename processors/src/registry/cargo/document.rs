//! A crate's list in a sparse index, as Weir keeps it: what it understands of each line, beside the
//! bytes as the upstream wrote them.
//!
//! A line that cannot be read names a version that cannot be judged, so it is not passed on.

use std::{borrow::Cow, collections::HashMap, ops::Range};

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use weir_aggregates::registry::{verdict::Candidate, version::Version};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::name::Name;
use crate::registry::cache::CacheKey;

/// The most versions a list may have.
pub const MAX_LINES: usize = 100_000;

/// A crate's list.
#[derive(Debug)]
pub struct Document {
    /// The crate.
    pub name: Name,
    /// BLAKE3 of the list as the upstream sent it.
    pub digest: blake3::Hash,
    /// The list as the upstream sent it.
    pub body: Bytes,
    /// Its lines that could be read, in its order.
    pub lines: Vec<Line>,
    /// How many lines could not be read.
    pub n_unreadable: usize,
    by_version: HashMap<Box<str>, usize>,
}

/// A version in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its bytes in the list, the line's end included.
    pub range: Range<usize>,
    /// The crate's name as it is spelt here.
    pub spelling: Box<str>,
    /// The version.
    pub version: Version,
    /// The SHA-256 of its file.
    pub cksum: [u8; 32],
    /// Whether the upstream calls it yanked.
    pub yanked: bool,
    /// Where in the list its `yanked` stands; an empty range before the last brace where it has
    /// none.
    pub yanked_at: Range<usize>,
    /// When it was published, where the line tells.
    pub published_at: Option<Timestamp>,
}

impl Line {
    /// As it is judged.
    #[must_use]
    pub const fn candidate(&self) -> Candidate<'_> {
        Candidate::published(Some(&self.version), self.published_at)
    }
}

/// What is read of a line. The rest is for cargo.
#[derive(Debug, Deserialize)]
struct Read<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    vers: Cow<'a, str>,
    #[serde(borrow)]
    cksum: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "as_written")]
    yanked: Option<&'a RawValue>,
    #[serde(borrow)]
    pubtime: Option<&'a RawValue>,
}

/// A member that is there, be it `null`.
fn as_written<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// The list cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// It lists more than is sane.
    #[error("the list has more than {MAX_LINES} lines")]
    TooMany,
    /// Not one line of it can be read.
    #[error("no line of the list can be read")]
    Unreadable,
}

impl Document {
    /// A version by its text; where none has it, one that differs in its build metadata alone. Old
    /// crates have several such.
    #[must_use]
    pub fn line(&self, version: &str) -> Option<&Line> {
        let at = |version| self.by_version.get(version).copied();
        self.lines.get(at(version).or_else(|| at(without_build(version)))?)
    }

    /// How much memory it takes, roughly.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        self.body.len() + 320 * self.lines.len() + 1_024
    }
}

/// Reads a list.
pub fn parse(name: &Name, body: &Bytes) -> Result<Document, DocumentFault> {
    let (mut lines, mut by_version) = (Vec::new(), HashMap::new());
    let (mut start, mut n_unreadable) = (0, 0);
    for bytes in body.split_inclusive(|b| *b == b'\n') {
        let range = start..start + bytes.len();
        start = range.end;
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        if lines.len() + n_unreadable >= MAX_LINES {
            return Err(DocumentFault::TooMany);
        }
        let Some(line) = read(name, bytes, range) else {
            n_unreadable += 1;
            continue;
        };
        by_version.insert(line.version.as_str().into(), lines.len());
        lines.push(line);
    }
    for (at, line) in lines.iter().enumerate() {
        by_version.entry(without_build(line.version.as_str()).into()).or_insert(at);
    }
    if lines.is_empty() && n_unreadable > 0 {
        return Err(DocumentFault::Unreadable);
    }
    let (name, digest, body) = (name.clone(), blake3::hash(body), body.clone());
    Ok(Document { name, digest, body, lines, n_unreadable, by_version })
}

fn read(name: &Name, bytes: &[u8], range: Range<usize>) -> Option<Line> {
    let text = std::str::from_utf8(bytes).ok()?;
    let read: Read<'_> = serde_json::from_str(text).ok()?;
    // What it is about must be the crate that was asked for.
    let ours = Name::new(&read.name).is_some_and(|its| its == *name);
    let version = Version::parse(Ecosystem::Cargo, &read.vers);
    if !ours || !is_version(&read.vers) {
        return None;
    }
    let mut cksum = [0; 32];
    hex::decode_to_slice(read.cksum.as_bytes(), &mut cksum).ok()?;
    let (yanked, at) = match read.yanked.map(RawValue::get) {
        Some(value @ ("true" | "false" | "null")) => {
            let at = value.as_ptr().addr() - text.as_ptr().addr();
            (value == "true", at..at + value.len())
        }
        Some(_) => return None,
        None => {
            let at = text.rfind('}')?;
            (false, at..at)
        }
    };
    let yanked_at = range.start + at.start..range.start + at.end;
    let spelling = read.name.as_ref().into();
    // What it does not tell in a way we read, it does not tell.
    let published_at = read.pubtime.and_then(|value| serde_json::from_str(value.get()).ok());
    Some(Line { range, spelling, version, cksum, yanked, yanked_at, published_at })
}

/// Whether a text can be the version of a crate, in an address and as a file's name.
#[must_use]
pub fn is_version(text: &str) -> bool {
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-+".contains(&b))
}

fn without_build(version: &str) -> &str {
    version.split_once('+').map_or(version, |(version, _)| version)
}

/// The name of a version's file.
#[must_use]
pub fn file_name(spelling: &str, version: &str) -> String {
    format!("{spelling}-{version}.crate")
}

/// Where the file of a version is kept.
#[must_use]
pub fn key_of(name: &Name, version: &str) -> Option<CacheKey> {
    CacheKey::new(Ecosystem::Cargo, name.as_str(), &file_name(name.as_str(), version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::cargo::testing::{line, list, read as read_list};

    #[test]
    fn every_line_is_read_and_keeps_its_place() {
        let text = list("Serde", &["1.0.0", "1.0.1+build.5"]);
        let document = read_list("serde", &text);
        let lines: Vec<_> = document.lines.iter().map(|line| &text[line.range.clone()]).collect();
        assert_eq!(lines.concat(), text);
        for line in &document.lines {
            assert_eq!((&text[line.yanked_at.clone()], line.yanked), ("false", false));
            assert_eq!(&*line.spelling, "Serde");
        }
    }

    #[test]
    fn a_version_is_found_whatever_its_build_is_called() {
        let document = read_list("serde", &list("serde", &["1.0.0", "1.0.1+build.5"]));
        let found = |version| document.line(version).map(|line| line.version.to_string());
        assert_eq!(found("1.0.1+build.5").as_deref(), Some("1.0.1+build.5"));
        assert_eq!(found("1.0.1").as_deref(), Some("1.0.1+build.5"));
        // Each of two that differ in it is found by its own text.
        for versions in [["1.0.0", "1.0.0+b1"], ["1.0.0+b1", "1.0.0"]] {
            let document = read_list("serde", &list("serde", &versions));
            for version in versions {
                assert_eq!(document.line(version).unwrap().version.as_str(), version);
            }
        }
        assert_eq!(found("1.0.0").as_deref(), Some("1.0.0"));
        assert_eq!(found("1.0"), None);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_not_passed_on() {
        let good = line("serde", "1.0.0", false);
        for bad in [
            "nonsense".to_owned(),
            "[]".to_owned(),
            good.replace("\"name\":\"serde\"", "\"name\":\"other\""),
            good.replace("\"vers\":\"1.0.0\"", "\"vers\":\"../1.0.0\""),
            good.replace("\"cksum\":\"", "\"cksum\":\"0"),
            good.replace("\"yanked\":false", "\"yanked\":\"no\""),
            // Who reads the last of two says something else than who reads the first.
            good.replace("{\"name\"", "{\"vers\":\"2.0.0\",\"name\""),
            good.replace("\"yanked\":false", "\"yanked\":true,\"yanked\":false"),
        ] {
            let document = read_list("serde", &format!("{bad}\n{good}\n"));
            assert_eq!((document.lines.len(), document.n_unreadable), (1, 1), "{bad}");
            let alone = Bytes::from(bad.clone());
            let fault = parse(&Name::new("serde").unwrap(), &alone).unwrap_err();
            assert!(matches!(fault, DocumentFault::Unreadable), "{bad}");
        }
        assert!(read_list("serde", "\n \n").lines.is_empty());
    }

    #[test]
    fn escapes_are_read_as_cargo_reads_them() {
        let escaped =
            line("serde", "1.0.0", true).replace("1.0.0\",\"deps", "1\\u002e0.0\",\"deps");
        let document = read_list("serde", &escaped);
        assert_eq!(document.lines[0].version.as_str(), "1.0.0");
        assert!(document.lines[0].yanked);
    }
}
