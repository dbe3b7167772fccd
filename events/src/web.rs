//! The web gateway.

pub mod content;
pub mod request;
