//! Work that one process at a time does: whoever holds the lease of its name. The others stand by,
//! and one of them takes over when the holder goes silent.

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use weir_log::lifecycle::Lifecycle;

use super::{
    Engine,
    lease::{Claim, Lease},
};

/// What is done under the lease: until the token is cancelled, which says that the lease is lost or
/// the process stops.
pub type Work = Box<dyn Fn(CancellationToken) -> BoxFuture<'static, ()> + Send + Sync>;

impl Engine {
    /// Does some work in this process whenever no other process does it. The name stands beside
    /// those of projections, and is none of them.
    pub fn alone(&self, name: &'static str, lifecycle: &Lifecycle, work: Work) {
        let (engine, soft) = (self.clone(), lifecycle.soft().clone());
        lifecycle.run(name, async move { stand_by(&engine, name, &soft, &work).await });
    }
}

async fn stand_by(engine: &Engine, name: &'static str, soft: &CancellationToken, work: &Work) {
    let options = engine.options();
    let window = options.lease_window;
    let (owner, host) = (engine.inner.owner, options.host.as_str());
    let claim = Claim { name, owner, host, window, version: 0 };
    let (mut n_failed, mut told) = (0_u32, false);
    while !soft.is_cancelled() {
        match Lease::take(engine.database(), claim).await {
            Ok(Some(lease)) => {
                (n_failed, told) = (0, false);
                info!(work = name, fence = lease.fence, "lease taken");
                hold(engine, &lease, soft, work).await;
            }
            Ok(None) if told => n_failed = 0,
            Ok(None) => {
                (n_failed, told) = (0, true);
                info!(work = name, "another process does this work; standing by");
            }
            Err(fault) => {
                if n_failed.is_multiple_of(100) {
                    warn!(work = name, error = %fault, cause = %fault.cause,
                        "worker waits for the database");
                }
                n_failed += 1;
            }
        }
        soft.run_until_cancelled(tokio::time::sleep(window / 5)).await;
    }
}

/// Works under the lease until it is lost, or gives it up at the soft stop.
async fn hold(engine: &Engine, lease: &Lease, soft: &CancellationToken, work: &Work) {
    let window = engine.options().lease_window;
    let stop = soft.child_token();
    let working = async {
        let worked = AssertUnwindSafe(work(stop.clone())).catch_unwind();
        let late = async {
            stop.cancelled().await;
            tokio::time::sleep(window).await;
        };
        tokio::select! {
            worked = worked => if worked.is_err() {
                error!(work = lease.name, "work panicked, starting again");
            },
            () = late => warn!(work = lease.name, "work dropped: it did not stop in time"),
        }
        stop.cancel();
    };
    let renewing = async {
        let lost = lease.renew(engine.database(), window, &stop).await;
        stop.cancel();
        lost
    };
    let ((), lost) = tokio::join!(working, renewing);
    if lost {
        warn!(work = lease.name, fence = lease.fence, "lease lost");
    } else if let Err(fault) = lease.release(engine.database()).await {
        warn!(work = lease.name, error = %fault, cause = %fault.cause, "lease not given up");
    }
}
