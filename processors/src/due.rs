//! Work that falls due: done when its time has come, and looked at anew when something happens in the
//! stream that says when that is. Sleeps otherwise.

use std::{error::Error, time::Duration};

use tracing::warn;
use weir_events::{stream::StreamName, timestamp::Timestamp};
use weir_log::{
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};

use crate::door::Door;

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// The longest sleep: the machine's clock may be set meanwhile.
const LONGEST: Duration = Duration::from_hours(1);
/// The pause after something went wrong, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// Work that falls due. Several processes may have it done: whoever is later finds nothing to do.
pub(crate) trait Due: Send + Sync + 'static {
    /// What goes wrong.
    type Fault: Error + Send + Sync + 'static;

    /// What it is called among the tasks of a process, and in its log.
    const NAME: &'static str;

    /// Does all that is due, and answers when the next of it is.
    fn catch_up(&mut self) -> impl Future<Output = Result<Option<Timestamp>, Self::Fault>> + Send;
}

/// Has work done from now on, for as long as the process runs.
pub(crate) fn start<D: Due>(work: D, door: &Door, stream: StreamName, lifecycle: &Lifecycle) {
    let (soft, door) = (lifecycle.soft().clone(), door.clone());
    lifecycle.run(D::NAME, async move {
        soft.run_until_cancelled(Box::pin(run(work, &door, &stream))).await;
    });
}

async fn run<D: Due>(mut work: D, door: &Door, stream: &StreamName) {
    let (mut pause, longest) = PAUSES;
    let mut tail = follow(door);
    loop {
        // The tail is older than what is looked at: nothing falls in between.
        let next = match work.catch_up().await {
            Ok(next) => next,
            Err(fault) => {
                warn!(work = D::NAME, error = %fault, "what is due is not done yet");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(longest);
                continue;
            }
        };
        pause = PAUSES.0;
        let sleep = sleep_until(next, door.now());
        match tokio::time::timeout(sleep, news(&mut tail, stream)).await {
            // It is time, or something happened.
            Err(_) | Ok(Ok(())) => {}
            Ok(Err(TailFault::Stopped)) => return,
            Ok(Err(fault)) => {
                warn!(work = D::NAME, error = %fault, "what falls due is not followed for the moment");
                tokio::time::sleep(pause).await;
                tail = follow(door);
            }
        }
    }
}

fn follow(door: &Door) -> Tail {
    door.log().tail(door.log().head())
}

/// Waits until something happens in a stream.
async fn news(tail: &mut Tail, stream: &StreamName) -> Result<(), TailFault> {
    while tail.next(BATCH).await?.iter().all(|event| event.stream != *stream) {}
    Ok(())
}

/// How long to sleep where the next work is due at a time.
fn sleep_until(next: Option<Timestamp>, now: Timestamp) -> Duration {
    let Some(next) = next else { return LONGEST };
    let micros = next.micros().saturating_sub(now.micros());
    // Never not at all: whatever is wrong then is not tried without a breath.
    let least = Duration::from_millis(1);
    Duration::from_micros(u64::try_from(micros).unwrap_or(0)).clamp(least, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_sleeps_until_the_next_work_is_due_and_never_for_ever() {
        let now = Timestamp::from_micros(5_000_000);
        let after = |micros: i64| Some(Timestamp::from_micros(5_000_000 + micros));
        for (next, sleep) in [
            (after(1_500_000), Duration::from_millis(1_500)),
            (after(0), Duration::from_millis(1)),
            (after(-7_000_000), Duration::from_millis(1)),
            (after(86_400_000_000), LONGEST),
            (None, LONGEST),
        ] {
            assert_eq!(sleep_until(next, now), sleep, "{next:?}");
        }
    }
}
