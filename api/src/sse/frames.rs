//! Frames of recent events, written once and shared between all clients of this process.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;
use weir_events::{
    envelope::Recorded,
    position::{Incarnation, Position},
};

use super::text;

/// Bytes of frames kept.
const MAX_BYTES: usize = 16 << 20;

/// How far behind the head an event may lie and still have its frame kept: who reads history must
/// not push out what everybody else is about to send.
const VICINITY: u64 = 8_192;

type Key = (Incarnation, Position);

/// The frames of recent events.
#[derive(Debug, Default)]
pub(super) struct Frames(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    frames: HashMap<Key, Arc<OnceLock<Bytes>>>,
    order: VecDeque<(Key, usize)>,
    n_bytes: usize,
}

impl Frames {
    /// The frame of an event, given the head of the log.
    pub(super) fn of(&self, life: Incarnation, event: &Recorded, head: Position) -> Bytes {
        if event.position.distance_to(head) > VICINITY {
            return text::event(life, event);
        }
        let key = (life, event.position);
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).place(key);
        // Who comes second waits for the first, and only where both want the same event.
        let mut fresh = false;
        let frame = kept.get_or_init(|| {
            fresh = true;
            text::event(life, event)
        });
        if fresh {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).weigh(key, frame.len());
        }
        frame.clone()
    }
}

impl Kept {
    fn place(&mut self, key: Key) -> Arc<OnceLock<Bytes>> {
        Arc::clone(self.frames.entry(key).or_default())
    }

    /// Counts a new frame, and lets the oldest go.
    fn weigh(&mut self, key: Key, n_bytes: usize) {
        self.order.push_back((key, n_bytes));
        self.n_bytes += n_bytes;
        while self.n_bytes > MAX_BYTES
            && let Some((oldest, n_bytes)) = self.order.pop_front()
        {
            self.frames.remove(&oldest);
            self.n_bytes -= n_bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::text::testing::{LIFE, recorded},
        *,
    };

    #[test]
    fn a_frame_is_written_once_and_shared() {
        let frames = Frames::default();
        let (event, head) = (recorded(7, "x"), Position(7));
        let (one, other) = (frames.of(LIFE, &event, head), frames.of(LIFE, &event, head));
        assert_eq!(one, text::event(LIFE, &event));
        assert_eq!(one.as_ptr(), other.as_ptr());
        let reborn = Incarnation(uuid::Uuid::from_u128(8));
        assert_ne!(frames.of(reborn, &event, head), one);
    }

    #[test]
    fn history_is_not_kept() {
        let frames = Frames::default();
        let head = Position(1).plus(VICINITY.cast_signed() + 1);
        let event = recorded(1, "x");
        assert_eq!(frames.of(LIFE, &event, head), text::event(LIFE, &event));
        assert!(frames.0.lock().unwrap().frames.is_empty());
    }

    #[test]
    fn what_is_kept_stays_within_its_bound() {
        let frames = Frames::default();
        let long = "x".repeat(1 << 20);
        for position in 1..=40 {
            frames.of(LIFE, &recorded(position, &long), Position(40));
        }
        let kept = frames.0.lock().unwrap();
        assert!(kept.n_bytes <= MAX_BYTES, "{}", kept.n_bytes);
        assert_eq!(kept.frames.len(), kept.order.len());
        assert!(kept.frames.contains_key(&(LIFE, Position(40))));
        assert!(!kept.frames.contains_key(&(LIFE, Position(1))));
    }
}
