//! Names of streams: `registry/rules`, `access/token/4f…`.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The longest name of a stream, in bytes.
pub const MAX_STREAM_BYTES: usize = 255;

/// The name of a stream: 1 to 255 bytes of printable ASCII without blanks, parts separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StreamName(Arc<str>);

/// The text cannot name a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a stream name: 1 to {MAX_STREAM_BYTES} bytes of printable ASCII without blanks, \
     no empty part"
)]
pub struct StreamNameFault(String);

impl StreamName {
    /// Checks a name.
    pub fn new(name: impl Into<Arc<str>>) -> Result<Self, StreamNameFault> {
        let name = name.into();
        let good = !name.is_empty()
            && name.len() <= MAX_STREAM_BYTES
            && name.bytes().all(|b| b.is_ascii_graphic())
            && name.split('/').all(|part| !part.is_empty());
        if good { Ok(Self(name)) } else { Err(StreamNameFault(name.chars().take(80).collect())) }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for StreamName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl TryFrom<String> for StreamName {
    type Error = StreamNameFault;

    fn try_from(name: String) -> Result<Self, StreamNameFault> {
        Self::new(name)
    }
}

impl From<StreamName> for String {
    fn from(name: StreamName) -> Self {
        name.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_gaps_blanks_or_control_characters_are_refused() {
        for bad in ["", "/", "a//b", "a/", "/a", "a b", "a\0b", "ä", &"x".repeat(256)] {
            assert!(StreamName::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(StreamName::new("registry/rules").unwrap().as_str(), "registry/rules");
    }
}
