//! The operator's blocklist file: what it names, as rules. Stream: `registry/blocklist`.
//!
//! The id of a rule is made of what the rule says, so that the same line in the file is the same rule
//! whenever and wherever it is read.

use serde::{Deserialize, Serialize};

use super::Rule;

/// The name of the one stream of the blocklist.
pub const STREAM: &str = "registry/blocklist";

/// The blocklist names something it did not name before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlocklistRuleAdded {
    /// What is forbidden from now on.
    pub rule: Rule,
}

/// The blocklist no longer names something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlocklistRuleRemoved {
    /// The rule's id.
    pub id: String,
}
