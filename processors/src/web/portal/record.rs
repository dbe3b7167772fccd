//! What is remembered of a request under its id, so that a request that comes again gets its first
//! answer (ruling A19).

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use weir_aggregates::{machine::Decision, web::gateway::Refusal};
use weir_events::{
    codec,
    web::{
        Event, WebRequestBlocked, WebRequestCompleted, WebRequestFailed,
        request::{AgentId, Hash256, PortalError, Refused},
    },
};
use weir_log::idempotency::CommandKey;

/// What is remembered of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Recorded {
    /// It was admitted: what became of it is remembered under its other key.
    Admitted {
        /// The cycle it is counted in.
        cycle: u64,
    },
    /// It was answered.
    Answered(Box<WebRequestCompleted>),
    /// It was refused, or came to nothing.
    Refused(Refused),
}

impl Recorded {
    /// What is to be remembered of a judgement: all but what says that the agent may come again.
    pub(super) fn of_admission(decision: &Decision<Event, Refusal>) -> Option<Bytes> {
        match &decision.refusal {
            Some(Refusal::No(PortalError::RateLimited { .. })) => None,
            Some(Refusal::No(error)) => Self::Refused(error.refused(None)).encode(),
            Some(_) => None,
            None => decision.events.iter().find_map(|event| match event {
                Event::WebRequestSubmitted(submitted) => {
                    Self::Admitted { cycle: submitted.asked.cycle }.encode()
                }
                Event::WebRequestCompleted(done) => Self::Answered(done.clone().into()).encode(),
                _ => None,
            }),
        }
    }

    /// What is to be remembered of a settlement.
    pub(super) fn of_settlement(decision: &Decision<Event, Refusal>) -> Option<Bytes> {
        decision.events.iter().find_map(Self::of_end)?.encode()
    }

    /// What an event says that a request has come to.
    pub(super) fn of_end(event: &Event) -> Option<Self> {
        match event {
            // The road of a request is nothing that its agent is answered.
            Event::WebRequestCompleted(done) => Some(Self::Answered(
                WebRequestCompleted { redirects: Vec::new(), ..done.clone() }.into(),
            )),
            Event::WebRequestFailed(WebRequestFailed { asked, code, error, reason, .. })
            | Event::WebRequestBlocked(WebRequestBlocked { asked, code, error, reason, .. }) => {
                let reason = reason.clone();
                Some(Self::Refused(Refused::of(Some(asked.request), *code, error, reason)))
            }
            _ => None,
        }
    }

    fn encode(&self) -> Option<Bytes> {
        codec::to_bytes("what is remembered of a web request", self).map(Bytes::from).ok()
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, codec::CodecFault> {
        codec::from_bytes("what is remembered of a web request", bytes)
    }
}

/// The key of a request, in its agent's own name space: what was judged of it.
pub(super) fn admission_key(agent: &AgentId, request: &Hash256) -> CommandKey {
    CommandKey::of(&format!("web/{agent}"), &format!("{request}"))
}

/// The same: what became of it.
pub(super) fn settlement_key(agent: &AgentId, request: &Hash256) -> CommandKey {
    CommandKey::of(&format!("web/{agent}"), &format!("{request}/settled"))
}
