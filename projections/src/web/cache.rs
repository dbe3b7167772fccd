//! What is cached of the outside: renderings of pages, each for everybody or for the one agent that
//! it was fetched for.

mod changes;
mod rows;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    web::{
        Event, WebCacheEvicted, WebCacheStored,
        request::{AgentId, Hash256},
    },
};

use self::changes::Changes;
pub use self::rows::{
    CacheRow, Filter, Purge, Totals, beyond, find, list, n_expired, purgeable, totals,
};
use super::VIEWS;
use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
};

/// The read model `portal.cache`.
#[derive(Debug)]
pub struct Cache;

/// What a rendering is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The page: address, method and body.
    pub key: Hash256,
    /// The rendering of it.
    pub variant: Hash256,
    /// Whose it is, where it is not shared.
    pub owner: Option<AgentId>,
}

impl From<&WebCacheStored> for Identity {
    fn from(stored: &WebCacheStored) -> Self {
        Self { key: stored.key, variant: stored.variant, owner: stored.owner }
    }
}

impl From<&WebCacheEvicted> for Identity {
    fn from(evicted: &WebCacheEvicted) -> Self {
        Self { key: evicted.key, variant: evicted.variant, owner: evicted.owner }
    }
}

impl Identity {
    /// The owner as the tables have it: empty where it is shared.
    pub(super) fn owner_text(&self) -> String {
        self.owner.map(|owner| owner.to_string()).unwrap_or_default()
    }
}

impl Projection for Cache {
    fn name(&self) -> &'static str {
        "cache"
    }

    fn version(&self) -> i32 {
        5
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Web
    }

    fn views(&self) -> &'static str {
        VIEWS
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[Kind(0x6020), Kind(0x6021), Kind(0x6022), Kind(0x6023), Kind(0x6024)])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/web/cache.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &["cache", "cache_totals"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut changes = Changes::default();
            for event in decode::events::<Event>(batch) {
                let (at, event) = event?;
                changes.fold(at, event)?;
            }
            changes.write(tx).await
        })
    }
}
