//! Browsers that signed in. Their cookie holds a secret of its own, never the token: it opens what
//! the token opens, until somebody signs out, it expires, or the token does not open it any more.
//!
//! The secret is 256 random bits, so a fast hash keeps it; nobody can guess what to hash. Each end
//! before its time is an event, which every instance hears of (see `watch`).

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sqlx::{Row, postgres::PgRow, types::time::OffsetDateTime};
use tracing::warn;
use weir_aggregates::access::{State, Token};
use weir_events::{
    access::{Event, SessionEnd, SessionEnded, SessionOpened},
    stream::StreamName,
    timestamp::Timestamp,
};
use weir_log::{
    database::{Database, DatabaseFault},
    idempotency::CommandKey,
};

use super::{Denied, Principal, Tokens, stream};
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// Sessions a token may have at once; one more ends the one that was not used for longest.
const MAX_PER_TOKEN: i64 = 100;
/// Sessions that one more may end: as many as others may have opened in the same moment.
const MAX_CROWDED_OUT: i64 = 100;
/// How long what has ended is kept: who repeats a sign-out whose answer was lost is understood.
const KEEP_ENDED: i64 = 3_600;
/// Sessions swept in one transaction.
const SWEEP_AT_ONCE: i64 = 1_000;
/// How often a change that is made already is tried to be recorded, and the first pause between.
const RECORD_TRIES: u32 = 6;
const RECORD_PAUSE: Duration = Duration::from_millis(100);
/// Transactions of one sweep.
const MAX_SWEEPS: usize = 100;

const OPEN: &str = "
    INSERT INTO access.sessions (hash, token_id, created_at, expires_at, last_used)
    VALUES ($1, $2, $3, $4, $3)";

const CROWD_OUT: &str = "
    UPDATE access.sessions SET ended_at = $2, expires_at = $2 WHERE hash IN (
        SELECT hash FROM access.sessions
        WHERE token_id = $1 AND expires_at > $2 AND ended_at IS NULL
        ORDER BY last_used DESC, created_at DESC, hash OFFSET $3 LIMIT $4)
    RETURNING hash";

const USE: &str = "
    UPDATE access.sessions SET last_used = greatest(last_used, $2)
    WHERE hash = $1 AND expires_at > $2 AND ended_at IS NULL RETURNING token_id, expires_at";

const END: &str = "
    UPDATE access.sessions
    SET ended_at = coalesce(ended_at, $2), expires_at = least(expires_at, $2) WHERE hash = $1
    RETURNING token_id, expires_at";

const SWEEP: &str = "
    DELETE FROM access.sessions WHERE hash IN (
        SELECT hash FROM access.sessions WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)";

/// A session just opened.
pub struct Opened {
    /// What the browser keeps. Shown this once.
    pub secret: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Opened(until {})", self.expires_at)
    }
}

/// What a session is found by: the BLAKE3 of its secret. Another derivation than that of tokens, so
/// that neither passes for the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionHash(pub(super) [u8; 32]);

impl SessionHash {
    fn of(secret: &str) -> Self {
        Self(blake3::derive_key("weir session v1", secret.as_bytes()))
    }

    /// What it is called in events and in memory: tells nothing of the secret nor of its hash.
    pub(super) fn name(self) -> String {
        hex::encode(&blake3::derive_key("weir session name v1", &self.0)[..8])
    }
}

/// Whether a text has the form of a session's secret.
fn could_be(secret: &str) -> bool {
    let url_safe = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    secret.len() == 43 && secret.bytes().all(url_safe)
}

/// A row of a session.
struct Found {
    token_id: String,
    expires_at: Timestamp,
}

impl Found {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        let expires_at: OffsetDateTime = row.try_get("expires_at")?;
        Ok(Self { token_id: row.try_get("token_id")?, expires_at: expires_at.into() })
    }
}

impl Tokens {
    /// Opens a session for somebody whose token was just verified. It ends after `lifetime`,
    /// however much it is used, and never after its token. To be carried through once begun: what
    /// it changes is recorded after it is changed.
    pub async fn open_session(
        &self,
        principal: &Principal,
        lifetime: Duration,
    ) -> Result<Opened, Denied> {
        let token_id = principal.token_id.as_deref().ok_or(Denied::Bad)?;
        let random: [u8; 32] = rand::random();
        let secret = BASE64_URL_SAFE_NO_PAD.encode(random);
        let (door, hash) = (&self.inner.door, SessionHash::of(&secret));
        let now = door.now();
        let seconds = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
        let end = now.plus_seconds(seconds);
        let expires_at = principal.expires_at.map_or(end, |of_token| of_token.min(end));
        let crowded_out = self.insert(hash, token_id, now, expires_at).await?;
        let mut events: Vec<Event> = vec![
            SessionOpened { session: hash.name(), token_id: token_id.to_owned(), expires_at }
                .into(),
        ];
        for gone in crowded_out {
            self.forget(&gone.name());
            events.push(ended(gone, token_id, SessionEnd::CrowdedOut));
        }
        let key = CommandKey::of(token_id, &format!("\0session opened/{}", hash.name()));
        self.record(token_id, &events, &principal.caller(), key).await?;
        Ok(Opened { secret, expires_at })
    }

    /// Whom a browser's session lets in, if anybody.
    pub async fn verify_session(&self, secret: &str) -> Result<Principal, Denied> {
        // What cannot be one costs nothing.
        if !could_be(secret) {
            return Err(Denied::Bad);
        }
        let (hash, now) = (SessionHash::of(secret), Instant::now());
        let known = self.verified().get(&hash.0, now);
        if let Some(known) = known {
            return self.still_good(known).await;
        }
        // What is ended from here on is heard of, even before it is remembered below.
        let generation = self.verified().generation();
        let principal = self.principal_of(hash).await?;
        self.verified().remember(hash.0, principal.clone(), now, generation);
        Ok(principal)
    }

    /// Ends a session, on every instance; answers whether there was one. To be carried through once
    /// begun: that it ended is recorded after it has.
    ///
    /// # Errors
    /// After a fault other instances may not have heard of it: to be repeated.
    pub async fn end_session(&self, secret: &str) -> Result<bool, DoorFault> {
        let (door, hash) = (&self.inner.door, SessionHash::of(secret));
        if !could_be(secret) {
            return Ok(false);
        }
        let Some(found) = self.row(END, hash, "end a session").await? else { return Ok(false) };
        self.forget(&hash.name());
        let Some(of_token) = stream(&found.token_id) else { return Ok(false) };
        let (state, _): (State, _) = door.load::<Token>(&of_token).await?;
        let (State::Live(token) | State::Revoked(token)) = state else { return Ok(false) };
        let caller = Caller::principal(&token.name, &token.token_id);
        let event = ended(hash, &found.token_id, SessionEnd::SignedOut);
        // With what no client can send, so that no client's own key is ever this one.
        let key = CommandKey::of(&found.token_id, &format!("\0session ended/{}", hash.name()));
        self.record(&found.token_id, &[event], &caller, key).await?;
        Ok(true)
    }

    /// Puts down what is in force already, as often as it takes for a while: nobody repeats it.
    async fn record(
        &self,
        token_id: &str,
        events: &[Event],
        caller: &Caller,
        key: CommandKey,
    ) -> Result<(), DoorFault> {
        let (stream, mut pause) = (sessions(token_id)?, RECORD_PAUSE);
        for _ in 1..RECORD_TRIES {
            match self.inner.door.record_once(stream.clone(), events, caller, key).await {
                Ok(_) => return Ok(()),
                Err(fault) => warn!(error = %fault, "a change of sessions is not recorded yet"),
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        self.inner.door.record_once(stream, events, caller, key).await.map(drop)
    }

    /// What the database and the log say of a session, now.
    pub(super) async fn principal_of(&self, hash: SessionHash) -> Result<Principal, Denied> {
        let door = &self.inner.door;
        let found = self.row(USE, hash, "look up a session").await?.ok_or(Denied::Bad)?;
        let stream = stream(&found.token_id).ok_or(Denied::Bad)?;
        let (state, _): (State, _) = door.load::<Token>(&stream).await?;
        let token = state.live_at(door.now()).ok_or(Denied::Bad)?;
        if !self.stands(token.agent.as_ref()).await? {
            return Err(Denied::Bad);
        }
        let of_token = Principal::of(token);
        let ends = of_token.expires_at.map_or(found.expires_at, |end| end.min(found.expires_at));
        let session = Some(Session { hash, name: hash.name().into() });
        Ok(Principal { expires_at: Some(ends), session, ..of_token })
    }

    /// Puts a session down, and ends those there is no more room for.
    async fn insert(
        &self,
        hash: SessionHash,
        token_id: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<Vec<SessionHash>, DoorFault> {
        let fault = DatabaseFault::of("keep a session's hash");
        let mut tx = self.inner.door.log().database().begin().await?;
        sqlx::query(OPEN)
            .bind(hash.0.as_slice())
            .bind(token_id)
            .bind(now.datetime())
            .bind(expires_at.datetime())
            .execute(&mut *tx)
            .await
            .map_err(&fault)?;
        let rows = sqlx::query_scalar(CROWD_OUT)
            .bind(token_id)
            .bind(now.datetime())
            .bind(MAX_PER_TOKEN)
            .bind(MAX_CROWDED_OUT);
        let gone: Vec<[u8; 32]> = rows.fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        Ok(gone.into_iter().map(SessionHash).collect())
    }

    async fn row(
        &self,
        statement: &'static str,
        hash: SessionHash,
        doing: &'static str,
    ) -> Result<Option<Found>, DatabaseFault> {
        let fault = DatabaseFault::of(doing);
        let mut tx = self.inner.door.log().database().begin().await?;
        let query =
            sqlx::query(statement).bind(hash.0.as_slice()).bind(self.inner.door.now().datetime());
        let rows = query.fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        rows.first().map(Found::from_row).transpose().map_err(fault)
    }
}

/// The session that somebody came in by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub(super) hash: SessionHash,
    pub(super) name: Arc<str>,
}

impl Session {
    /// What it is called in events.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The stream of what happens to a token's sessions.
fn sessions(token_id: &str) -> Result<StreamName, DoorFault> {
    let bad = |fault: weir_events::stream::StreamNameFault| {
        weir_log::append::AppendFault::Invalid(fault.to_string())
    };
    Ok(StreamName::new(format!("access/sessions/{token_id}")).map_err(bad)?)
}

fn ended(hash: SessionHash, token_id: &str, cause: SessionEnd) -> Event {
    SessionEnded { session: hash.name(), token_id: token_id.to_owned(), cause }.into()
}

/// Forgets sessions that ended more than an hour ago; answers how many. At most a hundred thousand
/// a call, in small transactions; safe to drop at any moment.
pub async fn sweep(door: &Door) -> Result<u64, DatabaseFault> {
    let before = door.now().plus_seconds(-KEEP_ENDED);
    let mut n_swept = 0;
    for _ in 0..MAX_SWEEPS {
        let n = sweep_some(door.log().database(), before).await?;
        n_swept += n;
        if n < SWEEP_AT_ONCE.unsigned_abs() {
            break;
        }
    }
    Ok(n_swept)
}

async fn sweep_some(database: &Database, before: Timestamp) -> Result<u64, DatabaseFault> {
    let fault = DatabaseFault::of("forget old sessions");
    let mut tx = database.begin().await?;
    let swept = sqlx::query(SWEEP).bind(before.datetime()).bind(SWEEP_AT_ONCE);
    let swept = swept.execute(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(swept.rows_affected())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_not_found_by_the_fingerprint_of_a_token_and_its_name_tells_neither() {
        let hash = SessionHash::of("secret");
        assert_ne!(hash.0, *blake3::hash(b"secret").as_bytes());
        assert_ne!(hash, SessionHash::of("secreT"));
        assert_eq!(hash.name().len(), 16);
        assert!(!hex::encode(hash.0).contains(&hash.name()));
    }

    #[test]
    fn only_what_has_the_form_of_a_secret_is_looked_up() {
        assert!(could_be(&BASE64_URL_SAFE_NO_PAD.encode([251; 32])));
        for other in ["", "x", &"x".repeat(44), &"+".repeat(43), &"é".repeat(21)] {
            assert!(!could_be(other), "{other}");
        }
    }

    #[test]
    fn a_secret_is_not_printed() {
        let opened = Opened { secret: "hush".to_owned(), expires_at: Timestamp::EPOCH };
        assert!(!format!("{opened:?}").contains("hush"));
    }
}
