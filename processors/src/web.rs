//! The web gateway's outside: what may be asked of it, and what is done to a page before
//! an agent sees it.

pub mod filter;
pub mod graphql;
pub mod signature;
