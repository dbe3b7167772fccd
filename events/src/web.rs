//! The web gateway.

pub mod content;
