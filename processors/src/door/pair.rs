//! Two machines judged together: what both say stands in the log in one append, or none of it does.

use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;
use weir_aggregates::machine::{Context, Decision, Machine};
use weir_events::{
    position::{Position, StreamVersion},
    stream::StreamName,
};
use weir_log::{
    append::{Append, Expected, Outcome, StreamWrite},
    idempotency::{CommandKey, Remember, Remembered},
};

use super::{Door, DoorFault, MAX_CONFLICTS};
use crate::caller::Caller;

/// What is asked of two machines at once.
#[derive(Debug)]
pub struct Pair<'a, A: Machine, B: Machine> {
    /// The first one's stream, and what is asked of it.
    pub first: (&'a StreamName, &'a A::Command),
    /// The second one's, where anything is asked of it.
    pub second: Option<(&'a StreamName, &'a B::Command)>,
    /// Facts of append-only streams that stand after them, in this order.
    pub facts: &'a [(StreamName, Vec<A::Event>)],
    /// The key under which the answer is remembered: of the first one's yes, and of its no.
    pub once: Option<Once<'a, A>>,
}

/// What is remembered of a decision; `None` where it is not worth it.
pub type Remembering<A> =
    dyn Fn(&Decision<<A as Machine>::Event, <A as Machine>::Refusal>) -> Option<Bytes> + Sync;

/// How the answer to a command is remembered.
pub struct Once<'a, A: Machine> {
    /// The key.
    pub key: CommandKey,
    /// What was asked.
    pub request_hash: [u8; 32],
    /// What is remembered of a decision; `None` where it is not worth it.
    pub answer: &'a Remembering<A>,
}

impl<A: Machine> std::fmt::Debug for Once<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Once").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What came of it.
#[derive(Debug)]
pub enum Paired<A: Machine, B: Machine> {
    /// Both said yes: this is what the first one says, and where it stands.
    Done(Vec<A::Event>, Position),
    /// The first one said no; what it has to say about that is on record.
    FirstRefused(A::Refusal),
    /// The second one said no, and nothing is on record.
    SecondRefused(B::Refusal),
    /// It was asked before.
    Before(Remembered),
}

impl Door {
    /// Has two machines judge a command each, and appends what they decided, all of it or nothing.
    /// What the process remembers of both streams is enough to begin with: the log refuses what was
    /// judged by too old a state, and what is refused is judged again by a fresh one.
    pub async fn execute_pair<A: Machine, B: Machine>(
        &self,
        pair: &Pair<'_, A, B>,
        caller: &Caller,
    ) -> Result<Paired<A, B>, DoorFault> {
        let command_id = self.new_id();
        let _turn = self.inner.turns.of(pair.first.0).await;
        let mut fresh = false;
        for _ in 0..MAX_CONFLICTS {
            match self.try_pair(pair, caller, command_id, fresh).await? {
                Some(paired) => return Ok(paired),
                None => fresh = true,
            }
        }
        Err(DoorFault::Contended(pair.first.0.clone()))
    }

    /// Once; `None` where it has to be judged again.
    async fn try_pair<A: Machine, B: Machine>(
        &self,
        pair: &Pair<'_, A, B>,
        caller: &Caller,
        command_id: Uuid,
        fresh: bool,
    ) -> Result<Option<Paired<A, B>>, DoorFault> {
        let now = self.now();
        let context = Context { now };
        let first = self.known::<A>(pair.first.0, fresh).await?;
        let said = A::decide(&first.0, pair.first.1, &context);
        let second = match (&pair.second, &said.refusal) {
            (Some((stream, command)), None) => {
                let known = self.known::<B>(stream, fresh).await?;
                let said = B::decide(&known.0, command, &context);
                Some((*stream, known, said))
            }
            _ => None,
        };
        let is_no = said.refusal.is_some()
            || second.as_ref().is_some_and(|(_, _, said)| said.refusal.is_some());
        // Who has nothing to say writes nothing, so that the log does not refuse what an old state said.
        let is_silent = said.events.is_empty()
            || second.as_ref().is_some_and(|(_, _, said)| said.events.is_empty());
        if (is_no || is_silent) && !fresh {
            return Ok(None);
        }
        // What was asked before has its answer, whatever would be said of it today.
        if is_no && let Some(once) = &pair.once {
            let known = self.log().remembered(once.key).await.map_err(DoorFault::from)?;
            if let Some(before) = known {
                return Ok(Some(Paired::Before(before)));
            }
        }
        if let Some((_, _, Decision { refusal: Some(refusal), .. })) = second {
            return Ok(Some(Paired::SecondRefused(refusal)));
        }
        let remember = pair.once.as_ref().and_then(|once| {
            let (key, request_hash) = (once.key, once.request_hash);
            (once.answer)(&said).map(|answer| Remember { key, request_hash, answer })
        });
        let mut writes = Vec::with_capacity(2 + pair.facts.len());
        let mut write = |stream: &StreamName, expected, events: Vec<_>| {
            if !events.is_empty() {
                writes.push(StreamWrite { stream: stream.clone(), expected, events });
            }
        };
        let exact = Expected::Exact;
        let own = self.wrap(&said.events, caller, command_id)?;
        write(pair.first.0, exact(first.1), own);
        if let Some((stream, (_, version), said)) = &second {
            write(stream, exact(*version), self.wrap(&said.events, caller, command_id)?);
        }
        if said.refusal.is_none() {
            for (stream, facts) in pair.facts {
                write(stream, Expected::Any, self.wrap(facts, caller, command_id)?);
            }
        }
        if writes.is_empty() {
            let head = self.log().head();
            return Ok(Some(
                said.refusal.map_or_else(|| Paired::Done(Vec::new(), head), Paired::FirstRefused),
            ));
        }
        let append = Append { writes, remember, recorded_at: now };
        match self.log().append(append).await? {
            Outcome::Appended(at) => {
                self.inner.states.advance::<A>(pair.first.0, first, &said.events);
                if let Some((stream, known, said)) = second {
                    self.inner.states.advance::<B>(stream, known, &said.events);
                }
                Ok(Some(match said.refusal {
                    Some(refusal) => Paired::FirstRefused(refusal),
                    None => Paired::Done(said.events, at.last),
                }))
            }
            Outcome::Duplicate(before) => Ok(Some(Paired::Before(before))),
            Outcome::Conflict { stream, actual } => {
                let judged_by = if stream == *pair.first.0 {
                    Some(first.1)
                } else {
                    second.as_ref().map(|(_, known, _)| known.1)
                };
                if judged_by.is_some_and(|version| actual < version) {
                    // Streams never shrink, unless the log was restored to an earlier state.
                    self.inner.states.clear();
                }
                Ok(None)
            }
        }
    }

    /// What the process remembers of a stream, or what the log says.
    pub(crate) async fn known<M: Machine>(
        &self,
        stream: &StreamName,
        fresh: bool,
    ) -> Result<(Arc<M::State>, StreamVersion), DoorFault> {
        if !fresh {
            self.inner.states.belong_to(self.inner.log.hub().n_restores());
            if let Some(known) = self.inner.states.get::<M>(stream) {
                return Ok(known);
            }
        }
        self.load_shared::<M>(stream).await
    }
}
