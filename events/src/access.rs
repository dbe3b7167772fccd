//! Who may pass: tokens and their scopes, the browsers that signed in with one, and the agents whose
//! signatures count. Secrets never stand in events, only ids and public keys do.
//! Streams: `access/token/<id>`, `access/sessions/<token id>` (append-only), `access/agent/<id>`.

use serde::{Deserialize, Serialize};

use crate::{
    codec::events,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
    web::request::{AgentId, PublicKey},
};

/// The stream of an agent.
pub fn agent_stream(agent: &AgentId) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("access/agent/{agent}"))
}

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
        /// An agent is known by its key: what it signs counts from now on.
        0x1105 v 1 AgentRegistered,
        /// An agent is no longer trusted: what it signs counts for nothing, on any instance, and the
        /// tokens that are its own open nothing.
        0x1106 v 1 AgentRevoked,
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
    /// The agent whose own it is: it opens something only as long as the agent is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
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

/// An agent is known by its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRegistered {
    /// SHA-256 of its key.
    pub agent: AgentId,
    /// What the operator called it.
    pub name: String,
    /// The ed25519 key that its signatures are checked with.
    pub public_key: PublicKey,
}

/// An agent is no longer trusted. Its key never is again; an agent with a new key is a new agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRevoked {
    /// The agent.
    pub agent: AgentId,
}
