//! Which bodies are known to be what their descriptions say. A disk may have lost what it was told to
//! keep, and another process may have written beside it: what this process did not write itself is
//! hashed once, before it is served for the first time.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    sync::{Mutex, PoisonError},
};

use sha2::{Digest as _, Sha256};

use super::{CacheKey, Meta};
use crate::registry::lru::Lru;

/// How many bodies are remembered to be right. What was forgotten is hashed again.
const MAX_REMEMBERED: u64 = 100_000;

/// Beyond this size, one body is hashed at a time.
const LARGE_BYTES: u64 = 64 << 20;

const PIECE_BYTES: usize = 256 << 10;

/// What is known of the bodies in a tree.
#[derive(Debug)]
pub(super) struct Checked {
    right: Mutex<Lru<CacheKey, String>>,
    large: Mutex<()>,
}

impl Default for Checked {
    fn default() -> Self {
        Self { right: Mutex::new(Lru::new(MAX_REMEMBERED)), large: Mutex::default() }
    }
}

impl Checked {
    /// Remembers that a body has the hash that its description says.
    pub(super) fn trust(&self, key: &CacheKey, meta: &Meta) {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        right.put(key.clone(), meta.sha256.clone(), 1);
    }

    /// Whether a body has the hash that its description says; hashed now where that is not known.
    pub(super) fn holds(&self, key: &CacheKey, meta: &Meta, body: &File) -> io::Result<bool> {
        if self.knows(key, meta) {
            return Ok(true);
        }
        let _alone = (meta.size > LARGE_BYTES)
            .then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
        // Whoever came first may have hashed it meanwhile.
        if self.knows(key, meta) {
            return Ok(true);
        }
        let holds = sha256(body)? == meta.sha256;
        if holds {
            self.trust(key, meta);
        }
        Ok(holds)
    }

    fn knows(&self, key: &CacheKey, meta: &Meta) -> bool {
        let mut right = self.right.lock().unwrap_or_else(PoisonError::into_inner);
        right.get(key).is_some_and(|sha256| *sha256 == meta.sha256)
    }
}

fn sha256(body: &File) -> io::Result<String> {
    let (mut hasher, mut piece, mut at) = (Sha256::new(), vec![0; PIECE_BYTES], 0);
    loop {
        let n_bytes = body.read_at(&mut piece, at)?;
        let Some(read) = piece.get(..n_bytes).filter(|read| !read.is_empty()) else {
            return Ok(hex::encode(hasher.finalize()));
        };
        hasher.update(read);
        at += n_bytes as u64;
    }
}
