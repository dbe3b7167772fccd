//! What a file must be beside its hash: some indexes promise what is in a file, not its bytes.

use std::{fs::File, io};

use crate::registry::go::zip::{self, ZipFault};

/// What a file must be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shape {
    /// Anything.
    #[default]
    Any,
    /// The zip of a version of a Go module.
    GoZip {
        /// What the names of all its files begin with: `module@version/`.
        prefix: Box<str>,
        /// The `h1` that the checksum database has, where it has one. Where it has none, what comes
        /// first is kept: the go command compares it with `go.sum`.
        sum: Option<[u8; 32]>,
    },
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
        !matches!(self, Self::Any)
    }

    /// A name for what has it.
    #[must_use]
    pub fn tag(&self) -> Option<String> {
        match self {
            Self::GoZip { sum: Some(sum), .. } => Some(hex::encode(sum)),
            Self::GoZip { sum: None, .. } | Self::Any => None,
        }
    }

    /// Whether what was found to be this when it was kept has it.
    pub(super) fn admits(&self, found: &str) -> bool {
        match self {
            Self::Any => true,
            Self::GoZip { sum: None, .. } => found.starts_with("h1 "),
            Self::GoZip { sum: Some(sum), .. } => found == named(sum),
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
            Some(sum) if *sum != found => {
                let cause = format!("{} instead of {}", named(&found), named(sum));
                Err(ShapeFault::Mismatch(cause))
            }
            _ => Ok(Some(named(&found))),
        }
    }
}

fn named(sum: &[u8; 32]) -> String {
    format!("h1 {}", hex::encode(sum))
}
