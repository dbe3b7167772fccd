//! Keeps the log sealed, its partitions made ahead, old command answers and sessions forgotten.

use std::time::Duration;

use tracing::{error, warn};
use weir_log::{
    lifecycle::Lifecycle,
    partition,
    seal::{self, SealFault, SealKey},
};

use crate::{access, door::Door};

/// How often the log is sealed; a seal also covers no more than 1,000 events.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often partitions and old commands are looked after: what comes in between two looks must be
/// less than what one look makes ready or forgets.
const HOUSEKEEPING: Duration = Duration::from_mins(1);
/// Days a command's answer is kept for a late retry.
pub const KEEP_COMMANDS_DAYS: i32 = 7;

/// Starts the sealer of this process. Several may run; one at a time seals.
pub fn start(door: &Door, key: SealKey, partition_events: i64, lifecycle: &Lifecycle) {
    let (sealed, soft) = (door.clone(), lifecycle.soft().clone());
    lifecycle.run("log sealer", async move {
        loop {
            // Once more after the soft stop, so that a clean end leaves nothing unsealed.
            let stopping = tokio::time::timeout(INTERVAL, soft.cancelled()).await.is_ok();
            seal_all(&sealed, &key).await;
            if stopping {
                return;
            }
        }
    });
    // A task of its own: seals do not wait until a million old commands are forgotten.
    let (kept, soft) = (door.clone(), lifecycle.soft().clone());
    lifecycle.run("log housekeeper", async move {
        while tokio::time::timeout(HOUSEKEEPING, soft.cancelled()).await.is_err() {
            soft.run_until_cancelled(keep_house(&kept, partition_events)).await;
        }
    });
}

async fn seal_all(door: &Door, key: &SealKey) {
    loop {
        match seal::seal_next(door.log().database(), key, door.now()).await {
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(SealFault::Database(fault)) if fault.passing() => {
                warn!(error = %fault, cause = %fault.cause, "the log was not sealed this time");
                return;
            }
            Err(fault) => {
                error!(error = %fault, "the log cannot be sealed");
                return;
            }
        }
    }
}

async fn keep_house(door: &Door, partition_events: i64) {
    let log = door.log();
    if let Err(fault) = partition::ensure_ahead(log.database(), partition_events).await {
        error!(error = %fault, cause = %fault.cause, "no partitions were made ahead");
    }
    if let Err(fault) = partition::forget_old_commands(log, KEEP_COMMANDS_DAYS).await {
        warn!(error = %fault, cause = %fault.cause, "old commands were not forgotten");
    }
    if let Err(fault) = access::sweep_sessions(door).await {
        warn!(error = %fault, cause = %fault.cause, "old sessions were not forgotten");
    }
}
