//! One worker per projection and process: takes the lease or stands by, and keeps the live build.

use std::{panic::AssertUnwindSafe, sync::atomic::Ordering, time::Duration};

use futures_util::FutureExt;
use tracing::{error, info, warn};
use weir_log::lifecycle::Lifecycle;

use super::{
    Engine, Slot,
    backoff::Backoff,
    batch::{self, BatchFault, Target},
    build::{self, BuildState, Builds},
    lease::{Claim, Lease},
    meter::Meter,
    operations, rebuild,
};

/// How often a worker looks for a build to keep, or whether a newer one has ended its waiting.
const LOOK: Duration = Duration::from_secs(1);
/// How long offsets without rows may be put together into one.
const GATHER: Duration = Duration::from_millis(10);

/// Starts the workers of an engine.
pub(super) fn start(engine: &Engine, lifecycle: &Lifecycle) {
    let (follower, soft) = (engine.clone(), lifecycle.soft().clone());
    lifecycle.run("operators' commands", async move {
        soft.run_until_cancelled(operations::follow(&follower)).await;
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
        let taken = soft.run_until_cancelled(Lease::take(engine.database(), claim)).await;
        match taken {
            None => return,
            Some(Ok(Some(lease))) => {
                n_failed = 0;
                Box::pin(hold(engine, slot, &lease, lifecycle)).await;
            }
            Some(Ok(None)) => {
                n_failed = 0;
                if !told {
                    told = true;
                    tell_why(engine, slot).await;
                }
            }
            Some(Err(fault)) => {
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

/// Works under a lease until it is lost, or gives it up at the soft stop.
async fn hold(engine: &Engine, slot: &Slot, lease: &Lease, lifecycle: &Lifecycle) {
    let name = slot.projection.name();
    let window = engine.options().lease_window;
    info!(projection = name, fence = lease.fence, "lease taken");
    // Dropped anywhere, the work leaves whole transactions only.
    let working = AssertUnwindSafe(keep(engine, slot, lease, lifecycle)).catch_unwind();
    let lost = tokio::select! {
        () = lifecycle.soft().cancelled() => false,
        () = lease.renew(engine.database(), window) => true,
        worked = working => worked.unwrap_or_else(|_| {
            error!(projection = name, "worker panicked, starting again");
            false
        }),
    };
    slot.kept.store(false, Ordering::Relaxed);
    if lost {
        warn!(projection = name, fence = lease.fence, "lease lost");
    } else if let Err(fault) = lease.release(engine.database()).await {
        warn!(projection = name, error = %fault, cause = %fault.cause, "lease not given up");
    }
}

/// Keeps the projection; returns whether that is because the lease is lost.
async fn keep(engine: &Engine, slot: &Slot, lease: &Lease, lifecycle: &Lifecycle) -> bool {
    let projection = &*slot.projection;
    let mut backoff = Backoff::default();
    loop {
        match build::install(engine.database(), projection, lease).await {
            Ok(true) => break,
            Ok(false) => return false,
            Err(fault) => {
                warn!(projection = projection.name(), error = %fault, cause = %fault.cause,
                    "projection cannot be installed yet");
                backoff.wait().await;
            }
        }
    }
    tokio::select! {
        () = keep_live(engine, slot, lease, lifecycle) => {}
        () = rebuild::keep_building(engine, slot, lease, lifecycle) => {}
        () = operations::keep_handling(engine, slot, lease) => {}
    }
    true
}

/// Keeps the live build, whichever that is; returns when the lease is lost.
async fn keep_live(engine: &Engine, slot: &Slot, lease: &Lease, lifecycle: &Lifecycle) {
    let name = slot.projection.name();
    let mut backoff = Backoff::default();
    loop {
        let changed = slot.changed.notified();
        let began_at = *slot.seen.borrow();
        match keep_this(engine, slot, lease, lifecycle).await {
            Ok(()) => drop(tokio::time::timeout(LOOK, changed).await),
            Err(BatchFault::Lost) => return,
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
                backoff.wait().await;
            }
        }
        slot.kept.store(false, Ordering::Relaxed);
    }
}

/// Keeps one live build as long as it is that. `Ok` when there is none this code can keep.
async fn keep_this(
    engine: &Engine,
    slot: &Slot,
    lease: &Lease,
    lifecycle: &Lifecycle,
) -> Result<(), BatchFault> {
    let projection = &*slot.projection;
    let Builds { live, .. } = Builds::of(engine.database(), projection.name()).await?;
    let Some(mut build) = live else { return Ok(()) };
    slot.saw(engine.log().incarnation(), build.position);
    if build.state != BuildState::Live || build.version != projection.version() {
        return Ok(());
    }
    slot.kept.store(true, Ordering::Relaxed);
    let options = engine.options();
    let mut meter = Meter::new();
    let mut cursor = engine.cursor(lifecycle, build.position);
    loop {
        let mut events = cursor.next().await?;
        let kinds = projection.kinds();
        if !events.iter().any(|event| kinds.want(event.kind)) {
            let deadline = tokio::time::Instant::now() + GATHER;
            while events.len() < options.rebuild_batch
                && let Ok(more) = tokio::time::timeout_at(deadline, cursor.next()).await
            {
                let more = more?;
                let wanted = more.iter().any(|event| kinds.want(event.kind));
                events.extend(more);
                if wanted {
                    break;
                }
            }
        }
        let target = Target { projection, build: &build, options };
        let turn = slot.turn.lock().await;
        let done = batch::commit(engine.database(), &target, lease, &events, meter.rate()).await?;
        drop(turn);
        meter.count(events.len());
        build.position = done.position;
        slot.saw(engine.log().incarnation(), done.position);
        if events.last().is_some_and(|last| last.position != done.position) {
            cursor = engine.cursor(lifecycle, build.position);
        }
        if done.n_parked > 0 {
            warn!(projection = projection.name(), n_parked = done.n_parked,
                position = %done.position, "events parked");
        }
    }
}
