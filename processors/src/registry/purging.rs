//! Has what is kept forgotten, on every instance: the one that is asked forgets at once, and puts on
//! the log what and up to when. The others read it there, those that were down once they start.

use std::{io, sync::Arc, time::Duration};

use tokio::sync::{Mutex, oneshot};
use tracing::{info, warn};
use weir_aggregates::registry::selection::{Refusal, Selection};
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    position::{Cursor, Position, StreamVersion},
    registry::{CACHE, CachePurged, Ecosystem, Event},
    stream::{StreamName, StreamNameFault},
};
use weir_log::{
    lifecycle::Lifecycle,
    read::ReadFault,
    tail::{Tail, TailFault},
};

use super::{
    cache::{ArtifactCache, CachePlugin as _, Purge},
    shelves::Shelves,
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault, Executed},
};

/// Events read at once.
const PAGE: usize = 1_000;
/// The pause after something went wrong, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// What somebody wants forgotten. What is not said means all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request {
    /// Of which ecosystem.
    pub ecosystem: Option<Ecosystem>,
    /// Of which packages: a name, with `*` for any run of characters.
    pub package: Option<String>,
    /// Of which versions: a constraint in the ecosystem's own syntax.
    pub versions: Option<String>,
}

/// Nothing is known to be forgotten.
#[derive(Debug, thiserror::Error)]
pub enum PurgeFault {
    /// It means nothing.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The place for files does not work. Some may be forgotten.
    #[error("the cache could not be purged to the end")]
    Disk(#[from] io::Error),
    /// It was forgotten here, and does not stand in the log: other instances do not know.
    #[error("the cache was purged here, but that could not be recorded")]
    Record(#[from] DoorFault),
    /// This process is stopping.
    #[error("this instance is stopping")]
    Stopping,
}

/// Forgets what is kept, here and elsewhere. Cheap to clone.
#[derive(Debug)]
pub struct Purging<C>(Arc<Inner<C>>);

impl<C> Clone for Purging<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Inner<C> {
    cache: C,
    shelves: Shelves,
    door: Door,
    stream: StreamName,
    lifecycle: Lifecycle,
    /// One purge at a time: each looks through the whole disk.
    turn: Mutex<()>,
}

impl<C: ArtifactCache> Purging<C> {
    /// Starts to follow what others had forgotten.
    ///
    /// # Errors
    /// Never, as long as the stream of purges has a name.
    pub fn start(
        cache: C,
        shelves: Shelves,
        door: Door,
        lifecycle: &Lifecycle,
    ) -> Result<Self, StreamNameFault> {
        let (stream, turn) = (StreamName::new(CACHE)?, Mutex::default());
        let inner = Inner { cache, shelves, door, stream, lifecycle: lifecycle.clone(), turn };
        let this = Self(Arc::new(inner));
        let (following, soft) = (this.clone(), lifecycle.soft().clone());
        lifecycle.run("cache purges", async move {
            soft.run_until_cancelled(Box::pin(following.follow())).await;
        });
        Ok(this)
    }

    /// What is purged.
    #[must_use]
    pub fn cache(&self) -> &C {
        &self.0.cache
    }

    /// The lists that are purged with it.
    #[must_use]
    pub fn shelves(&self) -> &Shelves {
        &self.0.shelves
    }

    /// Forgets what is wanted, and records it. Goes on when whoever asked goes away.
    pub async fn purge(
        &self,
        request: Request,
        caller: Caller,
    ) -> Result<Executed<CachePurged>, PurgeFault> {
        let Request { ecosystem, package, versions } = &request;
        let selection = Selection::new(*ecosystem, package.as_deref(), versions.as_deref())?;
        let (this, (told, answer)) = (self.clone(), oneshot::channel());
        self.0.lifecycle.run("cache purge", async move {
            // Nobody may be left who wants to know.
            drop(told.send(this.carry_out(request, selection, &caller).await));
        });
        answer.await.unwrap_or(Err(PurgeFault::Stopping))
    }

    async fn carry_out(
        &self,
        request: Request,
        selection: Selection,
        caller: &Caller,
    ) -> Result<Executed<CachePurged>, PurgeFault> {
        let Inner { cache, shelves, door, stream, turn, .. } = &*self.0;
        let _turn = turn.lock().await;
        let before = door.now();
        let purges = vec![Purge { selection: selection.clone(), before }];
        // First of all: what is forgotten in memory must not come back from there.
        self.heed(&purges);
        let n_documents = shelves.forget(&selection);
        if let Some(shared) = shelves.shared()
            && let Err(fault) = shared.purge(purges.clone()).await
        {
            warn!(error = %fault, "lists stay in Redis for now, and are not taken from there");
        }
        let files = cache.purge(purges).await?;
        let Request { ecosystem, package, versions } = request;
        let purged = CachePurged {
            ecosystem,
            package,
            versions,
            before,
            n_files: files.n_files,
            size_bytes: files.size_bytes,
            n_documents,
        };
        let event = Event::from(purged.clone());
        let position = door.record(stream.clone(), &[event], caller).await?.last;
        let (n_files, principal) = (files.n_files, &*caller.principal);
        info!(%position, principal, n_files, n_documents, "the cache was purged");
        Ok(Executed { position, events: vec![purged], replayed: false })
    }

    /// What these purges mean is not taken any more from where instances share lists.
    fn heed(&self, purges: &[Purge]) {
        if let Some(shared) = self.0.shelves.shared() {
            shared.heed(purges);
        }
    }

    /// Follows until the log stops.
    async fn follow(&self) {
        let (mut pause, longest) = PAUSES;
        let mut reached = Position::START;
        loop {
            let ended = self.advance(&mut reached).await;
            if let Some(shared) = self.0.shelves.shared() {
                shared.follows(false);
            }
            match ended {
                Ok(()) => return,
                Err(FollowFault::AnotherLife) => reached = Position::START,
                Err(fault) => {
                    warn!(error = %fault, "purges of the cache are not followed, trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(longest);
                    continue;
                }
            }
            pause = PAUSES.0;
        }
    }

    /// Carries out what stands in the log behind a position and what comes; ends well when the log
    /// stops.
    async fn advance(&self, reached: &mut Position) -> Result<(), FollowFault> {
        let log = self.0.door.log();
        // From before the stream is read: what comes in between is seen twice, and forgotten once.
        let here = Cursor { incarnation: Some(log.incarnation()), position: log.head() };
        let mut tail: Tail = log.tail(here);
        let mut version = StreamVersion::NONE;
        loop {
            let page = log.read_stream(&self.0.stream, version, PAGE).await?;
            self.carry_on(page.iter(), reached).await?;
            version = page.last().map_or(version, |event| event.version);
            if page.len() < PAGE {
                break;
            }
        }
        if let Some(shared) = self.0.shelves.shared() {
            shared.follows(true);
        }
        loop {
            match tail.next(PAGE).await {
                Ok(batch) => {
                    let its = batch.iter().filter(|event| event.stream == self.0.stream);
                    self.carry_on(its.map(Arc::as_ref), reached).await?;
                }
                Err(TailFault::Stopped) => return Ok(()),
                Err(TailFault::Read(fault)) => return Err(fault.into()),
                Err(TailFault::Resync { .. }) => return Err(FollowFault::AnotherLife),
            }
        }
    }

    async fn carry_on(
        &self,
        events: impl Iterator<Item = &Recorded>,
        reached: &mut Position,
    ) -> Result<(), FollowFault> {
        let (mut purges, mut last) = (Vec::new(), *reached);
        for event in events.filter(|event| event.position > *reached) {
            last = event.position;
            match event.decode::<Event>() {
                Some(Ok(Event::CachePurged(purged))) => purges.push(Purge::of(&purged)),
                Some(Err(fault)) => return Err(FollowFault::Undecodable(event.position, fault)),
                // What a newer Weir says about caches is nothing that this one keeps.
                Some(Ok(_)) | None => {}
            }
        }
        if !purges.is_empty() {
            let n_purges = purges.len();
            self.heed(&purges);
            let forgotten = purges.iter().map(|purge| self.0.shelves.forget(&purge.selection));
            let n_documents: u64 = forgotten.sum();
            let files = self.0.cache.purge(purges).await?;
            info!(
                n_purges,
                n_files = files.n_files,
                n_documents,
                "purges were carried out here too"
            );
        }
        *reached = last;
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
enum FollowFault {
    #[error("the log is another one")]
    AnotherLife,
    #[error("the purge at position {0} cannot be read: {1}")]
    Undecodable(Position, #[source] CodecFault),
    #[error("the cache could not be purged: {0}")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Read(#[from] ReadFault),
}
