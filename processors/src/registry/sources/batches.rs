//! From records to events: what is news is put together into batches that the log takes at once.

use std::collections::BTreeMap;

use tokio::sync::mpsc::{self, Receiver, Sender};
use weir_aggregates::registry::{
    advisory::{
        difference::{Difference, Ended, Losses, Missing, Shrunk, Sight},
        digest,
    },
    osv::{self, bound},
};
use weir_events::registry::{
    Ecosystem, Event,
    advisory::{AdvisoryChanged, AdvisoryPublished, AdvisoryWithdrawn},
};
use weir_log::append::MAX_EVENTS;

use super::{SyncFault, Tally, archive::Archive};

/// What of the events of a batch may be said; an append may have 4 MiB, meta included.
const MAX_WEIGHT: usize = 2 << 20;

/// What an event weighs beside its advisory.
const EVENT_WEIGHT: usize = 500;

/// Batches that wait for the log.
const WAITING: usize = 4;

/// Events about one ecosystem.
#[derive(Debug)]
pub(super) struct Batch {
    ecosystem: Ecosystem,
    events: Vec<Event>,
}

/// Nobody takes batches any more.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gone;

/// Why reading ended early.
#[derive(Debug)]
pub(super) enum Halt {
    /// Nobody takes what is news any more.
    Gone,
    /// The feed itself.
    Fault(SyncFault),
}

impl From<Gone> for Halt {
    fn from(Gone: Gone) -> Self {
        Self::Gone
    }
}

impl<F: Into<SyncFault>> From<F> for Halt {
    fn from(fault: F) -> Self {
        Self::Fault(fault.into())
    }
}

/// What the place of a record says about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing that the record does not say itself.
    Own,
    /// That it is withdrawn, whatever it says.
    Withdrawn,
}

/// What a feed came to.
#[derive(Debug)]
pub(super) struct Read {
    tally: Tally,
    missing: BTreeMap<Ecosystem, Missing>,
}

/// Records on their way through the difference. Blocks where the log is slower: for a thread that may.
pub(super) struct Reading {
    source: &'static str,
    differences: BTreeMap<Ecosystem, Difference>,
    batches: BTreeMap<Ecosystem, (Vec<Event>, usize)>,
    tally: Tally,
    out: Sender<Batch>,
}

impl Reading {
    pub(super) fn new(
        source: &'static str,
        differences: BTreeMap<Ecosystem, Difference>,
    ) -> (Self, Receiver<Batch>) {
        let (out, batches) = mpsc::channel(WAITING);
        let (tally, empty) = (Tally::default(), BTreeMap::new());
        (Self { source, differences, batches: empty, tally, out }, batches)
    }

    /// Shows a record. `id` is what its file is called, for one that cannot be read.
    pub(super) fn show(&mut self, id: &str, standing: Standing, body: &[u8]) -> Result<(), Gone> {
        // Not only when there is news: who stops does not want to wait for the end of the feed.
        if self.out.is_closed() {
            return Err(Gone);
        }
        self.tally.n_records += 1;
        let Ok(record) = osv::parse(body) else {
            self.unreadable(id);
            return Ok(());
        };
        if standing == Standing::Withdrawn || record.withdrawn.is_some() {
            for difference in self.differences.values_mut() {
                difference.see_withdrawn(&record.id);
            }
            return Ok(());
        }
        let Ok(advisories) = record.advisories(self.source) else {
            self.unreadable(&record.id);
            return Ok(());
        };
        for advisory in advisories {
            let ecosystem = advisory.ecosystem;
            let Some(difference) = self.differences.get_mut(&ecosystem) else { continue };
            let weight = EVENT_WEIGHT + bound::size(&advisory);
            let event = match difference.see(&advisory.id, digest::carried(&advisory)) {
                Sight::Same => continue,
                Sight::New => {
                    self.tally.n_published += 1;
                    AdvisoryPublished { advisory }.into()
                }
                Sight::Changed => {
                    self.tally.n_changed += 1;
                    AdvisoryChanged { advisory }.into()
                }
            };
            self.put(ecosystem, event, weight)?;
        }
        for difference in self.differences.values_mut() {
            difference.shown(&record.id);
        }
        Ok(())
    }

    /// Shows that there is a record that cannot be had.
    pub(super) fn cannot_show(&mut self, id: &str) {
        self.tally.n_records += 1;
        self.unreadable(id);
    }

    fn unreadable(&mut self, id: &str) {
        self.tally.n_unreadable += 1;
        for difference in self.differences.values_mut() {
            difference.keep(id);
        }
    }

    /// Says that the source still has a record of this id, whether it was shown or not. What one says
    /// that was shown, it has said.
    pub(super) fn stands(&mut self, id: &str) {
        for difference in self.differences.values_mut() {
            difference.stands(id);
        }
    }

    /// Says that nobody knows whether what was not shown is gone: all of that holds on.
    pub(super) fn keep_unseen(&mut self) {
        self.differences.values_mut().for_each(Difference::keep_unseen);
    }

    /// Whether something that was known has not been shown, nor the record it is of.
    pub(super) fn misses_some(&self) -> bool {
        self.differences.values().any(Difference::misses_some)
    }

    /// Hands on what is news so far.
    fn flush(&mut self) -> Result<(), Gone> {
        for (ecosystem, (events, _)) in std::mem::take(&mut self.batches) {
            self.send(ecosystem, events)?;
        }
        Ok(())
    }

    /// Ends the comparison with an edition of the feed: what is gone is withdrawn, in all ecosystems or
    /// in none. A feed without a record in it is none.
    pub(super) fn finish(mut self, losses: Losses, edition: &str) -> Result<Read, Halt> {
        self.flush()?;
        let source = self.source;
        let empty = self.tally.n_records == 0 && losses == Losses::Doubt;
        let shrunk = |shrunk| SyncFault::Shrunk(shrunk, source);
        let (mut gone, mut all_missing) = (Vec::new(), BTreeMap::new());
        for (ecosystem, difference) in std::mem::take(&mut self.differences) {
            let n_known = difference.n_known();
            if empty && n_known > 0 {
                return Err(shrunk(Shrunk { n_known, n_gone: n_known }).into());
            }
            let Ended { withdrawn, missing } =
                difference.finish(losses, edition).map_err(shrunk)?;
            gone.extend(withdrawn.into_iter().map(|(id, cause)| (ecosystem, id, cause)));
            self.tally.n_missing += missing.len() as u64;
            all_missing.insert(ecosystem, missing);
        }
        for (ecosystem, id, cause) in gone {
            self.tally.n_withdrawn += 1;
            let (source, id) = (source.to_owned(), id.into());
            let event = AdvisoryWithdrawn { source, ecosystem, id, cause }.into();
            self.put(ecosystem, event, EVENT_WEIGHT)?;
        }
        self.flush()?;
        Ok(Read { tally: self.tally, missing: all_missing })
    }

    fn put(&mut self, ecosystem: Ecosystem, event: Event, weight: usize) -> Result<(), Gone> {
        let (events, total) = self.batches.entry(ecosystem).or_default();
        let full = events.len() >= MAX_EVENTS || *total + weight > MAX_WEIGHT;
        let ready = if full { (std::mem::take(events), *total = 0).0 } else { Vec::new() };
        events.push(event);
        *total += weight;
        self.send(ecosystem, ready)
    }

    fn send(&self, ecosystem: Ecosystem, events: Vec<Event>) -> Result<(), Gone> {
        if events.is_empty() {
            return Ok(());
        }
        self.out.blocking_send(Batch { ecosystem, events }).map_err(|_| Gone)
    }
}

/// The id that the name of a record's file says, if it is one.
pub(super) fn id_of(name: &str) -> Option<&str> {
    name.strip_suffix(".json")
}

/// Appends batches as they come, until there are no more.
pub(super) async fn append(
    archive: &dyn Archive,
    mut batches: Receiver<Batch>,
) -> Result<(), SyncFault> {
    while let Some(Batch { ecosystem, events }) = batches.recv().await {
        archive.append(ecosystem, events).await?;
    }
    Ok(())
}

/// Starts the comparisons with what is known about these ecosystems. What was missing goes with them: an
/// edition that is refused, or not read to its end, may have shown it, so that it was not missing in two
/// editions one after the other.
pub(super) async fn differences(
    archive: &dyn Archive,
    ecosystems: impl IntoIterator<Item = Ecosystem>,
) -> Result<BTreeMap<Ecosystem, Difference>, SyncFault> {
    let mut differences = BTreeMap::new();
    for ecosystem in ecosystems {
        differences.insert(ecosystem, archive.difference(ecosystem).await?);
        archive.remember(ecosystem, Missing::default()).await;
    }
    Ok(differences)
}

/// What came of reading and appending, done at the same time. What was missing is remembered once all
/// else is on the log.
pub(super) async fn both(
    read: Result<Read, Halt>,
    appended: Result<(), SyncFault>,
    archive: &dyn Archive,
) -> Result<Tally, SyncFault> {
    // Who appends stops first where the log is at fault; the reader only notices.
    appended?;
    let Read { tally, missing } = read.map_err(|halt| match halt {
        Halt::Fault(fault) => fault,
        Halt::Gone => SyncFault::BrokeOff("nobody took what is news"),
    })?;
    for (ecosystem, missing) in missing {
        archive.remember(ecosystem, missing).await;
    }
    Ok(tally)
}
