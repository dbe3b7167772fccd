//! Appending: checked outside, written by the one writer of the process, answered after commit.

mod archived;
mod plan;
mod writer;

use bytes::Bytes;
use weir_events::{
    envelope::NewEvent,
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};

pub use self::writer::{Writer, WriterHandle};
use crate::{
    Log,
    idempotency::{Remember, Remembered},
};

/// The largest payload of an event; larger bodies go to the content store.
pub const MAX_PAYLOAD_BYTES: usize = 256 << 10;
/// The largest encoded meta of an event.
pub const MAX_META_BYTES: usize = 8 << 10;
/// The most events of one append.
pub const MAX_EVENTS: usize = 1_000;
/// The most payload and meta of one append together.
pub const MAX_APPEND_BYTES: usize = 4 << 20;
/// The largest remembered answer.
pub const MAX_ANSWER_BYTES: usize = 64 << 10;

/// What a writer knows of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing, and it does not matter: facts, not state.
    Any,
    /// It is at exactly this version.
    Exact(StreamVersion),
}

/// Events for one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamWrite {
    /// The stream.
    pub stream: StreamName,
    /// What its version must be.
    pub expected: Expected,
    /// At least one event.
    pub events: Vec<NewEvent>,
}

/// One append: all of it happens, or none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Append {
    /// Events, by stream; a stream stands in it once.
    pub writes: Vec<StreamWrite>,
    /// The command's answer, to be remembered with the events.
    pub remember: Option<Remember>,
    /// The time, from the caller's clock.
    pub recorded_at: Timestamp,
}

/// Where an append went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The position of its first event; the others follow without a gap.
    pub first: Position,
    /// The position of its last event.
    pub last: Position,
    /// The version of each write's stream after it, in the order of the writes.
    pub versions: Vec<StreamVersion>,
}

/// The log's answer to an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is durable.
    Appended(Appended),
    /// Its command was recorded before; nothing was written.
    Duplicate(Remembered),
    /// A stream was not where the writer thought; nothing was written.
    Conflict {
        /// The stream.
        stream: StreamName,
        /// Where it is.
        actual: StreamVersion,
    },
}

/// An append that did not come to an answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum AppendFault {
    /// It breaks a bound or a rule of the log; nothing was written and nothing ever will be.
    #[error("this cannot be appended: {0}")]
    Invalid(String),
    /// The stream is archived; nothing was written.
    #[error("stream `{0}` is archived and takes no more events")]
    Archived(StreamName),
    /// Too much is waiting already; nothing was written.
    #[error("the log is busy: too many appends are waiting")]
    Busy,
    /// The database is away or refuses; nothing was written.
    #[error("the log cannot write now: {0}")]
    Unavailable(String),
    /// The connection broke and the database did not come back in time to ask what became of it.
    /// It may or may not be durable: ask again with the same key.
    #[error("it is not known whether this was written: {0}")]
    Unknown(String),
}

impl Log {
    /// Appends, and answers once the events are durable.
    ///
    /// # Errors
    /// See [`AppendFault`]; only `Unknown` leaves it open whether something was written.
    pub async fn append(&self, append: Append) -> Result<Outcome, AppendFault> {
        check(&append)?;
        self.writer().submit(append).await
    }
}

fn check(append: &Append) -> Result<(), AppendFault> {
    let refuse = |what: String| Err(AppendFault::Invalid(what));
    let (mut n_events, mut n_bytes) = (0, 0);
    for (nth, write) in append.writes.iter().enumerate() {
        if write.events.is_empty() {
            return refuse(format!("no event for stream `{}`", write.stream));
        }
        if append.writes.iter().take(nth).any(|other| other.stream == write.stream) {
            return refuse(format!("stream `{}` stands in it twice", write.stream));
        }
        for event in &write.events {
            let NewEvent { kind, schema, payload, meta } = event;
            if payload.len() > MAX_PAYLOAD_BYTES || meta.len() > MAX_META_BYTES {
                return refuse(format!(
                    "an event of kind {} has {} bytes of payload and {} of meta; at most \
                     {MAX_PAYLOAD_BYTES} and {MAX_META_BYTES} fit",
                    kind.name(),
                    payload.len(),
                    meta.len()
                ));
            }
            if *schema < 1 {
                return refuse(format!("an event of kind {} has no schema version", kind.name()));
            }
            n_events += 1;
            n_bytes += payload.len() + meta.len();
        }
    }
    if n_events == 0 || n_events > MAX_EVENTS {
        return refuse(format!("{n_events} events; an append has 1 to {MAX_EVENTS}"));
    }
    if n_bytes > MAX_APPEND_BYTES {
        return refuse(format!("{n_bytes} bytes; an append has at most {MAX_APPEND_BYTES}"));
    }
    let answer = append.remember.as_ref().map_or(&[][..], |r: &Remember| Bytes::as_ref(&r.answer));
    if answer.len() > MAX_ANSWER_BYTES {
        return refuse(format!("an answer of {} bytes; at most {MAX_ANSWER_BYTES}", answer.len()));
    }
    Ok(())
}
