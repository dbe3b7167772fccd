//! The durable log: one total order of events in Postgres.
//!
//! [`Log`] appends (group commit, expected versions, idempotency), reads, tails and is sealed.
//! Position order is commit order and has no holes; every reader asserts it.
//!
//! Nothing here decides whether an event may happen: that is `weir-aggregates`, and only the door
//! in `weir-processors` appends what it decided.

pub mod activity;
pub mod append;
pub mod database;
pub mod eventually;
pub mod idempotency;
pub mod leaf;
pub mod lifecycle;
pub mod migrate;
pub mod open;
pub mod partition;
pub mod read;
pub mod seal;
pub mod tail;
pub mod verify;

pub use open::{Log, LogOptions};
