//! What the log says of a source so far, and how news about it gets there.

use std::collections::HashMap;

use blake3::Hash;
use futures_util::future::BoxFuture;
use tokio::sync::Mutex;
use weir_aggregates::registry::advisory::{
    difference::{Difference, Missing},
    digest,
};
use weir_events::{
    position::StreamVersion,
    registry::{
        Ecosystem, Event,
        advisory::{self, AdvisoryChanged, AdvisoryPublished},
    },
    stream::StreamName,
};

use super::SyncFault;
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// Events one page of a stream holds; an advisory may have 200 KiB.
const PAGE: usize = 500;

/// What is known of one source, and where what is new goes.
pub trait Archive: Send + Sync {
    /// Starts a comparison with what the source said so far about an ecosystem.
    fn difference(&self, ecosystem: Ecosystem) -> BoxFuture<'_, Result<Difference, SyncFault>>;

    /// Appends what is news about an ecosystem. Refused when somebody else has appended since the
    /// comparison was started.
    fn append(
        &self,
        ecosystem: Ecosystem,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), SyncFault>>;

    /// Keeps what a comparison found missing, for the next one about this ecosystem.
    fn remember(&self, ecosystem: Ecosystem, missing: Missing) -> BoxFuture<'_, ()>;
}

/// The log. Of what stands there only ids and digests are kept in memory; they are folded from the
/// streams when they are first needed, and from where that ended each time after. What was missing is
/// kept beside them and nowhere else: who takes over waits for two editions of a feed again.
#[derive(Debug)]
pub struct LogArchive {
    source: &'static str,
    door: Door,
    caller: Caller,
    folded: Mutex<HashMap<Ecosystem, Folded>>,
}

#[derive(Debug, Default)]
struct Folded {
    /// How often the log had been restored to another state when this was folded.
    n_restores: u64,
    version: StreamVersion,
    known: HashMap<Box<str>, Hash>,
    missing: Missing,
}

impl Folded {
    fn apply(&mut self, event: Event) {
        match event {
            Event::AdvisoryPublished(AdvisoryPublished { advisory })
            | Event::AdvisoryChanged(AdvisoryChanged { advisory }) => {
                let digest = digest::carried(&advisory);
                self.known.insert(advisory.id.into(), digest);
            }
            Event::AdvisoryWithdrawn(gone) => {
                self.known.remove(gone.id.as_str());
            }
            _ => {}
        }
    }
}

impl LogArchive {
    /// What the log says of a source.
    #[must_use]
    pub fn new(source: &'static str, door: Door) -> Self {
        let caller = Caller::processor(source);
        Self { source, door, caller, folded: Mutex::default() }
    }

    fn stream(&self, ecosystem: Ecosystem) -> Result<StreamName, SyncFault> {
        let broken = |_| SyncFault::BrokeOff("its stream has no name");
        advisory::stream(self.source, ecosystem).map_err(broken)
    }

    /// Folds what is new in the stream.
    async fn catch_up(&self, ecosystem: Ecosystem, folded: &mut Folded) -> Result<(), SyncFault> {
        let log = self.door.log();
        let n_restores = log.hub().n_restores();
        if folded.n_restores != n_restores {
            *folded = Folded { n_restores, ..Folded::default() };
        }
        let stream = self.stream(ecosystem)?;
        loop {
            let read = log.read_stream(&stream, folded.version, PAGE).await;
            let page = read.map_err(DoorFault::from)?;
            for event in &page {
                if let Some(decoded) = event.decode::<Event>() {
                    folded.apply(decoded.map_err(DoorFault::from)?);
                }
                folded.version = event.version;
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }
}

impl Archive for LogArchive {
    fn difference(&self, ecosystem: Ecosystem) -> BoxFuture<'_, Result<Difference, SyncFault>> {
        Box::pin(async move {
            let mut all = self.folded.lock().await;
            let folded = all.entry(ecosystem).or_default();
            self.catch_up(ecosystem, folded).await?;
            let known = folded.known.iter().map(|(id, digest)| (id.clone(), *digest));
            Ok(Difference::new(known).after(folded.missing.clone()))
        })
    }

    fn remember(&self, ecosystem: Ecosystem, missing: Missing) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let Some(folded) = self.folded.lock().await.get_mut(&ecosystem) {
                folded.missing = missing;
            }
        })
    }

    fn append(
        &self,
        ecosystem: Ecosystem,
        events: Vec<Event>,
    ) -> BoxFuture<'_, Result<(), SyncFault>> {
        Box::pin(async move {
            let stream = self.stream(ecosystem)?;
            let mut all = self.folded.lock().await;
            let folded = all.entry(ecosystem).or_default();
            // Whoever lost the lease without noticing appends nothing after the new holder did.
            let after = folded.version;
            let recorded = self.door.record_after(stream.clone(), after, &events, &self.caller);
            let Some(at) = recorded.await? else {
                all.remove(&ecosystem);
                return Err(DoorFault::Contended(stream).into());
            };
            folded.version = at.versions.first().copied().unwrap_or(after);
            for event in events {
                folded.apply(event);
            }
            Ok(())
        })
    }
}
