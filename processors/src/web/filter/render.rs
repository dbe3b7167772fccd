//! Writes a document anew, in the shape that is wanted, and never longer than it may be.

pub(super) mod html;
pub(super) mod markdown;
pub(super) mod plain;
pub(super) mod structured;
pub(super) mod summary;
