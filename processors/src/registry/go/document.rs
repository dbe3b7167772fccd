//! What a module proxy says: the list of a module's versions, and what one version is.

use bytes::Bytes;
use serde::Deserialize;
use weir_aggregates::registry::version::Version;
use weir_events::{registry::Ecosystem, timestamp::Timestamp};

use super::module::{Canonical, Module, Query};
use crate::registry::cache::CacheKey;

/// The most versions a list may have.
pub const MAX_LINES: usize = 100_000;

/// The versions of a module.
#[derive(Debug)]
pub struct List {
    /// The module.
    pub module: Module,
    /// BLAKE3 of the list as the upstream sent it.
    pub digest: blake3::Hash,
    /// The versions, in its order. What is none is left out: nobody could download it.
    pub versions: Vec<Listed>,
}

/// A version in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The version as it is written.
    pub text: Canonical,
    /// The version as it is compared.
    pub version: Version,
}

/// It cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentFault {
    /// The list is more than is sane.
    #[error("the list has more than {MAX_LINES} lines")]
    TooMany,
    /// The list is no text.
    #[error("the list is no text")]
    NotText,
    /// What a version is cannot be read.
    #[error("the answer is not the JSON of a version")]
    Json(#[source] serde_json::Error),
    /// It is no version, or another one than was asked for.
    #[error("the answer is about version `{0}`")]
    OtherVersion(String),
}

impl List {
    /// Reads a list: a version a line, with anything behind a blank left out.
    pub fn read(module: &Module, body: &[u8]) -> Result<Self, DocumentFault> {
        let text = std::str::from_utf8(body).map_err(|_| DocumentFault::NotText)?;
        if text.lines().count() > MAX_LINES {
            return Err(DocumentFault::TooMany);
        }
        let first = |line: &str| Canonical::new(line.split_ascii_whitespace().next()?);
        let listed = |text: Canonical| Listed { version: text.version(), text };
        let versions = text.lines().filter_map(first).map(listed).collect();
        Ok(Self { module: module.clone(), digest: blake3::hash(body), versions })
    }

    /// How much memory it takes, roughly.
    #[must_use]
    pub fn size_bytes(&self) -> usize {
        256 * self.versions.len() + 1_024
    }
}

/// What a version is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Which version.
    pub version: Canonical,
    /// When it was committed, as its owner says.
    pub time: Option<Timestamp>,
    /// The answer as the upstream wrote it.
    pub body: Bytes,
}

#[derive(Deserialize)]
struct Read {
    #[serde(rename = "Version")]
    version: String,
    #[serde(rename = "Time")]
    time: Option<serde_json::Value>,
}

impl Info {
    /// Reads what a version is. Who asked for a version is told of that one only.
    pub fn read(query: &Query, body: &Bytes) -> Result<Self, DocumentFault> {
        let read: Read = serde_json::from_slice(body).map_err(DocumentFault::Json)?;
        let other = || DocumentFault::OtherVersion(read.version.chars().take(80).collect());
        let version = Canonical::new(&read.version).ok_or_else(other)?;
        if let Query::Named(text) = query
            && Canonical::new(text).is_some_and(|asked| asked != version)
        {
            return Err(other());
        }
        let time = read.time.and_then(|time| time.as_str()?.parse().ok());
        Ok(Self { version, time, body: body.clone() })
    }
}

/// What the zip of a version is kept under.
#[must_use]
pub fn key_of(module: &Module, version: &Canonical) -> Option<CacheKey> {
    CacheKey::new(Ecosystem::Go, module.as_str(), &format!("{version}.zip"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module() -> Module {
        Module::new("example.com/m").unwrap()
    }

    #[test]
    fn a_list_holds_what_can_be_downloaded() {
        let body = b"v1.0.0\nv1.1.0 2020-01-01T00:00:00Z\r\n\nmaster\nv2.0.0+incompatible\nv1.0\n";
        let list = List::read(&module(), body).unwrap();
        let texts: Vec<_> = list.versions.iter().map(|listed| listed.text.as_str()).collect();
        assert_eq!(texts, ["v1.0.0", "v1.1.0", "v2.0.0+incompatible"]);
        assert!(List::read(&module(), b"").unwrap().versions.is_empty());
        assert!(matches!(List::read(&module(), b"\xff"), Err(DocumentFault::NotText)));
        let many = "v1.0.0\n".repeat(MAX_LINES + 1);
        assert!(matches!(List::read(&module(), many.as_bytes()), Err(DocumentFault::TooMany)));
    }

    #[test]
    fn who_asks_for_a_version_is_told_of_that_one() {
        let read = |query: &str, body: &'static str| {
            Info::read(&Query::Named(query.into()), &Bytes::from_static(body.as_bytes()))
        };
        let body = r#"{"Version":"v1.0.0","Time":"2020-01-02T03:04:05Z","Origin":{"x":1}}"#;
        let info = read("v1.0.0", body).unwrap();
        assert_eq!(info.time.unwrap().to_string(), "2020-01-02T03:04:05Z");
        assert_eq!(info.body, body);
        assert_eq!(read("master", body).unwrap().version.as_str(), "v1.0.0");
        assert!(matches!(read("v1.0.1", body), Err(DocumentFault::OtherVersion(_))));
        let untold = read("master", r#"{"Version":"v1.0.0","Time":7}"#).unwrap();
        assert_eq!(untold.time, None);
        for bad in ["", "[]", "{}", r#"{"Version":"master"}"#, r#"{"Version":"../x"}"#] {
            assert!(read("master", bad).is_err(), "{bad}");
        }
    }
}
