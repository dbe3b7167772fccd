//! Read models about package registries.

pub mod block_log;
pub mod blocked_packages;
pub mod custom_rules;
pub mod downloads;
pub mod known_versions;
pub mod seen_versions;
pub mod sync_status;
pub mod traffic;
pub mod waivers;
