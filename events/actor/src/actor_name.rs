use crate::{ActorPathError, ActorPathErrorKind, PathSegment};
use core::fmt;

/// A segment that a new actor may be called by: what [`PathSegment`] allows, but no leading `$`,
/// which marks the names Pekko makes itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorName(PathSegment);

impl ActorName {
    /// Checks a name that is already in raw form. Text from outside goes through
    /// [`encode_segment`](crate::encode_segment).
    pub fn new(raw: &str) -> Result<Self, ActorPathError> {
        if raw.starts_with('$') {
            return Err(ActorPathError::new(ActorPathErrorKind::ReservedName, 0));
        }
        PathSegment::new(raw).map(Self)
    }

    /// The segment this name becomes.
    pub const fn segment(&self) -> &PathSegment {
        &self.0
    }
}

impl fmt::Display for ActorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
