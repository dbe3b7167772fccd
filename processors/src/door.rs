//! The door: the only way something decided gets into the log.
//!
//! Load the state, let the machine decide, append with the expected version; on a conflict, again.
//! Commands on one stream do so one after the other, as far as they are in one process.
//! The first answer to an idempotency key is the answer for ever, on every instance.

mod answer;
mod pair;
mod states;
mod turns;

use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;
use weir_aggregates::machine::{Context, Machine};
use weir_events::{
    codec::{CodecFault, EventSet},
    envelope::{Meta, NewEvent},
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_log::{
    Log,
    append::{Append, AppendFault, Appended, Expected, Outcome, StreamWrite},
    database::DatabaseFault,
    idempotency::{CommandKey, Remember, Remembered},
    read::ReadFault,
};

pub use self::pair::{Once, Pair, Paired, Remembering};
use self::{answer::Stored, states::States, turns::Turns};
use crate::{caller::Caller, clock::Clock};

/// Times a command is judged again because another process wrote to its stream.
const MAX_CONFLICTS: u32 = 32;
/// Events one page of a stream holds.
const PAGE: usize = 1_000;

/// The door. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Door {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    log: Log,
    clock: Arc<dyn Clock>,
    states: States,
    turns: Turns,
}

/// A caller's idempotency key, with what it asks for under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The key, in its principal's name space.
    pub key: CommandKey,
    /// BLAKE3 of the request: the same key with another request is refused.
    pub request_hash: [u8; 32],
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executed<E> {
    /// The position of its last event; the log's head where it changed nothing.
    pub position: Position,
    /// What happened.
    pub events: Vec<E>,
    /// Whether this is the answer to an earlier request with the same key.
    pub replayed: bool,
}

/// The door could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum DoorFault {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// The append did not come to an answer.
    #[error(transparent)]
    Append(#[from] AppendFault),
    /// An event could not be encoded or decoded.
    #[error(transparent)]
    Codec(#[from] CodecFault),
    /// Others kept writing to the same stream.
    #[error("stream `{0}` is written to too often to get a word in; try again")]
    Contended(StreamName),
}

impl From<DatabaseFault> for DoorFault {
    fn from(fault: DatabaseFault) -> Self {
        Self::Read(fault.into())
    }
}

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteFault<R: std::error::Error + 'static> {
    /// The machine said no.
    #[error(transparent)]
    Refused(R),
    /// The machine said no to an earlier request with the same key, in these words.
    #[error("{0}")]
    RefusedBefore(String),
    /// The key was used before, for another request.
    #[error("this idempotency key was used before, for another request")]
    KeyReused,
    /// The door could not do its work.
    #[error(transparent)]
    Fault(#[from] DoorFault),
}

impl Door {
    /// A door to a log.
    pub fn new(log: Log, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner: Arc::new(Inner {
                log,
                clock,
                states: States::default(),
                turns: Turns::default(),
            }),
        }
    }

    /// The time, by the door's clock.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// A fresh id, UUID version 7.
    pub fn new_id(&self) -> Uuid {
        self.inner.clock.new_id()
    }

    /// The log behind it.
    pub fn log(&self) -> &Log {
        &self.inner.log
    }

    /// What the facts of a stream add up to, now.
    pub async fn load<M: Machine>(
        &self,
        stream: &StreamName,
    ) -> Result<(M::State, StreamVersion), DoorFault> {
        let (state, version) = self.load_shared::<M>(stream).await?;
        Ok((Arc::unwrap_or_clone(state), version))
    }

    /// The same, without a copy of it.
    async fn load_shared<M: Machine>(
        &self,
        stream: &StreamName,
    ) -> Result<(Arc<M::State>, StreamVersion), DoorFault> {
        self.inner.states.belong_to(self.inner.log.hub().n_restores());
        let (mut state, mut version) = self.inner.states.get::<M>(stream).unwrap_or_default();
        let from = version;
        loop {
            let page = self.inner.log.read_stream(stream, version, PAGE).await?;
            for event in &page {
                // An event of another subsystem in this stream is nothing this machine folds.
                if let Some(decoded) = event.decode::<M::Event>() {
                    M::apply(Arc::make_mut(&mut state), &decoded?);
                }
                version = event.version;
            }
            if page.len() < PAGE {
                break;
            }
        }
        if version != from {
            self.inner.states.put::<M>(stream, Arc::clone(&state), version);
        }
        Ok((state, version))
    }

    /// Has a machine judge a command, and appends what it decided.
    ///
    /// # Errors
    /// [`ExecuteFault::Refused`] is the machine's own answer; the others are accidents.
    pub async fn execute<M: Machine>(
        &self,
        stream: &StreamName,
        command: &M::Command,
        caller: &Caller,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Executed<M::Event>, ExecuteFault<M::Refusal>> {
        let command_id = self.new_id();
        let _turn = self.inner.turns.of(stream).await;
        for _ in 0..MAX_CONFLICTS {
            if let Some(idempotency) = &idempotency {
                let known = self.inner.log.remembered(idempotency.key).await;
                if let Some(first) = known.map_err(DoorFault::from)? {
                    return replay::<M>(idempotency, &first);
                }
            }
            let (state, version) = self.load_shared::<M>(stream).await?;
            let now = self.now();
            let decision = M::decide(&state, command, &Context { now });
            if decision.events.is_empty() {
                // A twin of this very command may have been recorded after its key was looked up
                // and before the state was read: then the twin's answer is this one's.
                if let Some(idempotency) = &idempotency {
                    let known = self.inner.log.remembered(idempotency.key).await;
                    if let Some(first) = known.map_err(DoorFault::from)? {
                        return replay::<M>(idempotency, &first);
                    }
                }
                return match decision.refusal {
                    Some(refusal) => Err(ExecuteFault::Refused(refusal)),
                    None => Ok(Executed {
                        position: self.inner.log.head(),
                        events: Vec::new(),
                        replayed: false,
                    }),
                };
            }
            let remember = match &idempotency {
                Some(idempotency) => Some(Remember {
                    key: idempotency.key,
                    request_hash: idempotency.request_hash,
                    answer: Stored::encode(&decision).map_err(DoorFault::from)?,
                }),
                None => None,
            };
            let events =
                self.wrap(&decision.events, caller, command_id).map_err(DoorFault::from)?;
            let write =
                StreamWrite { stream: stream.clone(), expected: Expected::Exact(version), events };
            let append = Append { writes: vec![write], remember, recorded_at: now };
            match self.inner.log.append(append).await.map_err(DoorFault::from)? {
                Outcome::Appended(at) => {
                    self.inner.states.advance::<M>(stream, (state, version), &decision.events);
                    return match decision.refusal {
                        Some(refusal) => Err(ExecuteFault::Refused(refusal)),
                        None => Ok(Executed {
                            position: at.last,
                            events: decision.events,
                            replayed: false,
                        }),
                    };
                }
                Outcome::Duplicate(first) => {
                    if let Some(idempotency) = &idempotency {
                        return replay::<M>(idempotency, &first);
                    }
                }
                // Whoever was first may have been this very command, from another instance.
                Outcome::Conflict { actual, .. } => {
                    if actual < version {
                        // Streams never shrink, unless the log was restored to an earlier state.
                        self.inner.states.clear();
                    }
                }
            }
        }
        Err(DoorFault::Contended(stream.clone()).into())
    }

    /// The same, with facts of an append-only stream in the same append: all of it stands in the log, or
    /// none of it. Only for commands that something comes of.
    pub async fn execute_with<M: Machine>(
        &self,
        stream: &StreamName,
        command: &M::Command,
        facts: (&StreamName, &[M::Event]),
        caller: &Caller,
    ) -> Result<Position, ExecuteFault<M::Refusal>> {
        let command_id = self.new_id();
        let _turn = self.inner.turns.of(stream).await;
        for _ in 0..MAX_CONFLICTS {
            let (state, version) = self.load_shared::<M>(stream).await?;
            let now = self.now();
            let decision = M::decide(&state, command, &Context { now });
            if let Some(refusal) = decision.refusal {
                return Err(ExecuteFault::Refused(refusal));
            }
            let wrap = |events: &[M::Event]| {
                self.wrap(events, caller, command_id).map_err(DoorFault::from)
            };
            let (own, expected) = (wrap(&decision.events)?, Expected::Exact(version));
            let (beside, events) = (facts.0.clone(), wrap(facts.1)?);
            let writes = vec![
                StreamWrite { stream: stream.clone(), expected, events: own },
                StreamWrite { stream: beside, expected: Expected::Any, events },
            ];
            let append = Append { writes, remember: None, recorded_at: now };
            match self.inner.log.append(append).await.map_err(DoorFault::from)? {
                Outcome::Appended(at) => return Ok(at.last),
                Outcome::Conflict { actual, .. } if actual < version => self.inner.states.clear(),
                Outcome::Conflict { .. } | Outcome::Duplicate(_) => {}
            }
        }
        Err(DoorFault::Contended(stream.clone()).into())
    }

    /// Records facts in an append-only stream: many writers, no conflicts.
    pub async fn record<E: EventSet>(
        &self,
        stream: StreamName,
        events: &[E],
        caller: &Caller,
    ) -> Result<Appended, DoorFault> {
        let events = self.wrap(events, caller, self.new_id())?;
        let write = StreamWrite { stream: stream.clone(), expected: Expected::Any, events };
        let append = Append { writes: vec![write], remember: None, recorded_at: self.now() };
        match self.inner.log.append(append).await? {
            Outcome::Appended(at) => Ok(at),
            Outcome::Duplicate(_) | Outcome::Conflict { .. } => Err(DoorFault::Contended(stream)),
        }
    }

    /// Records facts in append-only streams: all of them, or none. A stream stands among them once, and
    /// together they are no more than one append takes.
    pub async fn record_each<E: EventSet>(
        &self,
        facts: &[(StreamName, Vec<E>)],
        caller: &Caller,
    ) -> Result<Appended, DoorFault> {
        let command_id = self.new_id();
        let mut writes = Vec::with_capacity(facts.len());
        for (stream, events) in facts {
            let events = self.wrap(events, caller, command_id)?;
            writes.push(StreamWrite { stream: stream.clone(), expected: Expected::Any, events });
        }
        let append = Append { writes, remember: None, recorded_at: self.now() };
        match self.inner.log.append(append).await? {
            Outcome::Appended(at) => Ok(at),
            Outcome::Conflict { stream, .. } => Err(DoorFault::Contended(stream)),
            Outcome::Duplicate(_) => {
                Err(AppendFault::Invalid("facts without a key stand in the log already".to_owned())
                    .into())
            }
        }
    }

    /// Records facts in an append-only stream whose only writer this should be: `None` when somebody
    /// else wrote to it since it was at `after`, and nothing was recorded.
    pub async fn record_after<E: EventSet>(
        &self,
        stream: StreamName,
        after: StreamVersion,
        events: &[E],
        caller: &Caller,
    ) -> Result<Option<Appended>, DoorFault> {
        let events = self.wrap(events, caller, self.new_id())?;
        let expected = Expected::Exact(after);
        let write = StreamWrite { stream: stream.clone(), expected, events };
        let append = Append { writes: vec![write], remember: None, recorded_at: self.now() };
        match self.inner.log.append(append).await? {
            Outcome::Appended(at) => Ok(Some(at)),
            Outcome::Conflict { .. } => Ok(None),
            Outcome::Duplicate(_) => Err(DoorFault::Contended(stream)),
        }
    }

    /// Records facts once, whoever else records them under the same key: on this instance, on
    /// another, or before a crash. `None` when they stand in the log already.
    pub async fn record_once<E: EventSet>(
        &self,
        stream: StreamName,
        events: &[E],
        caller: &Caller,
        key: CommandKey,
    ) -> Result<Option<Appended>, DoorFault> {
        let events = self.wrap(events, caller, self.new_id())?;
        let write = StreamWrite { stream: stream.clone(), expected: Expected::Any, events };
        let remember = Remember { key, request_hash: key.0, answer: Bytes::new() };
        let append =
            Append { writes: vec![write], remember: Some(remember), recorded_at: self.now() };
        match self.inner.log.append(append).await? {
            Outcome::Appended(at) => Ok(Some(at)),
            Outcome::Duplicate(_) => Ok(None),
            Outcome::Conflict { .. } => Err(DoorFault::Contended(stream)),
        }
    }

    fn wrap<E: EventSet>(
        &self,
        events: &[E],
        caller: &Caller,
        command_id: Uuid,
    ) -> Result<Vec<NewEvent>, CodecFault> {
        let correlation_id = caller.correlation_id.unwrap_or(command_id);
        events
            .iter()
            .map(|event| {
                let meta = Meta {
                    event_id: self.new_id(),
                    actor: Arc::clone(&caller.actor),
                    correlation_id,
                    causation_id: caller.causation_id,
                    command_id,
                    principal: Arc::clone(&caller.principal),
                    traceparent: caller.traceparent.clone(),
                };
                NewEvent::new(event, &meta)
            })
            .collect()
    }
}

/// The first answer, again.
fn replay<M: Machine>(
    asked: &IdempotencyKey,
    first: &Remembered,
) -> Result<Executed<M::Event>, ExecuteFault<M::Refusal>> {
    if first.request_hash != asked.request_hash {
        return Err(ExecuteFault::KeyReused);
    }
    let (events, refused) = Stored::read(&first.answer).map_err(DoorFault::from)?;
    match refused {
        Some(words) => Err(ExecuteFault::RefusedBefore(words)),
        None => Ok(Executed { position: first.last(), events, replayed: true }),
    }
}
