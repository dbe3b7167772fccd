//! What a state machine is here, and what it answers.

use weir_events::{codec::EventSet, kind::Subsystem, timestamp::Timestamp};

/// A pure state machine: folds facts into a state, and judges commands against it.
pub trait Machine: Send + Sync + 'static {
    /// What the facts add up to. The default is a stream nobody has written to.
    type State: Default + Clone + Send + Sync + 'static;
    /// What can be asked.
    type Command: Send + Sync + 'static;
    /// What can happen.
    type Event: EventSet + Clone + Send + Sync + 'static;
    /// Why not.
    type Refusal: std::error::Error + Send + Sync + 'static;

    /// The subsystem it belongs to.
    const SUBSYSTEM: Subsystem;

    /// Judges a command. Never waits, never fails, never changes anything.
    fn decide(
        state: &Self::State,
        command: &Self::Command,
        context: &Context,
    ) -> Decision<Self::Event, Self::Refusal>;

    /// Folds a fact. Facts are never argued with: what happened, happened.
    fn apply(state: &mut Self::State, event: &Self::Event);
}

/// What a judgement may know beside its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The time, from the door's clock.
    pub now: Timestamp,
}

/// A judgement: what happened, and the refusal if the answer is no. A "no" that an auditor will
/// ask about carries events too.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Decision<E, R> {
    /// What happened; empty when the command changed nothing.
    pub events: Vec<E>,
    /// Why the answer is no.
    pub refusal: Option<R>,
}

impl<E, R> Decision<E, R> {
    /// Yes, and this happened.
    pub fn accept(event: impl Into<E>) -> Self {
        Self { events: vec![event.into()], refusal: None }
    }

    /// Yes, and nothing is new.
    pub const fn nothing() -> Self {
        Self { events: Vec::new(), refusal: None }
    }

    /// No.
    pub const fn refuse(refusal: R) -> Self {
        Self { events: Vec::new(), refusal: Some(refusal) }
    }

    /// The same answer, with one more fact on record.
    pub fn recording(mut self, event: impl Into<E>) -> Self {
        self.events.push(event.into());
        self
    }
}

/// Folds a whole history, for tests and for loading.
pub fn fold<'a, M: Machine>(events: impl IntoIterator<Item = &'a M::Event>) -> M::State {
    let mut state = M::State::default();
    for event in events {
        M::apply(&mut state, event);
    }
    state
}
