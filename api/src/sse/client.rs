//! One client of a stream: where it is, what it may see, and the next chunk for it.

use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    sync::{OwnedSemaphorePermit, broadcast},
    time::{Instant, Interval, MissedTickBehavior, interval_at, sleep, sleep_until},
};
use tracing::warn;
use weir_events::{
    envelope::Recorded,
    position::{Cursor, Incarnation, Position},
    timestamp::Timestamp,
};
use weir_log::{
    read::Filter,
    tail::{Tail, TailFault},
};
use weir_processors::access::{Principal, Revoked, Session};

use super::text;
use crate::state::ApiState;

/// Bytes of one chunk, about: frames are put together up to here.
const CHUNK_BYTES: usize = 16 << 10;
/// Bytes of events taken from the log at once, about.
const BATCH_BYTES: usize = 32 << 10;
/// Events taken from the log at once.
const MAX_BATCH: usize = 64;
/// How often a client is told that its stream is alive.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Hidden events after which a client is told how far it has come.
const MAX_HIDDEN: u32 = 1_000;

/// One client.
pub(super) struct Client {
    state: ApiState,
    principal: Principal,
    revocations: broadcast::Receiver<Revoked>,
    tail: Tail,
    life: Incarnation,
    filter: Filter,
    phase: Phase,
    pending: VecDeque<Arc<Recorded>>,
    /// What is left of a frame larger than a chunk.
    rest: Bytes,
    /// Events passed over since the client was last told how far it has come.
    n_hidden: u32,
    batch: usize,
    not_before: Instant,
    heartbeat: Interval,
    /// Held as long as the stream is open.
    _place: OwnedSemaphorePermit,
}

/// What a stream says next, besides events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Opening(Position),
    Live,
    Ended,
}

/// Why a client is woken.
enum Wake {
    Events(Result<Vec<Arc<Recorded>>, TailFault>),
    Heartbeat,
    End(&'static str),
    Look,
}

impl Client {
    pub(super) fn new(
        state: ApiState,
        principal: Principal,
        revocations: broadcast::Receiver<Revoked>,
        place: OwnedSemaphorePermit,
        life: Incarnation,
        after: Cursor,
    ) -> Self {
        let now = now();
        let mut heartbeat = interval_at(now + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            tail: state.log().tail(after),
            state,
            principal,
            revocations,
            life,
            filter: Filter::default(),
            phase: Phase::Opening(after.position),
            pending: VecDeque::new(),
            rest: Bytes::new(),
            n_hidden: 0,
            batch: MAX_BATCH / 4,
            not_before: now,
            heartbeat,
            _place: place,
        }
    }

    /// Says this and nothing else.
    pub(super) fn end_with(&mut self, last: Bytes) {
        self.phase = Phase::Ended;
        self.rest = last;
    }

    pub(super) fn keep_to(&mut self, filter: Filter) {
        self.filter = filter;
    }

    /// Takes the next events from the log.
    pub(super) async fn read_on(&mut self) -> Result<(), TailFault> {
        let events = next(&self.state, &mut self.tail, self.batch).await?;
        self.take(events);
        Ok(())
    }

    /// The next chunk; `None` when the stream has ended.
    pub(super) async fn chunk(&mut self) -> Option<Bytes> {
        loop {
            if !self.rest.is_empty() {
                let n_bytes = self.rest.len().min(CHUNK_BYTES);
                return Some(self.rest.split_to(n_bytes));
            }
            match self.phase {
                Phase::Ended => return None,
                Phase::Opening(after) => {
                    self.phase = Phase::Live;
                    return Some(text::opening(self.life, after));
                }
                Phase::Live => {}
            }
            if let Some(chunk) = self.put_together() {
                return Some(chunk);
            }
            match self.wait().await {
                Wake::Events(Ok(_)) if self.state.log().incarnation() != self.life => {
                    return Some(self.resync("the log was restored"));
                }
                Wake::Events(Ok(events)) => self.take(events),
                Wake::Events(Err(fault)) => return Some(self.fail(&fault)),
                Wake::Heartbeat => {
                    let (head, now) = (self.state.log().head(), self.state.door().now());
                    return Some(text::heartbeat(head, now));
                }
                Wake::End(reason) => return Some(self.close(reason)),
                Wake::Look => {}
            }
        }
    }

    fn take(&mut self, events: Vec<Arc<Recorded>>) {
        let n_bytes: usize = events.iter().map(|event| event.size_bytes()).sum();
        if let Some(average) = n_bytes.checked_div(events.len()) {
            let full = events.len() >= self.batch;
            self.not_before = if full { now() } else { now() + self.state.streams().pace() };
            self.batch = (BATCH_BYTES / average.max(1)).clamp(1, MAX_BATCH);
        }
        self.pending.extend(events);
    }

    /// Frames of pending events, as many as fit into one chunk.
    fn put_together(&mut self) -> Option<Bytes> {
        let head = self.state.log().head();
        let mut frames: Vec<Bytes> = Vec::new();
        let mut n_bytes = 0;
        while n_bytes < CHUNK_BYTES
            && let Some(event) = self.pending.pop_front()
        {
            let frame = if self.filter.matches(&event) {
                self.state.streams().frames.of(self.life, &event, head)
            } else {
                self.n_hidden += 1;
                if self.n_hidden < MAX_HIDDEN {
                    continue;
                }
                text::place(self.life, event.position)
            };
            self.n_hidden = 0;
            n_bytes += frame.len();
            frames.push(frame);
        }
        // What does not fit any more is sent next; one frame alone is sent without a copy.
        if n_bytes > CHUNK_BYTES
            && let Some(last) = frames.pop()
        {
            n_bytes -= last.len();
            self.rest = last;
        }
        match frames.as_slice() {
            [] if self.rest.is_empty() => None,
            [] => Some(self.rest.split_to(self.rest.len().min(CHUNK_BYTES))),
            [one] => Some(one.clone()),
            several => {
                let mut chunk = BytesMut::with_capacity(n_bytes);
                for frame in several {
                    chunk.extend_from_slice(frame);
                }
                Some(chunk.freeze())
            }
        }
    }

    async fn wait(&mut self) -> Wake {
        let expires = pin!(until(self.principal.expires_at, self.state.door().now()));
        let (tail, batch, not_before) = (&mut self.tail, self.batch, self.not_before);
        let events = async {
            sleep_until(not_before).await;
            next(&self.state, tail, batch).await
        };
        tokio::select! {
            biased;
            () = self.state.lifecycle().soft().cancelled() => Wake::End("this instance is stopping"),
            heard = self.revocations.recv() => match heard {
                Ok(Revoked::Token(id)) if self.principal.token_id.as_deref() == Some(&*id) => {
                    Wake::End("the token was revoked")
                }
                Ok(Revoked::Session(name)) if self.session() == Some(&*name) => {
                    Wake::End("the session was ended")
                }
                Ok(Revoked::Agent(agent)) if self.principal.agent == Some(agent) => {
                    Wake::End("the agent was revoked")
                }
                Ok(Revoked::Token(_) | Revoked::Session(_) | Revoked::Agent(_)) => Wake::Look,
                // Ours may have been among those that were missed.
                Ok(Revoked::Perhaps) | Err(broadcast::error::RecvError::Lagged(_)) => {
                    Wake::End("sign in again")
                }
                Err(broadcast::error::RecvError::Closed) => Wake::End("this instance is stopping"),
            },
            () = expires => Wake::End("the token has expired"),
            _ = self.heartbeat.tick() => Wake::Heartbeat,
            events = events => Wake::Events(events),
        }
    }

    fn session(&self) -> Option<&str> {
        self.principal.session.as_ref().map(Session::name)
    }

    fn fail(&mut self, fault: &TailFault) -> Bytes {
        match fault {
            TailFault::Resync { incarnation, head, reason } => {
                self.phase = Phase::Ended;
                text::resync(*incarnation, *head, reason)
            }
            TailFault::Stopped => self.close("this instance is stopping"),
            TailFault::Read(fault) => {
                let error = crate::problem::chain(fault);
                warn!(error, position = %self.tail.position(), "an event stream ends, the log cannot be read");
                self.close("the log cannot be read now")
            }
        }
    }

    fn resync(&mut self, reason: &str) -> Bytes {
        self.phase = Phase::Ended;
        text::resync(self.state.log().incarnation(), self.state.log().head(), reason)
    }

    /// Ends the stream; where events were hidden, with a word on how far the client has come.
    fn close(&mut self, reason: &str) -> Bytes {
        self.phase = Phase::Ended;
        let mut chunk = BytesMut::new();
        if self.n_hidden > 0 {
            chunk.extend_from_slice(&text::place(self.life, self.tail.position()));
        }
        chunk.extend_from_slice(&text::closing(reason));
        chunk.freeze()
    }
}

/// Takes the next events of the log; who is far behind waits for its turn.
async fn next(
    state: &ApiState,
    tail: &mut Tail,
    max: usize,
) -> Result<Vec<Arc<Recorded>>, TailFault> {
    let far = tail.position().distance_to(state.log().head()) > MAX_BATCH as u64;
    let _turn = if far { state.streams().history.acquire().await.ok() } else { None };
    tail.next(max).await
}

/// Waits until a token ends; for ever when it does not.
async fn until(end: Option<Timestamp>, now: Timestamp) {
    match end {
        Some(end) => sleep(Duration::from_secs_f64(now.seconds_until(end).max(0.0))).await,
        None => std::future::pending().await,
    }
}

fn now() -> Instant {
    Instant::now()
}
