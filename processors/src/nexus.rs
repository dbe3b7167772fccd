//! The keeper of the world's time: has the log say how ticks and cycles are counted, and that a cycle
//! has begun. What agents may do does not depend on it being in time, for every instance reckons the
//! moment itself; reports and evictions wait for it.

use std::sync::Arc;

use tracing::info;
use weir_aggregates::nexus::{Command, Moment, Nexus, Refusal, Schedule, State};
use weir_events::{
    nexus::STREAM,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};
use weir_log::lifecycle::Lifecycle;

use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault},
    due::{self, Due},
};

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
    let stream = stream()?;
    let keeper = Keeper {
        door: door.clone(),
        stream: stream.clone(),
        schedule: Some(schedule),
        caller: Caller::processor("nexus"),
    };
    due::start(keeper, door, stream, lifecycle);
    Ok(())
}

/// The world's time, for those who ask it again and again: what this process knows of it. What this
/// process changes it knows at once; what another one changes, as soon as the log's tail has it.
#[derive(Debug, Clone)]
pub struct Live {
    door: Door,
    stream: StreamName,
}

impl Live {
    /// Begins to follow it.
    ///
    /// # Errors
    /// Never, as long as the stream has a name.
    pub fn new(door: &Door, lifecycle: &Lifecycle) -> Result<Self, StreamNameFault> {
        let live = Self { door: door.clone(), stream: stream()? };
        due::start(Follower(live.clone()), door, live.stream.clone(), lifecycle);
        Ok(live)
    }

    /// What is known of it.
    pub async fn state(&self) -> Result<State, DoorFault> {
        Ok(Arc::unwrap_or_clone(self.door.known::<Nexus>(&self.stream, false).await?.0))
    }

    /// What time it is.
    pub async fn now(&self) -> Result<Moment, DoorFault> {
        Ok(self.state().await?.at(self.door.now()))
    }
}

/// Reads what others have written.
struct Follower(Live);

impl Due for Follower {
    type Fault = DoorFault;

    const NAME: &'static str = "world time, followed";

    async fn catch_up(&mut self) -> Result<Option<Timestamp>, DoorFault> {
        self.0.door.load::<Nexus>(&self.0.stream).await?;
        Ok(None)
    }
}

struct Keeper {
    door: Door,
    stream: StreamName,
    /// What is still to be set, once: what somebody else sets later is not set back.
    schedule: Option<Schedule>,
    caller: Caller,
}

impl Due for Keeper {
    type Fault = ExecuteFault<Refusal>;

    const NAME: &'static str = "world time";

    /// Sets the clock, announces the cycle, and answers when the next one begins.
    async fn catch_up(&mut self) -> Result<Option<Timestamp>, ExecuteFault<Refusal>> {
        if let Some(schedule) = self.schedule {
            self.say(&Command::Keep(schedule)).await?;
            self.schedule = None;
        }
        self.say(&Command::Announce).await?;
        let (state, _) = self.door.load::<Nexus>(&self.stream).await?;
        Ok(state.next_cycle_at(self.door.now()))
    }
}

impl Keeper {
    async fn say(&self, command: &Command) -> Result<(), ExecuteFault<Refusal>> {
        let done = self.door.execute::<Nexus>(&self.stream, command, &self.caller, None).await?;
        for event in &done.events {
            info!(position = %done.position, ?event, "the world's time");
        }
        Ok(())
    }
}
