//! What happens to the log's own machinery: operators' commands on projections.
//! Streams: `log/projections/<name>`.

use serde::{Deserialize, Serialize};

use crate::{codec::events, position::Position};

events! {
    /// Events of subsystem `log` (range 0x1000).
    Event {
        /// An operator asked for a read model to be rebuilt beside the live one.
        0x1001 v 1 ReplayRequested,
        /// An operator called a rebuild off.
        0x1002 v 1 ReplayCancelled,
        /// A dead letter was handed to its projection once more.
        0x1003 v 1 DeadLetterRedelivered,
    }
}

/// An operator asked for a read model to be rebuilt beside the live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayRequested {
    /// The projection.
    pub projection: String,
    /// Rebuild from after this position; 0 is the whole log.
    pub from: Position,
}

/// An operator called a rebuild off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayCancelled {
    /// The projection.
    pub projection: String,
}

/// A dead letter was handed to its projection once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterRedelivered {
    /// The projection.
    pub projection: String,
    /// The position of the event it could not apply.
    pub position: Position,
}
