//! Blocked requests that a human is asked about. Streams: `web/approval/<approval>`.
//!
//! An approval is known by what it is for: the hash of the agent and of all that its request says. A
//! request that says anything else is another one, and needs an approval of its own.

use serde::{Deserialize, Serialize};

use super::request::{AgentId, Hash256, HttpMethod};
use crate::{
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};

/// The stream of an approval.
pub fn stream(approval: &Hash256) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("web/approval/{approval}"))
}

/// An agent asks a human to let a blocked request through.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebApprovalRequested {
    /// What it is for: SHA-256 of the agent and of all that its request says.
    pub approval: Hash256,
    /// Who asks.
    pub agent: AgentId,
    /// The address.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// Why the agent asks.
    pub purpose: String,
    /// The host that is blocked.
    pub host: String,
    /// Why it is.
    pub reason: String,
    /// When nobody has to answer any more.
    pub expires_at: Timestamp,
}

/// What a human says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalWord {
    /// Let it through.
    Allow,
    /// Do not.
    Deny,
}

impl ApprovalWord {
    /// The name, as in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// A human answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebApprovalAnswered {
    /// What was asked.
    pub approval: Hash256,
    /// The answer.
    pub word: ApprovalWord,
    /// Why.
    pub reason: String,
    /// Who answered.
    pub by: String,
    /// Until when the answer holds.
    pub until: Timestamp,
}
