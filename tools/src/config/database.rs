//! `database`: which Postgres holds the log.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::section::section;
use super::value::DatabaseUrl;

section! {
    /// Which Postgres holds the log. Without a URL, Weir starts a private one in its data directory.
    Database at "database" {
        /// The database: `postgres://weir:${DATABASE_PASSWORD}@db.example/weir`
        url: Option<DatabaseUrl> = None,
        /// What stands between Weir and Postgres: `none`, or `transaction` for a pooler in
        /// transaction mode (pgbouncer).
        pooler: Pooler = Pooler::None,
        /// Connections this process may have open at once.
        max_connections: u32 = 20,
        /// The folder of `initdb` and `postgres`; searched in the usual places unless given.
        pg_bindir: Option<PathBuf> = None,
    }
}

/// What stands between Weir and Postgres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pooler {
    /// Nothing.
    None,
    /// A pooler in transaction mode.
    Transaction,
}

impl Pooler {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Transaction => "transaction",
        }
    }
}

impl From<Pooler> for weir_log::database::Pooler {
    fn from(pooler: Pooler) -> Self {
        match pooler {
            Pooler::None => Self::None,
            Pooler::Transaction => Self::Transaction,
        }
    }
}
