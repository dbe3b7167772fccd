//! Every [`Machine`] is an `eventually` aggregate, through this one bridge.
//!
//! `eventually`'s version is the version of the stream, never the position in the log.

use std::{future::ready, marker::PhantomData, pin::Pin};

use eventually_core::aggregate::Aggregate;
use weir_events::stream::StreamName;

use crate::machine::{Context, Decision, Machine};

/// A machine as an `eventually` aggregate, identified by its stream.
#[derive(Debug)]
pub struct Bridged<M>(PhantomData<fn() -> M>);

impl<M> Bridged<M> {
    /// The bridge for one machine.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<M> Default for Bridged<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> Clone for Bridged<M> {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl<M: Machine> Aggregate for Bridged<M>
where
    M::Command: Sync,
{
    type Id = StreamName;
    type State = M::State;
    type Event = M::Event;
    type Command = (M::Command, Context);
    type Error = M::Refusal;

    fn apply(mut state: M::State, event: M::Event) -> Result<M::State, M::Refusal> {
        M::apply(&mut state, &event);
        Ok(state)
    }

    fn handle<'a, 's: 'a>(
        &'a self,
        _stream: &'s StreamName,
        state: &'s M::State,
        (command, context): (M::Command, Context),
    ) -> Pin<Box<dyn Future<Output = Result<Option<Vec<M::Event>>, M::Refusal>> + Send + 'a>> {
        let Decision { events, refusal } = M::decide(state, &command, &context);
        let answer = match refusal {
            Some(refusal) => Err(refusal),
            None if events.is_empty() => Ok(None),
            None => Ok(Some(events)),
        };
        Box::pin(ready(answer))
    }
}
