//! `cache`: where verified artifacts are kept.

use std::path::PathBuf;

use super::section::section;
use super::value::Size;

section! {
    /// Where verified artifacts are kept.
    Cache at "cache" {
        /// The folder; `cache` in the data directory unless given.
        path: Option<PathBuf> = None,
        /// How much may be kept; what was used longest ago goes first.
        max_size: Size = Size(50_000_000_000),
    }
}
