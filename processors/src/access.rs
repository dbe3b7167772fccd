//! Tokens: issued, checked, revoked; and the sessions of browsers that signed in with one. A token
//! opens something only while its stream says so; its secret is known to nobody but its owner, and
//! to the database only as an argon2id hash.

mod agents;
mod known;
mod lockout;
mod secret;
mod session;
mod watch;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;
use weir_aggregates::{
    access::{Binding, Command, Grantor, Refusal, Scope, Standing, State, Token},
    registry::profile::Profiles,
};
use weir_events::{
    access::{Event, TokenIssued},
    registry::{
        policy::Mode,
        profile::{PROFILES, Profile},
    },
    stream::StreamName,
    timestamp::Timestamp,
    web::request::AgentId,
};
use weir_log::{append::AppendFault, database::DatabaseFault};

pub use self::{
    agents::AgentKeys,
    session::{Opened, Session, sweep as sweep_sessions},
    watch::Revoked,
};
use self::{agents::Keys, known::Known, lockout::Lockout, secret::Secret};
use crate::{
    caller::Caller,
    door::{Door, DoorFault, ExecuteFault, Executed, IdempotencyKey},
};

/// Verifications at once: each takes 19 MiB and tens of milliseconds.
const MAX_HASHING: usize = 2;
/// Longer than this nobody waits for his turn to be verified.
const HASHING_PATIENCE: Duration = Duration::from_secs(5);
/// What this process remembers may be this old before the log is asked.
const MAX_AGE: Duration = Duration::from_millis(900);

/// Somebody whom a token let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The name the token was issued under.
    pub name: Arc<str>,
    /// The token, where there is one: who is let in without has none.
    pub token_id: Option<Arc<str>>,
    /// What it may do.
    pub scopes: Arc<[Scope]>,
    /// When the token ends, or the session before it.
    pub expires_at: Option<Timestamp>,
    /// The profile that its token names: what it asks for is judged by that.
    pub profile: Option<Arc<str>>,
    /// The agent whose own its token is.
    pub agent: Option<AgentId>,
    /// The session, where a browser's cookie let it in.
    pub session: Option<Session>,
}

impl Principal {
    /// Somebody let in without a token, for these scopes.
    pub fn without_token(name: &str, scopes: &[Scope]) -> Self {
        Self {
            name: name.into(),
            token_id: None,
            scopes: scopes.into(),
            expires_at: None,
            profile: None,
            agent: None,
            session: None,
        }
    }

    /// Whether it may do something.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// What sets it apart from everybody else. Names do not: two tokens may have the same.
    pub fn id(&self) -> &str {
        self.token_id.as_deref().unwrap_or(&self.name)
    }

    /// It as a caller of commands.
    pub fn caller(&self) -> Caller {
        let profile = self.profile.clone();
        Caller { profile, ..Caller::principal(&self.name, self.id()) }
    }

    /// It as somebody who hands out what others may do.
    pub fn grantor(&self) -> Grantor {
        let profile = self.profile.as_deref().map(str::to_owned);
        Grantor { scopes: self.scopes.to_vec(), profile }
    }

    fn of(token: &TokenIssued) -> Self {
        Self {
            name: token.name.as_str().into(),
            token_id: Some(token.token_id.as_str().into()),
            scopes: token.scopes.iter().filter_map(|name| Scope::find(name)).collect(),
            expires_at: token.expires_at,
            profile: token.profile.as_deref().map(Arc::from),
            agent: token.agent,
            session: None,
        }
    }
}

/// Why somebody is not let in.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// No such token or session, a wrong secret, revoked, or expired: which, is nobody's business.
    #[error("this token opens nothing: it is unknown, expired or revoked")]
    Bad,
    /// Too many failures from one address.
    #[error("too many failed attempts from this address")]
    LockedOut {
        /// How long it lasts.
        retry_after: Duration,
    },
    /// Too many are being verified.
    #[error("too many tokens are being verified at once")]
    Busy,
    /// The log could not be asked, and memory is too old to be trusted.
    #[error(transparent)]
    Fault(#[from] DoorFault),
}

impl From<DatabaseFault> for Denied {
    fn from(fault: DatabaseFault) -> Self {
        Self::Fault(fault.into())
    }
}

/// What a token is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What it is called.
    pub name: String,
    /// What it may do, by name.
    pub scopes: Vec<String>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// The profile that it names.
    pub profile: Option<String>,
    /// The agent whose own it is.
    pub agent: Option<AgentId>,
}

/// A token just issued.
#[derive(Debug)]
pub struct Issued {
    /// Its id.
    pub token_id: String,
    /// The whole token, shown this once; `None` when this is the answer to a repeated request.
    pub token: Option<String>,
    /// What happened.
    pub executed: Executed<Event>,
}

/// The tokens of this Weir. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Tokens {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    door: Door,
    verified: Mutex<Known>,
    hashing: Semaphore,
    lockout: Mutex<Lockout>,
    keys: Mutex<Keys>,
    /// When this process last knew of every revocation there was.
    knew_all_at: Mutex<Instant>,
}

/// Whether a token was found good for the first time, or had been before.
enum Verification {
    New,
    Known,
}

/// The id of the first admin's token: the same in every log, so that its own stream says whether
/// it was issued, for as long as there is the log.
const FIRST_ADMIN: &str = "0000000000000001";

const INSERT: &str = "INSERT INTO access.secrets (token_id, verifier) VALUES ($1, $2)";
/// For whose event won: what another life of the log left in the row is worth nothing.
const PUT: &str = "INSERT INTO access.secrets (token_id, verifier) VALUES ($1, $2) \
                   ON CONFLICT (token_id) DO UPDATE SET verifier = excluded.verifier";
const DELETE: &str = "DELETE FROM access.secrets WHERE token_id = $1";
const FIND: &str = "SELECT verifier FROM access.secrets WHERE token_id = $1";

/// The stream of a token, when its id could be one.
fn stream(token_id: &str) -> Option<StreamName> {
    let hexadecimal = token_id.len() == 16 && token_id.bytes().all(|b| b.is_ascii_hexdigit());
    hexadecimal.then(|| StreamName::new(format!("access/token/{token_id}")).ok()).flatten()
}

impl Tokens {
    /// The tokens behind a door.
    pub fn new(door: Door) -> Self {
        let inner = Inner {
            door,
            verified: Mutex::default(),
            hashing: Semaphore::new(MAX_HASHING),
            lockout: Mutex::default(),
            keys: Mutex::default(),
            knew_all_at: Mutex::new(Instant::now()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Issues a token, in the name of somebody.
    pub async fn issue(
        &self,
        wish: Wish,
        by: Grantor,
        caller: &Caller,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Issued, ExecuteFault<Refusal>> {
        let secret = Secret::generate();
        let token_id = secret.id().to_owned();
        let Some(stream) = stream(&token_id) else {
            return Err(ExecuteFault::Refused(Refusal::Unknown));
        };
        let binding = self.binding(wish.profile.as_deref()).await?;
        let standing = self.standing(wish.agent.as_ref()).await?;
        let verifier = secret.verifier().await.map_err(|_| busy())?;
        self.statement(INSERT, &token_id, Some(&verifier)).await.map_err(DoorFault::from)?;
        let Wish { name, scopes, expires_at, profile, agent } = wish;
        let id = token_id.clone();
        let token = TokenIssued { token_id: id, name, scopes, expires_at, profile, agent };
        let command = Command::Issue { token: Box::new(token), by, binding, standing };
        let executed =
            self.inner.door.execute::<Token>(&stream, &command, caller, idempotency).await;
        match executed {
            Ok(executed) if !executed.replayed => {
                Ok(Issued { token_id, token: Some(secret.reveal()), executed })
            }
            Ok(executed) => {
                self.statement(DELETE, &token_id, None).await.map_err(DoorFault::from)?;
                let first = executed.events.iter().find_map(|event| match event {
                    Event::TokenIssued(issued) => Some(issued.token_id.clone()),
                    _ => None,
                });
                Ok(Issued { token_id: first.unwrap_or(token_id), token: None, executed })
            }
            // The outcome may be unknown: then the row must stay.
            Err(ExecuteFault::Fault(fault)) => Err(fault.into()),
            Err(refused) => {
                self.statement(DELETE, &token_id, None).await.map_err(DoorFault::from)?;
                Err(refused)
            }
        }
    }

    /// What a profile would do to a token that names it, as the log says now.
    async fn binding(&self, profile: Option<&str>) -> Result<Binding, DoorFault> {
        let Some(name) = profile else { return Ok(Binding::Stricter) };
        let stream =
            StreamName::new(PROFILES).map_err(|fault| AppendFault::Invalid(fault.to_string()))?;
        let (profiles, _) = self.inner.door.load::<Profiles>(&stream).await?;
        Ok(match profiles.profile(name) {
            None => Binding::Unknown,
            Some(Profile { mode: Some(Mode::Audit), .. }) => Binding::Audit,
            Some(_) => Binding::Stricter,
        })
    }

    /// Where an agent stands, as the log says now.
    async fn standing(&self, agent: Option<&AgentId>) -> Result<Standing, DoorFault> {
        let Some(agent) = agent else { return Ok(Standing::Nobody) };
        let live = self.agents().state(agent).await?.live().is_some();
        Ok(if live { Standing::Trusted } else { Standing::Unknown })
    }

    /// Whether a token's agent, where it is an agent's own, is trusted now.
    async fn stands(&self, agent: Option<&AgentId>) -> Result<bool, DoorFault> {
        Ok(self.standing(agent).await? != Standing::Unknown)
    }

    /// The profile that a token names, whether it opens anything or not; refused where there is no such
    /// token.
    pub async fn profile_of(
        &self,
        token_id: &str,
    ) -> Result<Option<String>, ExecuteFault<Refusal>> {
        let unknown = ExecuteFault::Refused(Refusal::Unknown);
        let Some(stream) = stream(token_id) else { return Err(unknown) };
        let (state, _): (State, _) = self.inner.door.load::<Token>(&stream).await?;
        match state {
            State::Unknown => Err(unknown),
            State::Live(token) | State::Revoked(token) => Ok(token.profile),
        }
    }

    /// Issues the first admin's token, once in the life of a log.
    ///
    /// Here the event comes first and the hash after it, so that only who wins the race for the
    /// event writes the hash. Who dies in between leaves a token that opens nothing, as he would
    /// have left one whose secret nobody was told.
    pub async fn bootstrap(&self) -> Result<Option<Issued>, ExecuteFault<Refusal>> {
        let token_id = FIRST_ADMIN.to_owned();
        let stream = stream(&token_id).ok_or(ExecuteFault::Refused(Refusal::Unknown))?;
        let (state, _): (State, _) = self.inner.door.load::<Token>(&stream).await?;
        if state != State::Unknown {
            return Ok(None);
        }
        let secret = Secret::of(token_id.clone());
        let verifier = secret.verifier().await.map_err(|_| busy())?;
        let token = TokenIssued {
            token_id: token_id.clone(),
            name: "admin".to_owned(),
            scopes: vec![Scope::Admin.as_str().to_owned()],
            expires_at: None,
            profile: None,
            agent: None,
        };
        let (by, binding) = (Grantor::admin(), Binding::Stricter);
        let (token, standing) = (Box::new(token), Standing::Nobody);
        let command = Command::Issue { token, by, binding, standing };
        let caller = Caller::processor("bootstrap");
        let executed = self.inner.door.execute::<Token>(&stream, &command, &caller, None).await;
        let executed = match executed {
            Err(ExecuteFault::Refused(Refusal::AlreadyIssued(_))) => return Ok(None),
            other => other?,
        };
        self.statement(PUT, &token_id, Some(&verifier)).await.map_err(DoorFault::from)?;
        Ok(Some(Issued { token_id, token: Some(secret.reveal()), executed }))
    }

    /// Revokes a token.
    pub async fn revoke(
        &self,
        token_id: &str,
        caller: &Caller,
        idempotency: Option<IdempotencyKey>,
    ) -> Result<Executed<Event>, ExecuteFault<Refusal>> {
        let stream = stream(token_id).ok_or(ExecuteFault::Refused(Refusal::Unknown))?;
        let door = &self.inner.door;
        let done = door.execute::<Token>(&stream, &Command::Revoke, caller, idempotency).await?;
        self.forget(token_id);
        Ok(done)
    }

    /// Whom a token lets in, if anybody. `from` is the address that failures are counted for.
    pub async fn verify(&self, token: &str, from: IpAddr) -> Result<Principal, Denied> {
        let now = Instant::now();
        match self.principal(token, from, now).await {
            Ok((principal, Verification::New)) => {
                self.lockout().succeeded(from);
                Ok(principal)
            }
            Ok((principal, Verification::Known)) => Ok(principal),
            Err(Denied::Bad) => {
                self.lockout().failed(from, now);
                Err(Denied::Bad)
            }
            Err(other) => Err(other),
        }
    }

    async fn principal(
        &self,
        token: &str,
        from: IpAddr,
        now: Instant,
    ) -> Result<(Principal, Verification), Denied> {
        let fingerprint = *blake3::hash(token.as_bytes()).as_bytes();
        let known = self.verified().get(&fingerprint, now);
        if let Some(known) = known {
            let principal = self.still_good(known).await?;
            return Ok((principal, Verification::Known));
        }
        // A token that was good before is not guessed: the failures of others behind its address
        // do not lock it out, and it does not make up for them.
        let was_good = self.verified().was_good(&fingerprint);
        if !was_good && let Some(retry_after) = self.lockout().locked(from, now) {
            return Err(Denied::LockedOut { retry_after });
        }
        let secret = Secret::parse(token).ok_or(Denied::Bad)?;
        let stream = stream(secret.id()).ok_or(Denied::Bad)?;
        // What is revoked from here on is heard of, even before it is remembered below.
        let generation = self.verified().generation();
        let (state, _): (State, _) = self.inner.door.load::<Token>(&stream).await?;
        let Some(issued) = state.live_at(self.inner.door.now()) else { return Err(Denied::Bad) };
        if !self.stands(issued.agent.as_ref()).await? {
            return Err(Denied::Bad);
        }
        let verifier = self.verifier(secret.id()).await.map_err(DoorFault::from)?;
        let verifier = verifier.ok_or(Denied::Bad)?;
        let turn = tokio::time::timeout(HASHING_PATIENCE, self.inner.hashing.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(Denied::Busy) };
        // Whoever waited for the same token finds it verified by the one before him.
        if let Some(known) = self.verified().get(&fingerprint, Instant::now()) {
            return Ok((known, Verification::Known));
        }
        if !secret.fits(verifier).await {
            return Err(Denied::Bad);
        }
        let principal = Principal::of(issued);
        self.verified().remember(fingerprint, principal.clone(), now, generation);
        Ok((principal, if was_good { Verification::Known } else { Verification::New }))
    }

    /// A verified token may have expired; and while this process may have missed a revocation, the
    /// log is asked.
    async fn still_good(&self, principal: Principal) -> Result<Principal, Denied> {
        let now = self.inner.door.now();
        if principal.expires_at.is_some_and(|end| end <= now) {
            return Err(Denied::Bad);
        }
        if self.inner.knows_all() {
            return Ok(principal);
        }
        if let Some(session) = &principal.session {
            return self.principal_of(session.hash).await;
        }
        let stream = principal.token_id.as_deref().and_then(stream).ok_or(Denied::Bad)?;
        let (state, _): (State, _) = self.inner.door.load::<Token>(&stream).await?;
        let live = state.live_at(now).is_some() && self.stands(principal.agent.as_ref()).await?;
        if live { Ok(principal) } else { Err(Denied::Bad) }
    }

    /// Forgets a token and its sessions, or one session by its name.
    fn forget(&self, id: &str) {
        self.verified().revoke(id);
    }

    fn verified(&self) -> MutexGuard<'_, Known> {
        self.inner.verified()
    }

    fn lockout(&self) -> std::sync::MutexGuard<'_, Lockout> {
        self.inner.lockout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn verifier(&self, token_id: &str) -> Result<Option<String>, DatabaseFault> {
        let fault = DatabaseFault::of("look up a token");
        let mut tx = self.inner.door.log().database().begin().await?;
        let found: Vec<String> =
            sqlx::query_scalar(FIND).bind(token_id).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        Ok(found.into_iter().next())
    }

    async fn statement(
        &self,
        statement: &'static str,
        token_id: &str,
        verifier: Option<&str>,
    ) -> Result<(), DatabaseFault> {
        let fault = DatabaseFault::of("keep a token's hash");
        let mut tx = self.inner.door.log().database().begin().await?;
        let mut query = sqlx::query(statement).bind(token_id);
        if let Some(verifier) = verifier {
            query = query.bind(verifier);
        }
        query.execute(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)
    }
}

impl Inner {
    fn verified(&self) -> MutexGuard<'_, Known> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process has heard of every revocation there was a moment ago.
    fn knows_all(&self) -> bool {
        let knew_all_at = *self.knew_all_at.lock().unwrap_or_else(PoisonError::into_inner);
        knew_all_at.elapsed() <= MAX_AGE
    }
}

fn busy() -> DoorFault {
    AppendFault::Busy.into()
}
