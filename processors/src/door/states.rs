//! The states of recently used streams, so that loading one reads only its tail. A cache and
//! nothing more: an entry is folded further before it is used, and may vanish at any time.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use weir_aggregates::machine::Machine;
use weir_events::{position::StreamVersion, stream::StreamName};

/// Streams whose states are kept.
const MAX_STATES: usize = 4_096;

type Key = (TypeId, StreamName);
type Entry = (Arc<dyn Any + Send + Sync>, StreamVersion);

#[derive(Debug, Default)]
pub(super) struct States(Mutex<HashMap<Key, Entry>>, AtomicU64);

impl States {
    /// What was remembered before the log was restored is worth nothing after it.
    pub(super) fn belong_to(&self, n_restores: u64) {
        if self.1.swap(n_restores, Ordering::SeqCst) != n_restores {
            self.clear();
        }
    }

    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    pub(super) fn get<M: Machine>(&self, stream: &StreamName) -> Option<(M::State, StreamVersion)> {
        let key = (TypeId::of::<M>(), stream.clone());
        let (state, version) =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()?;
        Some((state.downcast_ref::<M::State>()?.clone(), version))
    }

    pub(super) fn put<M: Machine>(
        &self,
        stream: &StreamName,
        state: &M::State,
        version: StreamVersion,
    ) {
        let key = (TypeId::of::<M>(), stream.clone());
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if states.len() >= MAX_STATES && !states.contains_key(&key) {
            // Any other will do: the order of a hash map is as good as chance.
            let other = states.keys().next().cloned();
            other.and_then(|other| states.remove(&other));
        }
        let entry = states.entry(key);
        let newer = |known: &Entry| known.1 < version;
        match entry {
            std::collections::hash_map::Entry::Occupied(mut known) if newer(known.get()) => {
                known.insert((Arc::new(state.clone()), version));
            }
            std::collections::hash_map::Entry::Occupied(_) => {}
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert((Arc::new(state.clone()), version));
            }
        }
    }
}
