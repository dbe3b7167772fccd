//! What a file must be beside its hash: some indexes promise what is in a file, not its bytes.

use std::{fs::File, io};

use crate::registry::go::zip::{self, ZipFault};

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Shape {
    /// Anything.
    #[default]
    Any,
    /// The zip of a version of a Go module.
    GoZip {
        /// What the names of all its files begin with: `module@version/`.
        prefix: Box<str>,
        /// What it must add up to.
        sum: Sum,
    },
}

/// What is known of the `h1` of a zip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sum {
    /// What the checksum database has.
    Known([u8; 32]),
    /// No database is asked: what comes first is kept, and the go command compares it with `go.sum`.
    Unasked,
    /// The database that is asked says nothing of it: it is passed through, and not kept.
    Untold,
}

/// It is something else.
#[derive(Debug, thiserror::Error)]
pub(super) enum ShapeFault {
    #[error("{0}")]
    Mismatch(String),
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Shape {
    /// Whether it tells so much that what has it may be kept.
    pub(super) const fn tells(&self) -> bool {
        match self {
            Self::Any | Self::GoZip { sum: Sum::Untold, .. } => false,
            Self::GoZip { sum: Sum::Known(_) | Sum::Unasked, .. } => true,
        }
    }

    /// A name for what has it.
    #[must_use]
    pub fn tag(&self) -> Option<String> {
        match self {
            Self::GoZip { sum: Sum::Known(sum), .. } => Some(hex::encode(sum)),
            Self::GoZip { sum: Sum::Unasked | Sum::Untold, .. } | Self::Any => None,
        }
    }

    /// Whether what was found to be this when it was kept has it.
    pub(super) fn admits(&self, found: &str) -> bool {
        match self {
            Self::Any => true,
            Self::GoZip { sum: Sum::Untold, .. } => false,
            // Of which module it was found to be counts: some disks do not tell all names apart.
            Self::GoZip { prefix, sum: Sum::Unasked } => {
                let of = found.strip_prefix("h1 ").and_then(|found| found.split_once(' '));
                of.is_some_and(|(_, of)| *of == **prefix)
            }
            // The names of the files are part of the sum.
            Self::GoZip { sum: Sum::Known(sum), .. } => {
                let rest = found.strip_prefix(&named(sum));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            }
        }
    }

    /// Looks at a whole file, away from the threads that serve. Answers what was found.
    pub(super) fn verify(&self, file: &File) -> Result<Option<String>, ShapeFault> {
        let Self::GoZip { prefix, sum } = self else { return Ok(None) };
        let found = zip::hash(file, prefix).map_err(|fault| match fault {
            ZipFault::Disk(fault) => ShapeFault::Disk(fault),
            fault => ShapeFault::Mismatch(fault.to_string()),
        })?;
        match sum {
            Sum::Known(sum) if *sum != found => {
                let cause = format!("{} instead of {}", named(&found), named(sum));
                Err(ShapeFault::Mismatch(cause))
            }
            Sum::Known(_) | Sum::Unasked | Sum::Untold => {
                Ok(Some(format!("{} {prefix}", named(&found))))
            }
        }
    }
}

fn named(sum: &[u8; 32]) -> String {
    format!("h1 {}", hex::encode(sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_zip_is_of_the_module_that_it_was_found_to_be_of() {
        let shape =
            |module: &str, sum| Shape::GoZip { prefix: format!("{module}@v1.0.0/").into(), sum };
        let found = format!("{} example.com/Mod@v1.0.0/", named(&[7; 32]));
        assert!(shape("example.com/Mod", Sum::Unasked).admits(&found));
        assert!(!shape("example.com/mod", Sum::Unasked).admits(&found));
        // As it was written before the module stood there.
        let old = named(&[7; 32]);
        assert!(!shape("example.com/Mod", Sum::Unasked).admits(&old));
        for found in [&found, &old] {
            assert!(shape("example.com/Mod", Sum::Known([7; 32])).admits(found));
            assert!(!shape("example.com/Mod", Sum::Known([8; 32])).admits(found));
            assert!(!shape("example.com/Mod", Sum::Untold).admits(found));
        }
    }
}
