//! When the sources are visited: soon after the start, then again and again, at once when somebody
//! asks. One process at a time does it, whoever holds the lease; the others stand by.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, join_all};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use weir_aggregates::{
    machine::Machine as _,
    registry::{
        advisory::difference::Losses,
        visits::{Part, Schedule, Visits},
    },
};
use weir_events::{
    position::StreamVersion,
    registry::{
        Event,
        sync::{self, SyncFailed, SyncStarted, SyncSucceeded},
    },
    stream::{StreamName, StreamNameFault},
};
use weir_log::{
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};
use weir_projections::engine::Engine;

use super::{
    Reports, SecuritySourcePlugin, SyncFault, Synced, Visit,
    archive::{Archive, LogArchive},
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// The name of the lease.
const LEASE: &str = "registry-sources";
/// How long after the start the first visits wait, at least; at most twice as long.
const SOON: Duration = Duration::from_secs(2);
/// How long after a visit nobody could record the next one waits.
const BREATHER: Duration = Duration::from_secs(5);
/// How often somebody else may write to the stream of a source just before a visit does.
const MAX_CONFLICTS: usize = 10;
/// Events taken from a stream or the tail at once.
const PAGE: usize = 1_000;
/// How much of a cause is kept.
const MAX_CAUSE_CHARS: usize = 500;
/// What a visit that the end of the process cut off is said to have failed of.
const STOPPED: &str = "the worker stopped, or its turn was over; the next visit goes on with it";

/// A source that is visited.
pub type Source = Arc<dyn SecuritySourcePlugin>;

/// Visits sources from this process, whenever no other process does.
pub fn start(sources: Vec<Source>, door: &Door, engine: &Engine, lifecycle: &Lifecycle) {
    if sources.is_empty() {
        return;
    }
    let door = door.clone();
    let work = move |stop: CancellationToken| -> BoxFuture<'static, ()> {
        Box::pin(visit_all(sources.clone(), door.clone(), stop))
    };
    engine.alone(LEASE, lifecycle, Box::new(work));
}

async fn visit_all(sources: Vec<Source>, door: Door, stop: CancellationToken) {
    let bells: Vec<Arc<Notify>> = sources.iter().map(|_| Arc::default()).collect();
    let mut tasks: Vec<BoxFuture<'static, ()>> = Vec::new();
    for (source, bell) in sources.into_iter().zip(bells.clone()) {
        match Desk::new(source, door.clone()) {
            Ok(desk) => tasks.push(Box::pin(desk.keep(bell, stop.clone()))),
            Err(fault) => warn!(error = %fault, "a source cannot be visited"),
        }
    }
    let ringing = stop.clone().run_until_cancelled_owned(ring(door, bells));
    tasks.push(Box::pin(async move { ringing.await.unwrap_or_default() }));
    join_all(tasks).await;
}

/// Rings when somebody asked for a visit, or when that may have been missed.
async fn ring(door: Door, bells: Vec<Arc<Notify>>) {
    let log = door.log();
    let mut tail: Tail = log.tail(log.head());
    loop {
        // What was asked for before is found by who looks for it first.
        match tail.next(PAGE).await {
            Ok(events) => {
                let asked = |event| matches!(event, Some(Ok(Event::SyncRequested(_))));
                if !events.iter().any(|event| asked(event.decode::<Event>())) {
                    continue;
                }
            }
            Err(TailFault::Stopped) => return,
            Err(fault) => {
                warn!(error = %fault, "requests for visits are not followed for the moment");
                tokio::time::sleep(BREATHER).await;
                tail = log.tail(log.head());
            }
        }
        for bell in &bells {
            bell.notify_one();
        }
    }
}

/// A visit that has begun.
struct Begun {
    visit: Visit,
    /// Whether its end stands in the log whatever comes of it.
    loud: bool,
}

/// Where the visits to one source are planned and written down.
struct Desk {
    source: Source,
    archive: LogArchive,
    door: Door,
    caller: Caller,
    stream: StreamName,
    version: StreamVersion,
    n_restores: u64,
    visits: Visits,
}

impl Desk {
    fn new(source: Source, door: Door) -> Result<Self, StreamNameFault> {
        let name = source.name();
        Ok(Self {
            archive: LogArchive::new(name, door.clone()),
            caller: Caller::processor(name),
            stream: sync::stream(name)?,
            version: StreamVersion::NONE,
            n_restores: door.log().hub().n_restores(),
            visits: Visits::default(),
            source,
            door,
        })
    }

    async fn keep(mut self, bell: Arc<Notify>, stop: CancellationToken) {
        let (source, parts) = (Arc::clone(&self.source), self.source.parts());
        let mut due = Instant::now() + SOON.mul_f64(1.0 + chance());
        while !stop.is_cancelled() {
            if let Err(fault) = self.catch_up().await {
                warn!(source = source.name(), error = %fault, "visits to a source are not known yet");
                stop.run_until_cancelled(tokio::time::sleep(BREATHER)).await;
                continue;
            }
            let asked = parts.iter().any(|part| self.visits.asked(*part).is_some());
            if !asked && Instant::now() < due {
                let changed = tokio::select! {
                    () = stop.cancelled() => return,
                    () = bell.notified() => false,
                    () = tokio::time::sleep_until(due) => false,
                    () = source.changed() => true,
                };
                if !changed {
                    continue;
                }
            }
            let mut recorded = true;
            for part in &parts {
                if stop.is_cancelled() {
                    return;
                }
                recorded &= self.go(*part, &stop).await;
            }
            let interval = source.sync_interval().mul_f64(chance().mul_add(0.1, 1.0));
            // What could not be written down is not over.
            due = Instant::now() + if recorded { interval } else { BREATHER };
        }
    }

    /// Folds what is new in the source's stream.
    async fn catch_up(&mut self) -> Result<(), DoorFault> {
        let log = self.door.log();
        let n_restores = log.hub().n_restores();
        if self.n_restores != n_restores {
            (self.n_restores, self.version) = (n_restores, StreamVersion::NONE);
            self.visits = Visits::default();
        }
        loop {
            let page = log.read_stream(&self.stream, self.version, PAGE).await?;
            for event in &page {
                if let Some(decoded) = event.decode::<Event>() {
                    Schedule::apply(&mut self.visits, &decoded?);
                }
                self.version = event.version;
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Writes down that a visit begins, and says what it is to do. `None` where the log does not take
    /// it: then nobody would know of the visit.
    async fn begin(&mut self, part: Part) -> Result<Option<Begun>, DoorFault> {
        for _ in 0..MAX_CONFLICTS {
            self.catch_up().await?;
            let asked = self.visits.asked(part);
            // Who asks wants to know, whatever the source says of itself.
            let revision = self.visits.revision(part).filter(|_| asked.is_none());
            let revision = revision.map(str::to_owned);
            let visit = Visit { part, revision, losses: asked.unwrap_or(Losses::Doubt) };
            let loud = self.source.reports() == Reports::EveryVisit || asked.is_some();
            // A request that comes in between is one that this visit does not answer.
            if !loud || self.write(&[self.started(part)]).await? {
                return Ok(Some(Begun { visit, loud }));
            }
        }
        Ok(None)
    }

    fn started(&self, part: Part) -> Event {
        SyncStarted { source: self.source.name().to_owned(), ecosystem: part }.into()
    }

    /// Visits a part, and writes down what came of it. `false` when that could not be written.
    async fn go(&mut self, part: Part, stop: &CancellationToken) -> bool {
        let name = self.source.name();
        let Begun { visit, loud } = match self.begin(part).await {
            Ok(Some(begun)) => begun,
            begun => {
                let fault = begun.err().map(|fault| fault.to_string());
                warn!(source = name, fault, "a source is not visited, because the log is away");
                stop.run_until_cancelled(tokio::time::sleep(BREATHER)).await;
                return false;
            }
        };
        let began = Instant::now();
        let done = stop.run_until_cancelled(self.visit(&visit)).await;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let failed_before = self.visits.failure(part).map(str::to_owned);
        let ended: Event = match done {
            Some(Ok(Synced { tally, revision })) => {
                let known = self.visits.has_ended(part) && failed_before.is_none();
                if !loud && tally.is_silent() && known {
                    return true;
                }
                info!(source = name, ?part, ?tally, duration_ms, "source synced");
                SyncSucceeded {
                    source: name.to_owned(),
                    ecosystem: part,
                    n_records: tally.n_records,
                    n_unreadable: tally.n_unreadable,
                    n_published: tally.n_published,
                    n_changed: tally.n_changed,
                    n_withdrawn: tally.n_withdrawn,
                    duration_ms,
                    revision,
                }
                .into()
            }
            Some(Err(fault)) => {
                let cause = said(&fault);
                if !loud && failed_before.as_deref() == Some(&cause) {
                    return true;
                }
                warn!(source = name, ?part, cause, "source not synced; what it said before stands");
                SyncFailed { source: name.to_owned(), ecosystem: part, duration_ms, cause }.into()
            }
            None if !loud => return true,
            None => {
                let cause = STOPPED.to_owned();
                SyncFailed { source: name.to_owned(), ecosystem: part, duration_ms, cause }.into()
            }
        };
        let written = if loud {
            // Facts, whatever else was asked for meanwhile.
            let facts = self.door.record(self.stream.clone(), &[ended], &self.caller).await;
            facts.map(drop)
        } else {
            // If somebody has asked meanwhile, the visit that answers is the one that is told.
            self.write(&[self.started(part), ended]).await.map(drop)
        };
        if let Err(fault) = &written {
            warn!(source = name, error = %fault, "a visit is not on record");
        }
        written.is_ok()
    }

    async fn visit(&self, visit: &Visit) -> Result<Synced, SyncFault> {
        let (source, archive): (_, &dyn Archive) = (&self.source, &self.archive);
        let bound = source.sync_timeout();
        let attempt = || -> BoxFuture<'_, Result<Synced, SyncFault>> {
            Box::pin(async move {
                let timed = tokio::time::timeout(bound, source.sync(visit, archive)).await;
                timed.unwrap_or(Err(SyncFault::TimedOut(bound)))
            })
        };
        source.retry().run(source.name(), chance, attempt).await
    }

    /// Appends to the source's stream as it is known here; `false` when somebody else has meanwhile.
    async fn write(&self, events: &[Event]) -> Result<bool, DoorFault> {
        let (stream, version) = (self.stream.clone(), self.version);
        let recorded = self.door.record_after(stream, version, events, &self.caller).await?;
        Ok(recorded.is_some())
    }
}

/// A number from 0 to 1 that nobody can foresee.
fn chance() -> f64 {
    rand::random()
}

/// A fault and what caused it, in one line of bounded length.
fn said(fault: &SyncFault) -> String {
    let causes = std::iter::successors(std::error::Error::source(fault), |cause| cause.source());
    let mut words = fault.to_string();
    for cause in causes {
        let cause = cause.to_string();
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words.chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_CAUSE_CHARS).collect()
}
