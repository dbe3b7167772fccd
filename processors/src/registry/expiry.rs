//! Records that a waiver's time is over. What may pass does not depend on it, for a waiver counts by
//! its end at serve time; the log and its readers are told here.

use tracing::info;
use weir_aggregates::registry::waiver::{Command, Refusal, State, Waivers};
use weir_events::{
    registry::policy::WAIVERS,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
};
use weir_log::lifecycle::Lifecycle;

use crate::{
    caller::Caller,
    door::{Door, ExecuteFault},
    due::{self, Due},
};

/// Starts it.
///
/// # Errors
/// Never, as long as the stream of waivers has a name.
pub fn start(door: &Door, lifecycle: &Lifecycle) -> Result<(), StreamNameFault> {
    let stream = StreamName::new(WAIVERS)?;
    let caller = Caller::processor("waivers");
    let expiry = Expiry { door: door.clone(), stream: stream.clone(), caller };
    due::start(expiry, door, stream, lifecycle);
    Ok(())
}

struct Expiry {
    door: Door,
    stream: StreamName,
    caller: Caller,
}

impl Due for Expiry {
    type Fault = ExecuteFault<Refusal>;

    const NAME: &'static str = "waiver expiry";

    /// Records all that are over, and answers when the next one is.
    async fn catch_up(&mut self) -> Result<Option<Timestamp>, ExecuteFault<Refusal>> {
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
