//! Blocked requests that a human is asked about. Streams: `web/approval/<approval>`, and
//! `web/asking/<agent>`, where the questions of an agent are counted.
//!
//! An approval is known by what it is for: the hash of the agent and of all that its request says. A
//! request that says anything else is another one, and needs an approval of its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    content::ContentFilter,
    request::{AgentId, Hash256, HttpMethod, PortalRequest},
};
use crate::{
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};

/// The stream of an approval.
pub fn stream(approval: &Hash256) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("web/approval/{approval}"))
}

/// The stream in which the questions of an agent are counted.
pub fn asking_stream(agent: &AgentId) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("web/asking/{agent}"))
}

/// A question of an agent counts among those that wait for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebApprovalCounted {
    /// Whose it is.
    pub agent: AgentId,
    /// What is asked.
    pub approval: Hash256,
    /// When.
    pub at: Timestamp,
    /// When nobody has to answer any more.
    pub expires_at: Timestamp,
    /// Those that do not count any more, because they have an answer.
    pub answered: Vec<Hash256>,
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
    /// What else the request says: all of it is what is answered for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
}

/// What else a request says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Its headers.
    pub headers: BTreeMap<String, String>,
    /// How what comes back is to be filtered.
    pub filter: ContentFilter,
    /// What it sends along.
    pub body: Option<SaidBody>,
}

/// What a request sends along, for a human to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidBody {
    /// How long it is, in bytes.
    pub size: u64,
    /// Its beginning; what is no UTF-8 in it is shown as U+FFFD.
    pub text: String,
    /// Whether there is more of it than stands here.
    pub cut: bool,
}

/// How much of a body is shown, in bytes.
pub const MAX_SHOWN_BYTES: usize = 16 << 10;

impl Said {
    /// What a request says, besides its address, method and purpose.
    #[must_use]
    pub fn by(request: &PortalRequest) -> Self {
        let body = request.body.as_ref().map(|body| {
            let bytes = body.as_slice();
            let end = bytes.len().min(MAX_SHOWN_BYTES);
            SaidBody {
                size: bytes.len() as u64,
                text: String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned(),
                cut: end < bytes.len(),
            }
        });
        Self { headers: request.headers.as_map().clone(), filter: request.effective_filter(), body }
    }
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
