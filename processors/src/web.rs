//! The web gateway's outside: what may be asked of it, what is done to a page before an agent sees it,
//! and what of it is kept.

pub mod approvals;
pub mod content;
pub mod eviction;
pub mod filter;
pub mod graphql;
pub mod keeper;
pub mod pages;
pub mod portal;
pub mod rules;
pub mod signature;
