//! What a cache forgets, told to whoever keeps the record of it.

use std::sync::{Mutex, PoisonError};

use tokio::{
    runtime::Handle,
    sync::mpsc::{self, error::TrySendError},
};
use weir_events::registry::EvictionCause;

use super::{CacheKey, Meta};

/// Evictions that may wait to be recorded. Who forgets more waits in turn, so that nothing goes
/// unrecorded.
const MAX_WAITING: usize = 1_024;

/// An artifact that is kept no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evicted {
    /// What it was found by.
    pub key: CacheKey,
    /// What was known of it.
    pub meta: Meta,
    /// Why it went.
    pub cause: EvictionCause,
}

/// Where a cache tells what it forgets.
#[derive(Debug)]
pub(super) struct Teller(Mutex<Told>);

#[derive(Debug)]
enum Told {
    /// Nobody listens yet: what went so far.
    Nobody(Vec<Evicted>),
    Somebody(mpsc::Sender<Evicted>),
}

/// What a cache forgets, in order.
#[derive(Debug)]
pub struct Evictions {
    before: Vec<Evicted>,
    told: mpsc::Receiver<Evicted>,
}

impl Teller {
    /// Tells nobody yet; `gone` is what whoever asks first is told.
    pub(super) fn new(gone: Vec<Evicted>) -> Self {
        Self(Mutex::new(Told::Nobody(gone)))
    }

    /// From now on this one is told, and what was not told yet first.
    pub(super) fn listen(&self) -> Evictions {
        let (somebody, told) = mpsc::channel(MAX_WAITING);
        let mut now = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *now, Told::Somebody(somebody)) {
            Told::Nobody(before) => Evictions { before, told },
            Told::Somebody(_) => Evictions { before: Vec::new(), told },
        }
    }

    /// The ear for one eviction, to be had before anything is forgotten; waits while too much is
    /// waiting already: not to be called where waiting is forbidden. `None` where whoever listened has
    /// stopped: what goes now would never be recorded, so nothing may. As long as nobody has ever
    /// listened, nothing more is kept for him.
    pub(super) fn ear(&self) -> Option<Ear> {
        let somebody = match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Told::Nobody(_) => return Some(Ear(None)),
            Told::Somebody(somebody) => somebody.clone(),
        };
        let place = match somebody.try_reserve_owned() {
            Ok(place) => place,
            Err(TrySendError::Full(somebody)) => {
                Handle::current().block_on(somebody.reserve_owned()).ok()?
            }
            Err(TrySendError::Closed(_)) => return None,
        };
        Some(Ear(Some(place)))
    }
}

/// Who hears of one eviction.
#[derive(Debug)]
pub(super) struct Ear(Option<mpsc::OwnedPermit<Evicted>>);

impl Ear {
    /// Tells it.
    pub(super) fn tell(self, evicted: Evicted) {
        if let Self(Some(place)) = self {
            place.send(evicted);
        }
    }
}

impl Evictions {
    /// The next evictions, at least one and at most `max`; none when the cache is gone, or nothing more
    /// is forgotten. Safe to drop while waiting: nothing is lost.
    pub async fn next(&mut self, max: usize) -> Vec<Evicted> {
        if !self.before.is_empty() {
            let n = self.before.len().min(max);
            return self.before.drain(..n).collect();
        }
        let mut batch = Vec::new();
        self.told.recv_many(&mut batch, max).await;
        batch
    }

    /// Has nothing more forgotten from now on. What goes at this moment is still told: until
    /// [`Evictions::next`] says that there is none.
    pub fn close(&mut self) {
        self.told.close();
    }

    /// What waits already, at most `max`.
    pub fn waiting(&mut self, max: usize) -> Vec<Evicted> {
        let n = self.before.len().min(max);
        let mut batch: Vec<Evicted> = self.before.drain(..n).collect();
        while batch.len() < max
            && let Ok(evicted) = self.told.try_recv()
        {
            batch.push(evicted);
        }
        batch
    }
}
