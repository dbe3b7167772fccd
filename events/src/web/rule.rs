//! Which hosts the gateway fetches from. Stream: `web/rules`.

use serde::{Deserialize, Serialize};

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Lets through.
    Allow,
    /// Refuses.
    Block,
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
