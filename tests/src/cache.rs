//! Artifacts put into a cache past the firewall.

use std::{io::Write, path::Path};

use sha2::{Digest as _, Sha256};
use weir_events::{registry::Ecosystem, timestamp::Timestamp};
use weir_processors::registry::cache::{
    Artifact, ArtifactCache, CacheKey, CachePlugin, FileCache, Meta,
};

/// Opens a cache with room for whatever a test puts there.
///
/// # Panics
/// When it cannot be opened.
pub async fn open(root: &Path, max_bytes: u64) -> FileCache {
    FileCache::open(root.to_owned(), max_bytes).await.expect("open the cache").0
}

/// Puts a file into a cache that nobody else has open, fetched at the epoch.
///
/// # Panics
/// When it cannot be kept.
pub async fn put(root: &Path, package: &str, file: &str, body: &[u8], ttl: Option<u64>) {
    put_in(&open(root, u64::MAX).await, package, file, body, ttl).await;
}

/// Puts a file into an open cache, fetched at the epoch.
///
/// # Panics
/// When it cannot be kept.
pub async fn put_in(cache: &FileCache, package: &str, file: &str, body: &[u8], ttl: Option<u64>) {
    let mut staged = cache.stage().await.expect("a file");
    staged.write_all(body).expect("write it");
    let key = CacheKey::new(Ecosystem::Pypi, package, file).expect("a key");
    let meta = Meta {
        size: body.len() as u64,
        sha256: hex::encode(Sha256::digest(body)),
        promise: None,
        ttl,
        created_at: Timestamp::EPOCH,
        etag: None,
        content_type: "application/octet-stream".to_owned(),
    };
    cache.set(key, Artifact { staged, meta }).await.expect("keep it");
}
