//! What has arrived so far, written and hashed.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use bytes::Bytes;
use sha2::{Digest as _, Sha256 as Hasher};
use tempfile::NamedTempFile;

use super::{Promise, Wanted, promise::Check, room::Place};

/// What was fetched, and fits.
pub(super) struct Fetched {
    pub(super) file: Arc<File>,
    pub(super) size: u64,
    /// Its SHA-256, if it was kept.
    pub(super) kept: Option<String>,
    /// What it takes of the room, if it was not.
    pub(super) place: Option<Arc<Place>>,
}

/// What has arrived so far.
pub(super) struct Arrival {
    pub(super) staged: NamedTempFile,
    pub(super) file: Arc<File>,
    pub(super) hasher: Hasher,
    pub(super) check: Option<Check>,
    pub(super) n_bytes: u64,
    pub(super) place: Place,
}

impl Arrival {
    pub(super) fn new(staged: NamedTempFile, wanted: &Wanted, place: Place) -> io::Result<Self> {
        let file = Arc::new(staged.as_file().try_clone()?);
        let check = wanted.promise.as_ref().map(Promise::check);
        Ok(Self { staged, file, hasher: Hasher::new(), check, n_bytes: 0, place })
    }

    /// Writes and hashes a piece, away from the threads that serve.
    pub(super) async fn take(mut self, chunk: Bytes) -> io::Result<Self> {
        let taking = move || {
            self.file.write_all_at(&chunk, self.n_bytes)?;
            self.hasher.update(&chunk);
            if let Some(check) = &mut self.check {
                check.update(&chunk);
            }
            self.n_bytes += chunk.len() as u64;
            Ok(self)
        };
        tokio::task::spawn_blocking(taking).await.map_err(io::Error::other)?
    }
}
