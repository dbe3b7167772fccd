//! Pure state machines: commands in, decisions out.
//!
//! No IO, no clock of their own, no randomness, no waiting: who needs the time or an id is given it.

pub mod machine;
pub mod waiver;
pub mod words;

pub mod bridge;

pub mod access;
pub mod log;
pub mod mint;
pub mod nexus;
pub mod registry;
pub mod web;
