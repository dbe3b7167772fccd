//! Reading in order: binary `COPY`, which Postgres and we decode several times faster than rows,
//! and which works the same behind a pooler.

mod copy;
pub mod kinds;

use std::{ops::ControlFlow, sync::Arc};

use futures_util::TryStreamExt;
use sqlx::{PgConnection, Postgres, Row, pool::PoolConnection};
use weir_events::{
    envelope::{Meta, Recorded},
    position::{Position, StreamVersion},
    stream::StreamName,
};

use crate::{
    Log,
    database::{Database, DatabaseFault, Pooler},
};

/// The most events one read answers with.
pub const MAX_READ: usize = 10_000;
/// The most payload and meta one read answers with, about: it ends with the event that reaches
/// this, so it is at least one event and never more than one beyond.
pub const MAX_READ_BYTES: usize = 16 << 20;

/// Reading did not give what the log promises.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
    /// A position is missing. The log is damaged, or somebody wrote around it.
    #[error("the log has a hole: position {found} follows {last}")]
    Hole {
        /// The last position read.
        last: Position,
        /// The one that came next.
        found: Position,
    },
    /// A stored row does not have the shape of an event.
    #[error("the event after position {after} cannot be read: {what}")]
    Malformed {
        /// The last position read.
        after: Position,
        /// What is wrong with it.
        what: &'static str,
    },
}

const COLUMNS: &str = "position, version, recorded_at, kind, schema, stream, payload, meta, hash";

/// A pooled connection that goes back only after a read ran to its end: a `COPY` cut short would
/// leave its remains to the next user.
struct Lent(Option<PoolConnection<Postgres>>);

impl Lent {
    async fn from(database: &Database) -> Result<Self, DatabaseFault> {
        let lent = database.pool().acquire().await;
        lent.map(|c| Self(Some(c))).map_err(DatabaseFault::of("get a connection to read with"))
    }

    fn connection(&mut self) -> Result<&mut PgConnection, DatabaseFault> {
        let gone = || DatabaseFault { doing: "read", cause: sqlx::Error::PoolClosed };
        self.0.as_deref_mut().ok_or_else(gone)
    }

    fn give_back(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            drop(connection.detach());
        }
    }
}

/// Reads at most `limit` events and about [`MAX_READ_BYTES`] after a position, in order and without
/// holes.
pub async fn read_after(
    database: &Database,
    after: Position,
    limit: usize,
) -> Result<Vec<Arc<Recorded>>, ReadFault> {
    let limit = limit.min(MAX_READ);
    let statement = format!(
        "COPY (SELECT {COLUMNS} FROM log.events WHERE position > {after} \
         ORDER BY position LIMIT {limit}) TO STDOUT (FORMAT binary)"
    );
    let (mut last, mut n_bytes) = (after, 0);
    let mut events = Vec::with_capacity(limit.min(1024));
    copy_out(database, &statement, after, |event| {
        if event.position != last.next() {
            return Err(ReadFault::Hole { last, found: event.position });
        }
        last = event.position;
        n_bytes += event.payload.len() + event.meta.len();
        events.push(Arc::new(event));
        // Cutting off costs the connection. Having Postgres add up the sizes would cost every page
        // a quarter more time, and pages this heavy are rare.
        let heavy = n_bytes >= MAX_READ_BYTES && events.len() < limit;
        Ok(if heavy { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })
    .await?;
    Ok(events)
}

/// Reads every event of a range in order, holes and all: for `verify`, which reports them.
pub(crate) async fn read_range(
    database: &Database,
    after: Position,
    upto: Position,
    mut each: impl FnMut(Recorded) -> Result<(), ReadFault> + Send,
) -> Result<(), ReadFault> {
    let statement = format!(
        "COPY (SELECT {COLUMNS} FROM log.events WHERE position > {after} AND position <= {upto} \
         ORDER BY position) TO STDOUT (FORMAT binary)"
    );
    copy_out(database, &statement, after, |event| each(event).map(ControlFlow::Continue)).await
}

/// Hands over events until there are no more, or none are wanted.
async fn copy_out(
    database: &Database,
    statement: &str,
    after: Position,
    mut each: impl FnMut(Recorded) -> Result<ControlFlow<()>, ReadFault> + Send,
) -> Result<(), ReadFault> {
    let fault = DatabaseFault::of("read events");
    let mut lent = Lent::from(database).await?;
    let mut decoder = copy::Decoder::new(after);
    {
        let connection = lent.connection()?;
        let mut chunks = connection.copy_out_raw(statement).await.map_err(&fault)?;
        while let Some(chunk) = chunks.try_next().await.map_err(&fault)? {
            if decoder.feed(chunk, &mut each)?.is_break() {
                return Ok(());
            }
        }
    }
    lent.give_back();
    decoder.finish()
}

/// Filters of a page of events. Empty lists mean "any".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Streams that begin with this.
    pub stream_prefix: Option<String>,
    /// Kinds, by code.
    pub kinds: Vec<i32>,
    /// Ranges of kinds, inclusive.
    pub kind_ranges: Vec<(i32, i32)>,
    /// In whose name.
    pub principal: Option<String>,
}

impl Filter {
    /// Whether an event passes.
    pub fn matches(&self, event: &Recorded) -> bool {
        let stream = event.stream.as_str();
        let kind = event.kind.0;
        let in_range = |&(low, high): &(i32, i32)| low <= kind && kind <= high;
        self.stream_prefix.as_deref().is_none_or(|prefix| stream.starts_with(prefix))
            && (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.kind_ranges.is_empty() || self.kind_ranges.iter().any(in_range))
            && self.is_of(event)
    }

    /// Whether an event is in the name that is asked for, where one is.
    fn is_of(&self, event: &Recorded) -> bool {
        let Some(principal) = &self.principal else { return true };
        event.meta().is_ok_and(|meta| *meta.principal == **principal)
    }

    /// Whether everything passes.
    pub const fn is_open(&self) -> bool {
        self.stream_prefix.is_none()
            && self.kinds.is_empty()
            && self.kind_ranges.is_empty()
            && self.principal.is_none()
    }
}

const BY_STREAM: &str = "
    SELECT position, version, recorded_at, kind, schema, stream, payload, meta, hash
    FROM log.events WHERE stream = $1 AND version > $2
    ORDER BY version LIMIT $3";

const ONE: &str = "
    SELECT position, version, recorded_at, kind, schema, stream, payload, meta, hash
    FROM log.events WHERE position = $1";

impl Log {
    /// Reads at most `limit` (up to [`MAX_READ`]) events after a position, in order; fewer where
    /// they are large (see [`MAX_READ_BYTES`]), but none only where there are none.
    pub async fn read(
        &self,
        after: Position,
        limit: usize,
    ) -> Result<Vec<Arc<Recorded>>, ReadFault> {
        read_after(self.database(), after, limit).await
    }

    /// Reads at most `limit` events of one stream after a version, in order.
    pub async fn read_stream(
        &self,
        stream: &StreamName,
        after: StreamVersion,
        limit: usize,
    ) -> Result<Vec<Recorded>, ReadFault> {
        let fault = DatabaseFault::of("read a stream");
        let limit = i64::try_from(limit.min(MAX_READ)).unwrap_or(i64::MAX);
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(BY_STREAM)
            .bind(stream.as_str())
            .bind(after.0)
            .bind(limit)
            .fetch_all(&mut *tx)
            .await
            .map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        rows.iter().map(|row| from_row(row).map_err(|c| fault(c).into())).collect()
    }

    /// Reads one event.
    pub async fn event(&self, position: Position) -> Result<Option<Recorded>, ReadFault> {
        let fault = DatabaseFault::of("read an event");
        let mut tx = self.database().begin().await?;
        let rows = sqlx::query(ONE).bind(position.0).fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        rows.first().map(|row| from_row(row).map_err(|c| fault(c).into())).transpose()
    }

    /// A page of events that pass a filter: the first `limit` after a position, or the last
    /// `limit` before one; in order either way. A filter that little passes may have the whole log
    /// looked at: it gives up after ten seconds, with a fault that passes.
    pub async fn page(
        &self,
        filter: &Filter,
        after: Position,
        before: Option<Position>,
        limit: usize,
    ) -> Result<Vec<Recorded>, ReadFault> {
        let fault = DatabaseFault::of("read a page of events");
        let limit = i64::try_from(limit.min(MAX_READ)).unwrap_or(i64::MAX);
        let mut query = sqlx::QueryBuilder::<Postgres>::new(format!(
            "SELECT * FROM (SELECT {COLUMNS} FROM log.events WHERE position > "
        ));
        query.push_bind(after.0);
        if let Some(before) = before {
            query.push(" AND position < ").push_bind(before.0);
        }
        if let Some(prefix) = &filter.stream_prefix {
            query.push(" AND starts_with(stream, ").push_bind(prefix.as_str()).push(")");
        }
        if !filter.kinds.is_empty() {
            query.push(" AND kind = ANY (").push_bind(filter.kinds.clone()).push(")");
        }
        if !filter.kind_ranges.is_empty() {
            query.push(" AND (false");
            for &(low, high) in &filter.kind_ranges {
                query.push(" OR kind BETWEEN ").push_bind(low).push(" AND ").push_bind(high);
            }
            query.push(")");
        }
        if let Some(principal) = &filter.principal {
            // Empty, where it cannot be made, it only finds more than passes in the end.
            let trace = Meta::trace_of(principal).unwrap_or_default();
            query.push(" AND position(").push_bind(trace).push("::bytea IN meta) > 0");
        }
        let order = if before.is_some() { "DESC" } else { "ASC" };
        query.push(format!(" ORDER BY position {order} LIMIT ")).push_bind(limit);
        query.push(") page ORDER BY position");
        let begin = match self.database().pooler() {
            Pooler::None => "BEGIN; SET LOCAL statement_timeout = '10s'",
            Pooler::Transaction => "BEGIN; DEALLOCATE ALL; SET LOCAL statement_timeout = '10s'",
        };
        let mut tx = self.database().begin_with(begin).await?;
        let rows = query.build().fetch_all(&mut *tx).await.map_err(&fault)?;
        tx.commit().await.map_err(&fault)?;
        let mut events = Vec::with_capacity(rows.len());
        for row in &rows {
            events.push(from_row(row).map_err(&fault)?);
        }
        events.retain(|event| filter.is_of(event));
        Ok(events)
    }
}

fn from_row(row: &sqlx::postgres::PgRow) -> Result<Recorded, sqlx::Error> {
    let stream: String = row.try_get("stream")?;
    let hash: Vec<u8> = row.try_get("hash")?;
    let recorded_at: time::OffsetDateTime = row.try_get("recorded_at")?;
    let decode = |what: &str| sqlx::Error::Decode(what.into());
    Ok(Recorded {
        position: Position(row.try_get("position")?),
        stream: StreamName::new(stream).map_err(|_| decode("a stream's name"))?,
        version: StreamVersion(row.try_get("version")?),
        kind: weir_events::kind::Kind(row.try_get("kind")?),
        schema: row.try_get("schema")?,
        payload: row.try_get::<Vec<u8>, _>("payload")?.into(),
        meta: row.try_get::<Vec<u8>, _>("meta")?.into(),
        recorded_at: recorded_at.into(),
        hash: hash.try_into().map_err(|_| decode("a leaf hash"))?,
    })
}
