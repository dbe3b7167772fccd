//! Where in the log, and where in a stream: numbers that must not be mixed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A place in the total order of the log: 1 is the first event, 0 means "before the first".
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Position(pub i64);

impl Position {
    /// Before the first event.
    pub const START: Self = Self(0);

    /// The place `n` events further on.
    #[must_use]
    pub const fn plus(self, n: i64) -> Self {
        Self(self.0.saturating_add(n))
    }

    /// The next place.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// How many events lie after `self` up to and including `other`; 0 when `other` is behind.
    #[must_use]
    pub const fn distance_to(self, other: Self) -> u64 {
        let distance = other.0.saturating_sub(self.0);
        if distance < 0 { 0 } else { distance.unsigned_abs() }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many events a stream holds; the first event of a stream has version 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct StreamVersion(pub i64);

impl StreamVersion {
    /// A stream nobody has written to.
    pub const NONE: Self = Self(0);

    /// The version `n` events later.
    #[must_use]
    pub const fn plus(self, n: i64) -> Self {
        Self(self.0.saturating_add(n))
    }
}

impl fmt::Display for StreamVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which life of the log a position belongs to. A restore or a failover starts a new one, so that
/// a cursor from before can be told from a cursor of now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Incarnation(pub Uuid);

impl fmt::Display for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.simple().fmt(f)
    }
}

/// What a reader remembers: `<incarnation>-<position>`, or a bare position that trusts the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The life of the log the position was read in, where the reader knows it.
    pub incarnation: Option<Incarnation>,
    /// The last position the reader has seen.
    pub position: Position,
}

impl From<Position> for Cursor {
    fn from(position: Position) -> Self {
        Self { incarnation: None, position }
    }
}

/// The text is neither `<position>` nor `<incarnation>-<position>`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a cursor: write a position like 42, or the id of an event as it was sent")]
pub struct CursorFault(pub String);

impl FromStr for Cursor {
    type Err = CursorFault;

    fn from_str(text: &str) -> Result<Self, CursorFault> {
        let fault = || CursorFault(text.chars().take(80).collect());
        let (incarnation, position) = match text.rsplit_once('-') {
            None => (None, text),
            Some((life, position)) => {
                (Some(Incarnation(Uuid::try_parse(life).map_err(|_| fault())?)), position)
            }
        };
        if position.is_empty() || !position.bytes().all(|b| b.is_ascii_digit()) {
            return Err(fault());
        }
        let position = Position(position.parse().map_err(|_| fault())?);
        Ok(Self { incarnation, position })
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.incarnation {
            Some(life) => write!(f, "{life}-{}", self.position),
            None => self.position.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_what_it_wrote() {
        let cursor =
            Cursor { incarnation: Some(Incarnation(Uuid::from_u128(7))), position: Position(42) };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        assert_eq!("42".parse(), Ok(Cursor { incarnation: None, position: Position(42) }));
    }

    #[test]
    fn what_is_no_cursor_is_refused_and_named() {
        for text in ["", "-1", "x", "1.5", "+1", "abc-1", "99999999999999999999"] {
            assert!(text.parse::<Cursor>().is_err(), "{text}");
        }
    }
}
