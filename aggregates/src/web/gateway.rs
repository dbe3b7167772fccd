//! What one agent asks of the outside in one cycle. Stream `web/agent/<agent>/<cycle>`.
//!
//! The order: what the epoch allows, how often the agent asks, what the cycle has, whether the host
//! may be asked at all; then the cache answers, or the request is admitted. Who is admitted has his
//! quota and his spark reserved before anything leaves, so whoever asks at the same time finds less.
//! What is settled is settled once. Quota is used by what was admitted and left; what the cache
//! answered after all, or what was refused before a packet left, gives it back.

mod admission;
mod gates;
mod settlement;
mod state;

use weir_events::{
    kind::Subsystem,
    web::{
        Event,
        request::{Hash256, PortalError},
    },
};

pub use self::{
    admission::{Admission, Given},
    gates::Knock,
    settlement::{Answer, Failure},
    state::{BackOff, State},
};
use crate::{
    machine::{Context, Decision, Machine},
    mint::Tax,
};

/// How many refusals of one agent are put on record in one tick. What it is refused beyond that is
/// refused without a word in the log, so that an agent that runs wild does not fill it.
pub const MAX_REFUSALS_PER_TICK: u32 = 1_000;

/// The longest back-off of an agent, in ticks (ruling A22: 1, 2, 4 … 16).
pub const MAX_BACK_OFF: u64 = 16;

/// The machine of one agent in one cycle.
#[derive(Debug)]
pub struct Gateway;

/// What can be asked of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Judge a request.
    Admit(Box<Admission>),
    /// An admitted request was answered.
    Complete(Box<Answer>, Tax),
    /// An admitted request came to nothing.
    Fail(Box<Failure>, Tax),
    /// A request cannot be paid for.
    Bounce(Box<Admission>, PortalError),
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not admitted.
    #[error(transparent)]
    No(PortalError),
    /// It was admitted, and is not answered yet.
    #[error("request {0} is under way")]
    UnderWay(Hash256),
    /// It was settled before, or never admitted.
    #[error("request {0} is not under way")]
    NotUnderWay(Hash256),
}

impl Machine for Gateway {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Web;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match command {
            Command::Admit(admission) => admission.judge(state),
            Command::Complete(answer, tax) => answer.settle(state, *tax),
            Command::Fail(failure, tax) => failure.settle(state, *tax),
            Command::Bounce(admission, error) => admission.refuse(state, error.clone()),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        state.apply(event);
    }
}

#[cfg(test)]
mod tests;
