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

#[cfg(test)]
mod tests {
    use std::task::{Context as Polling, Poll, Waker};

    use weir_events::{
        access::{Event, TokenIssued},
        timestamp::Timestamp,
    };

    use super::*;
    use crate::access::{Binding, Command, Grantor, Refusal, Standing, State, Token};

    fn handled(state: &State, command: Command) -> Result<Option<Vec<Event>>, Refusal> {
        let stream = StreamName::new("access/token/0123456789abcdef").unwrap();
        let bridge = Bridged::<Token>::default();
        let asked = (command, Context { now: Timestamp::EPOCH });
        let mut answer = bridge.handle(&stream, state, asked);
        match answer.as_mut().poll(&mut Polling::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("a machine waits"),
        }
    }

    #[test]
    fn a_machine_answers_over_the_bridge_as_it_does_by_itself() {
        let token = TokenIssued {
            token_id: "0123456789abcdef".to_owned(),
            name: "ci".to_owned(),
            scopes: vec!["admin".to_owned()],
            expires_at: None,
            profile: None,
            agent: None,
        };
        let (by, binding) = (Grantor::admin(), Binding::Stricter);
        let standing = Standing::Nobody;
        let issue = Command::Issue { token: Box::new(token.clone()), by, binding, standing };
        let mut state = State::default();
        assert_eq!(handled(&state, Command::Revoke), Err(Refusal::Unknown));
        for (command, n_events) in [(issue, 1), (Command::Revoke, 1)] {
            let events = handled(&state, command).unwrap().unwrap();
            assert_eq!(events.len(), n_events);
            for event in events {
                state = <Bridged<Token> as Aggregate>::apply(state, event).unwrap();
            }
        }
        assert_eq!(state, State::Revoked(token));
        assert_eq!(handled(&state, Command::Revoke), Ok(None));
    }
}
