//! What a cycle added up to.

use serde::{Deserialize, Serialize};

use super::{AgentId, Cost, named::named};

/// What a cycle added up to, of all agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortalReport {
    /// The cycle.
    pub cycle: u64,
    /// How many requests there were, however they ended.
    pub total_requests: u64,
    /// What part of those that were answered came from the cache, from 0 to 1; 0 where none was.
    pub cache_hit_rate: f64,
    /// The hosts that were contacted, or whose pages were shown, in order of their names.
    pub domains_accessed: Vec<String>,
    /// Who asked most, most first.
    pub top_users: Vec<TopUser>,
    /// How many answers had code taken out of them.
    pub code_filter_hits: u64,
    /// How many requests were refused.
    pub blocked_requests: u64,
    /// What it all cost, without the tax.
    #[serde(deserialize_with = "named")]
    pub total_cost: Cost,
}

/// An agent, and how much it asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopUser {
    /// The agent.
    pub agent: AgentId,
    /// How many requests it made.
    pub requests: u64,
}
