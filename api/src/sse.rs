//! Live events: `text/event-stream` from the tail of the log, one bounded stream a client.
//!
//! An event's frame is written once and shared between clients (`frames`); a client holds what it
//! has not sent yet and nothing else (`client`). While its connection takes nothing, its stream is
//! not asked for more, and the log waits where the client left off.

mod client;
mod frames;
mod text;

#[cfg(test)]
pub(crate) use text::testing;

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use http::{
    HeaderName, HeaderValue,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, broadcast},
    time::timeout,
};
use weir_events::position::{Cursor, Position};
use weir_log::{
    read::{Filter, ReadFault},
    tail::TailFault,
};
use weir_processors::access::{Principal, Revoked};

use self::{client::Client, frames::Frames};
use crate::{
    problem::{
        Problem,
        table::{CURSOR_EXPIRED, STOPPING, TOO_MANY_STREAMS},
    },
    state::ApiState,
};

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// How long the first events may take to be read; a cursor at the head has none to wait for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Clients that read history at once: however many come back at the same time, they leave most of
/// the database's connections to others.
const MAX_HISTORY: usize = 8;

/// What one more client adds to the time between two chunks to the same client: all together are
/// sent at most 100,000 chunks a second, however many there are and however fast events come.
const PACE_PER_CLIENT: Duration = Duration::from_micros(10);

/// The streams of one process.
#[derive(Debug)]
pub struct Streams {
    frames: Frames,
    places: Arc<Semaphore>,
    /// Turns of those who are far behind.
    history: Semaphore,
    max: usize,
}

impl Streams {
    /// At most `max` at once.
    pub fn new(max: usize) -> Self {
        let (places, history) = (Arc::new(Semaphore::new(max)), Semaphore::new(MAX_HISTORY));
        Self { frames: Frames::default(), places, history, max }
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        self.max.saturating_sub(self.places.available_permits())
    }

    fn enter(&self) -> Result<OwnedSemaphorePermit, Problem> {
        Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let detail = format!("{} event streams are open here already", self.max);
            Problem::new(&TOO_MANY_STREAMS, detail).retry_after(5)
        })
    }

    /// The least time between two chunks to one client.
    fn pace(&self) -> Duration {
        PACE_PER_CLIENT.saturating_mul(u32::try_from(self.open()).unwrap_or(u32::MAX))
    }
}

/// What a client wants to follow.
#[derive(Debug)]
pub struct Wish {
    /// From after where; from the head when it does not say.
    pub after: Option<Cursor>,
    /// Which events.
    pub filter: Filter,
}

/// Opens a stream for somebody.
pub async fn open(
    state: &ApiState,
    principal: Principal,
    revocations: broadcast::Receiver<Revoked>,
    wish: Wish,
) -> Result<Response, Problem> {
    if state.stopping() {
        return Err(stopping());
    }
    let place = state.streams().enter()?;
    let log = state.log();
    let life = log.incarnation();
    let head = log.head();
    let after = wish.after.unwrap_or(Cursor { incarnation: Some(life), position: head });
    let mut client = Client::new(state.clone(), principal, revocations, place, life, after);
    client.keep_to(wish.filter);
    // Before the answer begins, so that a cursor which is too old is refused with a status of its
    // own, and one that is not of this log is no place to begin at.
    let at_the_head = after.position == head && after.incarnation.is_none_or(|its| its == life);
    if !at_the_head {
        match timeout(PATIENCE, client.read_on()).await {
            Ok(Err(TailFault::Read(ReadFault::Hole { last, found }))) if last == after.position => {
                return Err(hole(state, last, found).await?);
            }
            Ok(Err(TailFault::Read(fault))) => return Err(fault.into()),
            Ok(Err(TailFault::Stopped)) => return Err(stopping()),
            Ok(Err(TailFault::Resync { incarnation, head, reason })) => {
                client.end_with(text::resync(incarnation, head, reason));
            }
            // What is there is read; or nothing is there yet, and the stream waits for it.
            Ok(Ok(())) | Err(_) => {}
        }
    }
    let chunks = stream::unfold(client, async |mut client| {
        let chunk = client.chunk().await?;
        Some((Ok::<_, Infallible>(chunk), client))
    });
    let mut answer = Body::from_stream(chunks).into_response();
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    Ok(answer)
}

fn stopping() -> Problem {
    Problem::new(&STOPPING, "this instance is stopping").retry_after(1)
}

/// Events after `last` are missing up to `found`: archived, or lost?
async fn hole(state: &ApiState, last: Position, found: Position) -> Result<Problem, Problem> {
    let oldest = state.log().page(&Filter::default(), Position::START, None, 1).await?;
    if oldest.first().is_some_and(|event| event.position == found) {
        let detail = format!(
            "events up to {} were archived; start again with after={}",
            found.plus(-1),
            found.plus(-1)
        );
        return Ok(Problem::new(&CURSOR_EXPIRED, detail));
    }
    Ok(ReadFault::Hole { last, found }.into())
}
