//! The keeper of the world's time: has the log say how ticks and cycles are counted, and that a cycle
//! has begun. What agents may do does not depend on it being in time, for every instance reckons the
//! moment itself; reports and evictions wait for it.
//!
//! Wakes when the next cycle begins, and sleeps otherwise. Several may run: whoever is later finds
//! nothing to do.

use std::time::Duration;

use tracing::{info, warn};
use weir_aggregates::nexus::{Command, Moment, Nexus, Refusal, Schedule, State};
use weir_events::{
    nexus::STREAM,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};
use weir_log::{
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};

use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault},
};

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// The longest sleep: the machine's clock may be set meanwhile.
const LONGEST: Duration = Duration::from_hours(1);
/// The pause after something went wrong, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));

/// The stream of the world's time.
///
/// # Errors
/// Never: it has a name.
pub fn stream() -> Result<StreamName, StreamNameFault> {
    StreamName::new(STREAM)
}

/// What time it is in the world.
pub async fn now(door: &Door) -> Result<Moment, DoorFault> {
    Ok(state(door).await?.at(door.now()))
}

/// What is known of the world's time.
pub async fn state(door: &Door) -> Result<State, DoorFault> {
    // A stream of a fixed name that is one.
    let Ok(stream) = stream() else { return Ok(State::default()) };
    Ok(door.load::<Nexus>(&stream).await?.0)
}

/// Starts it.
///
/// # Errors
/// Never, as long as the stream has a name.
pub fn start(
    door: &Door,
    schedule: Schedule,
    lifecycle: &Lifecycle,
) -> Result<(), StreamNameFault> {
    let keeper = Keeper {
        door: door.clone(),
        stream: stream()?,
        schedule,
        caller: Caller::processor("nexus"),
    };
    let soft = lifecycle.soft().clone();
    lifecycle.run("world time", async move {
        soft.run_until_cancelled(Box::pin(keeper.run())).await;
    });
    Ok(())
}

struct Keeper {
    door: Door,
    stream: StreamName,
    schedule: Schedule,
    caller: Caller,
}

impl Keeper {
    async fn run(&self) {
        let (mut pause, longest) = PAUSES;
        // Once: what somebody else sets later is not set back.
        let mut set = false;
        let mut tail = self.tail();
        loop {
            // The tail is older than what is looked at: nothing falls in between.
            let next = match self.keep(&mut set).await {
                Ok(next) => next,
                Err(fault) => {
                    warn!(error = %fault, "the world's time is not kept for the moment");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(longest);
                    continue;
                }
            };
            pause = PAUSES.0;
            let sleep = sleep_until(next, self.door.now());
            match tokio::time::timeout(sleep, self.news(&mut tail)).await {
                Err(_) | Ok(Ok(())) => {}
                Ok(Err(TailFault::Stopped)) => return,
                Ok(Err(fault)) => {
                    warn!(error = %fault, "the world's time is not followed for the moment");
                    tokio::time::sleep(pause).await;
                    tail = self.tail();
                }
            }
        }
    }

    fn tail(&self) -> Tail {
        self.door.log().tail(self.door.log().head())
    }

    /// Waits until something happens to the world's time.
    async fn news(&self, tail: &mut Tail) -> Result<(), TailFault> {
        while tail.next(BATCH).await?.iter().all(|event| event.stream != self.stream) {}
        Ok(())
    }

    /// Sets the clock, announces the cycle, and answers when the next one begins.
    async fn keep(&self, set: &mut bool) -> Result<Option<Timestamp>, ExecuteFault<Refusal>> {
        if !*set {
            self.say(&Command::Keep(self.schedule)).await?;
            *set = true;
        }
        self.say(&Command::Announce).await?;
        let (state, _) = self.door.load::<Nexus>(&self.stream).await?;
        Ok(state.next_cycle_at(self.door.now()))
    }

    async fn say(&self, command: &Command) -> Result<(), ExecuteFault<Refusal>> {
        let done = self.door.execute::<Nexus>(&self.stream, command, &self.caller, None).await?;
        for event in &done.events {
            info!(position = %done.position, ?event, "the world's time");
        }
        Ok(())
    }
}

/// How long to sleep where the next cycle begins at a time.
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
    fn it_sleeps_until_the_next_cycle_begins_and_never_for_ever() {
        let now = Timestamp::from_micros(5_000_000);
        let after = |micros: i64| Some(Timestamp::from_micros(5_000_000 + micros));
        for (next, sleep) in [
            (after(1_500_000), Duration::from_millis(1_500)),
            (after(-7_000_000), Duration::from_millis(1)),
            (after(86_400_000_000), LONGEST),
            (None, LONGEST),
        ] {
            assert_eq!(sleep_until(next, now), sleep, "{next:?}");
        }
    }
}
