//! The log for a command that works on the database itself: opened, used, closed.

use std::time::Duration;

use sqlx::Connection as _;
use weir_log::Log;
use weir_log::database::Database;
use weir_log::lifecycle::Lifecycle;
use weir_log::migrate;
use weir_processors::clock::{Clock as _, SystemClock};
use weir_projections::engine::{Engine, EngineOptions};

use super::of_migration;
use crate::config::Config;
use crate::exit::{EndsWith as _, Exit, Failure, chain};

const PATIENCE: Duration = Duration::from_secs(2);

/// The configured database, if it answers.
pub(crate) async fn connect(config: &Config, url: &str) -> Result<Database, Failure> {
    let section = &config.database;
    let database = Database::new(url, section.pooler.into(), section.max_connections)
        .ends_with(Exit::Usage)?;
    let fix = "check database.url, and that the server runs and lets this user in";
    let connection = database.connect().await.map_err(|fault| {
        let exit = if fault.passing() { Exit::Unreachable } else { Exit::Failed };
        Failure::new(exit, chain(&fault)).hint(fix)
    })?;
    // It was only to see whether there is one.
    drop(connection.close().await);
    Ok(database)
}

/// An opened log with its projections.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) log: Log,
    pub(crate) database: Database,
    work: Lifecycle,
    tasks: Lifecycle,
}

impl Opened {
    /// Opens the log of a database that has this build's schema.
    pub(crate) async fn open(config: &Config, url: &str) -> Result<Self, Failure> {
        let database = connect(config, url).await?;
        migrate::check(&database).await.map_err(|fault| of_migration(&fault))?;
        let (work, tasks) = (Lifecycle::new(), Lifecycle::new());
        let fresh = SystemClock.new_id();
        let log = Log::open(database.clone(), &config.log.options(), fresh, &tasks)
            .await
            .ends_with(Exit::Unreachable)?;
        Ok(Self { log, database, work, tasks })
    }

    /// The projections, without anybody who moves them.
    pub(crate) fn engine(&self) -> Engine {
        let options = EngineOptions { host: "weir replay".to_owned(), ..EngineOptions::default() };
        Engine::new(self.log.clone(), weir_projections::all(), SystemClock.new_id(), options)
    }

    /// What background work of the command stops with.
    pub(crate) const fn work(&self) -> &Lifecycle {
        &self.work
    }

    pub(crate) async fn close(self) {
        self.work.stop(PATIENCE).await;
        self.tasks.stop(PATIENCE).await;
        // What does not close in time is closed by the end of the process.
        drop(tokio::time::timeout(PATIENCE, self.database.close()).await);
    }
}
