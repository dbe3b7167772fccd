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

/// Commands forgotten in one transaction, so that nobody waits long for its locks.
const FORGET_AT_ONCE: u64 = 10_000;
/// Transactions of one round of forgetting: a million commands, then others have their turn.
const MAX_FORGETS: u64 = 100;

const OLD_COMMANDS: &str = "
    DELETE FROM log.commands WHERE key IN (
        SELECT key FROM log.commands WHERE recorded_at < now() - make_interval(days => $1)
        ORDER BY recorded_at LIMIT $2)";

const OLD_WRITERS: &str = "DELETE FROM log.writers WHERE seen_at < now() - interval '1 day'";

/// Forgets command answers older than `days`, and writers not heard of for a day; answers how many
/// commands it forgot. At most a million a call; safe to drop at any moment.
pub async fn forget_old_commands(log: &Log, days: i32) -> Result<u64, DatabaseFault> {
    let fault = DatabaseFault::of("forget old writers");
    let mut tx = log.database().begin().await?;
    sqlx::query(OLD_WRITERS).execute(&mut *tx).await.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    let mut n_forgotten = 0;
    for _ in 0..MAX_FORGETS {
        let n = forget_some(log.database(), days).await?;
        n_forgotten += n;
        if n < FORGET_AT_ONCE {
            break;
        }
    }
    Ok(n_forgotten)
}

async fn forget_some(database: &Database, days: i32) -> Result<u64, DatabaseFault> {
    let fault = DatabaseFault::of("forget old commands");
    let at_once = i64::try_from(FORGET_AT_ONCE).unwrap_or(i64::MAX);
    let mut tx = database.begin().await?;
    let gone = sqlx::query(OLD_COMMANDS).bind(days).bind(at_once).execute(&mut *tx).await;
    let gone = gone.map_err(&fault)?;
    tx.commit().await.map_err(&fault)?;
    Ok(gone.rows_affected())
}
