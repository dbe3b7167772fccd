//! Blocked requests that a human is asked about.

use std::time::Duration;

use weir_aggregates::web::{
    approval::{Approval, Command, Refusal, State},
    asking::{self, Asking, Count},
};
use weir_events::{
    codec::CodecFault,
    stream::{StreamName, StreamNameFault},
    timestamp::Timestamp,
    web::{
        Event,
        approval::{self, WebApprovalRequested},
        request::{Hash256, PortalRequest},
    },
};

use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault, Executed, IdempotencyKey, Pair, Paired},
    outbound::web::address::WebUrl,
};

/// What the hash of an approval begins with, so that it stands for nothing else.
const DOMAIN: &[u8] = b"weir.approval.v1";

/// The approvals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    door: Door,
    patience: Duration,
}

/// A question was not put on record.
#[derive(Debug, thiserror::Error)]
pub enum AskFault {
    /// As many of this agent's wait as may, the first of them until then.
    #[error("as many questions of this agent wait for an answer as may, until {0}")]
    Full(Timestamp),
    /// The door did not let it in.
    #[error(transparent)]
    Execute(#[from] ExecuteFault<Refusal>),
    /// The door could not do its work.
    #[error(transparent)]
    Door(#[from] DoorFault),
    /// A hash is no part of a stream's name.
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
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

    /// Asks a human, where nobody has. An agent that waits for as many answers as it may has to have one
    /// first; then the answer is when the first of its questions ends. It counts at all instances
    /// together: the question and its place among the agent's are one append.
    pub async fn ask(&self, asked: WebApprovalRequested, caller: &Caller) -> Result<(), AskFault> {
        let WebApprovalRequested { approval, agent, expires_at, .. } = asked;
        let now = self.door.now();
        let standing = self.standing(&approval).await?;
        if standing.is_open_at(now) || standing.answer_at(now).is_some() {
            return Ok(());
        }
        let (counted, stream) = (approval::asking_stream(&agent)?, approval::stream(&approval)?);
        let ask = Command::Ask(Box::new(asked));
        let mut count = Count { agent, approval, expires_at, answered: Vec::new() };
        loop {
            let pair = Pair::<Asking, Approval> {
                first: (&counted, &count),
                second: Some((&stream, &ask)),
                facts: &[],
                once: None,
            };
            match self.door.execute_pair(&pair, caller).await? {
                Paired::Done(..) | Paired::Before(_) => return Ok(()),
                Paired::SecondRefused(refusal) => {
                    return Err(ExecuteFault::Refused(refusal).into());
                }
                Paired::FirstRefused(asking::Refusal::Full(until)) => {
                    if !count.answered.is_empty() {
                        return Err(AskFault::Full(until));
                    }
                    // Nobody has said of those that are answered that they do not count any more.
                    count.answered = self.answered(&counted, now).await?;
                    if count.answered.is_empty() {
                        return Err(AskFault::Full(until));
                    }
                }
            }
        }
    }

    /// The questions that count among an agent's, and do not wait any more.
    async fn answered(
        &self,
        counted: &StreamName,
        now: Timestamp,
    ) -> Result<Vec<Hash256>, DoorFault> {
        let (state, _) = self.door.load::<Asking>(counted).await?;
        let mut answered = Vec::new();
        for (approval, _) in state.open_at(now) {
            if !self.standing(approval).await?.is_open_at(now) {
                answered.push(*approval);
            }
        }
        Ok(answered)
    }

    /// Puts an answer on record.
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
