//! What has arrived so far, written and hashed.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use bytes::Bytes;
use sha2::{Digest as _, Sha256 as Hasher};
use tempfile::NamedTempFile;
use tokio::sync::OwnedSemaphorePermit;

use super::{Promise, Wanted, promise::Check, room::Place};
use crate::registry::cache::Artifact;

/// What was fetched, and fits.
pub(super) struct Fetched {
    pub(super) file: Arc<File>,
    pub(super) size: u64,
    /// What it takes of the room, as long as it is not kept.
    pub(super) place: Arc<Place>,
    /// What is to be kept, if it can be.
    pub(super) artifact: Option<Artifact>,
    /// Its place among the downloads.
    pub(super) slot: OwnedSemaphorePermit,
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
