use crate::{ActorPathError, ActorPathErrorKind as Kind, display::displays_as};
use alloc::sync::Arc;
use core::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// Where a remote system listens: `host:port`, both or neither.
///
/// The host is a lower-case domain name, an IPv4 address, or an IPv6 address in brackets and in
/// RFC 5952 form, so that one authority has one spelling. Zone ids are refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathAuthority {
    host: Arc<str>,
    port: u16,
}

impl PathAuthority {
    /// The longest host, in bytes, brackets included.
    pub const MAX_HOST_BYTES: usize = 255;

    /// Checks a host, IPv6 in brackets, and a port from 1 to 65535.
    ///
    /// The offset of an error about the port is the length of the host.
    pub fn new(host: &str, port: u16) -> Result<Self, ActorPathError> {
        check_host(host)?;
        if port == 0 {
            return Err(ActorPathError::new(Kind::InvalidPort, host.len()));
        }
        Ok(Self::from_checked(host, port))
    }

    /// The host, IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, never 0.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// For a host and a port that `check` has passed.
    pub(crate) fn from_checked(host: &str, port: u16) -> Self {
        Self { host: Arc::from(host), port }
    }

    /// Splits `host:port` into its checked halves.
    pub(crate) fn check(text: &str) -> Result<(&str, u16), ActorPathError> {
        let host_len = if text.starts_with('[') {
            text.find(']').map_or(text.len(), |close| close.saturating_add(1))
        } else {
            text.find(':').unwrap_or(text.len())
        };
        let (host, rest) = text.split_at_checked(host_len).unwrap_or((text, ""));
        check_host(host)?;
        let port = rest.strip_prefix(':').ok_or_else(|| {
            let kind = if rest.is_empty() { Kind::UnsupportedAuthority } else { Kind::InvalidHost };
            ActorPathError::new(kind, host_len)
        })?;
        let port = check_port(port).map_err(|e| e.shifted(host_len.saturating_add(1)))?;
        Ok((host, port))
    }
}

impl FromStr for PathAuthority {
    type Err = ActorPathError;

    /// Reads `host:port`.
    fn from_str(text: &str) -> Result<Self, ActorPathError> {
        let (host, port) = Self::check(text)?;
        Ok(Self::from_checked(host, port))
    }
}

impl fmt::Display for PathAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

fn check_host(host: &str) -> Result<(), ActorPathError> {
    if PathAuthority::MAX_HOST_BYTES < host.len() {
        return Err(ActorPathError::new(Kind::InvalidHost, PathAuthority::MAX_HOST_BYTES));
    }
    match host.strip_prefix('[') {
        Some(rest) => check_ipv6(rest.strip_suffix(']')),
        None => check_name(host),
    }
}

fn check_ipv6(address: Option<&str>) -> Result<(), ActorPathError> {
    let parsed = address.and_then(|text| Some((text, text.parse::<Ipv6Addr>().ok()?)));
    let (text, parsed) = parsed.ok_or(ActorPathError::new(Kind::InvalidHost, 0))?;
    if displays_as(parsed, text) {
        Ok(())
    } else {
        Err(ActorPathError::new(Kind::NonCanonicalHost, 1))
    }
}

/// RFC 2396: a last label that does not begin with a letter means an IPv4 address.
fn check_name(host: &str) -> Result<(), ActorPathError> {
    let mut start = 0_usize;
    let mut numeric = false;
    for label in host.split('.') {
        check_label(label).map_err(|e| e.shifted(start))?;
        numeric = !label.starts_with(|c: char| c.is_ascii_alphabetic());
        start = start.saturating_add(label.len()).saturating_add(1);
    }
    if numeric && host.parse::<Ipv4Addr>().is_err() {
        return Err(ActorPathError::new(Kind::InvalidHost, 0));
    }
    Ok(())
}

fn check_label(label: &str) -> Result<(), ActorPathError> {
    let refused = |kind, at| Err(ActorPathError::new(kind, at));
    if label.is_empty() || label.starts_with('-') {
        return refused(Kind::InvalidHost, 0);
    }
    for (at, byte) in label.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' => {}
            b'A'..=b'Z' => return refused(Kind::NonCanonicalHost, at),
            _ => return refused(Kind::InvalidHost, at),
        }
    }
    if label.ends_with('-') {
        return refused(Kind::InvalidHost, label.len().saturating_sub(1));
    }
    Ok(())
}

fn check_port(port: &str) -> Result<u16, ActorPathError> {
    let refused = |kind, at| Err(ActorPathError::new(kind, at));
    if let Some(at) = port.bytes().position(|byte| !byte.is_ascii_digit()) {
        return refused(Kind::InvalidPort, at);
    }
    if 1 < port.len() && port.starts_with('0') {
        return refused(Kind::NonCanonicalPort, 0);
    }
    match port.parse() {
        Ok(number) if number != 0 => Ok(number),
        _ => refused(Kind::InvalidPort, 0),
    }
}
