//! Who may pass: tokens and their scopes, and the browsers that signed in with one. Secrets never
//! stand in events, only ids do.
//! Streams: `access/token/<id>`, `access/sessions/<token id>` (append-only).

use serde::{Deserialize, Serialize};

use crate::{codec::events, timestamp::Timestamp};

events! {
    /// Events of subsystem `access` (range 0x1100).
    Event {
        /// A bearer token was issued; its secret was shown once and is kept only as a hash.
        0x1101 v 1 TokenIssued,
        /// A token was revoked: from now on it opens nothing, on any instance.
        0x1102 v 1 TokenRevoked,
        /// A browser signed in with a token.
        0x1103 v 1 SessionOpened,
        /// A browser signed out, or made room for others: its cookie opens nothing any more, on
        /// any instance.
        0x1104 v 1 SessionEnded,
    }
}

/// A bearer token was issued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenIssued {
    /// 16 hexadecimal digits, the part of the token that is no secret.
    pub token_id: String,
    /// What the operator called it; also the name of the principal.
    pub name: String,
    /// What it may do, by name.
    pub scopes: Vec<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// The profile whose stricter policy holds for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// A token was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// The token.
    pub token_id: String,
}

/// A browser signed in with a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// 16 hexadecimal digits, no part of the session's secret.
    pub session: String,
    /// The token it is of.
    pub token_id: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

/// A browser signed out, or made room for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnded {
    /// The session.
    pub session: String,
    /// The token it was of.
    pub token_id: String,
    /// Why.
    pub cause: SessionEnd,
}

/// Why a session ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SessionEnd {
    /// Its person signed out.
    SignedOut,
    /// Its token has more sessions than it may have, and this one was not used for longest.
    CrowdedOut,
}
