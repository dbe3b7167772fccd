//! The package firewall's outside: what clients ask, what upstreams give, what is kept.
//!
//! Each ecosystem is a [`plugin::RegistryPlugin`]. The rules come from the live [`policy`]; every
//! decision on a download goes through the [`ledger`] into the log before its first byte leaves.

pub mod pins;
pub mod plugin;

pub mod policy;

pub mod accept;
pub mod answer;
pub mod asking;
pub mod cache;
pub mod canary;
pub mod decisions;
pub mod documents;
pub mod download;
pub mod gate;
pub mod judging;
pub mod keeper;
pub mod known;
pub mod ledger;
pub mod lru;
pub mod patience;
pub mod purging;
pub mod renderings;
pub mod setup;
pub mod shelves;
pub mod sightings;
pub mod stats;
pub mod tellings;
pub mod what_if;
mod written;
mod zip_end;

pub mod cargo;
pub mod check;
pub mod docker;
pub mod go;
pub mod npm;
pub mod pypi;

pub mod sources;

#[cfg(test)]
mod hostile;
#[cfg(test)]
pub(crate) mod testing;
