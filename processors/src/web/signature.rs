//! Who asks: a request counts for the agent that signed it, near the tick it was signed in, as long
//! as the agent is trusted. The first of all checks; nothing of it costs a question as long as the
//! agent's key is known.

use std::{sync::Arc, time::Duration};

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use tokio::sync::Semaphore;
use weir_aggregates::access::Scope;
use weir_events::{
    codec::CodecFault,
    web::request::{AgentId, PortalError, PortalRequest, PublicKey, Signature},
};

use crate::access::{AgentKeys, Principal};

/// How many unknown agents the log is asked for at once.
const MAX_ASKING: usize = 2;
/// How long one waits to be among them.
const PATIENCE: Duration = Duration::from_secs(1);

/// For how many ticks before and after a signature counts, unless somebody says otherwise.
pub const DEFAULT_WINDOW: u64 = 600;

/// The agents whose signatures count. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Agents {
    keys: AgentKeys,
    window: u64,
    /// Who asks the log for a key: where a signature is enough, anybody can name agents that nobody
    /// has heard of.
    asking: Arc<Semaphore>,
}

impl Agents {
    /// The agents, and for how many ticks before and after what they sign counts.
    #[must_use]
    pub fn new(keys: AgentKeys, window: u64) -> Self {
        Self { keys, window, asking: Arc::new(Semaphore::new(MAX_ASKING)) }
    }

    /// Checks shape, tick, agent and signature of a request, cheapest first; answers the bytes that
    /// were signed.
    pub async fn verify(&self, request: &PortalRequest, now: u64) -> Result<Vec<u8>, PortalError> {
        request.check_shape()?;
        check_tick(request.tick, now, self.window)?;
        let key = self.key(&request.agent).await?;
        check_signature(request, &key)
    }

    /// The key of an agent that is trusted. Of agents that were not heard of here lately, a few are
    /// asked after at once, and the others wait a little: those that are known do not.
    ///
    /// # Errors
    /// `PermissionDenied` where it is not, `RateLimited` where too many are asked after.
    pub async fn key(&self, agent: &AgentId) -> Result<VerifyingKey, PortalError> {
        if let Some(key) = self.keys.known(agent) {
            return Ok(key);
        }
        let place = tokio::time::timeout(PATIENCE, self.asking.acquire()).await;
        let Ok(Ok(_place)) = place else {
            return Err(PortalError::RateLimited { retry_ticks: 1 });
        };
        let key = self.keys.key(agent).await;
        let key = key.map_err(|fault| PortalError::Database(fault.to_string()))?;
        key.ok_or_else(|| denied(format!("agent {agent} is not registered here, or was revoked")))
    }
}

/// Whether somebody with a token may send what this agent has signed: it is the agent's own token,
/// and may ask the outside.
pub fn may_send(principal: &Principal, agent: &AgentId) -> Result<(), PortalError> {
    if !principal.may(Scope::WebFetch) {
        let words = format!("the token of `{}` does not have scope `web:fetch`", principal.name);
        return Err(denied(words));
    }
    if principal.agent != Some(*agent) {
        let words = format!("the token of `{}` is not of agent {agent}", principal.name);
        return Err(denied(words));
    }
    Ok(())
}

/// Whether a signature of one tick counts in another.
fn check_tick(signed: u64, now: u64, window: u64) -> Result<(), PortalError> {
    if signed.abs_diff(now) <= window {
        return Ok(());
    }
    Err(denied(format!(
        "the request was signed in tick {signed}, and it is tick {now}: sign it again, within \
         {window} ticks of the time"
    )))
}

/// Checks a request's signature with its agent's key; answers the bytes that were signed.
pub fn check_signature(
    request: &PortalRequest,
    key: &VerifyingKey,
) -> Result<Vec<u8>, PortalError> {
    let wrong = || denied("the signature does not fit the request and the agent's key".to_owned());
    if AgentId::of_key(&PublicKey::new(key.to_bytes())) != request.agent {
        return Err(wrong());
    }
    let bytes = canonical(request)?;
    let signature = ed25519_dalek::Signature::from_bytes(request.signature.as_bytes());
    // The strict way: one message, one key, one signature, whoever made them.
    key.verify_strict(&bytes, &signature).map_err(|_| wrong())?;
    Ok(bytes)
}

/// Signs a request in the name of the agent that has this key, whatever agent it named before.
pub fn sign(mut request: PortalRequest, key: &SigningKey) -> Result<PortalRequest, CodecFault> {
    request.agent = AgentId::of_key(&PublicKey::new(key.verifying_key().to_bytes()));
    let bytes = request.canonical_bytes()?;
    request.signature = Signature::new(key.sign(&bytes).to_bytes());
    Ok(request)
}

fn canonical(request: &PortalRequest) -> Result<Vec<u8>, PortalError> {
    request.canonical_bytes().map_err(|fault| PortalError::Internal(fault.to_string()))
}

const fn denied(words: String) -> PortalError {
    PortalError::PermissionDenied(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use weir_events::web::{
        content::ContentFilter,
        request::{Hash256, Headers, HttpMethod},
    };

    use super::*;

    fn key(seed: u8) -> SigningKey {
        SigningKey::from_bytes(&[seed; 32])
    }

    fn request() -> PortalRequest {
        PortalRequest {
            id: Hash256::of(&[b"first"]),
            agent: AgentId::new([0; 32]),
            url: "https://docs.rs/serde".into(),
            method: HttpMethod::Post,
            headers: [("accept", "text/html")].into(),
            body: Some("a body".into()),
            filter: ContentFilter::default(),
            purpose: "learn".to_owned(),
            tick: 300,
            signature: Signature::new([0; 64]),
        }
    }

    fn signed() -> PortalRequest {
        sign(request(), &key(1)).unwrap()
    }

    #[test]
    fn what_an_agent_signed_counts_with_its_key_and_no_other() {
        let request = signed();
        let bytes = check_signature(&request, &key(1).verifying_key()).unwrap();
        assert_eq!(bytes, request.canonical_bytes().unwrap());
        let other = check_signature(&request, &key(2).verifying_key()).unwrap_err();
        assert_eq!(other.code(), 0x0705);
    }

    #[test]
    fn whatever_is_changed_the_signature_no_longer_fits() {
        type Change = fn(&mut PortalRequest);
        let changes: [Change; 13] = [
            |r| r.id = Hash256::of(&[b"second"]),
            |r| r.agent = AgentId::new([1; 32]),
            |r| r.url = "https://docs.rs/serde/".into(),
            |r| r.method = HttpMethod::Get,
            |r| r.headers = Headers::default(),
            |r| r.headers = [("accept", "text/plain")].into(),
            |r| r.body = None,
            |r| r.body = Some("a bodY".into()),
            |r| r.filter.strip_code_blocks = false,
            |r| r.filter.max_size += 1,
            |r| r.purpose.push(' '),
            |r| r.tick += 1,
            |r| r.signature = Signature::new([0; 64]),
        ];
        for change in changes {
            let mut request = signed();
            change(&mut request);
            let refused = check_signature(&request, &key(1).verifying_key()).unwrap_err();
            assert_eq!(refused.name(), "PermissionDenied", "{request:?}");
        }
    }

    #[test]
    fn a_signature_counts_once_in_one_spelling() {
        // The order of the group, added to the second half: the same equation, another signature.
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9,
            0xde, 0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let mut request = signed();
        let (mut bytes, mut carry) = (*request.signature.as_bytes(), 0);
        for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(order) + carry;
            (*byte, carry) = (sum.to_le_bytes()[0], sum >> 8);
        }
        request.signature = Signature::new(bytes);
        assert!(check_signature(&request, &key(1).verifying_key()).is_err());
    }

    #[test]
    fn a_signature_counts_within_its_window_both_ways() {
        for (signed, now) in [(1_000, 400), (400, 1_000), (0, 600), (u64::MAX, u64::MAX - 600)] {
            assert_eq!(check_tick(signed, now, 600), Ok(()));
        }
        for (signed, now) in [(1_000, 399), (399, 1_000), (0, 601), (u64::MAX, 0)] {
            let refused = check_tick(signed, now, 600).unwrap_err();
            assert_eq!(refused.code(), 0x0705);
            assert!(refused.to_string().contains(&format!("tick {now}")), "{refused}");
        }
        assert_eq!(check_tick(7, 7, 0), Ok(()));
        assert!(check_tick(7, 8, 0).is_err());
    }

    proptest! {
        #[test]
        fn no_flipped_bit_of_a_signature_counts(bit in 0_usize..512) {
            let mut request = signed();
            let mut bytes = *request.signature.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            request.signature = Signature::new(bytes);
            prop_assert!(check_signature(&request, &key(1).verifying_key()).is_err());
        }
    }
}
