//! The web gateway: what agents asked of the outside, what became of it, what it cost.
//! Streams: `web/agent/<agent>/<cycle>` (quota, reservations and requests of one agent and cycle),
//! `web/cache/<key>` and `web/cache` (append-only), `web/reports`, and those of [`approval`] and [`rule`].

pub mod approval;
pub mod content;
pub mod request;
pub mod rule;

use serde::{Deserialize, Serialize};

use self::{
    approval::{WebApprovalAnswered, WebApprovalCounted, WebApprovalRequested},
    content::{ContentFilter, FilterReport},
    request::{AgentId, ApiInteractionKind, Cost, Hash256, HttpMethod, PortalReport},
    rule::{
        Action, DomainRuleUpdated, WebWaiverExpired, WebWaiverGranted, WebWaiverRequested,
        WebWaiverRevoked,
    },
};
use crate::{
    codec::events,
    position::Position,
    stream::{StreamName, StreamNameFault},
};

/// The stream of the reports.
pub const REPORTS: &str = "web/reports";

/// The stream of what is said of the whole cache.
pub const CACHE: &str = "web/cache";

/// The stream of one agent in one cycle.
pub fn agent_stream(agent: &AgentId, cycle: u64) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("web/agent/{agent}/{cycle}"))
}

/// The stream of what is cached under one key.
pub fn cache_stream(key: &Hash256) -> Result<StreamName, StreamNameFault> {
    StreamName::new(format!("web/cache/{key}"))
}

/// The transfer that pays for a request: SHA-256 of the request's id and `cost`.
#[must_use]
pub fn transfer(request: &Hash256) -> Hash256 {
    Hash256::of(&[request.as_bytes(), b"cost"])
}

events! {
    /// Events of subsystem `web` (range 0x6000).
    Event {
        /// A request was admitted: its quota and its spark are reserved, and nothing has left yet.
        0x6000 v 1 WebRequestSubmitted,
        /// A request was answered, by the outside or from the cache.
        0x6001 v 1 WebRequestCompleted,
        /// A request was refused.
        0x6002 v 1 WebRequestBlocked,
        /// A request was admitted, and came to nothing.
        0x6003 v 1 WebRequestFailed,
        /// Code was taken out of a page, or there is something to say about it.
        0x6010 v 1 ContentFiltered,
        /// A request was answered from the cache.
        0x6020 v 1 WebCacheHit,
        /// A filtered page was cached.
        0x6021 v 1 WebCacheStored,
        /// A filtered page was forgotten.
        0x6022 v 1 WebCacheEvicted,
        /// All filtered pages were forgotten whose time had come.
        0x6023 v 1 WebCacheExpired,
        /// Pages may say something else by now, whether any is cached or only under way.
        0x6024 v 1 WebCacheInvalidated,
        /// From now on a pattern of hosts means something else, or nothing.
        0x6030 v 1 DomainRuleUpdated,
        /// Somebody wants a permission in spite of a "no", which a second person has to grant.
        0x6031 v 1 WebWaiverRequested,
        /// Such a permission is in force.
        0x6032 v 1 WebWaiverGranted,
        /// Such a permission is not in force any more, or never will be.
        0x6033 v 1 WebWaiverRevoked,
        /// The time of such a permission is over.
        0x6034 v 1 WebWaiverExpired,
        /// An agent asked for more than its quota, for the first time in a cycle.
        0x6040 v 1 QuotaExhausted,
        /// What a cycle added up to.
        0x6050 v 1 PortalReportPublished,
        /// An agent asks a human to let a blocked request through.
        0x6060 v 1 WebApprovalRequested,
        /// A human answered, for a time.
        0x6061 v 1 WebApprovalAnswered,
        /// A question of an agent counts among those that wait for an answer.
        0x6062 v 1 WebApprovalCounted,
    }
}

/// What every event about a request says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The request's own id.
    pub request: Hash256,
    /// Who asked.
    pub agent: AgentId,
    /// The address as it was sent, without user name and password.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// Why the agent asks.
    pub purpose: String,
    /// The cycle it is counted in.
    pub cycle: u64,
    /// The tick it came in.
    pub tick: u64,
}

/// A request was admitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRequestSubmitted {
    /// The request.
    pub asked: Asked,
    /// What kind of interaction it is.
    pub interaction: ApiInteractionKind,
    /// What is cached of it, by all who ask for the same.
    pub key: Hash256,
    /// What is to be done to the page.
    pub filter: ContentFilter,
    /// The epoch by which it was judged.
    pub epoch: u32,
    /// How many requests the cycle has.
    pub quota: u32,
    /// The transfer that pays for it: [`transfer`] of its id.
    pub transfer: Hash256,
    /// The most it may cost.
    pub reserved: Cost,
    /// What a human was asked and has allowed, where a rule would have blocked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Hash256>,
}

/// A request was answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRequestCompleted {
    /// The request.
    pub asked: Asked,
    /// The status of the answer.
    pub status: u16,
    /// The type of the content, as the agent gets it.
    pub content_type: String,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// How many bytes it has.
    pub content_size: u64,
    /// Whether nothing left for it.
    pub cached: bool,
    /// What it cost, without the tax.
    pub cost: Cost,
    /// The tax on that, in spark.
    pub tax: u64,
    /// What was done to the page.
    pub filtered: FilterReport,
    /// The hosts that were contacted for it, in order.
    pub hosts: Vec<String>,
    /// The agent is to pause this many ticks: the outside said it asks too often.
    pub back_off: Option<u64>,
    /// The tick that they are counted from, where it is not the one that the request came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<u64>,
    /// The addresses that redirects led to for it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<WebRedirect>,
    /// Where it was not admitted before, what a human was asked and has allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Hash256>,
    /// The rendering that the agent was given: SHA-256 of the filter and its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Hash256>,
}

/// An address that a redirect led to, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRedirect {
    /// The address, without its query, which may hold a secret.
    pub url: String,
    /// What became of it.
    pub action: Action,
    /// The pattern of the rule that said so, where one did.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

/// A request was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRequestBlocked {
    /// The request.
    pub asked: Asked,
    /// The code of the error on the wire.
    pub code: u16,
    /// The error's name.
    pub error: String,
    /// Why.
    pub reason: String,
    /// The host that was refused, where it was one.
    pub domain: Option<String>,
    /// What it cost all the same: a request that was led astray by a redirect has left.
    pub cost: Cost,
    /// The tax on that, in spark.
    pub tax: u64,
    /// The hosts that were contacted before.
    pub hosts: Vec<String>,
    /// The addresses that redirects led to, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<WebRedirect>,
}

/// A request was admitted, and came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebRequestFailed {
    /// The request.
    pub asked: Asked,
    /// The code of the error on the wire.
    pub code: u16,
    /// The error's name.
    pub error: String,
    /// What went wrong.
    pub reason: String,
    /// What it cost, without the tax.
    pub cost: Cost,
    /// The tax on that, in spark.
    pub tax: u64,
    /// The hosts that were contacted.
    pub hosts: Vec<String>,
    /// The addresses that redirects led to, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<WebRedirect>,
}

/// Code was taken out of a page, or there is something to say about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentFiltered {
    /// The request it was for.
    pub request: Hash256,
    /// Who asked.
    pub agent: AgentId,
    /// The cycle.
    pub cycle: u64,
    /// What was done.
    pub report: FilterReport,
}

/// A request was answered from the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCacheHit {
    /// The request.
    pub request: Hash256,
    /// Who asked.
    pub agent: AgentId,
    /// The cycle.
    pub cycle: u64,
    /// The page.
    pub key: Hash256,
    /// The rendering of it.
    pub variant: Hash256,
}

/// A filtered page was cached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCacheStored {
    /// The page: SHA-256 of the address without fragment, the method and the body.
    pub key: Hash256,
    /// The rendering: SHA-256 of the filter and its version.
    pub variant: Hash256,
    /// Whose it is, where it is not shared.
    pub owner: Option<AgentId>,
    /// The address.
    pub url: String,
    /// The method.
    pub method: HttpMethod,
    /// The status of the answer.
    pub status: u16,
    /// The type of the content.
    pub content_type: String,
    /// The content, by its BLAKE3 in the content store.
    pub content: Hash256,
    /// How many bytes it has.
    pub content_size: u64,
    /// What was done to the page.
    pub filtered: FilterReport,
    /// The first words of the page, for those who search: its title, where it has one.
    pub title: Option<String>,
    /// The request that fetched it.
    pub request: Hash256,
    /// The cycle it was stored in.
    pub cycle: u64,
    /// For how many cycles it may be shown: while the cycle is before `cycle + ttl`.
    pub ttl: u32,
    /// The origins that redirects led to on the way, in order: where one of them is not to be asked any
    /// more, the page is not to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirected: Vec<String>,
    /// What GET is cached under of the other addresses that it comes from: those that redirects led to,
    /// and its own, where it is cached under another key. When one of them changes, it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Hash256>,
    /// Where the log stood, as far as was known, when it was asked for: what was said to have changed
    /// since then has changed it. Where this is not said, it is as new as this event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Position>,
}

impl WebCacheStored {
    /// The cycle it is not shown in any more.
    #[must_use]
    pub fn expires_at(&self) -> u64 {
        self.cycle.saturating_add(u64::from(self.ttl))
    }

    /// Whether it is cached under one of these keys, or comes from an address that GET caches under one.
    #[must_use]
    pub fn comes_from(&self, keys: &[Hash256]) -> bool {
        keys.contains(&self.key) || self.also.iter().any(|also| keys.contains(also))
    }
}

/// Why a page was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WebEvictionCause {
    /// Its time had come. Nobody says that of single pages any more, see [`WebCacheExpired`].
    Expired,
    /// Something newer took its place in a full cache.
    Space,
    /// An operator said so.
    Purged,
    /// It may say something else by now: something was sent to its address since it was asked for, with
    /// success (RFC 9111, section 4.4), or an operator wanted it forgotten while it was under way.
    Changed,
}

/// A filtered page was forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCacheEvicted {
    /// The page.
    pub key: Hash256,
    /// The rendering.
    pub variant: Hash256,
    /// Whose it was.
    pub owner: Option<AgentId>,
    /// Why.
    pub cause: WebEvictionCause,
    /// The cycle.
    pub cycle: u64,
}

/// All filtered pages were forgotten that were stored before this and are not shown any more in a
/// cycle. Each event that stored one says how long it may be shown, so one word says of all of them what
/// one word of each would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCacheExpired {
    /// The cycle.
    pub cycle: u64,
    /// How many renderings, as far as whoever says it knows.
    pub n_pages: u64,
}

/// Pages may say something else by now (RFC 9111, section 4.4): what was asked for before this, by
/// whichever instance, is neither kept after it nor given to who asks after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebCacheInvalidated {
    /// Which.
    pub pages: Invalidated,
    /// Why: [`WebEvictionCause::Purged`] or [`WebEvictionCause::Changed`].
    pub cause: WebEvictionCause,
    /// The cycle.
    pub cycle: u64,
}

/// Which pages may say something else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Invalidated {
    /// What this address gives, without a fragment, by whichever method. What was cached of it has a
    /// [`WebCacheEvicted`] each, after this.
    Url(String),
    /// What a host gives, also by a redirect that led to it. The same holds for what was cached of it.
    Host(String),
    /// What is cached under these keys, and what else comes from the addresses that GET caches under them
    /// ([`WebCacheStored::also`]). What was cached of them before this is gone with it.
    Keys(Vec<Hash256>),
}

/// An agent asked for more than its quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaExhausted {
    /// Who.
    pub agent: AgentId,
    /// The cycle.
    pub cycle: u64,
    /// The tick.
    pub tick: u64,
    /// How many requests it has used.
    pub used: u32,
    /// How many it has.
    pub max: u32,
}

/// What a cycle added up to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortalReportPublished {
    /// The report.
    pub report: PortalReport,
    /// SHA-256 over the request log and the cache at the cycle's end, in canonical order.
    pub state_hash: Hash256,
    /// How often the cycle was reported before, and something of it came later.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it like this")]
const fn is_first(revision: &u32) -> bool {
    *revision == 0
}
