//! Databases on the bench's own Postgres: a fresh one for each group of lines.

use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, PgConnection, postgres::PgConnectOptions,
};
use uuid::Uuid;
use weir_log::{
    Log, LogOptions,
    database::{Database, Pooler},
    lifecycle::Lifecycle,
    migrate,
};

use crate::Fault;

/// A database that is made for some lines and dropped after them.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    /// Its name.
    pub(crate) name: String,
    cluster: String,
}

impl Scratch {
    /// Makes it, empty.
    pub(crate) async fn create(cluster: &str, name: &str) -> Result<Self, Fault> {
        let scratch = Self { name: format!("bench_{name}"), cluster: cluster.to_owned() };
        scratch.admin(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", scratch.name)).await?;
        scratch.admin(&format!("CREATE DATABASE {}", scratch.name)).await?;
        Ok(scratch)
    }

    /// Makes it with Weir's schema.
    pub(crate) async fn migrated(cluster: &str, name: &str) -> Result<Self, Fault> {
        let scratch = Self::create(cluster, name).await?;
        migrate::migrate(&scratch.database(2)?).await?;
        Ok(scratch)
    }

    /// Throws it away.
    pub(crate) async fn discard(self) -> Result<(), Fault> {
        self.admin(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await
    }

    async fn admin(&self, statement: &str) -> Result<(), Fault> {
        let mut connection = PgConnection::connect(&self.cluster).await?;
        connection.execute(sqlx::AssertSqlSafe(statement)).await?;
        connection.close().await?;
        Ok(())
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        let (head, query) = self.cluster.split_once('?').unwrap_or((&self.cluster, ""));
        let base = head.rsplit_once('/').map_or(head, |(base, _)| base);
        format!("{base}/{}?{query}", self.name)
    }

    /// The host, port and user that `pgbench` and `psql` are told.
    pub(crate) fn client_options(&self) -> Result<PgConnectOptions, Fault> {
        Ok(self.url().parse()?)
    }

    /// As Weir uses it.
    pub(crate) fn database(&self, n_connections: u32) -> Result<Database, Fault> {
        Ok(Database::new(&self.url(), Pooler::None, n_connections)?)
    }

    /// A plain connection.
    pub(crate) async fn connect(&self) -> Result<PgConnection, Fault> {
        Ok(self.client_options()?.connect().await?)
    }

    /// Runs statements of the bench's own.
    pub(crate) async fn run(&self, statements: &str) -> Result<(), Fault> {
        let mut connection = self.connect().await?;
        connection.execute(sqlx::AssertSqlSafe(statements)).await?;
        connection.close().await?;
        Ok(())
    }

    /// Its log, as a process opens it.
    pub(crate) async fn log(&self) -> Result<OpenLog, Fault> {
        let lifecycle = Lifecycle::new();
        let options = LogOptions::default();
        let log = Log::open(self.database(8)?, &options, fresh(), &lifecycle).await?;
        Ok(OpenLog { log, lifecycle })
    }
}

/// A log with its background tasks.
#[derive(Debug)]
pub(crate) struct OpenLog {
    pub(crate) log: Log,
    pub(crate) lifecycle: Lifecycle,
}

impl OpenLog {
    /// Ends its tasks.
    pub(crate) async fn close(self) {
        self.lifecycle.stop(std::time::Duration::from_secs(5)).await;
        self.log.database().close().await;
    }
}

/// An id.
pub(crate) fn fresh() -> Uuid {
    Uuid::from_bytes(rand::random())
}
