use crate::{ActorPathError, ActorPathErrorKind};
use alloc::sync::Arc;
use core::fmt;

/// The name of an actor system: `[a-zA-Z0-9][a-zA-Z0-9-_]*`, case kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SystemName(Arc<str>);

impl SystemName {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 255;

    /// Checks a name, or answers `InvalidSystemName`.
    pub fn new(name: &str) -> Result<Self, ActorPathError> {
        Self::check(name)?;
        Ok(Self::from_checked(name))
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// For text that `check` has passed.
    pub(crate) fn from_checked(name: &str) -> Self {
        Self(Arc::from(name))
    }

    pub(crate) fn check(name: &str) -> Result<(), ActorPathError> {
        let wrong = |at, byte: u8| {
            !(byte.is_ascii_alphanumeric() || (at != 0 && matches!(byte, b'-' | b'_')))
        };
        let refused = |at| Err(ActorPathError::new(ActorPathErrorKind::InvalidSystemName, at));
        if name.is_empty() {
            return refused(0);
        }
        if let Some(at) = (0..).zip(name.bytes()).find_map(|(at, b)| wrong(at, b).then_some(at)) {
            return refused(at);
        }
        if Self::MAX_BYTES < name.len() {
            return refused(Self::MAX_BYTES);
        }
        Ok(())
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
