//! Tokens whose secret was hashed and found right a moment ago, so that it is hashed once a minute
//! and not once a request. Whether they are revoked is another matter, and known at once.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use weir_events::web::request::AgentId;

use super::Principal;

/// How long a secret is not hashed again.
const VERIFIED_FOR: Duration = Duration::from_mins(1);
/// Tokens whose verification is remembered.
const MAX_VERIFIED: usize = 10_000;
/// Revoked ids that are remembered, for verifications under way while they were revoked.
const MAX_REVOKED: usize = 10_000;

/// Fingerprints of tokens, and whom they let in.
#[derive(Debug, Default)]
pub(super) struct Known {
    verified: HashMap<[u8; 32], (Principal, Instant)>,
    revoked: HashSet<String>,
    generation: u64,
}

impl Known {
    /// Whom a token lets in, if its secret was right a moment ago.
    pub(super) fn get(&self, fingerprint: &[u8; 32], now: Instant) -> Option<Principal> {
        let (principal, at) = self.verified.get(fingerprint)?;
        let fresh = now.saturating_duration_since(*at) < VERIFIED_FOR;
        fresh.then(|| principal.clone())
    }

    /// Whether a token was good once, however long ago, and is not known to be revoked.
    pub(super) fn was_good(&self, fingerprint: &[u8; 32]) -> bool {
        self.verified.contains_key(fingerprint)
    }

    /// Rises whenever revocations may have been missed.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Remembers a verification that began in a generation, unless it was overtaken by a revocation.
    pub(super) fn remember(
        &mut self,
        fingerprint: [u8; 32],
        principal: Principal,
        at: Instant,
        generation: u64,
    ) {
        let revoked = ids(&principal).any(|id| self.revoked.contains(id));
        if revoked || principal.token_id.is_none() || generation != self.generation {
            return;
        }
        if self.verified.len() >= MAX_VERIFIED {
            self.verified.retain(|_, (_, then)| at.saturating_duration_since(*then) < VERIFIED_FOR);
        }
        if self.verified.len() < MAX_VERIFIED {
            self.verified.insert(fingerprint, (principal, at));
        }
    }

    /// A token was revoked, or a session ended. It never comes back.
    pub(super) fn revoke(&mut self, id: &str) {
        self.verified.retain(|_, (principal, _)| !ids(principal).any(|its| its == id));
        if self.revoked.len() >= MAX_REVOKED {
            self.revoked.clear();
            self.generation += 1;
        }
        self.revoked.insert(id.to_owned());
    }

    /// An agent was revoked, and whatever is its own: also what is being verified now.
    pub(super) fn revoke_agent(&mut self, agent: AgentId) {
        self.verified.retain(|_, (principal, _)| principal.agent != Some(agent));
        self.generation += 1;
    }

    /// Revocations may have been missed: nothing that is known is worth anything.
    pub(super) fn forget_all(&mut self) {
        self.verified.clear();
        self.generation += 1;
    }
}

/// What a principal stands and falls with: its token and its session. Both are named by 16 random
/// hexadecimal digits, so one never stands for the other.
fn ids(principal: &Principal) -> impl Iterator<Item = &str> {
    let session = principal.session.as_ref().map(super::Session::name);
    principal.token_id.as_deref().into_iter().chain(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal() -> Principal {
        Principal {
            name: "ci".into(),
            token_id: Some("0123456789abcdef".into()),
            scopes: [].into(),
            expires_at: None,
            profile: None,
            agent: None,
            session: None,
        }
    }

    #[test]
    fn a_verification_that_a_revocation_overtook_is_not_remembered() {
        let (mut known, now) = (Known::default(), Instant::now());
        let generation = known.generation();
        known.revoke("0123456789abcdef");
        known.remember([1; 32], principal(), now, generation);
        assert_eq!(known.get(&[1; 32], now), None);
    }

    #[test]
    fn a_token_goes_with_its_agent_and_so_does_a_verification_under_way() {
        let (mut known, now, agent) = (Known::default(), Instant::now(), AgentId::new([7; 32]));
        let generation = known.generation();
        known.remember([1; 32], Principal { agent: Some(agent), ..principal() }, now, generation);
        known.remember([2; 32], principal(), now, generation);
        known.revoke_agent(agent);
        assert_eq!(known.get(&[1; 32], now), None);
        assert_eq!(known.get(&[2; 32], now), Some(principal()));
        known.remember([1; 32], Principal { agent: Some(agent), ..principal() }, now, generation);
        assert_eq!(known.get(&[1; 32], now), None);
    }

    #[test]
    fn a_verification_from_before_a_gap_is_not_remembered() {
        let (mut known, now) = (Known::default(), Instant::now());
        let generation = known.generation();
        known.forget_all();
        known.remember([1; 32], principal(), now, generation);
        assert_eq!(known.get(&[1; 32], now), None);
    }

    #[test]
    fn a_minute_later_the_secret_is_hashed_again() {
        let (mut known, now) = (Known::default(), Instant::now());
        known.remember([1; 32], principal(), now, known.generation());
        assert_eq!(known.get(&[1; 32], now), Some(principal()));
        assert_eq!(known.get(&[1; 32], now + VERIFIED_FOR), None);
    }

    #[test]
    fn a_token_was_good_until_it_is_revoked() {
        let (mut known, now) = (Known::default(), Instant::now());
        assert!(!known.was_good(&[1; 32]));
        known.remember([1; 32], principal(), now, known.generation());
        assert_eq!(known.get(&[1; 32], now + VERIFIED_FOR), None);
        assert!(known.was_good(&[1; 32]), "its secret is only to be hashed again");
        known.revoke("0123456789abcdef");
        assert!(!known.was_good(&[1; 32]));
    }
}
