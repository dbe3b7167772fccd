//! Read models about the log itself.

pub mod causation;
