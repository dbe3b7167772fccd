//! Command idempotency: the first answer is kept in the transaction of its events, and every later
//! asker gets it, on any instance.

use bytes::Bytes;
use sqlx::Row;
use weir_events::position::Position;

use crate::{
    Log,
    database::{Database, DatabaseFault},
};

/// A key in a principal's own name space: another principal's same key is another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CommandKey(pub [u8; 32]);

impl CommandKey {
    /// Derives the key of one principal's command.
    pub fn of(principal: &str, key: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("weir command key v1");
        hasher.update(&(principal.len() as u64).to_be_bytes());
        hasher.update(principal.as_bytes());
        hasher.update(key.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }
}

/// What is remembered of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remember {
    /// Its key.
    pub key: CommandKey,
    /// What was asked: the same key with another request is a mistake of the caller's.
    pub request_hash: [u8; 32],
    /// The answer, as the caller will be given it again. At most 64 KiB.
    pub answer: Bytes,
}

/// A command that was recorded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// What was asked then.
    pub request_hash: [u8; 32],
    /// What was answered then.
    pub answer: Bytes,
    /// The position of its first event.
    pub first: Position,
    /// How many events it made.
    pub n_events: i32,
}

impl Remembered {
    /// The position of its last event.
    pub fn last(&self) -> Position {
        self.first.plus(i64::from(self.n_events) - 1)
    }
}

const FIND: &str = "
    SELECT key, request_hash, answer, first_position, n_events
    FROM log.commands WHERE key = ANY ($1)";

impl Log {
    /// What is remembered under a key.
    pub async fn remembered(&self, key: CommandKey) -> Result<Option<Remembered>, DatabaseFault> {
        Ok(find(self.database(), &[key]).await?.pop().map(|(_, found)| found))
    }
}

pub(crate) async fn find(
    database: &Database,
    keys: &[CommandKey],
) -> Result<Vec<(CommandKey, Remembered)>, DatabaseFault> {
    let fault = DatabaseFault::of("look up commands by their keys");
    let keys: Vec<&[u8]> = keys.iter().map(|key| key.0.as_slice()).collect();
    let mut tx = database.begin().await?;
    let rows = sqlx::query(FIND).bind(keys).fetch_all(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    rows.iter()
        .map(|row| {
            let remembered = Remembered {
                request_hash: row.try_get("request_hash")?,
                answer: row.try_get::<Vec<u8>, _>("answer")?.into(),
                first: Position(row.try_get("first_position")?),
                n_events: row.try_get("n_events")?,
            };
            Ok((CommandKey(row.try_get("key")?), remembered))
        })
        .collect::<Result<_, sqlx::Error>>()
        .map_err(fault)
}
