//! What queries on read models have in common.

use sqlx::{
    Postgres, Row,
    error::DatabaseError,
    postgres::{PgArguments, PgRow},
    query::Query,
};
use weir_events::{position::Position, timestamp::Timestamp};
use weir_log::database::{Database, DatabaseFault};

/// The most rows one query answers with.
pub const MAX_ROWS: usize = 1_000;

/// A read model could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum QueryFault {
    /// No worker has built it yet.
    #[error("`{0}` is not built yet: a worker must run")]
    NotBuilt(&'static str),
    /// The database could not be asked.
    #[error(transparent)]
    Database(#[from] DatabaseFault),
}

impl QueryFault {
    /// Whether asking again later can help.
    pub fn passing(&self) -> bool {
        match self {
            Self::NotBuilt(_) => true,
            Self::Database(fault) => fault.passing(),
        }
    }

    fn of(view: &'static str) -> impl Fn(sqlx::Error) -> Self {
        move |cause| {
            let code = cause.as_database_error().and_then(DatabaseError::code);
            // undefined_table, invalid_schema_name; undefined_column: the view is that of the version before.
            if code.is_some_and(|code| ["42P01", "3F000", "42703"].contains(&&*code)) {
                return Self::NotBuilt(view);
            }
            DatabaseFault { doing: "query a read model", cause }.into()
        }
    }
}

/// Runs a query on a view.
pub(crate) async fn rows<T>(
    database: &Database,
    view: &'static str,
    query: Query<'_, Postgres, PgArguments>,
    from_row: impl Fn(&PgRow) -> Result<T, sqlx::Error>,
) -> Result<Vec<T>, QueryFault> {
    let fault = QueryFault::of(view);
    let mut tx = database.begin().await?;
    let rows = query.fetch_all(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    rows.iter().map(from_row).collect::<Result<_, _>>().map_err(fault)
}

/// A number of rows as Postgres takes it.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit.min(MAX_ROWS)).unwrap_or(i64::MAX)
}

pub(crate) fn position(row: &PgRow, column: &str) -> Result<Position, sqlx::Error> {
    row.try_get(column).map(Position)
}

pub(crate) fn moment(row: &PgRow, column: &str) -> Result<Timestamp, sqlx::Error> {
    row.try_get::<time::OffsetDateTime, _>(column).map(Timestamp::from)
}

pub(crate) fn moment_if_any(row: &PgRow, column: &str) -> Result<Option<Timestamp>, sqlx::Error> {
    Ok(row.try_get::<Option<time::OffsetDateTime>, _>(column)?.map(Timestamp::from))
}

/// A word of a fixed vocabulary.
pub(crate) fn word<T>(
    row: &PgRow,
    column: &str,
    find: fn(&str) -> Option<T>,
) -> Result<T, sqlx::Error> {
    let text: &str = row.try_get(column)?;
    find(text).ok_or_else(|| sqlx::Error::Decode(format!("`{text}` as {column}").into()))
}

/// Runs a statement on what read models point at, in a transaction of its own; answers how many rows it
/// changed.
pub(crate) async fn execute(
    database: &Database,
    view: &'static str,
    statement: Query<'_, Postgres, PgArguments>,
) -> Result<u64, QueryFault> {
    let fault = QueryFault::of(view);
    let mut tx = database.begin().await?;
    let done = statement.execute(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(done.rows_affected())
}
