//! What can happen in Weir: payload types per subsystem, the envelope around them, the codec, and
//! the one table of kinds.
//!
//! Nothing here decides, waits or stores. Every other crate speaks about the world in these words.

pub mod position;
pub mod stream;
pub mod timestamp;

pub mod codec;
pub mod envelope;
pub mod kind;
pub mod upcast;

pub mod access;
pub mod log;
pub mod mint;
pub mod nexus;
pub mod registry;
pub mod web;

pub use weir_actor as actor;
