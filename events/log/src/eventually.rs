//! The log as an `eventually` event store: one stream at a time, for low-rate machines and tests.
//! The hot path goes through [`Log::append`].
//!
//! `eventually` counts versions and sequence numbers in 32 bits: both are the version in the
//! stream here, never the position in the log. Clone the store per request.

use std::{future::Future, marker::PhantomData, pin::Pin, sync::Arc};

use eventually::store::{AppendError, EventStore, EventStream, Expected, Persisted, Select};
use futures_util::{StreamExt, stream};
use weir_events::{
    codec::{CodecFault, EventSet},
    envelope::{Meta, NewEvent, Recorded},
    position::{Position, StreamVersion},
    stream::StreamName,
    timestamp::Timestamp,
};

use crate::{
    Log,
    append::{self, Append, AppendFault, Outcome, StreamWrite},
    read::ReadFault,
};

/// Events one page of a stream holds.
const PAGE: usize = 1_000;

/// Who speaks, when: called once for every event that is appended.
pub type Envelope = Arc<dyn Fn() -> (Meta, Timestamp) + Send + Sync>;

/// The log as an event store for one subsystem's events.
pub struct Store<E> {
    log: Log,
    envelope: Envelope,
    events: PhantomData<fn() -> E>,
}

impl<E> Store<E> {
    /// A store that wraps events in what `envelope` says.
    pub fn new(log: Log, envelope: Envelope) -> Self {
        Self { log, envelope, events: PhantomData }
    }
}

impl<E> Clone for Store<E> {
    fn clone(&self) -> Self {
        Self::new(self.log.clone(), Arc::clone(&self.envelope))
    }
}

impl<E> std::fmt::Debug for Store<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("log", &self.log).finish_non_exhaustive()
    }
}

/// The store could not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// The stream is not at the expected version.
    #[error("stream `{stream}` is at version {actual}")]
    Conflict {
        /// The stream.
        stream: StreamName,
        /// Where it is.
        actual: StreamVersion,
    },
    /// The append did not come to an answer.
    #[error(transparent)]
    Append(#[from] AppendFault),
    /// The stream could not be read.
    #[error(transparent)]
    Read(#[from] ReadFault),
    /// An event could not be encoded or decoded.
    #[error(transparent)]
    Codec(#[from] CodecFault),
    /// An event of another subsystem stands in the stream.
    #[error("stream `{0}` holds an event of another subsystem")]
    Foreign(StreamName),
    /// The stream has more versions than 32 bits can count.
    #[error("stream `{0}` is too long for a 32-bit version")]
    TooLong(StreamName),
    /// The log forgets nothing.
    #[error("events are immutable: a stream cannot be removed")]
    Immutable,
}

impl AppendError for StoreFault {
    fn is_conflict_error(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl<E: EventSet + Send + 'static> EventStore for Store<E> {
    type SourceId = StreamName;
    type Event = E;
    type Error = StoreFault;

    fn append(
        &mut self,
        stream: StreamName,
        version: Expected,
        events: Vec<E>,
    ) -> BoxFuture<'_, Result<u32, StoreFault>> {
        // Encoded here: `eventually` asks for events that can be sent, not for ones that are shared.
        let encoded = self.encode(&events);
        let log = self.log.clone();
        Box::pin(async move {
            let (events, recorded_at) = encoded?;
            write(&log, stream, version, events, recorded_at).await
        })
    }

    fn stream(
        &self,
        stream: StreamName,
        select: Select,
    ) -> BoxFuture<'_, Result<EventStream<'_, Self>, StoreFault>> {
        Box::pin(async move {
            let after = match select {
                Select::All => StreamVersion::NONE,
                Select::From(version) => StreamVersion(i64::from(version).saturating_sub(1)),
            };
            let pages = stream::try_unfold(after, move |after| {
                let stream = stream.clone();
                async move {
                    let page = self.log.read_stream(&stream, after, PAGE).await?;
                    Ok::<_, StoreFault>(page.last().map(|e| e.version).map(|last| (page, last)))
                }
            });
            let events = pages.flat_map(|page| {
                stream::iter(match page {
                    Ok(page) => page.iter().map(persisted).collect(),
                    Err(fault) => vec![Err(fault)],
                })
            });
            Ok(events.boxed())
        })
    }

    fn stream_all(
        &self,
        select: Select,
    ) -> BoxFuture<'_, Result<EventStream<'_, Self>, StoreFault>> {
        Box::pin(async move {
            let after = match select {
                Select::All => Position::START,
                Select::From(sequence) => Position(i64::from(sequence).saturating_sub(1)),
            };
            let pages = stream::try_unfold(after, move |after| async move {
                let page = self.log.read(after, PAGE).await?;
                Ok::<_, StoreFault>(page.last().map(|e| e.position).map(|last| (page, last)))
            });
            let events = pages.flat_map(|page| {
                stream::iter(match page {
                    Ok(page) => page
                        .iter()
                        .filter(|event| E::TABLE.iter().any(|info| info.code == event.kind))
                        .map(|event| persisted(event))
                        .collect(),
                    Err(fault) => vec![Err(fault)],
                })
            });
            Ok(events.boxed())
        })
    }

    fn remove(&mut self, _: StreamName) -> BoxFuture<'_, Result<(), StoreFault>> {
        Box::pin(std::future::ready(Err(StoreFault::Immutable)))
    }
}

impl<E: EventSet> Store<E> {
    fn encode(&self, events: &[E]) -> Result<(Vec<NewEvent>, Timestamp), StoreFault> {
        let mut recorded_at = Timestamp::EPOCH;
        let mut encoded = Vec::with_capacity(events.len());
        for event in events {
            let (meta, now) = (self.envelope)();
            recorded_at = now;
            encoded.push(NewEvent::new(event, &meta)?);
        }
        Ok((encoded, recorded_at))
    }
}

async fn write(
    log: &Log,
    stream: StreamName,
    version: Expected,
    events: Vec<NewEvent>,
    recorded_at: Timestamp,
) -> Result<u32, StoreFault> {
    let expected = match version {
        Expected::Any => append::Expected::Any,
        Expected::Exact(version) => append::Expected::Exact(StreamVersion(version.into())),
    };
    let writes = vec![StreamWrite { stream: stream.clone(), expected, events }];
    match log.append(Append { writes, remember: None, recorded_at }).await? {
        Outcome::Appended(at) => {
            let version = at.versions.first().copied().unwrap_or_default();
            u32::try_from(version.0).map_err(|_| StoreFault::TooLong(stream))
        }
        Outcome::Conflict { stream, actual } => Err(StoreFault::Conflict { stream, actual }),
        Outcome::Duplicate(_) => {
            let what = "a command without a key was remembered".to_owned();
            Err(AppendFault::Invalid(what).into())
        }
    }
}

fn persisted<E: EventSet>(event: &Recorded) -> Result<Persisted<StreamName, E>, StoreFault> {
    let foreign = || StoreFault::Foreign(event.stream.clone());
    let decoded = event.decode::<E>().ok_or_else(foreign)??;
    let version =
        u32::try_from(event.version.0).map_err(|_| StoreFault::TooLong(event.stream.clone()))?;
    Ok(Persisted::from(event.stream.clone(), decoded).version(version).sequence_number(version))
}
