//! Lists as clients get them: filtered and written once for each document, what is known of its
//! package, and form; never once a request.

use std::{
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http::HeaderValue;
use tokio::sync::Semaphore;
use weir_aggregates::registry::dossier::Dossier;
use weir_events::timestamp::Timestamp;
use weir_log::lifecycle::Lifecycle;

use super::{gate::Changed, lru::Lru};
use crate::flights::{Flights, GivenUp, Wanted};

/// A list, ready to be sent.
#[derive(Debug)]
pub struct Rendering<F> {
    /// Its bytes.
    pub body: Bytes,
    /// Its strong validator: other bytes, other knowledge of the package or another form have another
    /// one.
    pub etag: HeaderValue,
    /// What became of it.
    pub filtered: Arc<F>,
    /// How much memory it takes, roughly.
    pub weight: u64,
}

impl<F: Changed> Rendering<F> {
    /// A list of these bytes, by what is known of its package, in a form of this name.
    pub fn new(
        body: Bytes,
        dossier: &Dossier,
        form: &str,
        filtered: Arc<F>,
        more_bytes: u64,
    ) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("weir registry rendering etag v2");
        hasher.update(dossier.key.as_bytes());
        hasher.update(form.as_bytes());
        hasher.update(&[0]);
        hasher.update(&body);
        let etag = hasher.finalize().to_hex();
        let short = etag.get(..32).unwrap_or_default();
        let etag = HeaderValue::try_from(format!("\"{short}\""))
            .unwrap_or(HeaderValue::from_static("\"\""));
        let weight = body.len() as u64 + more_bytes + 1_024;
        Self { body, etag, filtered, weight }
    }
}

/// How many lists are written at once: each takes a thread, and as much memory as the list.
const MAX_WRITING: usize = 2;

/// Lists ready to be sent, by what they are made of.
#[derive(Debug)]
pub struct Renderings<K, F> {
    kept: Arc<Mutex<Lru<K, Arc<Rendering<F>>>>>,
    flights: Flights<K, Option<Arc<Rendering<F>>>>,
    writing: Arc<Semaphore>,
}

impl<K, F> Renderings<K, F>
where
    K: Hash + Eq + Clone + fmt::Debug + Send + 'static,
    F: Changed + Send + Sync + 'static,
{
    /// Nothing written yet.
    pub fn new(name: &'static str, max_bytes: u64, lifecycle: &Lifecycle) -> Self {
        Self {
            kept: Arc::new(Mutex::new(Lru::new(max_bytes))),
            flights: Flights::new(name, lifecycle.clone()),
            writing: Arc::new(Semaphore::new(MAX_WRITING)),
        }
    }

    /// The list of this key as of a time, where it was written.
    pub fn known(&self, key: &K, now: Timestamp) -> Option<Arc<Rendering<F>>> {
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned();
        known.filter(|list| list.filtered.ripens_at().is_none_or(|at| at > now))
    }

    /// The list of this key as of a time, written now if it never was, away from the threads that
    /// serve. What nobody waits for any more when its turn comes is not written.
    pub async fn get(
        &self,
        key: K,
        now: Timestamp,
        write: impl FnOnce() -> Rendering<F> + Send + 'static,
    ) -> Result<Arc<Rendering<F>>, GivenUp> {
        if let Some(list) = self.known(&key, now) {
            return Ok(list);
        }
        let (kept, ours) = (Arc::clone(&self.kept), key.clone());
        let writing = Arc::clone(&self.writing);
        let work = |wanted: Wanted<_>| async move {
            let _turn = writing.acquire().await.ok()?;
            if !wanted.still() {
                return None;
            }
            let list = tokio::task::spawn_blocking(move || Arc::new(write())).await.ok()?;
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.put(ours, Arc::clone(&list), list.weight);
            drop(kept);
            Some(list)
        };
        self.flights.join_while_wanted(key, work).await?.ok_or(GivenUp)
    }
}
