//! Who may pass: tokens and their scopes. Secrets never stand in events, only ids do.
//! Streams: `access/token/<id>`.

use serde::{Deserialize, Serialize};

use crate::{codec::events, timestamp::Timestamp};

events! {
    /// Events of subsystem `access` (range 0x1100).
    Event {
        /// A bearer token was issued; its secret was shown once and is kept only as a hash.
        0x1101 v 1 TokenIssued,
        /// A token was revoked: from now on it opens nothing, on any instance.
        0x1102 v 1 TokenRevoked,
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
}

/// A token was revoked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    /// The token.
    pub token_id: String,
}
