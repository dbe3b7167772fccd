//! Opening the log: its incarnation, its head, and the background tasks of one process.

use std::{sync::Arc, time::Duration};

use sqlx::Row;
use uuid::Uuid;
use weir_events::{
    envelope::Recorded,
    position::{Cursor, Incarnation, Position},
};

use crate::{
    append::{Writer, WriterHandle},
    database::{Database, DatabaseFault, Pooler, patiently},
    lifecycle::Lifecycle,
    partition,
    read::MAX_READ,
    tail::{Hub, Tail},
};

/// How a process uses the log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// Wake other processes with NOTIFY, and be woken. Off, the poll alone must do, and nothing is
    /// committed without waiting for the disk that a crash of the database could take from a reader.
    pub notify: bool,
    /// How often a process looks for what others appended, whatever notifications say.
    pub poll: Duration,
    /// Bytes of recent events kept in memory for tails.
    pub ring_bytes: usize,
    /// Appends that may wait for the writer before callers are told to come back.
    pub queue: usize,
    /// Events a partition holds.
    pub partition_events: i64,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            notify: true,
            poll: Duration::from_millis(100),
            ring_bytes: 32 << 20,
            queue: 4096,
            partition_events: partition::PARTITION_EVENTS,
        }
    }
}

/// The log, as one process sees it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Log {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    database: Database,
    hub: Hub,
    writer: WriterHandle,
}

/// One shard until one head row is not enough.
pub(crate) const SHARD: i16 = 0;

/// Another cluster, timeline or database is another life of the log, even with equal bytes.
const HEAD: &str = "
    SELECT h.position, h.incarnation, h.identity, now.identity AS identity_now
    FROM log.head h,
        (SELECT (SELECT system_identifier FROM pg_control_system())::text || '/'
            || (SELECT timeline_id FROM pg_control_checkpoint())::text || '/'
            || (SELECT oid FROM pg_database WHERE datname = current_database())::text) now(identity)
    WHERE h.shard = $1";

const MAKE: &str = "
    INSERT INTO log.head (shard, position, incarnation, identity) VALUES ($1, 0, $2, '')
    ON CONFLICT (shard) DO NOTHING";

const BEGIN_LIFE: &str = "
    UPDATE log.head SET incarnation = $2, identity = $3 WHERE shard = $1 AND identity = $4";

/// Where the log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Its life.
    pub incarnation: Incarnation,
    /// Its last position.
    pub position: Position,
}

/// Asks the database where the log stands. If it is found in another cluster, on another timeline
/// or in another database than before, it begins a new life first: a restored copy must not pass
/// for the log it was copied from.
pub(crate) async fn ask_head(database: &Database) -> Result<Head, DatabaseFault> {
    let fault = DatabaseFault::of("read the log's head");
    let mut tx = database.begin().await?;
    let rows = sqlx::query(HEAD).bind(SHARD).fetch_all(&mut *tx).await.map_err(&fault)?;
    let row = rows.first().ok_or_else(|| fault(sqlx::Error::RowNotFound))?;
    let position = Position(row.try_get("position").map_err(&fault)?);
    let mut incarnation: Uuid = row.try_get("incarnation").map_err(&fault)?;
    let identity: String = row.try_get("identity").map_err(&fault)?;
    let identity_now: String = row.try_get("identity_now").map_err(&fault)?;
    if identity != identity_now {
        // Every process that notices comes to the same id, so it does not matter who is first.
        if !identity.is_empty() {
            let mut hasher = blake3::Hasher::new_derive_key("weir log incarnation v1");
            hasher.update(incarnation.as_bytes()).update(identity_now.as_bytes());
            let mut id = [0; 16];
            hasher.finalize_xof().fill(&mut id);
            incarnation = Uuid::from_bytes(id);
        }
        sqlx::query(BEGIN_LIFE)
            .bind(SHARD)
            .bind(incarnation)
            .bind(identity_now)
            .bind(identity)
            .execute(&mut *tx)
            .await
            .map_err(&fault)?;
    }
    tx.commit().await.map_err(&fault)?;
    Ok(Head { incarnation: Incarnation(incarnation), position })
}

/// Makes the head row of a log that has none. `fresh` is the id of its first life, from the
/// caller's clock and randomness.
async fn make_head(database: &Database, fresh: Uuid) -> Result<(), DatabaseFault> {
    let fault = DatabaseFault::of("open the log");
    let mut tx = database.begin().await?;
    sqlx::query(MAKE).bind(SHARD).bind(fresh).execute(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)
}

impl Log {
    /// Opens the log of a migrated database and starts this process's writer and tail hub.
    ///
    /// `fresh` names this process's writer, and the log's first life if it has none yet: ids come
    /// from the caller's clock and randomness.
    pub async fn open(
        database: Database,
        options: &LogOptions,
        fresh: Uuid,
        lifecycle: &Lifecycle,
    ) -> Result<Self, DatabaseFault> {
        let head = patiently(DatabaseFault::passing, || async {
            make_head(&database, fresh).await?;
            partition::ensure_ahead(&database, options.partition_events).await?;
            ask_head(&database).await
        })
        .await?;
        let notify = options.notify && database.pooler() == Pooler::None;
        let hub = Hub::start(database.clone(), head, notify, options, lifecycle);
        let writer = Writer::start(database.clone(), hub.clone(), fresh, options.queue, lifecycle);
        Ok(Self { inner: Arc::new(Inner { database, hub, writer }) })
    }

    /// The database the log lives in.
    pub fn database(&self) -> &Database {
        &self.inner.database
    }

    pub(crate) fn writer(&self) -> &WriterHandle {
        &self.inner.writer
    }

    /// The tail hub of this process.
    pub fn hub(&self) -> &Hub {
        &self.inner.hub
    }

    /// The last position this process knows of.
    pub fn head(&self) -> Position {
        self.inner.hub.head().position
    }

    /// The life of the log.
    pub fn incarnation(&self) -> Incarnation {
        self.inner.hub.head().incarnation
    }

    /// Asks the database where the log stands now.
    pub async fn ask_head(&self) -> Result<Head, DatabaseFault> {
        ask_head(&self.inner.database).await
    }

    /// The events after a position, up to another, where this process has all of them in memory.
    pub fn recent(&self, after: Position, upto: Position) -> Option<Vec<Arc<Recorded>>> {
        let n = usize::try_from(after.distance_to(upto)).ok().filter(|n| *n <= MAX_READ)?;
        self.inner.hub.take_after(after, n).filter(|events| events.len() == n)
    }

    /// Follows the log from after a cursor.
    pub fn tail(&self, after: impl Into<Cursor>) -> Tail {
        Tail::new(self.clone(), after.into())
    }
}
