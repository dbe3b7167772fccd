//! Agents: known by their key, until they are revoked. Stream `access/agent/<id>`.
//!
//! An agent's id is the hash of its key, so a key cannot be exchanged: an agent with another key is
//! another agent, and one that was revoked never comes back.

use ed25519_dalek::VerifyingKey;
use weir_events::{
    access::{AgentRegistered, AgentRevoked, Event},
    kind::Subsystem,
    web::request::{AgentId, PublicKey},
};

use super::MAX_NAME_CHARS;
use crate::{
    machine::{Context, Decision, Machine},
    words::are_plain,
};

/// The machine of one agent.
#[derive(Debug)]
pub struct Agent;

/// Where an agent stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum State {
    /// Nobody has registered it.
    #[default]
    Unknown,
    /// What it signs counts.
    Live(AgentRegistered),
    /// What it signs counts for nothing any more.
    Revoked(AgentRegistered),
}

impl State {
    /// What the agent is, if what it signs counts.
    #[must_use]
    pub const fn live(&self) -> Option<&AgentRegistered> {
        match self {
            Self::Live(agent) => Some(agent),
            _ => None,
        }
    }
}

/// What can be asked of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Know it by its key.
    Register {
        /// What it is to be called.
        name: String,
        /// Its key; the stream is that of the key's hash.
        public_key: PublicKey,
    },
    /// Trust it no more.
    Revoke,
}

/// Why not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Its key is known already, under another name.
    #[error("agent {agent} is registered already, as `{name}`")]
    Exists {
        /// The agent.
        agent: AgentId,
        /// What it is called.
        name: String,
    },
    /// It was revoked.
    #[error("agent {0} was revoked, and its key with it: make the agent a new key")]
    Gone(AgentId),
    /// There is no such agent.
    #[error("there is no such agent")]
    Unknown,
    /// The name is empty, too long or not printable.
    #[error(
        "an agent's name has 1 to {MAX_NAME_CHARS} characters, none of them hidden or a control character"
    )]
    BadName,
    /// The key is none that signatures could be trusted with.
    #[error(transparent)]
    BadKey(#[from] KeyFault),
}

/// Why no signature is trusted with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// It is no point of the curve, or written in another way than the standard's.
    #[error("this is no ed25519 public key: 32 bytes that encode a point of the curve")]
    NotAKey,
    /// Signatures that fit it can be made without its secret, or fit several messages.
    #[error("this key is weak: it is of small or mixed order, as no honest program makes them")]
    Weak,
}

/// A key, if signatures can be trusted with it.
pub fn verifying_key(public_key: &PublicKey) -> Result<VerifyingKey, KeyFault> {
    let key = VerifyingKey::from_bytes(public_key.as_bytes()).map_err(|_| KeyFault::NotAKey)?;
    let point = key.to_edwards();
    // One key has one spelling, or one agent would have two ids.
    if point.compress().as_bytes() != public_key.as_bytes() {
        return Err(KeyFault::NotAKey);
    }
    if key.is_weak() || !point.is_torsion_free() { Err(KeyFault::Weak) } else { Ok(key) }
}

impl Machine for Agent {
    type State = State;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    const SUBSYSTEM: Subsystem = Subsystem::Access;

    fn decide(state: &State, command: &Command, _: &Context) -> Decision<Event, Refusal> {
        match (command, state) {
            (Command::Register { name, public_key }, State::Unknown) => {
                match registered(name, *public_key) {
                    Ok(agent) => Decision::accept(agent),
                    Err(refusal) => Decision::refuse(refusal),
                }
            }
            // Registering twice is what a script does that is run again.
            (Command::Register { name, .. }, State::Live(known)) if *name == known.name => {
                Decision::nothing()
            }
            (Command::Register { .. }, State::Live(known)) => {
                let (agent, name) = (known.agent, known.name.clone());
                Decision::refuse(Refusal::Exists { agent, name })
            }
            (Command::Register { .. }, State::Revoked(known)) => {
                Decision::refuse(Refusal::Gone(known.agent))
            }
            (Command::Revoke, State::Unknown) => Decision::refuse(Refusal::Unknown),
            (Command::Revoke, State::Live(known)) => {
                Decision::accept(AgentRevoked { agent: known.agent })
            }
            (Command::Revoke, State::Revoked(_)) => Decision::nothing(),
        }
    }

    fn apply(state: &mut State, event: &Event) {
        match event {
            Event::AgentRegistered(agent) => *state = State::Live(agent.clone()),
            Event::AgentRevoked(_) => {
                if let State::Live(agent) = std::mem::take(state) {
                    *state = State::Revoked(agent);
                }
            }
            // Of other streams.
            Event::TokenIssued(_)
            | Event::TokenRevoked(_)
            | Event::SessionOpened(_)
            | Event::SessionEnded(_) => {}
        }
    }
}

fn registered(name: &str, public_key: PublicKey) -> Result<AgentRegistered, Refusal> {
    if !are_plain(name, MAX_NAME_CHARS) {
        return Err(Refusal::BadName);
    }
    verifying_key(&public_key)?;
    let agent = AgentId::of_key(&public_key);
    Ok(AgentRegistered { agent, name: name.to_owned(), public_key })
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use weir_events::timestamp::Timestamp;

    use super::*;
    use crate::machine::fold;

    const NOW: Context = Context { now: Timestamp::from_micros(1_000_000) };

    fn key(seed: u8) -> PublicKey {
        SigningKey::from_bytes(&[seed; 32]).verifying_key().to_bytes().into()
    }

    fn reader() -> AgentRegistered {
        let public_key = key(1);
        AgentRegistered { agent: AgentId::of_key(&public_key), name: "reader".into(), public_key }
    }

    fn register(name: &str, public_key: PublicKey) -> Command {
        Command::Register { name: name.to_owned(), public_key }
    }

    fn decide(history: &[Event], command: &Command) -> Decision<Event, Refusal> {
        Agent::decide(&fold::<Agent>(history), command, &NOW)
    }

    #[test]
    fn an_agent_is_registered_once_and_again_under_its_name_changes_nothing() {
        assert_eq!(decide(&[], &register("reader", key(1))), Decision::accept(reader()));
        let known = [reader().into()];
        assert_eq!(decide(&known, &register("reader", key(1))), Decision::nothing());
        let other = decide(&known, &register("writer", key(1)));
        let exists = Refusal::Exists { agent: reader().agent, name: "reader".to_owned() };
        assert_eq!(other, Decision::refuse(exists));
    }

    #[test]
    fn a_revoked_agent_never_comes_back() {
        let revoked = AgentRevoked { agent: reader().agent };
        let live = [Event::from(reader())];
        assert_eq!(fold::<Agent>(&live).live(), Some(&reader()));
        assert_eq!(decide(&live, &Command::Revoke), Decision::accept(revoked.clone()));
        let gone = [reader().into(), revoked.into()];
        assert_eq!(fold::<Agent>(&gone).live(), None);
        assert_eq!(decide(&gone, &Command::Revoke), Decision::nothing());
        let again = decide(&gone, &register("reader", key(1)));
        assert_eq!(again, Decision::refuse(Refusal::Gone(reader().agent)));
        assert_eq!(decide(&[], &Command::Revoke), Decision::refuse(Refusal::Unknown));
    }

    #[test]
    fn a_name_can_be_read() {
        for bad in ["", " ", "a\u{7}", "a\u{202e}b", &"x".repeat(MAX_NAME_CHARS + 1)] {
            let refused = decide(&[], &register(bad, key(1)));
            assert_eq!(refused, Decision::refuse(Refusal::BadName), "{bad:?}");
        }
        assert_eq!(decide(&[], &register(&"ö".repeat(MAX_NAME_CHARS), key(1))).refusal, None);
    }

    #[test]
    fn a_key_that_anybody_could_sign_with_is_refused() {
        let weak = [
            // The eight points of small order, as the standard writes them.
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ];
        for digits in weak {
            let refused = decide(&[], &register("x", digits.parse().unwrap()));
            assert_eq!(refused, Decision::refuse(KeyFault::Weak.into()), "{digits}");
        }
    }

    #[test]
    fn a_key_of_mixed_order_is_refused() {
        // An honest key, shifted by the point of order two: it fits signatures of its neighbour
        // wherever they are checked less strictly.
        let honest = SigningKey::from_bytes(&[1; 32]).verifying_key().to_edwards();
        let order_two: PublicKey =
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f".parse().unwrap();
        let order_two = VerifyingKey::from_bytes(order_two.as_bytes()).unwrap().to_edwards();
        let mixed = PublicKey::new((honest + order_two).compress().to_bytes());
        assert_eq!(verifying_key(&mixed), Err(KeyFault::Weak));
        assert!(verifying_key(&key(1)).is_ok());
    }

    #[test]
    fn what_is_no_point_or_is_written_otherwise_is_no_key() {
        for digits in [
            // No point has this height.
            "0200000000000000000000000000000000000000000000000000000000000000",
            // The neutral point, written as p + 1.
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            // The same point with the sign of a zero.
            "0100000000000000000000000000000000000000000000000000000000000080",
        ] {
            let refused = verifying_key(&digits.parse().unwrap());
            assert_eq!(refused, Err(KeyFault::NotAKey), "{digits}");
        }
    }
}
