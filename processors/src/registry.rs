//! The package firewall's outside: what clients ask, what upstreams give, what is kept.
//!
//! Each ecosystem is a [`plugin::RegistryPlugin`]. The rules come from the live [`policy`]; every
//! decision on a download goes through the [`ledger`] into the log before its first byte leaves.

pub mod plugin;

pub mod policy;

pub mod answer;
pub mod cache;
pub mod download;
pub mod flights;
pub mod ledger;
pub mod lru;
pub mod stats;

pub mod pypi;
