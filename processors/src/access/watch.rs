//! Revocations, wherever they are made, are in force on this instance as soon as its tail hears of
//! them. While the tail hears nothing, memory is not trusted.

use std::{
    pin::pin,
    sync::PoisonError,
    time::{Duration, Instant},
};

use tokio::{
    sync::broadcast,
    time::{MissedTickBehavior, interval},
};
use tracing::warn;
use weir_events::{access::Event, position::Position, web::request::AgentId};
use weir_log::{Log, lifecycle::Lifecycle, tail::TailFault};

use super::Tokens;

/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// How often the age of what is known is looked at while nothing happens.
const LOOK: Duration = Duration::from_millis(100);

/// What an open stream must hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    /// This token was revoked.
    Token(String),
    /// This session was ended.
    Session(String),
    /// This agent was revoked, and every token of it.
    Agent(AgentId),
    /// Any token may have been: the log was restored, and nobody can say what was in between.
    Perhaps,
}

impl Tokens {
    /// Follows the log for revocations, and tells `revoked` of each, so that open streams of its
    /// owner can be closed.
    pub fn follow(&self, revoked: broadcast::Sender<Revoked>, lifecycle: &Lifecycle) {
        let (tokens, soft) = (self.clone(), lifecycle.soft().clone());
        lifecycle.run("token watch", async move {
            soft.run_until_cancelled(Box::pin(tokens.watch(revoked))).await;
        });
    }

    async fn watch(&self, revoked: broadcast::Sender<Revoked>) {
        let log = self.inner.door.log();
        let mut tail = log.tail(log.head());
        loop {
            let position = tail.position();
            let look = || self.knows(&Observation::of(log), position);
            match meanwhile(tail.next(BATCH), look).await {
                Ok(events) => {
                    for event in events {
                        let gone = match event.decode::<Event>() {
                            Some(Ok(Event::TokenRevoked(gone))) => Revoked::Token(gone.token_id),
                            Some(Ok(Event::SessionEnded(gone))) => Revoked::Session(gone.session),
                            Some(Ok(Event::AgentRevoked(gone))) => Revoked::Agent(gone.agent),
                            _ => continue,
                        };
                        match &gone {
                            Revoked::Token(id) | Revoked::Session(id) => self.forget(id),
                            Revoked::Agent(agent) => self.inner.forget_agent(agent),
                            Revoked::Perhaps => {}
                        }
                        // Nobody listening is fine: no stream is open.
                        drop(revoked.send(gone));
                    }
                }
                Err(TailFault::Stopped) => return,
                // The tail stands where it stood; meanwhile memory grows too old to be trusted.
                Err(TailFault::Read(fault)) => {
                    warn!(error = %fault, "revocations cannot be read for the moment");
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
                Err(fault @ TailFault::Resync { .. }) => {
                    warn!(error = %fault, "lost track of revocations; every token is checked anew");
                    self.verified().forget_all();
                    self.inner.forget_agents();
                    drop(revoked.send(Revoked::Perhaps));
                    tail = log.tail(log.head());
                    tokio::time::sleep(LOOK).await;
                    continue;
                }
            }
            self.knows(&Observation::of(log), tail.position());
        }
    }

    /// Everything up to `position` was seen.
    fn knows(&self, observed: &Observation, position: Position) {
        if let Some(at) = observed.all_seen_at(position) {
            let mut knew = self.inner.knew_all_at.lock().unwrap_or_else(PoisonError::into_inner);
            *knew = at.max(*knew);
        }
    }
}

/// Where the head of the log was, and when the database confirmed it.
#[derive(Debug)]
struct Observation {
    confirmed: Option<Instant>,
    head: Position,
}

impl Observation {
    fn of(log: &Log) -> Self {
        // The moment before the age, the age before the head: what errs, errs to the safe side.
        let now = Instant::now();
        let age = log.hub().age();
        Self::new(now, age, log.head())
    }

    /// `now` is the moment at which `age` was known: not a later one.
    fn new(now: Instant, age: Duration, head: Position) -> Self {
        Self { confirmed: now.checked_sub(age), head }
    }

    /// When there was nothing that one who has seen everything up to `position` has not seen.
    fn all_seen_at(&self, position: Position) -> Option<Instant> {
        self.confirmed.filter(|_| self.head <= position)
    }
}

/// Awaits a future to its end, however long it takes, and looks around meanwhile.
async fn meanwhile<T>(future: impl Future<Output = T>, mut look: impl FnMut()) -> T {
    let mut future = pin!(future);
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            output = &mut future => return output,
            _ = looks.tick() => look(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn what_takes_longer_than_a_look_comes_to_its_end() {
        let (done, answer) = oneshot::channel();
        let (mut done, mut n_looks) = (Some(done), 0);
        let answered = meanwhile(answer, || {
            n_looks += 1;
            if n_looks == 3 {
                done.take().unwrap().send("read").unwrap();
            }
        });
        assert_eq!(answered.await, Ok("read"));
        assert_eq!(n_looks, 3);
    }

    #[test]
    fn what_is_known_is_as_old_as_it_was_confirmed_and_not_as_it_is_used() {
        let (now, age) = (Instant::now() + Duration::from_mins(1), Duration::from_secs(2));
        let observed = Observation::new(now, age, Position(7));
        assert_eq!(observed.all_seen_at(Position(7)), now.checked_sub(age));
        assert_eq!(observed.all_seen_at(Position(8)), now.checked_sub(age));
        assert_eq!(observed.all_seen_at(Position(6)), None);
    }
}
