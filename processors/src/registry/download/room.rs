//! How much of files that are still on their way may lie on disk at once, of all ecosystems together.
//!
//! Whose size is told takes its place before its first byte; whose size is not takes more with each
//! piece. What does not fit is refused, and may be asked for again.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is given and taken at once: so that the number of units of any disk fits.
const UNIT_BYTES: u64 = 64 << 10;

/// How much there is unless something else is said.
const USUAL_BYTES: u64 = 20_000_000_000;

/// The room for files on their way. Cheap to clone: clones share it.
#[derive(Debug, Clone)]
pub struct Room {
    max_bytes: u64,
    free: Arc<Semaphore>,
}

/// There is no room for so many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "no room for a file of {bytes} bytes or more: files on their way may take {max_bytes} bytes at \
     once (cache.max_staging)"
)]
pub struct NoRoom {
    /// How many bytes it would take.
    pub bytes: u64,
    /// How many all may take.
    pub max_bytes: u64,
}

impl NoRoom {
    /// Whether there may be room later on.
    #[must_use]
    pub const fn passes(&self) -> bool {
        self.bytes <= self.max_bytes
    }
}

impl Default for Room {
    fn default() -> Self {
        Self::of(USUAL_BYTES)
    }
}

impl Room {
    /// Room for so many bytes, rounded up to whole units.
    #[must_use]
    pub fn of(max_bytes: u64) -> Self {
        let units = units(max_bytes).and_then(|units| usize::try_from(units).ok());
        let units = units.unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self { max_bytes, free: Arc::new(Semaphore::new(units)) }
    }

    /// A place for a file of so many bytes, or of some where nobody tells. Waits as long as this.
    pub(super) async fn place(
        &self,
        bytes: Option<u64>,
        patience: Duration,
    ) -> Result<Place, NoRoom> {
        let bytes = bytes.unwrap_or_default();
        let no_room = NoRoom { bytes, max_bytes: self.max_bytes };
        let units = units(bytes).filter(|_| no_room.passes()).ok_or(no_room)?;
        let taking = Arc::clone(&self.free).acquire_many_owned(units);
        match tokio::time::timeout(patience, taking).await {
            Ok(Ok(taken)) => Ok(Place { room: self.clone(), taken }),
            Ok(Err(_)) | Err(_) => Err(no_room),
        }
    }
}

/// What a file takes of the room, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    room: Room,
    taken: OwnedSemaphorePermit,
}

impl Place {
    /// Makes it large enough for so many bytes. Never waits: two that wait for each other's room would
    /// wait for ever.
    pub(super) fn reach(&mut self, bytes: u64) -> Result<(), NoRoom> {
        let no_room = NoRoom { bytes, max_bytes: self.room.max_bytes };
        let units = units(bytes).filter(|_| no_room.passes()).ok_or(no_room)?;
        let taken = u32::try_from(self.taken.num_permits()).map_err(|_| no_room)?;
        let more = units.saturating_sub(taken);
        if more > 0 {
            let more = Arc::clone(&self.room.free).try_acquire_many_owned(more);
            self.taken.merge(more.map_err(|_| no_room)?);
        }
        Ok(())
    }
}

/// So many bytes as units, at least one; `None` where that is more than anything has.
fn units(bytes: u64) -> Option<u32> {
    u32::try_from(bytes.div_ceil(UNIT_BYTES).max(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn what_does_not_fit_is_refused_until_something_has_gone() {
        let room = Room::of(4 * UNIT_BYTES);
        let first = room.place(Some(3 * UNIT_BYTES), SOON).await.unwrap();
        let mut second = room.place(None, SOON).await.unwrap();
        second.reach(UNIT_BYTES).unwrap();
        let refused = second.reach(UNIT_BYTES + 1).unwrap_err();
        assert!(refused.passes() && refused.to_string().contains("cache.max_staging"));
        assert!(room.place(None, SOON).await.is_err());
        drop(first);
        second.reach(4 * UNIT_BYTES).unwrap();
        drop(second);
        room.place(Some(4 * UNIT_BYTES), SOON).await.unwrap();
    }

    #[tokio::test]
    async fn what_never_fits_is_refused_at_once() {
        let hour = Duration::from_hours(1);
        let refused = Room::of(10).place(Some(11), hour).await.unwrap_err();
        assert!(!refused.passes());
        assert!(Room::of(u64::MAX).place(Some(1 << 60), hour).await.is_err());
        Room::of(1 << 50).place(Some(1 << 45), hour).await.unwrap();
    }
}
