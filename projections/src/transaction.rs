//! Transactions that see one moment throughout: that of their first query.

use sqlx::{Postgres, Transaction};
use weir_log::database::{Database, DatabaseFault, Pooler};

/// Begins a transaction that sees one moment throughout.
pub(crate) async fn begin_of_one_moment(
    database: &Database,
) -> Result<Transaction<'static, Postgres>, DatabaseFault> {
    let statement = match database.pooler() {
        Pooler::None => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        Pooler::Transaction => "BEGIN ISOLATION LEVEL REPEATABLE READ; DEALLOCATE ALL",
    };
    database.begin_with(statement).await
}
