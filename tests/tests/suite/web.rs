//! The web gateway: what agents may ask, what they see of pages, and what is kept of it.

mod cache;
mod command;
mod corpus;
mod foresight;
mod gates;
mod kills;
mod once;
mod portal;
mod read_models;
mod replays;
mod reports;
mod road;
mod rules;
mod signing;
mod timeline;
