//! How transactions begin, directly and behind a pooler.

use sqlx::{Postgres, Transaction};
use weir_log::database::{Database, DatabaseFault, Pooler};

/// A transaction behind a pooler is alone on its server connection, but finds there what others
/// prepared under the very names that its own statements will get.
const FORGETTING: &str = "BEGIN; DEALLOCATE ALL";
const OF_ONE_MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ";
const OF_ONE_MOMENT_FORGETTING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ; DEALLOCATE ALL";

type Begun = Result<Transaction<'static, Postgres>, DatabaseFault>;

/// Begins a transaction.
pub(crate) async fn begin(database: &Database) -> Begun {
    match database.pooler() {
        Pooler::None => database.begin().await,
        Pooler::Transaction => begin_with(database, FORGETTING).await,
    }
}

/// Begins a transaction that sees one moment throughout: that of its first query.
pub(crate) async fn begin_of_one_moment(database: &Database) -> Begun {
    match database.pooler() {
        Pooler::None => begin_with(database, OF_ONE_MOMENT).await,
        Pooler::Transaction => begin_with(database, OF_ONE_MOMENT_FORGETTING).await,
    }
}

async fn begin_with(database: &Database, statement: &'static str) -> Begun {
    let begun = database.pool().begin_with(statement).await;
    begun.map_err(DatabaseFault::of("begin a transaction"))
}
