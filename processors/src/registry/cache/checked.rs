//! Which bodies are known to be what their descriptions say. A disk may have lost what it was told to
//! keep, and another process may have written beside it: what this process did not write itself is
//! hashed once, before the last of it is served for the first time.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;

use super::{CacheKey, Meta};
use crate::registry::lru::Lru;

/// How many bodies are remembered to be right. What was forgotten is hashed again.
const MAX_REMEMBERED: u64 = 100_000;

/// How many pieces are hashed at once, whatever they are of: each takes a thread.
const MAX_HASHING: usize = 4;

/// What is hashed in one turn: a small file never waits for the whole of a large one.
const TURN_BYTES: u64 = 4 << 20;

const PIECE_BYTES: usize = 256 << 10;

/// Which very body lies somewhere: whoever replaces one puts another file into its place. When it was
/// changed is no part of that: it says when a body was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Print {
    device: u64,
    inode: u64,
    /// Where the disk tells: numbers of files are given again.
    born_at: Option<SystemTime>,
}

impl Print {
    pub(super) fn of(known: &Metadata) -> Self {
        Self { device: known.dev(), inode: known.ino(), born_at: known.created().ok() }
    }
}

/// What is known of the bodies in a tree.
#[derive(Debug)]
pub(super) struct Checked {
    right: Mutex<Lru<CacheKey, (Print, String)>>,
    /// A permit for each piece that is being hashed.
    turns: Arc<Semaphore>,
}

impl Default for Checked {
    fn default() -> Self {
        let right = Mutex::new(Lru::new(MAX_REMEMBERED));
        Self { right, turns: Arc::new(Semaphore::new(MAX_HASHING)) }
    }
}

impl Checked {
    /// Remembers that a body has the hash that its description says.
    pub(super) fn trust(&self, key: &CacheKey, print: Print, meta: &Meta) {
        self.right().put(key.clone(), (print, meta.sha256.clone()), 1);
    }

    /// Remembers nothing more of a body.
    pub(super) fn distrust(&self, key: &CacheKey, print: Print) {
        let mut right = self.right();
        if right.peek(key).is_some_and(|(known, _)| *known == print) {
            right.remove(key);
        }
    }

    /// Whether a body is known to have the hash that its description says.
    pub(super) fn knows(&self, key: &CacheKey, print: Print, meta: &Meta) -> bool {
        let mut right = self.right();
        right.get(key).is_some_and(|(known, sha256)| *known == print && *sha256 == meta.sha256)
    }

    /// The SHA-256 of a body, hexadecimal. Piece by piece, so that among many each gets on; `hashed`
    /// hears how many bytes that are so far.
    pub(super) async fn hash(
        &self,
        body: &Arc<File>,
        mut hashed: impl FnMut(u64) + Send,
    ) -> io::Result<String> {
        let (mut hasher, mut at) = (Sha256::new(), 0);
        loop {
            let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(io::Error::other)?;
            let body = Arc::clone(body);
            let hashing = move || {
                let n_bytes = update(&mut hasher, &body, at)?;
                drop(turn);
                Ok::<_, io::Error>((hasher, n_bytes))
            };
            let done = tokio::task::spawn_blocking(hashing).await.map_err(io::Error::other)??;
            hasher = done.0;
            at += done.1;
            if done.1 < TURN_BYTES {
                return Ok(hex::encode(hasher.finalize()));
            }
            hashed(at);
        }
    }

    fn right(&self) -> MutexGuard<'_, Lru<CacheKey, (Print, String)>> {
        self.right.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Trusts nothing any more, as after a start.
    #[cfg(test)]
    pub(super) fn forget_all(&self) {
        *self.right() = Lru::new(MAX_REMEMBERED);
    }

    /// The permits; whoever waits for one holds these.
    #[cfg(test)]
    pub(super) fn turns(&self) -> Arc<Semaphore> {
        Arc::clone(&self.turns)
    }
}

/// Hashes what lies from `at` on, as much as is one turn's; says how much that was.
fn update(hasher: &mut Sha256, body: &File, at: u64) -> io::Result<u64> {
    let (mut piece, mut n_bytes) = (vec![0; PIECE_BYTES], 0);
    while n_bytes < TURN_BYTES {
        let n_read = body.read_at(&mut piece, at + n_bytes)?;
        let Some(read) = piece.get(..n_read).filter(|read| !read.is_empty()) else { break };
        hasher.update(read);
        n_bytes += n_read as u64;
    }
    Ok(n_bytes)
}
