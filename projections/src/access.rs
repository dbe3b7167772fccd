//! Read models about who may pass.

pub mod agents;
pub mod api_tokens;
