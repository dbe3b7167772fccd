//! Which hosts the gateway fetches from. Streams: `web/rules`, `web/waivers`.

use serde::{Deserialize, Serialize};

use super::request::AgentId;
use crate::timestamp::Timestamp;

/// The name of the one stream of rules.
pub const RULES: &str = "web/rules";

/// The name of the one stream of waivers.
pub const WAIVERS: &str = "web/waivers";

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Lets through.
    Allow = 0,
    /// Refuses.
    Block = 1,
}

impl Action {
    /// The name, as in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
        }
    }

    /// Finds an action by its name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        [Self::Allow, Self::Block].into_iter().find(|action| action.as_str() == name)
    }
}

/// A rule about hosts.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DomainRule {
    /// A name (`docs.rs`), a glob (`*.example.org`) or a regular expression (`re:…`), with a port
    /// where it is meant for that one only (`example.org:8443`). There is one rule a pattern.
    pub pattern: String,
    /// What it does.
    pub action: Action,
    /// What kind of host it is: `documentation`, `code_repo`, …
    pub category: String,
    /// What an agent is told.
    pub reason: String,
}

/// From now on a pattern means this, or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainRuleUpdated {
    /// The pattern.
    pub pattern: String,
    /// The rule; `None` where it was removed.
    pub rule: Option<DomainRule>,
}

/// What a waiver permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permits {
    /// A host that is blocked is asked all the same.
    Host,
    /// Code may stay in what is fetched.
    Code,
}

impl Permits {
    /// The name, as in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Code => "code",
        }
    }
}

/// A permission in spite of a "no" of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WebWaiver {
    /// Its id (UUID version 7).
    pub id: String,
    /// What it permits.
    pub permits: Permits,
    /// The hosts it is about, by a pattern as rules that allow have it; all where none is named.
    pub pattern: Option<String>,
    /// The one agent that it is for; all where none is named.
    pub agent: Option<AgentId>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// Somebody wants a waiver, which a second person has to grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebWaiverRequested {
    /// What is wanted.
    pub waiver: WebWaiver,
    /// The principal that asked.
    pub requested_by: String,
}

/// A waiver is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebWaiverGranted {
    /// What is permitted.
    pub waiver: WebWaiver,
    /// The principal that asked.
    pub requested_by: String,
    /// The principal that said yes.
    pub granted_by: String,
}

/// A waiver is not in force any more, or never will be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebWaiverRevoked {
    /// The waiver's id.
    pub id: String,
    /// The principal that took it back.
    pub revoked_by: String,
    /// Why.
    pub reason: String,
}

/// A waiver's time is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebWaiverExpired {
    /// The waiver's id.
    pub id: String,
}
