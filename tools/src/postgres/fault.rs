//! What can go wrong between "there should be a database" and "there is one".

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why the private Postgres cannot be used, each with what to do about it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PostgresFault {
    /// No folder holds both `initdb` and `postgres`.
    #[error("no Postgres server (`initdb` and `postgres`) in {searched}; {remedy}")]
    NotFound { searched: String, remedy: String },

    /// The server is older than what Weir's schema needs.
    #[error(
        "the Postgres in `{}` is version {found}, Weir needs {oldest} or newer; {remedy}",
        bindir.display()
    )]
    TooOld { bindir: PathBuf, found: u32, oldest: u32, remedy: String },

    /// The data directory belongs to another major version than the server found.
    #[error(
        "`{}` was made by Postgres {stored}, and the server in `{}` is {found}: install Postgres \
         {stored} or point WEIR_PG_BINDIR at it; to move to {found}, export with {stored} and \
         import into a new data directory",
        pgdata.display(),
        bindir.display()
    )]
    WrongMajor { pgdata: PathBuf, stored: u32, bindir: PathBuf, found: u32 },

    /// Weir runs as root, Postgres refuses root, and no other account can be used.
    #[error("Postgres does not run as root and there is no account to run it as: {detail}")]
    NoAccount { detail: String },

    /// The account that runs Postgres cannot get to a path it needs.
    #[error(
        "account `{account}`, which runs Postgres, cannot reach `{}`: {} is closed to it \
         (chmod o+x it, or choose a place outside)",
        path.display(),
        closed.as_ref().map_or_else(|| "a folder above".to_owned(), |at| format!("`{}`", at.display()))
    )]
    Unreachable { account: String, path: PathBuf, closed: Option<PathBuf> },

    /// A server program ended with an error or too late; `output` is the end of what it said.
    #[error("{program} failed for `{}`: {output}", pgdata.display())]
    Failed { program: &'static str, pgdata: PathBuf, output: String },

    /// Another process owns the cluster and its Postgres does not answer.
    #[error(
        "`{}` is held by another Weir whose Postgres did not answer within {} s",
        data_dir.display(),
        waited.as_secs()
    )]
    Busy { data_dir: PathBuf, waited: Duration },

    /// The caller asked to stop while Postgres was being started.
    #[error("stopped while Postgres was starting")]
    Interrupted,

    /// Postgres runs and says ready, but does not answer a query.
    #[error("the private Postgres did not answer")]
    Silent(#[source] sqlx::Error),

    /// The operating system refused something; `doing` says what.
    #[error("could not {doing} `{}`", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

/// Names what was being done, and to which path, when an operating system call fails.
pub(super) trait Doing<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, PostgresFault>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: &Path) -> Result<T, PostgresFault> {
        self.map_err(|source| PostgresFault::Io { doing, path: path.to_owned(), source })
    }
}
