//! Read models about who may pass.

pub mod api_tokens;
