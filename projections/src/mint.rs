//! Read models about accounts.

pub mod accounts;
