//! One worker per projection and process: takes the lease or stands by, and keeps the live build.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering, time::Duration};

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use weir_log::lifecycle::Lifecycle;

use super::{
    Engine, Slot,
    backoff::Backoff,
    batch::{self, BatchFault, Target},
    build::{self, BuildState, Builds},
    lease::{Claim, Lease},
    meter::Meter,
    operations,
    pace::{Next, Pace},
    rebuild,
};

/// How often a worker looks for a build to keep, or whether a newer one has ended its waiting.
const LOOK: Duration = Duration::from_secs(1);

/// Starts the workers of an engine.
pub(super) fn start(engine: &Engine, lifecycle: &Lifecycle) {
    let (follower, soft) = (engine.clone(), lifecycle.soft().clone());
    lifecycle.run("operators' commands", async move {
        operations::follow(&follower, &soft).await;
    });
    for nth in 0..engine.inner.slots.len() {
        let (engine, lifecycle_of) = (engine.clone(), lifecycle.clone());
        lifecycle.run("projection", async move {
            if let Some(slot) = engine.inner.slots.get(nth) {
                Box::pin(work(&engine, slot, &lifecycle_of)).await;
            }
        });
    }
}

/// Takes the lease whenever it is free, until the soft stop.
async fn work(engine: &Engine, slot: &Slot, lifecycle: &Lifecycle) {
    let window = engine.options().lease_window;
    let poll = (window / 5).min(Duration::from_millis(500));
    let name = slot.projection.name();
    let version = slot.projection.version();
    let host = engine.options().host.as_str();
    let claim = Claim { name, owner: engine.inner.owner, host, window, version };
    let soft = lifecycle.soft();
    let (mut n_failed, mut told) = (0_u32, false);
    while !soft.is_cancelled() {
        match Lease::take(engine.database(), claim).await {
            Ok(Some(lease)) => {
                n_failed = 0;
                Box::pin(hold(engine, slot, &lease, lifecycle)).await;
            }
            Ok(None) => {
                n_failed = 0;
                if !told {
                    told = true;
                    tell_why(engine, slot).await;
                }
            }
            Err(fault) => {
                if n_failed.is_multiple_of(100) {
                    warn!(projection = name, error = %fault, cause = %fault.cause,
                        "worker waits for the database");
                }
                n_failed += 1;
            }
        }
        soft.run_until_cancelled(tokio::time::sleep(poll)).await;
    }
}

/// Says once why this worker only stands by.
async fn tell_why(engine: &Engine, slot: &Slot) {
    let (name, version) = (slot.projection.name(), slot.projection.version());
    match Builds::of(engine.database(), name).await {
        Ok(Builds { live: Some(live), .. }) if live.version > version => {
            warn!(
                projection = name,
                version,
                live = live.version,
                "the live build is of newer code; standing back"
            );
        }
        _ => info!(projection = name, "another worker holds the lease; standing by"),
    }
}

/// One projection's work under one lease. Told to stop, it ends between transactions.
pub(super) struct Work<'a> {
    pub(super) engine: &'a Engine,
    pub(super) slot: &'a Slot,
    pub(super) lease: &'a Lease,
    pub(super) lifecycle: &'a Lifecycle,
    pub(super) stop: &'a CancellationToken,
}

impl Work<'_> {
    /// Waits for something, or is told to stop.
    pub(super) async fn wait<T>(&self, for_it: impl Future<Output = T>) -> Option<T> {
        self.stop.run_until_cancelled(for_it).await
    }

    /// Waits until a bell rings, a while has passed, or it is told to stop.
    pub(super) async fn pause(&self, at_most: Duration, bell: impl Future<Output = ()>) {
        tokio::select! {
            () = self.stop.cancelled() => {}
            () = bell => {}
            () = tokio::time::sleep(at_most) => {}
        }
    }

    /// Stops everything that is done under this lease, because it is somebody else's now.
    pub(super) fn lost(&self) {
        self.stop.cancel();
    }
}

/// Works under a lease until it is lost, or gives it up at the soft stop.
async fn hold(engine: &Engine, slot: &Slot, lease: &Lease, lifecycle: &Lifecycle) {
    let name = slot.projection.name();
    let window = engine.options().lease_window;
    info!(projection = name, fence = lease.fence, "lease taken");
    let stop = lifecycle.soft().child_token();
    let working = async {
        let work = Work { engine, slot, lease, lifecycle, stop: &stop };
        let worked = AssertUnwindSafe(keep(&work)).catch_unwind();
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(window).await;
        };
        tokio::select! {
            worked = worked => if worked.is_err() {
                error!(projection = name, "worker panicked, starting again");
            },
            () = late => warn!(projection = name, "work dropped: it did not stop in time"),
        }
        stop.cancel();
    };
    let renewing = async {
        let lost = lease.renew(engine.database(), window, &stop).await;
        stop.cancel();
        lost
    };
    let ((), lost) = tokio::join!(working, renewing);
    slot.kept.store(false, Ordering::Relaxed);
    if lost {
        warn!(projection = name, fence = lease.fence, "lease lost");
    } else if let Err(fault) = lease.release(engine.database()).await {
        warn!(projection = name, error = %fault, cause = %fault.cause, "lease not given up");
    }
}

/// Keeps the projection until told to stop.
async fn keep(work: &Work<'_>) {
    let projection = &*work.slot.projection;
    let mut backoff = Backoff::default();
    while !work.stop.is_cancelled() {
        match build::install(work.engine.database(), projection, work.lease).await {
            Ok(true) => break,
            Ok(false) => return,
            Err(fault) => {
                warn!(projection = projection.name(), error = %fault, cause = %fault.cause,
                    "projection cannot be installed yet");
                backoff.wait(work.stop).await;
            }
        }
    }
    tokio::join!(keep_live(work), rebuild::keep_building(work), operations::keep_handling(work),);
}

/// Keeps the live build, whichever that is.
async fn keep_live(work: &Work<'_>) {
    let Work { slot, stop, .. } = *work;
    let name = slot.projection.name();
    let mut backoff = Backoff::default();
    while !stop.is_cancelled() {
        let changed = slot.changed.notified();
        let began_at = *slot.seen.borrow();
        match keep_this(work).await {
            Ok(()) => work.pause(LOOK, changed).await,
            Err(BatchFault::Lost) => work.lost(),
            Err(BatchFault::Gone) => {}
            Err(BatchFault::Halted { position, error }) => {
                error!(projection = name, %position, %error, "projection halted");
            }
            Err(fault) => {
                if *slot.seen.borrow() != began_at {
                    backoff.reset();
                }
                let cause = std::error::Error::source(&fault).map(ToString::to_string);
                warn!(projection = name, error = %fault, cause, "projection waits");
                backoff.wait(stop).await;
            }
        }
        slot.kept.store(false, Ordering::Relaxed);
    }
}

/// Keeps one live build as long as it is that. `Ok` when there is none this code can keep, or when
/// told to stop.
async fn keep_this(work: &Work<'_>) -> Result<(), BatchFault> {
    let Work { engine, slot, lease, lifecycle, stop } = *work;
    let projection = &*slot.projection;
    let life = engine.life();
    let Builds { live, .. } = Builds::of(engine.database(), projection.name()).await?;
    let Some(mut build) = live else { return Ok(()) };
    slot.saw(life, build.position);
    if build.state != BuildState::Live || build.version != projection.version() {
        return Ok(());
    }
    slot.kept.store(true, Ordering::Relaxed);
    let options = engine.options();
    let mut meter = Meter::new();
    let mut cursor = engine.cursor(lifecycle, build.position);
    let mut pace = Pace::new(options);
    while !stop.is_cancelled() {
        let next = tokio::select! {
            next = work.wait(pace.next(&mut cursor, projection.kinds(), slot)) => next,
            () = engine.log().hub().outage_after(life.n_outages) => return Err(BatchFault::Gone),
        };
        let next = match next {
            Some(next) => next?,
            // Told to stop: what was passed over is not read again by whoever is next.
            None => pace.give_up(),
        };
        // What was committed last may be lost: even where nothing comes after it, the build may have to
        // go on from before it.
        if engine.life() != life {
            return Err(BatchFault::Gone);
        }
        let events = match next {
            Next::Nothing => continue,
            // Whoever waits for these has all there is to see.
            Next::Passed(position, n_events) => {
                meter.count(n_events);
                slot.saw(life, position);
                continue;
            }
            Next::Offset(last) => vec![last],
            Next::Rows(events) => {
                meter.count(events.len());
                events
            }
        };
        let target = Target { projection, build: &build, options };
        let turn = slot.turn.lock().await;
        let done = batch::commit(engine.log(), &target, lease, &events, meter.rate()).await?;
        drop(turn);
        build.position = done.position;
        slot.saw(life, done.position);
        if events.last().is_some_and(|last| last.position != done.position) {
            cursor = engine.cursor(lifecycle, build.position);
        }
        if done.n_parked > 0 {
            warn!(projection = projection.name(), n_parked = done.n_parked,
                position = %done.position, "events parked");
        }
    }
    Ok(())
}
