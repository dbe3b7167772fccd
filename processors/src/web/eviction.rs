//! Forgets pages: those whose time has come, all in one event, for each was stored with its time; those
//! there is no room for, those an operator means and those that may have changed, an event each. Whoever
//! is later, or does the same at the same time, changes nothing.

use std::{collections::BTreeMap, time::Duration};

use weir_events::{
    position::Position,
    stream::{StreamName, StreamNameFault},
    web::{
        CACHE, Event, Invalidated, WebCacheEvicted, WebCacheExpired, WebCacheInvalidated,
        WebEvictionCause, cache_stream,
    },
};
use weir_projections::{
    engine::{Engine, wait::WaitFault},
    query::QueryFault,
    web::cache::{self, Identity, Purge},
};

use super::pages::Pages;
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// Pages forgotten in one append.
const AT_ONCE: usize = 1_000;
/// Pages looked up at once: so many are on record before the read model is waited for.
const LOOKED_UP: usize = 20_000;
/// How long the read model may take to hear of them.
const PATIENCE: Duration = Duration::from_mins(1);
/// How often one visit looks, so that one that goes wrong somehow does not go on for ever.
const MAX_LOOKS: usize = 1_000;

/// Pages could not be forgotten.
#[derive(Debug, thiserror::Error)]
pub enum EvictionFault {
    /// The read model could not be asked.
    #[error(transparent)]
    Query(#[from] QueryFault),
    /// The log could not be written.
    #[error(transparent)]
    Door(#[from] DoorFault),
    /// The read model did not hear of it in time.
    #[error(transparent)]
    Wait(#[from] WaitFault),
    /// A key is no part of a stream's name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
}

/// What an operator had forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// How many renderings.
    pub n_pages: u64,
    /// The last event about it.
    pub position: Position,
}

/// What forgets pages.
#[derive(Debug)]
pub struct Evictions<'a> {
    door: &'a Door,
    engine: &'a Engine,
    /// Who remembers them in this process.
    pages: Option<&'a Pages>,
}

impl<'a> Evictions<'a> {
    /// What forgets the pages of a log.
    #[must_use]
    pub const fn new(door: &'a Door, engine: &'a Engine) -> Self {
        Self { door, engine, pages: None }
    }

    /// The same, and who remembers them in this process hears of it at once.
    #[must_use]
    pub const fn of(self, pages: &'a Pages) -> Self {
        Self { pages: Some(pages), ..self }
    }

    /// Forgets what is not shown any more in a cycle, and then what is too much. Answers how much.
    pub async fn due(&self, cycle: u64, max_bytes: u64) -> Result<u64, EvictionFault> {
        let (caller, database) = (Caller::processor("web-cache"), self.door.log().database());
        let mut n_pages = self.expire(cycle, &caller).await?;
        for _ in 0..MAX_LOOKS {
            let gone = cache::beyond(database, max_bytes, LOOKED_UP).await?;
            if gone.is_empty() {
                break;
            }
            n_pages += gone.len() as u64;
            self.forget(&gone, WebEvictionCause::Space, cycle, &caller).await?;
        }
        Ok(n_pages)
    }

    /// Puts on record that all whose time has come are forgotten, if there are any.
    async fn expire(&self, cycle: u64, caller: &Caller) -> Result<u64, EvictionFault> {
        let n_pages = cache::n_expired(self.door.log().database(), cycle).await?;
        if n_pages > 0 {
            let expired = WebCacheExpired { cycle, n_pages };
            let facts = [(StreamName::new(CACHE)?, vec![Event::from(expired)])];
            let last = self.door.record_each(&facts, caller).await?.last;
            self.engine.wait_for("cache", last, PATIENCE).await?;
        }
        Ok(n_pages)
    }

    /// Puts on record that pages may say something else by now, for all who are fetching them.
    pub async fn invalidate(
        &self,
        pages: Invalidated,
        cause: WebEvictionCause,
        cycle: u64,
        caller: &Caller,
    ) -> Result<Position, EvictionFault> {
        let said = WebCacheInvalidated { pages: pages.clone(), cause, cycle };
        let facts = [(StreamName::new(CACHE)?, vec![Event::from(said)])];
        let last = self.door.record_each(&facts, caller).await?.last;
        if let Some(known) = self.pages {
            known.are_invalid(&pages, last);
        }
        Ok(last)
    }

    /// Forgets what an operator means, and what anybody had asked for before is not kept any more: it is on
    /// record that he does, also where there is nothing. Of what was stored before that all goes: the read
    /// model has to have come so far.
    pub async fn purge(
        &self,
        purge: &Purge,
        cycle: u64,
        caller: &Caller,
    ) -> Result<Purged, EvictionFault> {
        let cause = WebEvictionCause::Purged;
        let position = self.invalidate(purge.into(), cause, cycle, caller).await?;
        let mut purged = Purged { n_pages: 0, position };
        self.engine.wait_for("cache", position, PATIENCE).await?;
        for _ in 0..MAX_LOOKS {
            let gone = cache::purgeable(self.door.log().database(), purge, LOOKED_UP).await?;
            if gone.is_empty() {
                break;
            }
            purged.n_pages += gone.len() as u64;
            purged.position = self.forget(&gone, cause, cycle, caller).await?;
        }
        Ok(purged)
    }

    /// Forgets what may have changed. Does not wait for the read model: who asks here knows it already.
    pub(super) async fn change(
        &self,
        gone: &[Identity],
        cycle: u64,
        caller: &Caller,
    ) -> Result<(), EvictionFault> {
        self.record(gone, WebEvictionCause::Changed, cycle, caller).await.map(drop)
    }

    /// Puts on record that renderings are forgotten, and waits until the read model has.
    async fn forget(
        &self,
        gone: &[Identity],
        cause: WebEvictionCause,
        cycle: u64,
        caller: &Caller,
    ) -> Result<Position, EvictionFault> {
        let last = self.record(gone, cause, cycle, caller).await?;
        self.engine.wait_for("cache", last, PATIENCE).await?;
        Ok(last)
    }

    /// Puts on record that renderings are forgotten; answers where the last word of it stands.
    async fn record(
        &self,
        gone: &[Identity],
        cause: WebEvictionCause,
        cycle: u64,
        caller: &Caller,
    ) -> Result<Position, EvictionFault> {
        let mut last = self.door.log().head();
        for some in gone.chunks(AT_ONCE) {
            let mut facts: BTreeMap<StreamName, Vec<Event>> = BTreeMap::new();
            for identity in some {
                let Identity { key, variant, owner } = *identity;
                let evicted = WebCacheEvicted { key, variant, owner, cause, cycle };
                facts.entry(cache_stream(&key)?).or_default().push(evicted.into());
            }
            let facts: Vec<_> = facts.into_iter().collect();
            last = self.door.record_each(&facts, caller).await?.last;
            if let Some(pages) = self.pages {
                pages.are_gone(some, last);
            }
        }
        Ok(last)
    }
}
