//! The questions of one agent that wait for a human. Stream `web/asking/<agent>`.
//!
//! The rule: only so many wait at once, whichever instances they are asked at. One that nobody has to
//! answer any more does not count, nor one that has an answer: who counts another one in looks for those
//! when there is no room.

use std::collections::BTreeMap;

use weir_events::{
    kind::Subsystem,
    timestamp::Timestamp,
    web::{
        Event,
        approval::WebApprovalCounted,
        request::{AgentId, Hash256},
    },
};

use crate::machine::{Context, Decision, Machine};

/// How many questions of one agent may wait for an answer.
pub const MAX_OPEN: usize = 32;

/// The machine of one agent's questions.
#[derive(Debug)]
pub struct Asking;

/// The questions that count, and until when each does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State(BTreeMap<Hash256, Timestamp>);

impl State {
    /// The questions that nobody had to answer before a time.
    pub fn open_at(&self, now: Timestamp) -> impl Iterator<Item = (&Hash256, Timestamp)> {
        let all = self.0.iter().map(|(approval, until)| (approval, *until));
        all.filter(move |(_, until)| now < *until)
    }
}

/// Count a question in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// Whose it is.
    pub agent: AgentId,
    /// What is asked.
    pub approval: Hash256,
    /// When nobody has to answer it any more.
    pub expires_at: Timestamp,
    /// Others that have an answer.
    pub answered: Vec<Hash256>,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// As many wait as may, the first of them until then.
    #[error("{MAX_OPEN} questions of this agent wait for an answer, the first of them until {0}")]
    Full(Timestamp),
}

impl Machine for Asking {
    type State = State;
    type Command = Count;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Web;

    fn decide(state: &State, count: &Count, context: &Context) -> Decision<Event, Refusal> {
        let Count { agent, approval, expires_at, answered } = count;
        let (agent, approval, expires_at, at) = (*agent, *approval, *expires_at, context.now);
        if state.0.get(&approval) == Some(&expires_at) {
            return Decision::nothing();
        }
        let others = || {
            let open = state.open_at(at);
            open.filter(|(other, _)| **other != approval && !answered.contains(other))
        };
        if others().count() >= MAX_OPEN {
            let first = others().map(|(_, until)| until).min();
            return Decision::refuse(Refusal::Full(first.unwrap_or(expires_at)));
        }
        let answered = answered.clone();
        Decision::accept(WebApprovalCounted { agent, approval, at, expires_at, answered })
    }

    fn apply(state: &mut State, event: &Event) {
        if let Event::WebApprovalCounted(counted) = event {
            let answered = |approval: &Hash256| counted.answered.contains(approval);
            state.0.retain(|approval, until| counted.at < *until && !answered(approval));
            state.0.insert(counted.approval, counted.expires_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn question(n: u64) -> Hash256 {
        Hash256::of(&[&n.to_be_bytes()])
    }

    fn count(n: u64, until: i64, answered: &[u64]) -> Count {
        Count {
            agent: AgentId::new([1; 32]),
            approval: question(n),
            expires_at: at(until),
            answered: answered.iter().map(|n| question(*n)).collect(),
        }
    }

    /// Judges, folds, and says what was refused and how many events there are.
    fn done(state: &mut State, count: &Count, now: i64) -> (Option<Refusal>, usize) {
        let decision = Asking::decide(state, count, &Context { now: at(now) });
        for event in &decision.events {
            Asking::apply(state, event);
        }
        (decision.refusal, decision.events.len())
    }

    #[test]
    fn only_so_many_wait_until_the_first_is_over_or_answered() {
        let mut state = State::default();
        for n in 0..32 {
            let until = 100 + i64::try_from(n).unwrap();
            assert_eq!(done(&mut state, &count(n, until, &[]), 1), (None, 1));
        }
        assert_eq!(done(&mut state, &count(0, 100, &[]), 2), (None, 0), "it counts already");
        let full = (Some(Refusal::Full(at(100))), 0);
        assert_eq!(done(&mut state, &count(40, 300, &[]), 99), full);
        // One is answered: there is room for one.
        assert_eq!(done(&mut state, &count(40, 300, &[7]), 99), (None, 1));
        assert_eq!(done(&mut state, &count(41, 300, &[7]), 99), full);
        // One is over.
        assert_eq!(done(&mut state, &count(41, 300, &[]), 100), (None, 1));
        assert_eq!(state.0.len(), 32, "what does not count is not remembered");
        // Asked again, it counts for longer, and once.
        assert_eq!(done(&mut state, &count(41, 400, &[]), 100), (None, 1));
        assert_eq!(state.open_at(at(100)).count(), 32);
    }
}
