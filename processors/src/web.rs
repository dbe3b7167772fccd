//! The web gateway's outside: what is done to a page before an agent sees it.

pub mod filter;
