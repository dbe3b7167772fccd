//! Blocked requests that a human is asked about.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

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
const MAX_OPEN: usize = 32;

/// For how long a question counts that the read model need not know yet.
const FRESH: Duration = Duration::from_mins(1);

/// The most questions that are remembered like that.
const MAX_FRESH: usize = 4_096;

/// The approvals. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Approvals {
    door: Door,
    patience: Duration,
    /// What this process has asked lately: the read model comes after the log.
    fresh: Arc<Mutex<Vec<Fresh>>>,
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
    /// Nobody knows how many wait.
    #[error(transparent)]
    Query(#[from] QueryFault),
}

#[derive(Debug, Clone, Copy)]
struct Fresh {
    agent: AgentId,
    approval: Hash256,
    asked: Instant,
    expires_at: Timestamp,
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
    pub fn new(door: Door, patience: Duration) -> Self {
        Self { door, patience, fresh: Arc::default() }
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
    /// first; then the answer is when the first of its questions ends. Several processes may let as many
    /// through each until their read models have seen what the others asked.
    pub async fn ask(&self, asked: WebApprovalRequested, caller: &Caller) -> Result<(), AskFault> {
        let (approval, now) = (asked.approval, self.door.now());
        let standing = self.standing(&approval).await.map_err(ExecuteFault::Fault)?;
        if standing.is_open_at(now) || standing.answer_at(now).is_some() {
            return Ok(());
        }
        let database = self.door.log().database();
        let open = approvals::open(database, &asked.agent, now, MAX_OPEN).await?;
        self.take_place(&asked, open).map_err(AskFault::Full)?;
        let said = self.say(&approval, &Command::Ask(Box::new(asked)), caller, None).await;
        if said.is_err() {
            self.fresh().retain(|one| one.approval != approval);
        }
        said?;
        Ok(())
    }

    fn fresh(&self) -> MutexGuard<'_, Vec<Fresh>> {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a question in, unless there are as many as may be; then it says when the first of them ends.
    fn take_place(
        &self,
        asked: &WebApprovalRequested,
        mut open: Vec<(Hash256, Timestamp)>,
    ) -> Result<(), Timestamp> {
        let mut fresh = self.fresh();
        fresh.retain(|one| one.asked.elapsed() < FRESH);
        for one in fresh.iter().filter(|one| one.agent == asked.agent) {
            if open.iter().all(|(approval, _)| *approval != one.approval) {
                open.push((one.approval, one.expires_at));
            }
        }
        if open.len() >= MAX_OPEN || fresh.len() >= MAX_FRESH {
            let ends = open.iter().map(|(_, end)| *end).min();
            return Err(ends.unwrap_or(asked.expires_at));
        }
        fresh.push(Fresh {
            agent: asked.agent,
            approval: asked.approval,
            asked: Instant::now(),
            expires_at: asked.expires_at,
        });
        Ok(())
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
        let executed = self.door.execute::<Approval>(&stream, command, caller, key).await?;
        if matches!(command, Command::Answer { .. }) {
            self.fresh().retain(|one| one.approval != *approval);
        }
        Ok(executed)
    }
}
