//! `logging`: what Weir says about itself, on standard error.

use serde::{Deserialize, Serialize};

use super::section::section;

section! {
    /// What Weir says about itself, on standard error.
    Logging at "logging" {
        /// The least level that is said: error, warn, info, debug, trace; or a filter like
        /// `info,weir_log=debug`.
        level: String = "info".to_owned(),
        /// `pretty` for people, `json` for machines.
        format: LogFormat = LogFormat::Pretty,
    }
}

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Pretty,
    /// For machines, one object a line.
    Json,
}

impl LogFormat {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pretty => "pretty",
            Self::Json => "json",
        }
    }
}
