//! The door, and everything that touches the outside.
//!
//! Only [`door::Door`] appends what was decided; only [`outbound`] opens a connection to the
//! outside. What a processor did is recorded as events, so that a crash repeats nothing visible.

pub mod access;
pub mod caller;
mod chain;
pub mod clock;
pub mod door;
mod due;
pub mod expiry;
pub mod flights;
pub mod follower;
pub mod nexus;
pub mod outbound;
pub mod registry;
pub mod sealer;
pub mod web;
