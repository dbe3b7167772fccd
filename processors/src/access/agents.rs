//! Agents: registered with a key, revoked at most once. The keys that signatures are checked with are
//! remembered, and forgotten as soon as this process hears that one was revoked.

use std::{
    collections::HashMap,
    sync::{Arc, MutexGuard, PoisonError},
};

use ed25519_dalek::VerifyingKey;
use weir_aggregates::access::agent::{Agent, Command, Refusal, State, verifying_key};
use weir_events::{
    access::{Event, agent_stream},
    stream::StreamNameFault,
    web::request::{AgentId, PublicKey},
};

use super::{Inner, Tokens};
use crate::{
    caller::Caller,
    door::{DoorFault, ExecuteFault, Executed, IdempotencyKey},
};
use weir_log::append::AppendFault;

/// Keys that are remembered.
const MAX_KEYS: usize = 10_000;

/// The agents of this Weir and their keys. Cheap to clone.
#[derive(Debug, Clone)]
pub struct AgentKeys {
    inner: Arc<Inner>,
}

/// The keys of agents that were live when they were looked up.
#[derive(Debug, Default)]
pub(super) struct Keys {
    known: HashMap<AgentId, VerifyingKey>,
    generation: u64,
}

impl Keys {
    fn get(&self, agent: &AgentId) -> Option<VerifyingKey> {
        self.known.get(agent).copied()
    }

    /// Rises with every revocation.
    const fn generation(&self) -> u64 {
        self.generation
    }

    /// Remembers a key that was looked up in a generation, unless a revocation has overtaken it.
    fn remember(&mut self, agent: AgentId, key: VerifyingKey, generation: u64) {
        if generation != self.generation {
            return;
        }
        if self.known.len() >= MAX_KEYS {
            // Any other will do: it is looked up again.
            let other = self.known.keys().next().copied();
            other.and_then(|other| self.known.remove(&other));
        }
        self.known.insert(agent, key);
    }

    /// An agent was revoked.
    pub(super) fn revoke(&mut self, agent: &AgentId) {
        self.known.remove(agent);
        self.generation += 1;
    }

    /// Revocations may have been missed: nothing that is known is worth anything.
    pub(super) fn forget_all(&mut self) {
        self.known.clear();
        self.generation += 1;
    }
}

impl Tokens {
    /// The agents behind the same door.
    #[must_use]
    pub fn agents(&self) -> AgentKeys {
        AgentKeys { inner: Arc::clone(&self.inner) }
    }
}

impl AgentKeys {
    /// Knows an agent by its key from now on.
    pub async fn register(
        &self,
        name: String,
        public_key: PublicKey,
        caller: &Caller,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        let stream =
            agent_stream(&AgentId::of_key(&public_key)).map_err(|fault| nameless(&fault))?;
        let command = Command::Register { name, public_key };
        self.inner.door.execute::<Agent>(&stream, &command, caller, idempotency).await
    }

    /// Trusts an agent no more, and its tokens neither.
    pub async fn revoke(
        &self,
        agent: &AgentId,
        caller: &Caller,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        let stream = agent_stream(agent).map_err(|fault| nameless(&fault))?;
        let door = &self.inner.door;
        let done = door.execute::<Agent>(&stream, &Command::Revoke, caller, idempotency).await?;
        self.inner.forget_agent(agent);
        Ok(done)
    }

    /// Where an agent stands, as the log says now.
    pub async fn state(&self, agent: &AgentId) -> Result<State, DoorFault> {
        let stream = agent_stream(agent).map_err(|fault| nameless(&fault))?;
        Ok(self.inner.door.load::<Agent>(&stream).await?.0)
    }

    /// The key that an agent's signatures are checked with, where it is known without a question: as
    /// long as this process hears of every revocation.
    #[must_use]
    pub fn known(&self, agent: &AgentId) -> Option<VerifyingKey> {
        self.inner.keys().get(agent).filter(|_| self.inner.knows_all())
    }

    /// The same, asking where it is not known; none, where the agent is unknown or revoked.
    pub async fn key(&self, agent: &AgentId) -> Result<Option<VerifyingKey>, DoorFault> {
        let known = self.known(agent);
        if known.is_some() {
            return Ok(known);
        }
        let generation = self.inner.keys().generation();
        let state = self.state(agent).await?;
        // What was registered was a good key then, and is one now.
        let key = state.live().and_then(|agent| verifying_key(&agent.public_key).ok());
        if let Some(key) = key {
            self.inner.keys().remember(*agent, key, generation);
        }
        Ok(key)
    }
}

impl Inner {
    fn keys(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets an agent's key, and the tokens that are its own.
    pub(super) fn forget_agent(&self, agent: &AgentId) {
        self.keys().revoke(agent);
        self.verified().revoke_agent(*agent);
    }

    /// Forgets all keys.
    pub(super) fn forget_agents(&self) {
        self.keys().forget_all();
    }
}

fn nameless(fault: &StreamNameFault) -> DoorFault {
    AppendFault::Invalid(fault.to_string()).into()
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;

    fn key(seed: u8) -> (AgentId, VerifyingKey) {
        let key = SigningKey::from_bytes(&[seed; 32]).verifying_key();
        (AgentId::of_key(&key.to_bytes().into()), key)
    }

    #[test]
    fn a_key_that_a_revocation_overtook_is_not_remembered() {
        let (mut keys, (agent, key)) = (Keys::default(), key(1));
        let generation = keys.generation();
        keys.revoke(&agent);
        keys.remember(agent, key, generation);
        assert_eq!(keys.get(&agent), None);
        keys.remember(agent, key, keys.generation());
        assert_eq!(keys.get(&agent), Some(key));
        keys.forget_all();
        assert_eq!(keys.get(&agent), None);
    }

    #[test]
    fn keys_take_bounded_room() {
        let (mut keys, (_, key)) = (Keys::default(), key(1));
        for n in 0..MAX_KEYS + 5 {
            let mut id = [0; 32];
            id[..8].copy_from_slice(&n.to_le_bytes());
            keys.remember(id.into(), key, 0);
        }
        assert_eq!(keys.known.len(), MAX_KEYS);
    }
}
