//! The hub: a ring of recent events, kept full by this process's writer and by one reader.

use std::{
    collections::VecDeque,
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::{Notify, watch};
use tracing::{error, warn};
use weir_events::{envelope::Recorded, position::Position};

use super::notify;
use crate::{
    database::Database,
    lifecycle::Lifecycle,
    open::{Head, LogOptions, ask_head},
    read::{MAX_READ_BYTES, ReadFault, read_after},
};

/// Events one catch-up read takes.
const CATCH_UP: usize = 2_000;

/// The tail hub of one process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    ring: RwLock<Ring>,
    head: watch::Sender<Head>,
    /// Rung when somebody else may have appended.
    bell: Notify,
    /// Rung when this process appended, so that others are told.
    appended: Notify,
    /// How often the log was found to be another than before.
    n_restores: AtomicU64,
    /// How often the database may have been away.
    outages: watch::Sender<u64>,
    /// Whether somebody listens, and so is told at once when the database goes away.
    listens: AtomicBool,
    /// The connection that tells other processes, by the number of its server process.
    speaker: AtomicU32,
    /// When the database last confirmed where the head is.
    confirmed_at: RwLock<Instant>,
}

#[derive(Debug)]
struct Ring {
    events: VecDeque<Arc<Recorded>>,
    last: Position,
    n_bytes: usize,
    max_bytes: usize,
}

impl Ring {
    /// Adds what follows the last event; what is known already is passed over. False on a gap.
    fn extend(&mut self, events: Vec<Arc<Recorded>>) -> bool {
        for event in events {
            if event.position <= self.last {
                continue;
            }
            if event.position != self.last.next() {
                return false;
            }
            self.last = event.position;
            self.n_bytes += event.size_bytes();
            self.events.push_back(event);
        }
        while self.n_bytes > self.max_bytes
            && let Some(oldest) = self.events.pop_front()
        {
            self.n_bytes -= oldest.size_bytes();
        }
        true
    }
}

impl Hub {
    pub(crate) fn start(
        database: Database,
        head: Head,
        notify: bool,
        options: &LogOptions,
        lifecycle: &Lifecycle,
    ) -> Self {
        let ring = Ring {
            events: VecDeque::new(),
            last: head.position,
            n_bytes: 0,
            max_bytes: options.ring_bytes,
        };
        let hub = Self {
            inner: Arc::new(Inner {
                ring: RwLock::new(ring),
                head: watch::Sender::new(head),
                bell: Notify::new(),
                appended: Notify::new(),
                n_restores: AtomicU64::new(0),
                outages: watch::Sender::new(0),
                listens: AtomicBool::new(false),
                speaker: AtomicU32::new(0),
                confirmed_at: RwLock::new(Instant::now()),
            }),
        };
        if notify {
            notify::start(&database, &hub, lifecycle);
        }
        let (reader, poll, soft) = (hub.clone(), options.poll, lifecycle.soft().clone());
        lifecycle.run("tail hub", async move {
            soft.run_until_cancelled(reader.read_along(&database, poll)).await;
        });
        hub
    }

    /// Where the log stands, as far as this process knows.
    pub fn head(&self) -> Head {
        *self.inner.head.borrow()
    }

    /// How often this process found the log to be another than before: whatever was remembered of
    /// streams is then worth nothing.
    pub fn n_restores(&self) -> u64 {
        self.inner.n_restores.load(Ordering::SeqCst)
    }

    /// How often the database may have been away, as far as this process knows: what was committed
    /// without waiting for the disk may be lost then.
    pub fn n_outages(&self) -> u64 {
        *self.inner.outages.borrow()
    }

    /// Waits until the database may have been away more often than that.
    pub async fn outage_after(&self, n_outages: u64) {
        let mut outages = self.inner.outages.subscribe();
        while *outages.borrow_and_update() <= n_outages {
            if outages.changed().await.is_err() {
                return;
            }
        }
    }

    /// Whether this process would notice now that the database goes away. Who need not wait for the
    /// disk because of that asks before he commits, and for the number of outages before that.
    pub fn notices_outages(&self) -> bool {
        self.inner.listens.load(Ordering::SeqCst)
    }

    pub(crate) fn listens(&self, does: bool) {
        self.inner.listens.store(does, Ordering::SeqCst);
    }

    pub(crate) fn lost_touch(&self) {
        self.inner.outages.send_modify(|n_outages| *n_outages += 1);
    }

    pub(crate) fn speaks_as(&self, server_process: u32) {
        self.inner.speaker.store(server_process, Ordering::Relaxed);
    }

    /// Whether this process was told by itself.
    pub(crate) fn spoke_as(&self, server_process: u32) -> bool {
        self.inner.speaker.load(Ordering::Relaxed) == server_process
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Head> {
        self.inner.head.subscribe()
    }

    /// How long ago the database last confirmed where the head is. What must be in force at once
    /// (a revoked token) may only be answered from memory while this is short.
    pub fn age(&self) -> Duration {
        Instant::now().saturating_duration_since(
            *self.inner.confirmed_at.read().unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Somebody else may have appended.
    pub(crate) fn ring_bell(&self) {
        self.inner.bell.notify_one();
    }

    /// Waits until this process appended something.
    pub(crate) async fn appended(&self) {
        self.inner.appended.notified().await;
    }

    /// Takes what this process's writer just committed.
    pub(crate) fn offer(&self, events: Vec<Arc<Recorded>>) {
        if self.write().extend(events) {
            self.publish();
        } else {
            // Another process wrote in between: the reader fetches both.
            self.ring_bell();
        }
        self.inner.appended.notify_one();
    }

    /// At most `max` events and about [`MAX_READ_BYTES`] after a position, when the ring still has
    /// them.
    pub(crate) fn take_after(&self, after: Position, max: usize) -> Option<Vec<Arc<Recorded>>> {
        let ring = self.read();
        let oldest = ring.events.front().map_or_else(|| ring.last.next(), |event| event.position);
        if after.next() < oldest {
            return None;
        }
        let skip = usize::try_from(oldest.distance_to(after.next())).ok()?;
        let mut n_before = 0;
        let fits = |event: &&Arc<Recorded>| {
            let fits = n_before < MAX_READ_BYTES;
            n_before += event.payload.len() + event.meta.len();
            fits
        };
        let there = ring.events.range(skip.min(ring.events.len())..);
        Some(there.take(max).take_while(fits).cloned().collect())
    }

    fn read(&self) -> RwLockReadGuard<'_, Ring> {
        self.inner.ring.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Ring> {
        self.inner.ring.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self) {
        let last = self.read().last;
        self.inner.head.send_if_modified(|head| {
            let moved = head.position < last;
            head.position = head.position.max(last);
            moved
        });
    }

    async fn read_along(&self, database: &Database, poll: Duration) {
        let mut n_failed = 0_u32;
        loop {
            // The bell is only a hint; the poll alone must be enough.
            drop(tokio::time::timeout(poll, self.inner.bell.notified()).await);
            match self.catch_up(database).await {
                Ok(()) => n_failed = 0,
                Err(ReadFault::Database(fault)) => {
                    self.lost_touch();
                    n_failed = n_failed.saturating_add(1);
                    if n_failed == 1 || n_failed.is_multiple_of(100) {
                        warn!(error = %fault, cause = %fault.cause, n_failed, "tail reader waits");
                    }
                    tokio::time::sleep(poll).await;
                }
                Err(fault) => {
                    n_failed = n_failed.saturating_add(1);
                    if n_failed == 1 || n_failed.is_multiple_of(100) {
                        error!(error = %fault, "the log is damaged; run `weir verify`");
                    }
                    tokio::time::sleep(poll).await;
                }
            }
        }
    }

    async fn catch_up(&self, database: &Database) -> Result<(), ReadFault> {
        let asked_at = Instant::now();
        // Known before asking: this process's own writer moves on while the database answers.
        let known = self.head();
        let head = ask_head(database).await?;
        if head.incarnation != known.incarnation || head.position < known.position {
            warn!(was = %known.position, now = %head.position, "the log was restored");
            let mut ring = self.write();
            ring.events.clear();
            ring.n_bytes = 0;
            ring.last = head.position;
            drop(ring);
            self.inner.n_restores.fetch_add(1, Ordering::SeqCst);
            self.inner.head.send_replace(head);
        }
        loop {
            let last = self.read().last;
            if last >= head.position {
                break;
            }
            let events = read_after(database, last, CATCH_UP).await?;
            if events.is_empty() {
                break;
            }
            self.write().extend(events);
            self.publish();
        }
        *self.inner.confirmed_at.write().unwrap_or_else(PoisonError::into_inner) = asked_at;
        Ok(())
    }
}
