//! Partitions by position, made ahead of the head. There is no default partition: an event that
//! fits none is a bug that must be loud.

use crate::{
    Log,
    database::{Database, DatabaseFault},
};

/// Events a partition holds.
pub const PARTITION_EVENTS: i64 = 20_000_000;

/// Makes partitions until two whole ones lie ahead; answers how many it made.
pub async fn ensure_ahead(database: &Database, size: i64) -> Result<i32, DatabaseFault> {
    let fault = DatabaseFault::of("make partitions ahead of the log's head");
    let mut tx = database.begin().await?;
    let made = sqlx::query_scalar("SELECT log.ensure_partitions($1)")
        .bind(size)
        .fetch_all(&mut *tx)
        .await
        .map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(made.first().copied().unwrap_or(0))
}

/// Forgets command answers older than `days`, and writers not heard of for a day.
/// At most 10,000 rows a call, so that nobody waits long for its locks.
pub async fn forget_old_commands(log: &Log, days: i32) -> Result<u64, DatabaseFault> {
    const COMMANDS: &str = "
        DELETE FROM log.commands WHERE key IN (
            SELECT key FROM log.commands WHERE recorded_at < now() - make_interval(days => $1)
            ORDER BY recorded_at LIMIT 10000)";
    const WRITERS: &str = "DELETE FROM log.writers WHERE seen_at < now() - interval '1 day'";
    let fault = DatabaseFault::of("forget old commands");
    let mut tx = log.database().begin().await?;
    let gone = sqlx::query(COMMANDS).bind(days).execute(&mut *tx).await.map_err(&fault)?;
    sqlx::query(WRITERS).execute(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(gone.rows_affected())
}
