//! Numbered migrations: forward only, never edited once released, run under an advisory lock.

use std::borrow::Cow;

use sqlx::{
    PgConnection, SqlSafeStr,
    migrate::{Migrate, MigrateError, Migration, MigrationType, Migrator},
};

use crate::database::{Database, is_passing, patiently};

/// All numbered migrations: version, name, statements.
pub const MIGRATIONS: &[(i64, &str, &str)] = &[
    (1, "log", include_str!("../../../migrations/0001_log.sql")),
    (2, "projections", include_str!("../../../migrations/0002_projections.sql")),
    (3, "access", include_str!("../../../migrations/0003_access.sql")),
    (4, "sessions", include_str!("../../../migrations/0004_sessions.sql")),
    (5, "content", include_str!("../../../migrations/0005_content.sql")),
    (6, "content_words", include_str!("../../../migrations/0006_content_words.sql")),
    (7, "content_compression", include_str!("../../../migrations/0007_content_compression.sql")),
];

/// The schema cannot be used as it is.
#[derive(Debug, thiserror::Error)]
pub enum MigrateFault {
    /// A migration failed, or the database holds ones this build does not know.
    #[error("could not read or run the database's migrations")]
    Failed(#[source] MigrateError),
    /// The database is older than this build.
    #[error("the database is at migration {found}, this build needs {needed}: run `weir migrate`")]
    Older {
        /// The last migration applied.
        found: i64,
        /// The last migration of this build.
        needed: i64,
    },
}

fn migrator() -> Migrator {
    Migrator::with_migrations(
        MIGRATIONS
            .iter()
            .map(|&(version, name, sql)| {
                let sql = sql.into_sql_str();
                Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, sql, false)
            })
            .collect(),
    )
}

impl MigrateFault {
    /// Whether asking again later can help.
    pub fn passing(&self) -> bool {
        matches!(self, Self::Failed(MigrateError::Execute(cause)) if is_passing(cause))
    }
}

/// Brings the database to this build's schema. Safe to call from several processes at once.
/// Needs a direct connection: advisory locks do not survive a pooler in transaction mode.
pub async fn migrate(database: &Database) -> Result<(), MigrateFault> {
    patiently(MigrateFault::passing, || async {
        let mut connection = connect(database).await?;
        migrator().run(&mut connection).await.map_err(MigrateFault::Failed)
    })
    .await
}

/// Refuses a database that is older than this build.
pub async fn check(database: &Database) -> Result<(), MigrateFault> {
    let found = found(database).await?;
    let needed = MIGRATIONS.last().map_or(0, |m| m.0);
    if found < needed { Err(MigrateFault::Older { found, needed }) } else { Ok(()) }
}

/// The last migration applied.
async fn found(database: &Database) -> Result<i64, MigrateFault> {
    let mut connection = connect(database).await?;
    connection.ensure_migrations_table("_sqlx_migrations").await.map_err(MigrateFault::Failed)?;
    let applied = connection.list_applied_migrations("_sqlx_migrations").await;
    let applied = applied.map_err(MigrateFault::Failed)?;
    Ok(applied.iter().map(|m| m.version).max().unwrap_or(0))
}

async fn connect(database: &Database) -> Result<PgConnection, MigrateFault> {
    let connected = database.connect().await;
    connected.map_err(|fault| MigrateFault::Failed(MigrateError::Execute(fault.cause)))
}
