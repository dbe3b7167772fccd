//! The states of recently used streams, so that loading one reads only its tail. A cache and
//! nothing more: an entry is folded further before it is used, and may vanish at any time.

use std::{
    any::{Any, TypeId},
    collections::{HashMap, hash_map::Entry as MapEntry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
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
        self.lock().clear();
    }

    pub(super) fn get<M: Machine>(
        &self,
        stream: &StreamName,
    ) -> Option<(Arc<M::State>, StreamVersion)> {
        let (state, version) = self.lock().get(&key::<M>(stream)).cloned()?;
        Some((state.downcast::<M::State>().ok()?, version))
    }

    pub(super) fn put<M: Machine>(
        &self,
        stream: &StreamName,
        state: Arc<M::State>,
        version: StreamVersion,
    ) {
        let key = key::<M>(stream);
        let mut states = self.lock();
        if states.len() >= MAX_STATES && !states.contains_key(&key) {
            // Any other will do: the order of a hash map is as good as chance.
            let other = states.keys().next().cloned();
            other.and_then(|other| states.remove(&other));
        }
        let newer = |known: &Entry| known.1 < version;
        match states.entry(key) {
            MapEntry::Occupied(mut known) if newer(known.get()) => {
                known.insert((state, version));
            }
            MapEntry::Occupied(_) => {}
            MapEntry::Vacant(free) => {
                free.insert((state, version));
            }
        }
    }

    /// Goes on by events from a state that was judged by. What nobody else looks at is changed where
    /// it lies: states may be large.
    pub(super) fn advance<M: Machine>(
        &self,
        stream: &StreamName,
        (state, version): (Arc<M::State>, StreamVersion),
        events: &[M::Event],
    ) {
        let apply = |state: &mut M::State| events.iter().for_each(|event| M::apply(state, event));
        let reached = version.plus(i64::try_from(events.len()).unwrap_or_default());
        let mut states = self.lock();
        if let Some((known, at)) = states.get_mut(&key::<M>(stream))
            && *at == version
        {
            drop(state);
            if let Some(own) = Arc::get_mut(known).and_then(|own| own.downcast_mut()) {
                apply(own);
                *at = reached;
            } else if let Some(shared) = known.downcast_ref::<M::State>() {
                let mut own = shared.clone();
                apply(&mut own);
                (*known, *at) = (Arc::new(own), reached);
            }
            return;
        }
        drop(states);
        let mut own = Arc::unwrap_or_clone(state);
        apply(&mut own);
        self.put::<M>(stream, Arc::new(own), reached);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key<M: Machine>(stream: &StreamName) -> Key {
    (TypeId::of::<M>(), stream.clone())
}
