//! Manifests that were read: how many may be in memory at once while they are, and what they said.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    manifest::{MAX_BYTES, Manifest},
    name::{Digest, Name},
};
use crate::registry::lru::Lru;

/// How many bytes of manifests may be in memory at once while they are read.
const MAX_READING_BYTES: u64 = 4 * MAX_BYTES;

/// How many bytes a permit stands for.
const PERMIT_BYTES: u64 = 4 << 10;

/// How much memory may be taken by what manifests said.
const MAX_KNOWN_BYTES: u64 = 16 << 20;

/// How long a manifest waits for room.
const ROOM_WITHIN: Duration = Duration::from_secs(10);

/// What was read and is being read.
#[derive(Debug)]
pub struct Manifests {
    rooms: Semaphore,
    known: Mutex<Lru<(Name, Digest), Arc<Manifest>>>,
}

impl Default for Manifests {
    fn default() -> Self {
        let n_permits = usize::try_from(MAX_READING_BYTES / PERMIT_BYTES).unwrap_or_default();
        Self { rooms: Semaphore::new(n_permits), known: Mutex::new(Lru::new(MAX_KNOWN_BYTES)) }
    }
}

impl Manifests {
    /// Room for a manifest of this size, or of the largest where it is not told; `None` where there is
    /// none in time.
    pub async fn room(&self, size: Option<u64>) -> Option<SemaphorePermit<'_>> {
        let bytes = size.unwrap_or(MAX_BYTES).min(MAX_BYTES);
        let n_permits = u32::try_from(bytes / PERMIT_BYTES + 1).ok()?;
        let room = self.rooms.acquire_many(n_permits);
        tokio::time::timeout(ROOM_WITHIN, room).await.ok()?.ok()
    }

    /// What a manifest said when it was read.
    pub fn known(&self, name: &Name, digest: Digest) -> Option<Arc<Manifest>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&(name.clone(), digest)).cloned()
    }

    /// Remembers what a manifest says.
    pub fn remember(&self, name: &Name, digest: Digest, manifest: Manifest) -> Arc<Manifest> {
        let (weight, manifest) = (manifest.size_bytes(), Arc::new(manifest));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.put((name.clone(), digest), Arc::clone(&manifest), weight);
        manifest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn manifests_are_read_as_far_as_there_is_room() {
        let manifests = Manifests::default();
        let mut rooms = Vec::new();
        for _ in 0..3 {
            rooms.push(manifests.room(None).await.unwrap());
        }
        // What is small passes beside what is large.
        assert!(manifests.room(Some(1 << 20)).await.is_some());
        assert!(manifests.room(Some(u64::MAX)).await.is_none(), "each takes a permit for its rest");
        rooms.pop();
        assert!(manifests.room(None).await.is_some());
    }

    #[test]
    fn what_a_manifest_said_is_known_of_its_repository() {
        let (manifests, digest) = (Manifests::default(), Digest::of(b"m"));
        let [ours, other] = ["a/b", "a/c"].map(|name| name.parse::<Name>().unwrap());
        let manifest = Manifest {
            media_type: "",
            manifests: vec![digest],
            indexes: Vec::new(),
            blobs: Vec::new(),
        };
        manifests.remember(&ours, digest, manifest.clone());
        assert_eq!(*manifests.known(&ours, digest).unwrap(), manifest);
        assert_eq!(manifests.known(&other, digest), None);
    }
}
