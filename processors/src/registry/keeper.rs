//! Keeps a cache within its promises: what was kept long enough goes, and whatever goes is recorded.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, interval_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use weir_events::{
    registry::{CacheEvicted, Ecosystem, Event},
    stream::StreamName,
};
use weir_log::{idempotency::CommandKey, lifecycle::Lifecycle};

use super::{
    cache::{ArtifactCache as _, CachePlugin as _, Evicted, Evictions, FileCache, RedisCache},
    ledger::LedgerFault,
    shelves::Shelves,
};
use crate::{caller::Caller, door::Door};

/// How often a cache is looked through for what was kept long enough.
pub const EXPIRE_EVERY: Duration = Duration::from_mins(10);

/// How long what was kept waits to be flushed: whoever installs it wants others just then, and the system
/// has written most of it by itself when the time is over.
const FLUSH_AFTER: Duration = Duration::from_secs(5);

/// Evictions of one append.
const BATCH: usize = 200;
/// How long the first of them waits for others.
const GATHER: Duration = Duration::from_millis(100);
/// Pauses between tries to record evictions.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Starts the keeper of this process's cache: it looks for what has expired every so often, one look
/// at a time, records what is forgotten, whoever forgot it and why, and has the disk take what is kept.
///
/// While an upstream fails, nothing of its ecosystem expires: it could not be fetched again.
pub fn start(
    cache: &FileCache,
    shelves: &Shelves,
    door: &Door,
    expire_every: Duration,
    lifecycle: &Lifecycle,
) {
    let (recorder, soft) = (Recorder::new(door.clone()), lifecycle.soft().clone());
    let evictions = cache.evictions();
    lifecycle.run("cache evictions", async move { recorder.run(evictions, &soft).await });
    let (flushed, soft) = (cache.clone(), lifecycle.soft().clone());
    lifecycle.run("cache flushes", async move {
        soft.run_until_cancelled(flush(&flushed)).await;
    });
    let (cache, shelves, door) = (cache.clone(), shelves.clone(), door.clone());
    let soft = lifecycle.soft().clone();
    lifecycle.run("cache keeper", async move {
        soft.run_until_cancelled(expire(&cache, &shelves, &door, expire_every)).await;
    });
}

/// Starts to look every so often through what instances share: how much it is, and whether something
/// was kept long enough that its place has not forgotten by itself.
pub fn look_after(redis: RedisCache, every: Duration, lifecycle: &Lifecycle) {
    let soft = lifecycle.soft().clone();
    lifecycle.run("shared lists keeper", async move {
        soft.run_until_cancelled(look(&redis, every)).await;
    });
}

async fn look(redis: &RedisCache, every: Duration) {
    let mut looks = interval(every);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        match redis.purge_expired(redis.now()).await {
            Ok(0) => {}
            Ok(n_expired) => info!(n_expired, "shared lists were kept long enough"),
            // That it is down was told, and is no news every time.
            Err(fault) => debug!(error = %fault, "Redis could not be looked through"),
        }
    }
}

async fn expire(cache: &FileCache, shelves: &Shelves, door: &Door, every: Duration) {
    let mut looks = interval_at(tokio::time::Instant::now() + every, every);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        match cache.expire(door.now(), shelves.failing()).await {
            Ok(0) => {}
            Ok(n_expired) => info!(n_expired, "files were kept long enough"),
            Err(fault) => warn!(error = %fault, "the cache could not be looked through"),
        }
    }
}

/// Flushes what is kept, a while after it was.
async fn flush(cache: &FileCache) {
    loop {
        cache.unflushed().await;
        tokio::time::sleep(FLUSH_AFTER).await;
        cache.flush().await;
    }
}

/// Puts down what was forgotten.
struct Recorder {
    door: Door,
    caller: Caller,
}

impl Recorder {
    fn new(door: Door) -> Self {
        Self { door, caller: Caller::processor("cache") }
    }

    /// Records until the soft stop, and then what is left, once. From then on nothing is forgotten any
    /// more: what there is no room for goes at the next start.
    async fn run(&self, mut evictions: Evictions, soft: &CancellationToken) {
        loop {
            let next = soft.run_until_cancelled(evictions.next(BATCH)).await;
            let mut batch = if let Some(batch) = next {
                batch
            } else {
                evictions.close();
                evictions.next(BATCH).await
            };
            if !batch.is_empty() {
                // Who forgets one often forgets many: they share an append.
                drop(tokio::time::timeout(GATHER, soft.cancelled()).await);
            }
            batch.extend(evictions.waiting(BATCH - batch.len()));
            if batch.is_empty() {
                return;
            }
            for ecosystem in Ecosystem::ALL {
                let its: Vec<&Evicted> =
                    batch.iter().filter(|gone| gone.key.ecosystem() == ecosystem).collect();
                if !its.is_empty() {
                    self.record(ecosystem, &its, soft).await;
                }
            }
        }
    }

    /// Records a batch, however often that has to be tried; while the process stops, once.
    async fn record(&self, ecosystem: Ecosystem, batch: &[&Evicted], soft: &CancellationToken) {
        let events: Vec<Event> = batch.iter().map(|gone| event(gone).into()).collect();
        // A try whose answer was lost is not recorded twice.
        let id = self.door.new_id();
        let key = CommandKey::of(&self.caller.principal, &format!("\0evictions/{id}"));
        let (mut pause, longest) = PAUSES;
        loop {
            match self.append(ecosystem, &events, key).await {
                Ok(()) => return,
                Err(fault) => {
                    let error = &fault as &dyn std::error::Error;
                    warn!(error, n_events = events.len(), "evictions were not recorded this time");
                }
            }
            if soft.is_cancelled() {
                return;
            }
            // Woken by the stop, it tries once more.
            drop(tokio::time::timeout(pause, soft.cancelled()).await);
            pause = (pause * 2).min(longest);
        }
    }

    async fn append(
        &self,
        ecosystem: Ecosystem,
        events: &[Event],
        key: CommandKey,
    ) -> Result<(), LedgerFault> {
        let date = self.door.now().date();
        let stream = StreamName::new(format!("registry/decisions/{date}/{ecosystem}"))?;
        self.door.record_once(stream, events, &self.caller, key).await?;
        Ok(())
    }
}

fn event(gone: &Evicted) -> CacheEvicted {
    CacheEvicted {
        ecosystem: gone.key.ecosystem(),
        package: gone.key.package().to_owned(),
        file: gone.key.file().to_owned(),
        sha256: gone.meta.sha256.clone(),
        size_bytes: gone.meta.size,
        cause: gone.cause,
    }
}
