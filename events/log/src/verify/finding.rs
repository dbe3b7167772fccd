//! What a verification can find, and how it is told.

use std::fmt;

use serde::Serialize;
use weir_events::position::{Position, StreamVersion};

/// Something that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// The row at this position does not fit its leaf.
    Changed {
        /// Where.
        position: Position,
    },
    /// No row has this position.
    Missing {
        /// The first missing position.
        first: Position,
        /// The last missing position.
        last: Position,
    },
    /// A row lies beyond the log's head.
    BeyondHead {
        /// Where.
        position: Position,
    },
    /// A stream's versions do not count up by one here.
    VersionBroken {
        /// Where.
        position: Position,
        /// The version it should have.
        expected: StreamVersion,
        /// The version it has.
        found: StreamVersion,
    },
    /// The leaves of a sealed range do not fit its seal: row and leaf were rewritten.
    Resealed {
        /// The first position of the range.
        first: Position,
        /// The last position of the range.
        last: Position,
    },
    /// A seal does not follow the seal before, or its signature does not fit.
    SealBroken {
        /// The last position the seal covers.
        last: Position,
    },
    /// A seal is signed with a key nobody here trusts.
    SealUntrusted {
        /// The last position the seal covers.
        last: Position,
        /// The public key, hexadecimal.
        public_key: String,
    },
    /// The log ends before its last seal does: its tail was cut off.
    Truncated {
        /// The head of the log.
        head: Position,
        /// The last sealed position.
        sealed_to: Position,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { position } => {
                write!(f, "position {position}: the event does not fit its leaf hash")
            }
            Self::Missing { first, last } if first == last => {
                write!(f, "position {first}: missing")
            }
            Self::Missing { first, last } => write!(f, "positions {first} to {last}: missing"),
            Self::BeyondHead { position } => write!(f, "position {position}: beyond the head"),
            Self::VersionBroken { position, expected, found } => {
                write!(f, "position {position}: version {found} where {expected} must be")
            }
            Self::Resealed { first, last } => {
                write!(f, "positions {first} to {last}: the leaves do not fit their seal")
            }
            Self::SealBroken { last } => write!(f, "the seal up to position {last} is broken"),
            Self::SealUntrusted { last, public_key } => {
                write!(f, "the seal up to position {last} is signed by unknown key {public_key}")
            }
            Self::Truncated { head, sealed_to } => {
                write!(f, "the log ends at {head}, but was sealed up to {sealed_to}: cut off")
            }
        }
    }
}
