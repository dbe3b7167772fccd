//! Values that are more than a number or a text: spans of time, sizes, addresses, secrets.

use std::fmt;
use std::net::IpAddr;
use std::ops::Deref;
use std::str::FromStr;
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use weir_processors::registry::go::sumdb::{Named, NamedFault};

/// A span of time: `250ms`, `30s`, `5m`, `24h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

const SPANS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

impl Span {
    pub(crate) const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    pub(crate) const fn millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not a span of time; write one like 250ms, 30s or 24h");
        let (number, unit) = number_and_unit(text).ok_or_else(fault)?;
        let millis = SPANS.iter().find(|(name, _)| *name == unit).ok_or_else(fault)?.1;
        number.checked_mul(millis).map(|all| Self(Duration::from_millis(all))).ok_or_else(fault)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        match SPANS.iter().find(|(_, size)| millis != 0 && millis.is_multiple_of(*size)) {
            Some((unit, size)) => write!(f, "{}{unit}", millis / size),
            None => write!(f, "{millis}ms"),
        }
    }
}

/// A number of bytes: `64MiB`, `50GB`, `4096`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
    ("B", 1),
];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is not a size; write one like 64MiB or 50GB");
        let (number, unit) = number_and_unit(text).ok_or_else(fault)?;
        let unit = if unit.is_empty() { "B" } else { unit };
        let bytes = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
        number.checked_mul(bytes.ok_or_else(fault)?.1).map(Self).ok_or_else(fault)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |(_, size): &&(&str, u64)| self.0 != 0 && self.0.is_multiple_of(*size);
        let (unit, size) = SIZES.iter().find(fits).unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / size)
    }
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    Some((number.parse().ok()?, unit.trim_start()))
}

/// An HTTP or HTTPS address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpUrl(pub(crate) Url);

impl FromStr for HttpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = without_password(text);
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Self(url)),
            Ok(_) => Err(format!("`{shown}` is not an http or https address")),
            Err(fault) => Err(format!("`{shown}` is not an address: {fault}")),
        }
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// Where to listen: an IP address, or the name of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host(String);

/// The longest name of a host, and of one of its labels, in bytes.
const MAX_HOST_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;

impl Host {
    /// This machine alone.
    pub(crate) fn loopback() -> Self {
        Self("127.0.0.1".to_owned())
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let address = bare.unwrap_or(text);
        // An address of one link: `fe80::1%eth0`.
        let (address, link) = match address.split_once('%') {
            Some((address, link)) => (address, Some(link)),
            None => (address, None),
        };
        let letters = |text: &str, marks: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
        };
        let is_address = match address.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => bare.is_none() && link.is_none(),
            Ok(IpAddr::V6(_)) => link.is_none_or(|link| letters(link, "-_.")),
            Err(_) => false,
        };
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_name = name.len() <= MAX_HOST_BYTES
            && name.split('.').all(|label| label.len() <= MAX_LABEL_BYTES && letters(label, "-_"));
        if is_address || is_name {
            return Ok(Self(text.to_owned()));
        }
        let shown: String =
            text.chars().take(MAX_LABEL_BYTES).flat_map(char::escape_debug).collect();
        Err(format!("`{shown}` is neither an IP address nor the name of a host"))
    }
}

impl Deref for Host {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A checksum database of Go modules: its name, and its key where that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChecksumDatabase(pub(crate) Named);

impl FromStr for ChecksumDatabase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|fault: NamedFault| fault.to_string())
    }
}

impl fmt::Display for ChecksumDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// 32 secret bytes, written as 64 hexadecimal digits. Never shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SecretKey(pub(crate) [u8; 32]);

impl FromStr for SecretKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes)
            .map(|()| Self(bytes))
            .map_err(|_| "a secret key has 64 hexadecimal digits".to_owned())
    }
}

impl fmt::Display for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(…)")
    }
}

/// The address of a database. Its password is never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct DatabaseUrl(pub(crate) String);

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

/// The address of a Redis. Its password is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct RedisUrl(pub(crate) String);

impl FromStr for RedisUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shown = without_password(text);
        match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "redis" | "rediss") && url.has_host() => {
                Ok(Self(text.to_owned()))
            }
            Ok(_) => Err(format!("`{shown}` is not a redis or rediss address")),
            Err(fault) => Err(format!("`{shown}` is not an address: {fault}")),
        }
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

/// What keys in a Redis begin with: nothing that means something in a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedisPrefix(pub(crate) String);

impl Default for RedisPrefix {
    fn default() -> Self {
        Self("weir".to_owned())
    }
}

impl FromStr for RedisPrefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("`{text}` is no prefix: at most 64 letters, digits, `.`, `_`, `-` and `:`"))
    }
}

impl fmt::Display for RedisPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An address as it may be shown: without the password of its user or of its parameters.
pub(crate) fn without_password(address: &str) -> String {
    let mut shown = address.to_owned();
    if let Some(start) = shown.find("://").map(|at| at + 3) {
        let end = shown[start..].find(['/', '?', '#']).map_or(shown.len(), |at| start + at);
        if let Some(at) = shown[start..end].rfind('@').map(|at| start + at)
            && let Some(colon) = shown[start..at].find(':').map(|colon| start + colon)
        {
            shown.replace_range(colon + 1..at, "…");
        }
    }
    if let Some(value) = shown.find("password=").map(|at| at + "password=".len()) {
        let end = shown[value..].find('&').map_or(shown.len(), |at| value + at);
        shown.replace_range(value..end, "…");
    }
    shown
}

/// Text types are written and read as text.
macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )+};
}

pub(crate) use as_text;

as_text!(Span, Size, Host, HttpUrl, ChecksumDatabase, SecretKey, RedisUrl, RedisPrefix);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_written_in_the_largest_unit_that_fits() {
        for (text, millis, shown) in [
            ("250ms", 250, "250ms"),
            ("90s", 90_000, "90s"),
            ("120s", 120_000, "2m"),
            ("24h", 86_400_000, "1d"),
            ("0s", 0, "0ms"),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.0, span.to_string()), (Duration::from_millis(millis), shown.into()));
        }
        for text in ["", "5", "s", "5 weeks", "-1s", "1.5h", "99999999999999999d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_host_is_an_address_or_a_name() {
        for text in [
            "127.0.0.1",
            "0.0.0.0",
            "::1",
            "[::1]",
            "fe80::1%eth0",
            "localhost",
            "weir.example",
            "weir.example.",
            "my_host-2",
        ] {
            assert_eq!(text.parse::<Host>().map(|host| host.to_string()), Ok(text.to_owned()));
        }
        let long = "a".repeat(64);
        for text in [
            "",
            ".",
            "a..b",
            "a b",
            "127.0.0.1\0",
            "weir.example\n",
            "\u{202e}a",
            "http://a",
            "a:80",
            "[127.0.0.1]",
            "127.0.0.1%0",
            "fe80::1%",
            "[::1",
            "ä",
            &long,
        ] {
            assert!(text.parse::<Host>().is_err(), "{text:?}");
        }
        assert!("a\0b".parse::<Host>().unwrap_err().contains("`a\\0b` is neither"));
    }

    #[test]
    fn sizes_are_read_and_written_in_the_largest_unit_that_fits() {
        for (text, bytes, shown) in [
            ("64MiB", 64 << 20, "64MiB"),
            ("50 gb", 50_000_000_000, "50GB"),
            ("4096", 4096, "4KiB"),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.0, size.to_string()), (bytes, shown.to_owned()));
        }
        for text in ["", "GB", "5 apples", "99999999999TiB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_http_addresses_are_upstreams() {
        assert!("https://u:p@mirror.example/simple/".parse::<HttpUrl>().is_ok());
        for text in ["mirror.example", "ftp://mirror.example/", "file:///etc/passwd", "http://"] {
            assert!(text.parse::<HttpUrl>().is_err(), "{text}");
        }
        let fault = "ftp://u:hunter2@mirror.example".parse::<HttpUrl>().unwrap_err();
        assert!(!fault.contains("hunter2"), "{fault}");
    }

    #[test]
    fn only_redis_addresses_are_those_of_a_redis() {
        for text in ["redis://redis.example", "rediss://u:p@redis.example:6380/1"] {
            assert_eq!(text.parse::<RedisUrl>().map(|url| url.to_string()), Ok(text.to_owned()));
        }
        for text in ["redis.example:6379", "http://redis.example", "redis:///run/redis.sock"] {
            assert!(text.parse::<RedisUrl>().is_err(), "{text}");
        }
        let url = "redis://u:hunter2@redis.example".parse::<RedisUrl>().unwrap();
        assert!(!format!("{url:?}").contains("hunter2"));
        let fault = "http://u:hunter2@redis.example".parse::<RedisUrl>().unwrap_err();
        assert!(!fault.contains("hunter2"), "{fault}");
        for text in ["", "a*", "a b", &"x".repeat(65)] {
            assert!(text.parse::<RedisPrefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_secret_key_is_read_and_not_printed() {
        let text = "5a".repeat(32);
        let key: SecretKey = text.parse().unwrap();
        assert_eq!(key.0, [0x5a; 32]);
        assert!(!format!("{key:?}").contains("5a5a"));
        let fault = "5a5a".parse::<SecretKey>().unwrap_err();
        assert!(!fault.contains("5a5a"), "{fault}");
    }

    #[test]
    fn passwords_of_addresses_are_not_shown() {
        for (address, shown) in [
            ("postgres://weir:p@ss:w@db.example/weir", "postgres://weir:…@db.example/weir"),
            ("postgres:///weir?password=x&host=/run", "postgres:///weir?password=…&host=/run"),
            ("postgres://weir@db.example/a:b@c", "postgres://weir@db.example/a:b@c"),
            ("no address: at@all", "no address: at@all"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
