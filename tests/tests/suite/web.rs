//! The web gateway: what agents see of pages.

mod command;
mod corpus;
mod portal;
mod rules;
