//! `sources`: where advisories about packages come from.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use weir_events::registry::Ecosystem;
use weir_processors::outbound::git;
use weir_processors::registry::sources::{Retry, WATCHED, openssf, osv};

use super::section::section;
use super::value::{HttpUrl, Span};

/// The sources.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sources {
    pub(crate) osv: Osv,
    pub(crate) openssf: OpenSsf,
    pub(crate) blocklist: Blocklist,
}

/// How long to wait before something is done again: a second at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Interval(pub(crate) Duration);

/// An ecosystem that is watched for advisories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watched(pub(crate) Ecosystem);

/// How often something is tried: once to ten times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Tries(pub(crate) u32);

/// The address of a git repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitAddress(pub(crate) git::GitAddress);

impl Interval {
    pub(crate) const fn minutes(minutes: u64) -> Self {
        Self(Duration::from_mins(minutes))
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Span(span) = text.parse()?;
        if span < Duration::from_secs(1) {
            return Err(format!("`{text}` is too short: 1s at least"));
        }
        Ok(Self(span))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl FromStr for Watched {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Ecosystem::find(text).filter(|found| WATCHED.contains(found));
        known.map(Self).ok_or_else(|| {
            let all = WATCHED.map(Ecosystem::as_str).join(", ");
            format!("there are no advisories about `{text}`; there are some about {all}")
        })
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for GitAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read: Result<git::GitAddress, _> = text.parse();
        read.map(Self).map_err(|_| {
            let shown = super::without_password(text);
            format!(
                "`{shown}` is not the address of a repository: write https://… or file:///…, \
                 without a password"
            )
        })
    }
}

impl fmt::Display for GitAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

super::value::as_text!(Interval, Watched, GitAddress);

impl<'de> Deserialize<'de> for Tries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let tries = u32::deserialize(deserializer)?;
        if (1..=10).contains(&tries) {
            return Ok(Self(tries));
        }
        Err(D::Error::custom(format!("{tries} tries: there are 1 to 10")))
    }
}

fn watched() -> Vec<Watched> {
    WATCHED.map(Watched).to_vec()
}

/// An address that stands in the program.
fn known<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

section! {
    /// Vulnerabilities and malicious packages, as OSV collects them.
    Osv at "sources.osv" {
        /// Whether it is visited.
        enabled: bool = true,
        /// The bucket, with one folder for each ecosystem.
        address: Option<HttpUrl> = known(osv::PUBLIC),
        /// The ecosystems it is asked about.
        ecosystems: Vec<Watched> = watched(),
        /// Whether nothing of its ecosystems passes before it was read once.
        must_be_read: bool = false,
        /// How long after a visit the next one is due; up to a tenth longer.
        sync_interval: Interval = Interval::minutes(60),
        /// How long one try may take.
        timeout: Interval = Interval::minutes(15),
        /// How often a visit is tried that fails of what may pass: 1 to 10.
        retry_tries: Tries = Tries(3),
        /// The pause before the second try; each one after is twice as long.
        retry_pause: Span = Span::seconds(5),
        /// The longest pause.
        retry_max_pause: Span = Span::seconds(300),
        /// The least time between two requests to the same host.
        rate_limit: Span = Span::seconds(1),
    }
}

section! {
    /// Malicious packages, as the Open Source Security Foundation collects them. Needs `git`.
    OpenSsf at "sources.openssf" {
        /// Whether it is visited.
        enabled: bool = true,
        /// The repository: https://…, or a folder as file:///….
        address: Option<GitAddress> = known(openssf::PUBLIC),
        /// The ecosystems whose records are read.
        ecosystems: Vec<Watched> = watched(),
        /// Whether nothing of its ecosystems passes before it was read once.
        must_be_read: bool = true,
        /// How long after a visit the next one is due; up to a tenth longer.
        sync_interval: Interval = Interval::minutes(30),
        /// How long one try may take; the first one fetches everything.
        timeout: Interval = Interval::minutes(30),
        /// How often a visit is tried that fails of what may pass: 1 to 10.
        retry_tries: Tries = Tries(3),
        /// The pause before the second try; each one after is twice as long.
        retry_pause: Span = Span::seconds(5),
        /// The longest pause.
        retry_max_pause: Span = Span::seconds(300),
        /// The least time between two requests to the same host.
        rate_limit: Span = Span::seconds(1),
    }
}

section! {
    /// Packages that you forbid, as a YAML file names them: a list of `ecosystem`, `package` (with *
    /// for any run of characters), `versions` (all, without), `reason` and `mask` (`mark`, without).
    Blocklist at "sources.blocklist" {
        /// The file; there is no blocklist unless one is named. What it said last stays in force
        /// until an empty one is.
        file: Option<PathBuf> = None,
        /// How often it is read; besides, whenever its time or size changes.
        sync_interval: Interval = Interval::minutes(5),
    }
}

impl Osv {
    pub(crate) fn retry(&self) -> Retry {
        let (first, max) = (self.retry_pause.0, self.retry_max_pause.0);
        Retry { tries: self.retry_tries.0, first, max }
    }
}

impl OpenSsf {
    pub(crate) fn retry(&self) -> Retry {
        let (first, max) = (self.retry_pause.0, self.retry_max_pause.0);
        Retry { tries: self.retry_tries.0, first, max }
    }
}

/// The ecosystems by themselves.
pub(crate) fn ecosystems(watched: &[Watched]) -> Vec<Ecosystem> {
    watched.iter().map(|watched| watched.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_addresses_are_addresses() {
        let Sources { osv, openssf, blocklist } = Sources::default();
        assert!(osv.address.is_some() && openssf.address.is_some());
        assert_eq!(blocklist.file, None);
    }

    #[test]
    fn what_makes_no_sense_is_said_in_words() {
        assert!("500ms".parse::<Interval>().unwrap_err().contains("1s at least"));
        let docker = "docker".parse::<Watched>().unwrap_err();
        assert!(docker.contains("`docker`") && docker.contains("cargo"), "{docker}");
        let ssh = "ssh://me:hunter2@git.example/a".parse::<GitAddress>().unwrap_err();
        assert!(ssh.contains("https://") && !ssh.contains("hunter2"), "{ssh}");
        assert!(serde_json::from_str::<Tries>("0").unwrap_err().to_string().contains("1 to 10"));
    }
}
