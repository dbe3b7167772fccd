//! One batch, one round trip: `log.append` with parallel arrays.

use std::{collections::BTreeMap, time::Duration};

use sqlx::{Connection, PgConnection, Row, postgres::PgRow, types::time::OffsetDateTime};
use uuid::Uuid;
use weir_events::{position::Position, stream::StreamName};

use super::{super::plan::Share, Job};
use crate::{
    database::{Database, Pooler},
    open::SHARD,
};

/// Longer than the lock timeout inside `log.append`, so that Postgres gives up first.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

const APPEND: &str = "
    SELECT outcome, first, bases FROM log.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
        $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)";

const REGISTER: &str = "
    INSERT INTO log.writers (id, batch, first_position, bases) VALUES ($1, $2, 0, '{}')
    ON CONFLICT (id) DO NOTHING";

/// What `log.append` said.
#[derive(Debug)]
pub(super) enum Answer {
    /// It is durable (now, or since an earlier try).
    Written { first: Position, bases: Vec<i64> },
    /// Streams are not where they were assumed; here is where each one is.
    Stale { versions: Vec<i64> },
    /// A command was recorded before.
    Remembered,
    /// A stream is archived.
    Archived,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum SendFault {
    /// No connection: nothing was sent.
    NotSent(String),
    /// The transaction is rolled back, and may go through if sent again.
    TryAgain(String),
    /// The transaction is rolled back, and somebody must change something first.
    Refused(String),
    /// The answer was lost: it may be committed.
    Lost(String),
    /// The writer's row is gone or behind: the database is not the one it was.
    WriterForgotten,
}

/// A batch as parallel arrays, borrowed from its jobs.
#[derive(Debug, Default)]
pub(super) struct Batch<'a> {
    streams_exist: bool,
    streams: Vec<&'a str>,
    assumed: Vec<Option<i64>>,
    counts: Vec<i64>,
    keys: Vec<&'a [u8]>,
    request_hashes: Vec<&'a [u8]>,
    answers: Vec<&'a [u8]>,
    key_firsts: Vec<i64>,
    key_sizes: Vec<i32>,
    event_streams: Vec<&'a str>,
    event_index: Vec<i32>,
    event_ordinal: Vec<i64>,
    kinds: Vec<i32>,
    schemas: Vec<i16>,
    payloads: Vec<&'a [u8]>,
    metas: Vec<&'a [u8]>,
    recorded_ats: Vec<OffsetDateTime>,
    hashes: Vec<&'a [u8]>,
}

impl<'a> Batch<'a> {
    /// `streams_exist` says that all of the streams were seen before.
    pub(super) fn new(
        jobs: &'a [Job],
        streams: &'a BTreeMap<StreamName, Share>,
        streams_exist: bool,
    ) -> Self {
        let mut batch = Self { streams_exist, ..Self::default() };
        let mut places: BTreeMap<&str, (i32, i64)> = BTreeMap::new();
        for (place, (stream, share)) in (1..).zip(streams) {
            batch.streams.push(stream.as_str());
            batch.assumed.push(share.assumed);
            batch.counts.push(share.n_events);
            places.insert(stream.as_str(), (place, 0));
        }
        for job in jobs {
            batch.remember(job);
            let recorded_at = job.append.recorded_at.datetime();
            let mut leaves = job.leaves.iter();
            for write in &job.append.writes {
                let place = places.entry(write.stream.as_str()).or_default();
                for event in &write.events {
                    place.1 += 1;
                    batch.event_streams.push(write.stream.as_str());
                    batch.event_index.push(place.0);
                    batch.event_ordinal.push(place.1);
                    batch.kinds.push(event.kind.0);
                    batch.schemas.push(event.schema);
                    batch.payloads.push(&event.payload);
                    batch.metas.push(&event.meta);
                    batch.recorded_ats.push(recorded_at);
                    batch.hashes.push(leaves.next().map_or(&[][..], |leaf| leaf.as_slice()));
                }
            }
        }
        batch
    }

    fn remember(&mut self, job: &'a Job) {
        let Some(remember) = &job.append.remember else { return };
        let n_events = job.append.writes.iter().map(|w| w.events.len()).sum::<usize>();
        self.keys.push(&remember.key.0);
        self.request_hashes.push(&remember.request_hash);
        self.answers.push(&remember.answer);
        self.key_firsts.push(i64::try_from(self.kinds.len()).unwrap_or(i64::MAX));
        self.key_sizes.push(i32::try_from(n_events).unwrap_or(i32::MAX));
    }
}

/// The writer's own connection, and the number of its last batch.
#[derive(Debug)]
pub(super) struct Sender {
    database: Database,
    id: Uuid,
    last_batch: i64,
    /// Whether the batch after the last one may have been sent before.
    repeated: bool,
    connection: Option<PgConnection>,
}

impl Sender {
    pub(super) const fn new(database: Database, id: Uuid) -> Self {
        Self { database, id, last_batch: 0, repeated: false, connection: None }
    }

    /// The outcome of the last batch will never be known: go on as another writer, so that it
    /// cannot be mistaken for the next one.
    pub(super) fn abandon(&mut self) {
        let mut next = blake3::Hasher::new();
        next.update(self.id.as_bytes()).update(&self.last_batch.to_be_bytes());
        let mut id = [0; 16];
        next.finalize_xof().fill(&mut id);
        self.id = Uuid::from_bytes(id);
        self.last_batch = 0;
        self.repeated = false;
        self.connection = None;
    }

    pub(super) async fn send(&mut self, batch: &Batch<'_>) -> Result<Answer, SendFault> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let number = self.last_batch + 1;
        let repeated = std::mem::replace(&mut self.repeated, true);
        let head = (self.id, number, repeated);
        let call = call(&mut connection, self.database.pooler(), head, batch);
        let answered = match tokio::time::timeout(ANSWER_TIMEOUT, call).await {
            Ok(Ok(row)) => read(&row),
            Ok(Err(cause)) => Err(cause),
            Err(_) => {
                return Err(SendFault::Lost("the database did not answer in time".to_owned()));
            }
        };
        match answered {
            Ok(None) => {
                self.abandon();
                Err(SendFault::WriterForgotten)
            }
            Ok(Some(answer)) => {
                if matches!(answer, Answer::Written { .. }) {
                    self.last_batch = number;
                }
                self.repeated = false;
                self.connection = Some(connection);
                Ok(answer)
            }
            Err(cause) => Err(self.judge(&cause, connection)),
        }
    }

    /// What an error means for the batch. Only an error that Postgres itself reports while the
    /// connection lives is a certain rollback.
    fn judge(&mut self, cause: &sqlx::Error, connection: PgConnection) -> SendFault {
        let said = cause.to_string();
        let Some(code) = cause.as_database_error().and_then(sqlx::error::DatabaseError::code)
        else {
            return SendFault::Lost(said);
        };
        match code.as_ref() {
            code if code.starts_with("08") || code.starts_with("57P") => SendFault::Lost(said),
            // The writer's row is behind: the database is not the one it was.
            "WR002" => {
                self.abandon();
                SendFault::WriterForgotten
            }
            // Serialization, deadlock, a key or version that another process took first, and a
            // writer that is not where this one thinks: the next try asks where.
            "40001" | "40P01" | "23505" | "WR001" => {
                self.connection = Some(connection);
                SendFault::TryAgain(said)
            }
            _ => {
                self.connection = Some(connection);
                SendFault::Refused(said)
            }
        }
    }

    async fn connect(&self) -> Result<PgConnection, SendFault> {
        // An earlier sending that hangs in its commit still holds the writer's row.
        let late = || SendFault::NotSent("the database did not take the writer in time".to_owned());
        tokio::time::timeout(ANSWER_TIMEOUT, self.register()).await.unwrap_or_else(|_| Err(late()))
    }

    async fn register(&self) -> Result<PgConnection, SendFault> {
        let not_sent = |cause: sqlx::Error| SendFault::NotSent(cause.to_string());
        let mut connection =
            self.database.connect().await.map_err(|fault| not_sent(fault.cause))?;
        let mut tx =
            connection.begin_with(self.database.pooler().begin()).await.map_err(not_sent)?;
        sqlx::query(REGISTER)
            .bind(self.id)
            .bind(self.last_batch)
            .execute(&mut *tx)
            .await
            .map_err(not_sent)?;
        tx.commit().await.map_err(not_sent)?;
        Ok(connection)
    }
}

async fn call(
    connection: &mut PgConnection,
    pooler: Pooler,
    (id, number, repeated): (Uuid, i64, bool),
    batch: &Batch<'_>,
) -> Result<PgRow, sqlx::Error> {
    let query = sqlx::query(APPEND)
        .bind(SHARD)
        .bind(id)
        .bind(number)
        .bind(repeated)
        .bind(batch.streams_exist)
        .bind(&batch.streams)
        .bind(&batch.assumed)
        .bind(&batch.counts)
        .bind(&batch.keys)
        .bind(&batch.request_hashes)
        .bind(&batch.answers)
        .bind(&batch.key_firsts)
        .bind(&batch.key_sizes)
        .bind(&batch.event_streams)
        .bind(&batch.event_index)
        .bind(&batch.event_ordinal)
        .bind(&batch.kinds)
        .bind(&batch.schemas)
        .bind(&batch.payloads)
        .bind(&batch.metas)
        .bind(&batch.recorded_ats)
        .bind(&batch.hashes);
    // `fetch_all` reads up to "ready for query", which Postgres sends after the commit; a fetch
    // of one row would return before it.
    let rows = match pooler {
        Pooler::None => query.fetch_all(connection).await?,
        Pooler::Transaction => {
            let mut tx = connection.begin_with(pooler.begin()).await?;
            let rows = query.fetch_all(&mut *tx).await?;
            tx.commit().await?;
            rows
        }
    };
    rows.into_iter().next().ok_or(sqlx::Error::RowNotFound)
}

fn read(row: &PgRow) -> Result<Option<Answer>, sqlx::Error> {
    let outcome: i16 = row.try_get("outcome")?;
    Ok(Some(match outcome {
        0 | 1 => {
            Answer::Written { first: Position(row.try_get("first")?), bases: row.try_get("bases")? }
        }
        2 => Answer::Stale { versions: row.try_get("bases")? },
        3 => Answer::Remembered,
        4 => Answer::Archived,
        5 => return Ok(None),
        other => return Err(sqlx::Error::Protocol(format!("log.append said {other}"))),
    }))
}
