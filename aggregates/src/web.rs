//! The web gateway: who may ask for what, how often, and what it costs.

pub mod approval;
pub mod gateway;
