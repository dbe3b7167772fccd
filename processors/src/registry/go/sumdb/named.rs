//! What a checksum database is called, and whose signature is believed.

use std::{fmt, str::FromStr};

use super::note::{Key, KeyFault};

/// A database as it is configured: `NAME`, or `NAME+HASH+KEY` as `GOSUMDB` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name.
    pub name: Box<str>,
    /// Its key; without one, what it says is believed as it comes.
    pub key: Option<Key>,
    text: Box<str>,
}

/// It is neither.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedFault {
    /// The name cannot stand in a path.
    #[error("`{0}` is no name of a checksum database: a host, as `sums.example`")]
    Name(String),
    /// What stands behind the name is no key.
    #[error("`{0}` is no checksum database: {1}")]
    Key(String, #[source] KeyFault),
}

/// Whether a name can be that of a database.
pub(super) fn is_name(name: &str) -> bool {
    let host = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b);
    !name.is_empty() && !name.starts_with(['.', '-']) && name.bytes().all(host)
}

impl FromStr for Named {
    type Err = NamedFault;

    fn from_str(text: &str) -> Result<Self, NamedFault> {
        let shown = || text.chars().take(120).collect();
        let (name, key) = match text.split_once('+') {
            None => (text, None),
            Some((name, _)) => {
                let key = text.parse().map_err(|fault| NamedFault::Key(shown(), fault))?;
                (name, Some(key))
            }
        };
        if !is_name(name) {
            return Err(NamedFault::Name(shown()));
        }
        Ok(Self { name: name.into(), key, text: text.into() })
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_named_with_its_key_or_without() {
        let named: Named = "sums.example".parse().unwrap();
        assert_eq!((&*named.name, &named.key), ("sums.example", &None));
        let text = super::super::testing::Sums::new("sums.example", 7).public();
        let named: Named = text.parse().unwrap();
        assert_eq!((&*named.name, named.to_string()), ("sums.example", text.clone()));
        assert_eq!(named.key.unwrap().name(), "sums.example");
        let cut = &text[..text.len() - 1];
        for bad in ["", "../x", "Sums", "-x", "sums.example+", "sums.example+00000000+AA==", cut] {
            assert!(bad.parse::<Named>().is_err(), "{bad}");
        }
    }
}
