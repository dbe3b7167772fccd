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
        /// How much of files that are still on their way may lie beside that, in the same folder. A file
        /// that does not fit is answered with 503; one that is larger than this never comes.
        max_staging: Size = Size(20_000_000_000),
    }
}
