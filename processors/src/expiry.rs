//! Records that a waiver's time is over, of packages and of the web gateway alike. What may pass does
//! not depend on it, for a waiver counts by its end at serve time; the log and its readers are told
//! here.

use std::marker::PhantomData;

use tracing::info;
use weir_aggregates::{
    registry,
    waiver::{Command, Keeps},
    web,
};
use weir_events::{
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
/// Never, as long as the streams of waivers have names.
pub fn start(door: &Door, lifecycle: &Lifecycle) -> Result<(), StreamNameFault> {
    start_of::<registry::waiver::Waivers>(door, lifecycle)?;
    start_of::<web::waiver::Waivers>(door, lifecycle)
}

fn start_of<M: Keeps>(door: &Door, lifecycle: &Lifecycle) -> Result<(), StreamNameFault> {
    let (stream, caller) = (StreamName::new(M::STREAM)?, Caller::processor("waivers"));
    let (door_of_it, kind) = (door.clone(), PhantomData::<fn() -> M>);
    let expiry = Expiry { door: door_of_it, stream: stream.clone(), caller, kind };
    due::start(expiry, door, stream, lifecycle);
    Ok(())
}

/// The waivers that machine `M` keeps.
struct Expiry<M> {
    door: Door,
    stream: StreamName,
    caller: Caller,
    kind: PhantomData<fn() -> M>,
}

impl<M: Keeps> Due for Expiry<M> {
    type Fault = ExecuteFault<M::Refusal>;

    const NAME: &'static str = "waiver expiry";

    /// Records all that are over, and answers when the next one is.
    async fn catch_up(&mut self) -> Result<Option<Timestamp>, Self::Fault> {
        let (state, _) = self.door.load::<M>(&self.stream).await?;
        let overdue = state.overdue(self.door.now());
        if overdue.is_empty() {
            return Ok(state.next_end());
        }
        for id in overdue {
            let command = Command::Expire { id: id.clone() };
            let done = self.door.execute::<M>(&self.stream, &command, &self.caller, None);
            let done = done.await?;
            // Nothing where another instance was quicker.
            if !done.events.is_empty() {
                info!(waiver = id, position = %done.position, "a waiver is over");
            }
        }
        let (state, _) = self.door.load::<M>(&self.stream).await?;
        Ok(state.next_end())
    }
}
