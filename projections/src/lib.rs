//! Replayable read models and the engine that keeps them.
//!
//! A read model shows what happened; it decides nothing. Each is one file here and one of SQL, and
//! exports the queries on it: nobody else speaks SQL to its tables.

use std::sync::Arc;

pub mod engine;
pub mod query;

pub mod access;
pub mod log;
pub mod mint;
pub mod registry;
pub mod web;

mod decode;
mod transaction;

use engine::Projection;

/// Every read model, in the order of their subsystems.
pub fn all() -> Vec<Arc<dyn Projection>> {
    vec![
        Arc::new(log::causation::Causation),
        Arc::new(access::agents::Agents),
        Arc::new(access::api_tokens::ApiTokens),
        Arc::new(mint::accounts::Accounts),
        Arc::new(registry::block_log::BlockLog),
        Arc::new(registry::blocked_packages::BlockedPackages),
        Arc::new(registry::custom_rules::CustomRules),
        Arc::new(registry::downloads::Downloads),
        Arc::new(registry::known_versions::KnownVersions),
        Arc::new(registry::seen_versions::SeenVersions),
        Arc::new(registry::sync_status::SyncStatus),
        Arc::new(registry::traffic::Traffic),
        Arc::new(registry::waivers::Waivers),
        Arc::new(web::request_log::RequestLog),
        Arc::new(web::cache::Cache),
        Arc::new(web::reports::Reports),
        Arc::new(web::approvals::Approvals),
        Arc::new(web::domain_rules::DomainRules),
    ]
}

#[cfg(test)]
mod versions;
