//! When the versions of modules were published, as their authors say. A list does not tell, so it is
//! asked of each version by itself: once, for what was published never changes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt as _, stream};
use weir_events::timestamp::Timestamp;
use weir_log::lifecycle::Lifecycle;

use super::{
    document::List,
    module::{Module, Query},
    upstream::{At, Infos},
};
use crate::{
    flights::Flights,
    outbound::Trail,
    registry::{
        documents::{Documents, DocumentsFault},
        lru::Lru,
    },
};

/// Of how many of the newest versions of a list the time is looked up. When others were published is
/// not known, so that they are in no list as of a time; they can be asked for by themselves.
const N_DATED: usize = 2_000;

/// How many of them are looked up at once.
const N_AT_ONCE: usize = 8;

/// How much memory may be taken by what was looked up.
const MAX_BYTES: u64 = 16 << 20;

/// When versions were published, by their text. Of what is not in here it is not known.
pub type Ages = BTreeMap<String, Option<Timestamp>>;

/// By how many Weirs a request came through, too: [`Trail::n_hops`] says why.
type Route = (Module, blake3::Hash, usize);

/// What was looked up. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Dates(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    infos: Documents<Infos>,
    kept: Mutex<Lru<Module, Arc<Ages>>>,
    flights: Flights<Route, Result<Arc<Ages>, DocumentsFault>>,
}

impl Dates {
    /// Nothing looked up yet.
    pub fn new(infos: Documents<Infos>, lifecycle: &Lifecycle) -> Self {
        let (kept, flights) =
            (Mutex::new(Lru::new(MAX_BYTES)), Flights::new("go dates", lifecycle.clone()));
        Self(Arc::new(Inner { infos, kept, flights }))
    }

    /// When the newest versions of a list were published. A failure where one of them could not be
    /// asked for: a list without it would be wrong, and nobody would see it.
    pub async fn of(&self, list: &List, trail: &Trail) -> Result<Arc<Ages>, DocumentsFault> {
        let module = &list.module;
        let known = self.0.known(module);
        let mut newest: Vec<_> = list.versions.iter().collect();
        newest.sort_by(|a, b| b.version.cmp(&a.version));
        newest.truncate(N_DATED);
        let newest: Vec<String> = newest.iter().map(|listed| listed.text.to_string()).collect();
        if newest.iter().all(|text| known.contains_key(text)) {
            return Ok(known);
        }
        let (inner, module, ours) = (Arc::clone(&self.0), module.clone(), trail.clone());
        let route = (module.clone(), list.digest, trail.n_hops());
        let work = || async move { inner.look_up(&module, newest, &ours).await };
        self.0.flights.join(route, work).await.unwrap_or(Err(DocumentsFault::Stopping))
    }
}

impl Inner {
    fn known(&self, module: &Module) -> Arc<Ages> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(module).cloned().unwrap_or_default()
    }

    /// Asks for what is not known of these versions, and keeps what was told, whatever else failed.
    async fn look_up(
        &self,
        module: &Module,
        newest: Vec<String>,
        trail: &Trail,
    ) -> Result<Arc<Ages>, DocumentsFault> {
        let known = self.known(module);
        let mut ages: Ages = BTreeMap::new();
        let mut missing = Vec::new();
        for text in newest {
            match known.get(&text) {
                Some(at) => drop(ages.insert(text, *at)),
                None => missing.push(text),
            }
        }
        let ask = |text: String| async move {
            let at = At { module: module.clone(), query: Query::Named(text.as_str().into()) };
            (text, self.infos.get(&at, self.infos.keeping().ttl, trail).await)
        };
        let mut asked = stream::iter(missing).map(ask).buffered(N_AT_ONCE);
        let mut failed = None;
        while let Some((text, info)) = asked.next().await {
            match info {
                Ok(info) => drop(ages.insert(text, info.document.time)),
                // Listed and not there, for now: nobody can have it.
                Err(DocumentsFault::NotFound(_)) => {}
                Err(fault) => {
                    failed = Some(fault);
                    break;
                }
            }
        }
        let ages = Arc::new(ages);
        let weight = 1_024 + 96 * ages.len() as u64;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(module.clone(), Arc::clone(&ages), weight);
        drop(kept);
        failed.map_or(Ok(ages), Err)
    }
}
