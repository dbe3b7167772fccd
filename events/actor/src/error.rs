use crate::ActorPathErrorKind;
use core::{error::Error, fmt};

/// Why a text is not a path, or not the part of a path it was taken for, and where.
///
/// The text itself is left out: who logs the error decides whether it may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ActorPathError {
    kind: ActorPathErrorKind,
    offset: usize,
    segment: Option<usize>,
}

impl ActorPathError {
    pub(crate) const fn new(kind: ActorPathErrorKind, offset: usize) -> Self {
        Self { kind, offset, segment: None }
    }

    /// The same error seen from a text in which the part begins at byte `start`.
    pub(crate) const fn shifted(mut self, start: usize) -> Self {
        self.offset = self.offset.saturating_add(start);
        self
    }

    pub(crate) const fn in_segment(mut self, index: usize) -> Self {
        self.segment = Some(index);
        self
    }

    /// What is wrong.
    pub const fn kind(&self) -> ActorPathErrorKind {
        self.kind
    }

    /// The byte of the text at which it went wrong; the text's length if something is missing.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The segment in which it went wrong, counted from 0, the guardian.
    pub const fn segment(&self) -> Option<usize> {
        self.segment
    }
}

impl fmt::Display for ActorPathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {}", self.kind, self.offset)?;
        if let Some(index) = self.segment {
            write!(f, ", segment {index}")?;
        }
        f.write_str(")")
    }
}

impl Error for ActorPathError {}
