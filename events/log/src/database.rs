//! The way to Postgres: a pool for short work, connections of their own for writers and listeners.

use std::{
    str::FromStr,
    time::{Duration, Instant},
};

use sqlx::{
    ConnectOptions, Connection as _, PgConnection, PgPool, Postgres, Transaction,
    postgres::{PgArguments, PgConnectOptions, PgPoolOptions},
    query::Query,
};

/// What stands between Weir and Postgres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pooler {
    /// Nothing: prepared statements, LISTEN and session settings work.
    #[default]
    None,
    /// A pooler in transaction mode (pgbouncer): none of these work, everything runs in explicit
    /// transactions with unnamed statements, and notifications are not relied on.
    Transaction,
}

impl Pooler {
    /// How a transaction begins. Statements get names even where none are kept, and the server
    /// behind a pooler may still know the names of whoever had it before.
    pub const fn begin(self) -> &'static str {
        match self {
            Self::None => "BEGIN",
            Self::Transaction => "BEGIN; DEALLOCATE ALL",
        }
    }
}

/// A database that holds a log. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    pool: PgPool,
    options: PgConnectOptions,
    pooler: Pooler,
}

/// Postgres could not be asked.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing}")]
pub struct DatabaseFault {
    /// What was being done.
    pub doing: &'static str,
    /// What Postgres or the way to it said.
    #[source]
    pub cause: sqlx::Error,
}

impl DatabaseFault {
    /// Names what was being done when the cause came up.
    pub fn of(doing: &'static str) -> impl Fn(sqlx::Error) -> Self {
        move |cause| Self { doing, cause }
    }

    /// Whether asking again later can help: the server is away, full, or out of connections.
    pub fn passing(&self) -> bool {
        is_passing(&self.cause)
    }
}

/// Whether the same statement can succeed later without anybody changing it.
pub fn is_passing(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(said) => said.code().is_some_and(|code| {
            ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}

/// Whether the connection is what failed: it was cut, or the server has ended it.
fn is_broken(cause: &sqlx::Error) -> bool {
    match cause {
        sqlx::Error::Io(_) => true,
        sqlx::Error::Database(said) => {
            said.code().is_some_and(|code| ["57P01", "57P02"].contains(&&*code))
        }
        _ => false,
    }
}

/// How long a process that starts waits for a server that is itself just starting, or recovering.
const START_PATIENCE: Duration = Duration::from_mins(1);

/// Tries until it works, the fault is one that waiting does not heal, or a minute has passed: for
/// what a process needs before it can be of use.
pub async fn patiently<T, E, F: Future<Output = Result<T, E>>>(
    passing: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> F,
) -> Result<T, E> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(50);
    loop {
        match attempt().await {
            Err(fault) if passing(&fault) && started.elapsed() < START_PATIENCE => {
                tracing::warn!("the database does not answer yet, trying again in {pause:?}");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
            other => return other,
        }
    }
}

/// How long a connection may take to be had, before the caller is told to come back.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that was used so short a time ago is given out as it is: to ask whether it is still
/// there would be a round trip more for every transaction of a busy process. Whoever finds it broken
/// takes another one.
const FRESH: Duration = Duration::from_secs(1);

impl Database {
    /// Describes a database; connections are made when needed.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn new(url: &str, pooler: Pooler, max_connections: u32) -> Result<Self, DatabaseFault> {
        let fault = DatabaseFault::of("read the database address");
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            let wanted = "it must begin with postgres:// or postgresql://";
            return Err(fault(sqlx::Error::Configuration(wanted.into())));
        }
        let mut options = PgConnectOptions::from_str(url)
            .map_err(fault)?
            .log_statements(tracing::log::LevelFilter::Trace);
        if options.get_application_name().is_none() {
            options = options.application_name("weir");
        }
        match pooler {
            Pooler::None => {
                options = options.options([("idle_in_transaction_session_timeout", "60s")]);
            }
            Pooler::Transaction => {
                options = options.statement_cache_capacity(0).extra_float_digits(None);
            }
        }
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .test_before_acquire(false)
            .before_acquire(|connection, known| {
                Box::pin(async move {
                    if known.idle_for > FRESH {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.clone());
        Ok(Self { pool, options, pooler })
    }

    /// What stands between.
    pub const fn pooler(&self) -> Pooler {
        self.pooler
    }

    /// The pool, for what manages connections itself.
    pub const fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Begins a transaction. Reads go through one too, so that the same words work behind a pooler.
    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>, DatabaseFault> {
        self.begin_with(self.pooler.begin()).await
    }

    /// Begins a transaction with a statement of one's own. Safe to drop at any moment: sqlx would
    /// give a connection back to the pool inside its transaction if it were dropped between the
    /// statement and its answer, so both happen in a task that nobody can drop.
    pub async fn begin_with(
        &self,
        statement: &'static str,
    ) -> Result<Transaction<'static, Postgres>, DatabaseFault> {
        let begin = || async {
            let pool = self.pool.clone();
            let beginning = async move { pool.begin_with(statement).await };
            #[expect(clippy::disallowed_methods, reason = "awaited below, and bounded by the pool")]
            let begun = tokio::spawn(beginning).await;
            begun.unwrap_or(Err(sqlx::Error::WorkerCrashed))
        };
        self.unbroken(begin).await.map_err(DatabaseFault::of("begin a transaction"))
    }

    /// Runs one statement as a transaction of its own, in one round trip where that is possible. It must
    /// mean the same if it is run twice.
    pub async fn execute<'q>(
        &self,
        doing: &'static str,
        query: impl Fn() -> Query<'q, Postgres, PgArguments>,
    ) -> Result<(), DatabaseFault> {
        let fault = DatabaseFault::of(doing);
        if self.pooler == Pooler::Transaction {
            let mut tx = self.begin().await?;
            query().execute(&mut *tx).await.map_err(&fault)?;
            return tx.commit().await.map_err(&fault);
        }
        self.unbroken(|| query().execute(&self.pool)).await.map(drop).map_err(&fault)
    }

    /// Does something that comes first on a connection. After the server was away for a moment, all
    /// that are in the pool may be broken.
    async fn unbroken<T, F: Future<Output = Result<T, sqlx::Error>>>(
        &self,
        attempt: impl Fn() -> F,
    ) -> Result<T, sqlx::Error> {
        for _ in 0..self.pool.options().get_max_connections() {
            match attempt().await {
                Err(cause) if is_broken(&cause) => {}
                other => return other,
            }
        }
        attempt().await
    }

    /// A connection of its own, outside the pool.
    pub async fn connect(&self) -> Result<PgConnection, DatabaseFault> {
        let doing = "connect to the database";
        match tokio::time::timeout(ACQUIRE_TIMEOUT, self.options.connect()).await {
            Ok(made) => made.map_err(DatabaseFault::of(doing)),
            Err(_) => Err(DatabaseFault { doing, cause: sqlx::Error::PoolTimedOut }),
        }
    }

    /// Where connections go, for clients that speak the protocol themselves.
    pub const fn connect_options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// Ends all pooled connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
