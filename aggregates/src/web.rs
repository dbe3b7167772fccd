//! The web gateway: who may ask for what, how often, and what it costs.

pub mod approval;
pub mod asking;
pub mod derived;
pub mod domain;
pub mod gateway;
pub mod host;
pub mod rules;
pub mod waiver;
