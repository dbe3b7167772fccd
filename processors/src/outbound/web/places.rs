//! Few requests at once, few to each host, and every agent in its turn.
//!
//! Who wants a place has a seat first: there are only so many, and whoever has one is never sent away
//! while he waits. So it can be said before anything is reserved that too many wait.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Notify, oneshot};

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
    /// Hears of every seat that is given back.
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    /// How many seats each agent has, and all of them together.
    seats: HashMap<Agent, usize>,
    seated: usize,
    hosts: HashMap<Box<str>, usize>,
    /// Agents with somebody waiting, whose turn comes first in front.
    turns: VecDeque<Agent>,
    queues: HashMap<Agent, VecDeque<Waiter>>,
    last_id: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    host: Box<str>,
    grant: oneshot::Sender<Place>,
}

/// A right to a place, for one request at a time. Given back when it is dropped.
#[derive(Debug)]
pub struct Seat {
    shared: Arc<Shared>,
    agent: Agent,
}

/// A place. Whoever waits for it gets it when it is dropped.
#[derive(Debug)]
pub struct Place {
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
        Self(Arc::new(Shared { room, state: Mutex::default(), left: Notify::new() }))
    }

    /// A right to a place, unless too many have one: one that is taken up, or waited for.
    pub(super) fn seat(&self, agent: Agent) -> Result<Seat, Full> {
        let Room { at_once, waiting, waiting_per_agent, .. } = self.0.room;
        let mut state = self.0.state();
        let of_agent = state.seats.get(&agent).copied().unwrap_or_default();
        if state.seated >= at_once.saturating_add(waiting)
            || of_agent >= at_once.saturating_add(waiting_per_agent)
        {
            return Err(Full);
        }
        state.seated += 1;
        state.seats.insert(agent, of_agent + 1);
        Ok(Seat { shared: Arc::clone(&self.0), agent })
    }

    /// The same, as soon as there is one. For those who cannot be sent away any more.
    pub(super) async fn seat_when_free(&self, agent: Agent) -> Seat {
        loop {
            // From before one looks: no seat is given back unheard.
            let left = self.0.left.notified();
            if let Ok(seat) = self.seat(agent) {
                return seat;
            }
            left.await;
        }
    }

    /// Waits for a place with a host.
    pub(super) async fn take(&self, seat: &Seat, host: &str) -> Result<Place, Full> {
        let (shared, agent) = (&self.0, seat.agent);
        let (grant, granted) = oneshot::channel();
        let (id, grants) = shared.enqueue(agent, host, grant);
        // A grant that nobody takes is dropped here, outside of the lock, and granted again.
        grants.into_iter().for_each(hand_over);
        let waiting = Waiting { shared, agent, id };
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
}

impl State {
    /// One of an agent's has left its queue. `to_the_back`: its turn is over.
    fn after_leaving(&mut self, agent: Agent, to_the_back: bool) {
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

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.seated -= 1;
        if let Some(seats) = state.seats.get_mut(&self.agent) {
            *seats -= 1;
            if *seats == 0 {
                state.seats.remove(&self.agent);
            }
        }
        drop(state);
        self.shared.left.notify_waiters();
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

    async fn take(places: &Places, agent: u8, host: &str) -> Result<Place, Full> {
        let seat = places.seat([agent; 32])?;
        places.take(&seat, host).await
    }

    async fn begun<'a>(places: &'a Places, agent: u8, host: &'a str) -> Take<'a> {
        let mut take: Take<'_> = take(places, agent, host).boxed();
        assert!(poll!(&mut take).is_pending(), "{agent} should wait for {host}");
        take
    }

    #[tokio::test]
    async fn agents_have_their_turns_however_many_each_of_them_sends() {
        let places = places(1, 9, 99);
        let mut held = take(&places, 1, "h").await.unwrap();
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
        let slow = take(&places, 1, "slow").await.unwrap();
        let mut behind = begun(&places, 1, "slow").await;
        let _free = take(&places, 1, "free").await.unwrap();
        drop(slow);
        assert!(poll!(&mut behind).is_ready());
    }

    #[test]
    fn there_are_only_so_many_seats_for_all_and_for_one() {
        let places = places(1, 9, 4);
        let seat = |agent: u8| places.seat([agent; 32]);
        let mut seats: Vec<Seat> = [1, 1, 1, 1].map(|agent| seat(agent).unwrap()).into();
        assert_eq!(seat(1).err(), Some(Full), "one at once, and three who wait");
        seats.push(seat(2).unwrap());
        assert_eq!(seat(3).err(), Some(Full));
        // Who gives up makes room.
        drop(seats.pop());
        seats.push(seat(3).unwrap());
        drop(seats);
        let state = places.0.state();
        assert_eq!((state.seated, state.seats.len()), (0, 0));
    }

    #[tokio::test]
    async fn who_cannot_be_sent_away_has_a_seat_as_soon_as_one_is_left() {
        let places = places(1, 9, 99);
        let mut seats: Vec<Seat> = (0..4).map(|_| places.seat([1; 32]).unwrap()).collect();
        let mut late = places.seat_when_free([1; 32]).boxed();
        assert!(poll!(&mut late).is_pending(), "one at once, and three who wait");
        // What another agent leaves is nothing to this one.
        drop(places.seat_when_free([2; 32]).now_or_never().unwrap());
        assert!(poll!(&mut late).is_pending());
        drop(seats.pop());
        let Poll::Ready(seat) = poll!(&mut late) else { panic!("it is free") };
        assert_eq!(places.seat([1; 32]).err(), Some(Full), "it is taken again");
        drop((seat, seats));
        assert!(places.0.state().seats.is_empty());
    }

    #[tokio::test]
    async fn who_has_a_seat_waits_and_leaves_nothing_behind() {
        let places = places(1, 9, 4);
        let held = take(&places, 1, "h").await.unwrap();
        let mut waiting = Vec::new();
        for agent in [1, 1, 1, 2] {
            waiting.push(begun(&places, agent, "h").await);
        }
        drop((held, waiting));
        let state = places.0.state();
        assert_eq!((state.taken, state.seated, state.hosts.len()), (0, 0, 0));
        assert!(state.turns.is_empty() && state.queues.is_empty());
    }

    #[tokio::test]
    async fn a_place_that_was_granted_to_somebody_who_has_gone_is_not_lost() {
        let places = places(1, 1, 9);
        let held = take(&places, 1, "h").await.unwrap();
        let gone = begun(&places, 2, "h").await;
        let mut next = begun(&places, 3, "h").await;
        drop(held);
        drop(gone);
        assert!(poll!(&mut next).is_ready());
    }
}
