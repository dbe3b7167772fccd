//! Hosts as rules see them: one spelling each, whatever an address says.

use std::{fmt, net::IpAddr};

/// The longest name there is, in bytes (RFC 1035, section 2.3.4).
pub const MAX_NAME_BYTES: usize = 253;

/// A host in its one spelling: lower case, punycode, without a dot at its end; an address of the
/// internet protocol as the standard library writes it, without brackets.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Host(Box<str>);

/// It is no host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// There is nothing.
    #[error("it has no host")]
    Empty,
    /// It is longer than names are.
    #[error("its host is longer than {MAX_NAME_BYTES} bytes")]
    TooLong,
    /// A part between two dots is empty, too long, or begins or ends with `-`.
    #[error("its host has a part that is empty, longer than 63 bytes, or begins or ends with `-`")]
    BadLabel,
    /// A character that no host has. Names of other scripts come as punycode.
    #[error("its host has a character that no host has")]
    BadCharacter,
}

impl Host {
    /// Reads the host of an address that a parser of URLs has read already: what is left to do is
    /// the dot at its end, and whatever such a parser lets through that is no name.
    pub fn new(text: &str) -> Result<Self, HostFault> {
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
            // An address of version 4 has one spelling too, whatever it is wrapped into.
            return Ok(Self(address.to_canonical().to_string().into()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        if name.is_empty() {
            return Err(HostFault::Empty);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(HostFault::TooLong);
        }
        for label in name.split('.') {
            let edge = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'-');
            let bytes = label.as_bytes();
            if bytes.len() > 63 || edge(bytes.first()) || edge(bytes.last()) {
                return Err(HostFault::BadLabel);
            }
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !bytes.iter().all(plain) {
                return Err(HostFault::BadCharacter);
            }
        }
        // `127.1` and `0x7f.1` are addresses to many resolvers, and names to nobody.
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x") {
            return Err(HostFault::BadLabel);
        }
        Ok(Self(name.into()))
    }

    /// The host as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address it is, where it is one and no name.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.0.parse().ok()
    }

    /// The name, and every name above it: `a.b.c`, `b.c`, `c`. An address has nothing above it.
    pub fn upwards(&self) -> impl Iterator<Item = &str> {
        let mut next = Some(self.as_str());
        let is_address = self.address().is_some();
        std::iter::from_fn(move || {
            let name = next?;
            next = name.split_once('.').map(|(_, above)| above).filter(|_| !is_address);
            Some(name)
        })
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_host_has_one_spelling() {
        for (text, host) in [
            ("docs.rs", "docs.rs"),
            ("DOCS.rs.", "docs.rs"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("_dmarc.example.org", "_dmarc.example.org"),
            ("127.0.0.1", "127.0.0.1"),
            ("[2001:DB8::1]", "2001:db8::1"),
            ("2001:db8:0:0::1", "2001:db8::1"),
            ("[::ffff:10.0.0.1]", "10.0.0.1"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(Host::new(text).map(|host| host.to_string()), Ok(host.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_host_says_why() {
        let long = format!("{}.org", "a.".repeat(130));
        for (text, fault) in [
            ("", HostFault::Empty),
            (".", HostFault::Empty),
            ("a..b", HostFault::BadLabel),
            (".docs.rs", HostFault::BadLabel),
            ("docs.rs..", HostFault::BadLabel),
            ("-a.org", HostFault::BadLabel),
            ("a-.org", HostFault::BadLabel),
            ("127.1", HostFault::BadLabel),
            ("2130706433", HostFault::BadLabel),
            ("0x7f.0x1", HostFault::BadLabel),
            ("a b.org", HostFault::BadCharacter),
            ("bücher.example", HostFault::BadCharacter),
            ("a%62.org", HostFault::BadCharacter),
            ("[::1", HostFault::BadCharacter),
            ("fe80::1%eth0", HostFault::BadCharacter),
            (&long, HostFault::TooLong),
            (&format!("{}.org", "a".repeat(64)), HostFault::BadLabel),
        ] {
            assert_eq!(Host::new(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn a_name_has_names_above_it_and_an_address_has_none() {
        let upwards = |text: &str| {
            let host = Host::new(text).unwrap();
            host.upwards().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(upwards("a.b.c"), ["a.b.c", "b.c", "c"]);
        assert_eq!(upwards("10.0.0.1"), ["10.0.0.1"]);
        assert_eq!(upwards("2001:db8::1"), ["2001:db8::1"]);
    }

    proptest! {
        #[test]
        fn whatever_is_read_reads_as_itself(text in ".{0,60}") {
            if let Ok(host) = Host::new(&text) {
                prop_assert_eq!(Host::new(host.as_str()), Ok(host));
            }
        }

        #[test]
        fn names_of_plain_labels_are_hosts(text in "[a-z][a-z0-9]{0,9}(\\.[a-z][a-z0-9]{0,9}){0,4}\\.?") {
            prop_assert!(Host::new(&text).is_ok());
        }
    }
}
