//! What goes on in the database besides our own work.

use std::time::Duration;

use sqlx::{PgConnection, Row};

use crate::database::DatabaseFault;

/// A transaction somebody has had open for longest, in any database of the cluster: while it is
/// open, dead rows pile up everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OldestTransaction {
    /// How long it has been open; zero where none is.
    pub age: Duration,
    /// What its client calls itself.
    pub application: Option<String>,
}

/// Of other users' sessions only their existence is told, unless ours may read all statistics.
const OLDEST: &str = "
    SELECT coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)), 0)::float8 AS seconds,
           (array_agg(application_name ORDER BY xact_start))[1] AS application
    FROM pg_stat_activity
    WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() AND backend_type = 'client backend'";

/// Finds the transaction that has been open for longest, this connection's own apart.
pub async fn oldest_transaction(
    connection: &mut PgConnection,
) -> Result<OldestTransaction, DatabaseFault> {
    let fault = DatabaseFault::of("ask for open transactions");
    let rows = sqlx::query(OLDEST).fetch_all(connection).await.map_err(&fault)?;
    let row = rows.first().ok_or_else(|| fault(sqlx::Error::RowNotFound))?;
    let seconds: f64 = row.try_get("seconds").map_err(&fault)?;
    let application: Option<String> = row.try_get("application").map_err(&fault)?;
    Ok(OldestTransaction {
        age: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        application: application.filter(|name| !name.is_empty()),
    })
}
