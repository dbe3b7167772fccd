//! Stands in for `eventually-util` 0.4, whose in-memory helpers need tokio 0.2 (unmaintained).
//! Only the names the `eventually` facade re-exports exist here; nothing in Weir uses them.

/// In-memory helpers.
pub mod inmemory {
    /// Placeholder for the in-memory projector.
    #[derive(Debug)]
    pub struct Projector;
}

/// Optional-state aggregates.
pub mod optional {
    /// Placeholder for the optional aggregate trait.
    pub trait Aggregate {}
}

/// Thread-safe reference helpers.
pub mod sync {}

/// Placeholder for the projector spawn macro.
#[macro_export]
macro_rules! spawn {
    ($($arg:tt)*) => {};
}
