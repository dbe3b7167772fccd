//! Blocked requests that a human is asked about.

use std::time::Duration;

use weir_aggregates::web::approval::{Approval, Command, Refusal, State};
use weir_events::{
    codec::CodecFault,
    timestamp::Timestamp,
    web::{
        Event,
        approval::{self, WebApprovalRequested},
        request::{AgentId, Hash256, PortalRequest},
    },
};
use weir_projections::{query::QueryFault, web::approvals};

use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault, Executed, IdempotencyKey},
    outbound::web::address::WebUrl,
};

/// What the hash of an approval begins with, so that it stands for nothing else.
const DOMAIN: &[u8] = b"weir.approval.v1";

/// How many questions of one agent may wait for an answer.
const MAX_OPEN: u64 = 32;

/// The approvals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    door: Door,
    patience: Duration,
}

/// What an approval of this request is for: the agent and all that the request says, but for its id and
/// the tick it was signed in. Whoever says anything else asks for something else.
pub fn of(request: &PortalRequest, url: &WebUrl) -> Result<Hash256, CodecFault> {
    let said = PortalRequest {
        id: Hash256::new([0; 32]),
        tick: 0,
        url: url.as_str().as_bytes().to_vec().into(),
        ..request.clone()
    };
    Ok(Hash256::of(&[DOMAIN, &said.canonical_bytes()?]))
}

impl Approvals {
    /// Approvals that humans have so long to answer.
    #[must_use]
    pub const fn new(door: Door, patience: Duration) -> Self {
        Self { door, patience }
    }

    /// When a question that is asked now need not be answered any more.
    #[must_use]
    pub fn expiry(&self) -> Timestamp {
        let micros = i64::try_from(self.patience.as_micros()).unwrap_or(i64::MAX);
        Timestamp::from_micros(self.door.now().micros().saturating_add(micros))
    }

    /// Where it stands.
    pub async fn standing(&self, approval: &Hash256) -> Result<State, DoorFault> {
        // A stream of hexadecimal digits has a name.
        let Ok(stream) = approval::stream(approval) else { return Ok(State::default()) };
        Ok(self.door.load::<Approval>(&stream).await?.0)
    }

    /// Whether a human has allowed it, and that still holds.
    pub async fn allows(&self, approval: &Hash256) -> Result<bool, DoorFault> {
        Ok(self.standing(approval).await?.allows_at(self.door.now()))
    }

    /// Whether an agent has asked so much that somebody has to answer first.
    pub async fn is_full(&self, agent: &AgentId) -> Result<bool, QueryFault> {
        let database = self.door.log().database();
        Ok(approvals::n_open(database, agent, self.door.now()).await? >= MAX_OPEN)
    }

    /// Asks a human, where nobody has.
    pub async fn ask(
        &self,
        asked: WebApprovalRequested,
        caller: &Caller,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        let approval = asked.approval;
        self.say(&approval, &Command::Ask(Box::new(asked)), caller, None).await
    }

    /// Puts an answer, or a question, on record.
    pub async fn say(
        &self,
        approval: &Hash256,
        command: &Command,
        caller: &Caller,
        key: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        let stream = approval::stream(approval).map_err(|_| Refusal::Unknown);
        let stream = stream.map_err(ExecuteFault::Refused)?;
        self.door.execute::<Approval>(&stream, command, caller, key).await
    }
}
