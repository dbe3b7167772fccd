//! HTTP: routers, auth, SSE, problem documents, OpenAPI and the web UI.
//!
//! Handlers parse, ask, answer. No rule is decided here and no statement is written here: rules are
//! the aggregates', read models bring their own queries.

pub mod router;
pub mod serve;
pub mod state;

pub mod answer;
pub mod ask;
pub mod auth;
mod base;
pub mod outer;
pub mod page;
pub mod peer;
pub mod problem;
pub mod wait;

pub mod agents;
pub mod events;
pub mod health;
pub mod metrics;
pub mod mint;
pub mod nexus;
pub mod openapi;
pub mod packages;
pub mod projections;
pub mod registry;
pub mod session;
pub mod sse;
pub mod status;
pub mod tokens;
pub mod ui;
mod waivers;
pub mod web;
