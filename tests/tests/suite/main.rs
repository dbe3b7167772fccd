//! All end-to-end suites in one binary: a link each is saved.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test says what it expected"
)]

mod access;
mod api;
mod architecture;
mod cache;
mod chaos;
mod cli;
mod disk_full;
mod first_minute;
mod log;
mod metrics;
mod mint;
mod nexus;
mod projections;
mod registry;
mod replay;
mod sse;
mod statements;
mod web;
