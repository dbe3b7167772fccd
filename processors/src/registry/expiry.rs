//! Records that a waiver's time is over. What may pass does not depend on it, for a waiver counts by
//! its end at serve time; the log and its readers are told here.
//!
//! Wakes when the next waiver is over and when waivers change, and sleeps otherwise. Several may
//! run: whoever is later finds nothing to do.

use std::time::Duration;

use tracing::{info, warn};
use weir_aggregates::registry::waiver::{Command, Refusal, State, Waivers};
use weir_events::{
    registry::policy::WAIVERS,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};
use weir_log::{
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};

use crate::{
    caller::Caller,
    door::{Door, ExecuteFault},
};

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// The longest sleep: the machine's clock may be set meanwhile.
const LONGEST: Duration = Duration::from_hours(1);
/// The pause after something went wrong, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// Starts it.
///
/// # Errors
/// Never, as long as the stream of waivers has a name.
pub fn start(door: &Door, lifecycle: &Lifecycle) -> Result<(), StreamNameFault> {
    let stream = StreamName::new(WAIVERS)?;
    let expiry = Expiry { door: door.clone(), stream, caller: Caller::processor("waivers") };
    let soft = lifecycle.soft().clone();
    lifecycle.run("waiver expiry", async move {
        soft.run_until_cancelled(Box::pin(expiry.run())).await;
    });
    Ok(())
}

struct Expiry {
    door: Door,
    stream: StreamName,
    caller: Caller,
}

impl Expiry {
    async fn run(&self) {
        let (mut pause, longest) = PAUSES;
        let mut tail = self.tail();
        loop {
            // The tail is older than what is looked at: nothing falls in between.
            let next = match self.expire().await {
                Ok(next) => next,
                Err(fault) => {
                    warn!(error = %fault, "waivers that are over are not recorded yet");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(longest);
                    continue;
                }
            };
            pause = PAUSES.0;
            let sleep = sleep_until(next, self.door.now());
            match tokio::time::timeout(sleep, self.news(&mut tail)).await {
                // It is time, or there are other waivers now.
                Err(_) | Ok(Ok(())) => {}
                Ok(Err(TailFault::Stopped)) => return,
                Ok(Err(fault)) => {
                    warn!(error = %fault, "waivers are not followed for the moment");
                    tokio::time::sleep(pause).await;
                    tail = self.tail();
                }
            }
        }
    }

    fn tail(&self) -> Tail {
        self.door.log().tail(self.door.log().head())
    }

    /// Waits until something happens to waivers.
    async fn news(&self, tail: &mut Tail) -> Result<(), TailFault> {
        while tail.next(BATCH).await?.iter().all(|event| event.stream != self.stream) {}
        Ok(())
    }

    /// Records all that are over, and answers when the next one is.
    async fn expire(&self) -> Result<Option<Timestamp>, ExecuteFault<Refusal>> {
        let (state, _): (State, _) = self.door.load::<Waivers>(&self.stream).await?;
        let overdue = state.overdue(self.door.now());
        if overdue.is_empty() {
            return Ok(state.next_end());
        }
        for id in overdue {
            let command = Command::Expire { id: id.clone() };
            let done = self.door.execute::<Waivers>(&self.stream, &command, &self.caller, None);
            let done = done.await?;
            // Nothing where another instance was quicker.
            if !done.events.is_empty() {
                info!(waiver = id, position = %done.position, "a waiver is over");
            }
        }
        let (state, _): (State, _) = self.door.load::<Waivers>(&self.stream).await?;
        Ok(state.next_end())
    }
}

/// How long to sleep where the next waiver is over at a time.
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
    fn it_sleeps_until_the_next_waiver_is_over_and_never_for_ever() {
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
