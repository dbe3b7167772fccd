//! The harness the end-to-end suites stand on: a database per test on a private cluster, writers
//! that keep a record of what was acknowledged to them, and bounded waits that say where things
//! stood when they give up.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a harness fails loudly, with what it expected"
)]

pub mod advisories;
pub mod agent;
pub mod bucket;
pub mod cache;
pub mod checker;
pub mod database;
pub mod deadline;
pub mod events;
pub mod fill;
pub mod memory;
pub mod outside;
pub mod pgbouncer;
pub mod process;
pub mod proxy;
pub mod readmodels;
pub mod redis;
pub mod site;
pub mod sockets;
pub mod sse;
pub mod upstream;
pub mod web;
pub mod weir;
pub mod writers;
