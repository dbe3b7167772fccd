//! Few requests at once, few to each host, and every agent in its turn.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;

use super::ask::Agent;

/// How many places there are, and who may wait for one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub(super) at_once: usize,
    pub(super) per_host: usize,
    pub(super) waiting: usize,
    pub(super) waiting_per_agent: usize,
}

/// Too many wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

/// The places. Cheap to clone; the clones share them.
#[derive(Debug, Clone)]
pub(super) struct Places(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    room: Room,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    hosts: HashMap<Box<str>, usize>,
    /// Agents with somebody waiting, whose turn comes first in front.
    turns: VecDeque<Agent>,
    queues: HashMap<Agent, VecDeque<Waiter>>,
    waiting: usize,
    last_id: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    host: Box<str>,
    grant: oneshot::Sender<Place>,
}

/// A place. Whoever waits for it gets it when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    shared: Arc<Shared>,
    host: Box<str>,
}

/// Leaves the queue when it is dropped.
struct Waiting<'a> {
    shared: &'a Arc<Shared>,
    agent: Agent,
    id: u64,
}

impl Places {
    pub(super) fn new(room: Room) -> Self {
        Self(Arc::new(Shared { room, state: Mutex::default() }))
    }

    /// Waits for a place with a host.
    pub(super) async fn take(&self, agent: Agent, host: &str) -> Result<Place, Full> {
        let shared = &self.0;
        let (grant, granted) = oneshot::channel();
        let (id, grants) = shared.enqueue(agent, host, grant);
        // A grant that nobody takes is dropped here, outside of the lock, and granted again.
        grants.into_iter().for_each(hand_over);
        let waiting = Waiting { shared, agent, id };
        if shared.overfull(&waiting) {
            return Err(Full);
        }
        let place = granted.await.map_err(|_| Full);
        drop(waiting);
        place
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enqueue(
        self: &Arc<Self>,
        agent: Agent,
        host: &str,
        grant: oneshot::Sender<Place>,
    ) -> (u64, Vec<(oneshot::Sender<Place>, Place)>) {
        let mut state = self.state();
        state.last_id += 1;
        state.waiting += 1;
        let id = state.last_id;
        let queue = state.queues.entry(agent).or_default();
        queue.push_back(Waiter { id, host: host.into(), grant });
        if queue.len() == 1 {
            state.turns.push_back(agent);
        }
        (id, self.grants(&mut state))
    }

    /// Gives the free places away: one to each agent in turn, and past whoever waits for a host that
    /// has enough.
    fn grants(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Place>, Place)> {
        let mut grants = Vec::new();
        while state.taken < self.room.at_once {
            let free = |waiter: &Waiter| {
                state.hosts.get(&waiter.host).is_none_or(|taken| *taken < self.room.per_host)
            };
            let found = state.turns.iter().enumerate().find_map(|(turn, agent)| {
                let place_in_queue = state.queues.get(agent)?.iter().position(free)?;
                Some((turn, *agent, place_in_queue))
            });
            let Some((turn, agent, place_in_queue)) = found else { break };
            let queue = state.queues.get_mut(&agent);
            let Some(waiter) = queue.and_then(|queue| queue.remove(place_in_queue)) else { break };
            state.turns.remove(turn);
            state.after_leaving(agent, true);
            state.taken += 1;
            *state.hosts.entry(waiter.host.clone()).or_default() += 1;
            let place = Place { shared: Arc::clone(self), host: waiter.host };
            grants.push((waiter.grant, place));
        }
        grants
    }

    /// Whether the last to come is one too many.
    fn overfull(&self, waiting: &Waiting<'_>) -> bool {
        let state = self.state();
        let queue = state.queues.get(&waiting.agent);
        let waits = queue.is_some_and(|queue| queue.iter().any(|one| one.id == waiting.id));
        let of_agent = queue.map_or(0, VecDeque::len);
        waits && (state.waiting > self.room.waiting || of_agent > self.room.waiting_per_agent)
    }
}

impl State {
    /// One of an agent's has left its queue. `to_the_back`: its turn is over.
    fn after_leaving(&mut self, agent: Agent, to_the_back: bool) {
        self.waiting -= 1;
        if self.queues.get(&agent).is_none_or(VecDeque::is_empty) {
            self.queues.remove(&agent);
            self.turns.retain(|one| *one != agent);
        } else if to_the_back {
            self.turns.push_back(agent);
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let Some(queue) = state.queues.get_mut(&self.agent) else { return };
        let before = queue.len();
        queue.retain(|waiter| waiter.id != self.id);
        if queue.len() < before {
            state.after_leaving(self.agent, false);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let grants = {
            let mut state = self.shared.state();
            state.taken -= 1;
            if let Some(taken) = state.hosts.get_mut(&self.host) {
                *taken -= 1;
                if *taken == 0 {
                    state.hosts.remove(&self.host);
                }
            }
            self.shared.grants(&mut state)
        };
        grants.into_iter().for_each(hand_over);
    }
}

fn hand_over((grant, place): (oneshot::Sender<Place>, Place)) {
    // Whoever has gone meanwhile leaves the place to the next: it comes back, and is dropped.
    drop(grant.send(place));
}

#[cfg(test)]
mod tests {
    use std::{pin::Pin, task::Poll};

    use futures_util::{FutureExt as _, poll};

    use super::*;

    type Take<'a> = Pin<Box<dyn Future<Output = Result<Place, Full>> + Send + 'a>>;

    fn places(at_once: usize, per_host: usize, waiting: usize) -> Places {
        Places::new(Room { at_once, per_host, waiting, waiting_per_agent: 3 })
    }

    async fn begun<'a>(places: &'a Places, agent: u8, host: &'a str) -> Take<'a> {
        let mut take: Take<'_> = places.take([agent; 32], host).boxed();
        assert!(poll!(&mut take).is_pending(), "{agent} should wait for {host}");
        take
    }

    #[tokio::test]
    async fn agents_have_their_turns_however_many_each_of_them_sends() {
        let places = places(1, 9, 99);
        let mut held = places.take([1; 32], "h").await.unwrap();
        let mut waiting = Vec::new();
        for agent in [1, 1, 1, 2, 2, 3] {
            waiting.push((agent, begun(&places, agent, "h").await));
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(held);
            let mut served = None;
            for (n, (agent, take)) in waiting.iter_mut().enumerate() {
                if let Poll::Ready(place) = poll!(take) {
                    assert!(served.replace((n, *agent, place.unwrap())).is_none());
                }
            }
            let (n, agent, place) = served.unwrap();
            drop(waiting.remove(n));
            order.push(agent);
            held = place;
        }
        assert_eq!(order, [1, 2, 3, 1, 2, 1]);
    }

    #[tokio::test]
    async fn who_waits_for_a_busy_host_does_not_hold_up_the_others() {
        let places = places(3, 1, 99);
        let slow = places.take([1; 32], "slow").await.unwrap();
        let mut behind = begun(&places, 1, "slow").await;
        let _free = places.take([1; 32], "free").await.unwrap();
        drop(slow);
        assert!(poll!(&mut behind).is_ready());
    }

    #[tokio::test]
    async fn the_queue_ends_somewhere_for_all_and_for_one() {
        let places = places(1, 9, 4);
        let held = places.take([1; 32], "h").await.unwrap();
        let mut waiting = Vec::new();
        for agent in [1, 1, 1] {
            waiting.push(begun(&places, agent, "h").await);
        }
        assert_eq!(places.take([1; 32], "h").await.err(), Some(Full));
        waiting.push(begun(&places, 2, "h").await);
        assert_eq!(places.take([3; 32], "h").await.err(), Some(Full));
        // Who gives up makes room.
        drop(waiting.pop());
        waiting.push(begun(&places, 3, "h").await);
        drop((held, waiting));
        let state = places.0.state();
        assert_eq!((state.taken, state.waiting, state.hosts.len()), (0, 0, 0));
        assert!(state.turns.is_empty() && state.queues.is_empty());
    }

    #[tokio::test]
    async fn a_place_that_was_granted_to_somebody_who_has_gone_is_not_lost() {
        let places = places(1, 1, 9);
        let held = places.take([1; 32], "h").await.unwrap();
        let gone = begun(&places, 2, "h").await;
        let mut next = begun(&places, 3, "h").await;
        drop(held);
        drop(gone);
        assert!(poll!(&mut next).is_ready());
    }
}
