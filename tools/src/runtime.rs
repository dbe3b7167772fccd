//! Threads and signals: the main thread keeps the private Postgres, another one runs the rest.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Config;
use crate::config::without_password;
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::postgres::{Cluster, ClusterOptions, PostgresFault};

/// Which private cluster a command can do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// One is made if there is none.
    Any,
    /// There must be one: a new one would hold nothing.
    Existing,
}

/// Runs work on the configured database, or on the private one, which this (the main) thread
/// starts or adopts and looks after until the work is done.
pub(crate) fn with_database<F, W>(
    context: &Context,
    config: &Config,
    need: Need,
    work: F,
) -> Result<Exit, Failure>
where
    F: FnOnce(String) -> W + Send + 'static,
    W: Future<Output = Result<Exit, Failure>>,
{
    if let Some(url) = &config.database.url {
        tracing::debug!(database = without_password(&url.0), "using the configured database");
        return runtime()?.block_on(work(url.0.clone()));
    }
    let data_dir = context.data_dir.path();
    if need == Need::Existing && !data_dir.join("pgdata").is_dir() {
        let message = format!("there is no database in `{}`", data_dir.display());
        return Err(Failure::new(Exit::NotFound, message).hint(format!(
            "start Weir with `{} up`, or name its place with --data-dir or --database-url",
            context.weir()
        )));
    }
    let cluster = Cluster::start(ClusterOptions {
        data_dir: data_dir.to_owned(),
        bindir: config.database.pg_bindir.clone(),
        port: None,
    })
    .map_err(|fault| of_postgres(&fault))?;
    beside(cluster, work)
}

fn of_postgres(fault: &PostgresFault) -> Failure {
    let exit = match fault {
        PostgresFault::Busy { .. } => Exit::RetryLater,
        PostgresFault::Silent(_) => Exit::Unreachable,
        _ => Exit::Failed,
    };
    Failure::new(exit, chain(fault))
}

fn beside<F, W>(cluster: Cluster, work: F) -> Result<Exit, Failure>
where
    F: FnOnce(String) -> W + Send + 'static,
    W: Future<Output = Result<Exit, Failure>>,
{
    let url = cluster.url();
    let done = Arc::new(Done { done: AtomicBool::new(false), main: thread::current() });
    let when_done = Finish(Arc::clone(&done));
    let worker = thread::Builder::new().name("weir".to_owned()).spawn(move || {
        let _when_done = when_done;
        runtime()?.block_on(work(url))
    })?;
    cluster.run_until(|| done.done.load(Ordering::Acquire));
    worker.join().unwrap_or_else(|_| Err(Failure::failed("the work ended with a panic")))
}

struct Done {
    done: AtomicBool,
    main: Thread,
}

/// Tells the main thread, however the work ends.
struct Finish(Arc<Done>);

impl Drop for Finish {
    fn drop(&mut self) {
        self.0.done.store(true, Ordering::Release);
        self.0.main.unpark();
    }
}

/// The runtime of the process.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Runs work that needs no database, until it is done or interrupted.
pub(crate) fn run(work: impl Future<Output = Result<Exit, Failure>>) -> Result<Exit, Failure> {
    runtime()?.block_on(interruptible(work))
}

/// Work that ends with the signal's exit code when a signal comes first.
pub(crate) async fn interruptible(
    work: impl Future<Output = Result<Exit, Failure>>,
) -> Result<Exit, Failure> {
    let mut signals = Signals::new()?;
    tokio::select! {
        done = work => done,
        exit = signals.next() => Ok(exit),
    }
}

/// The signals that mean "stop".
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// The next signal, as the exit code it stands for.
    pub(crate) async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_keeps_a_private_postgres_from_starting_has_a_code() {
        let busy = PostgresFault::Busy { data_dir: "/d".into(), waited: std::time::Duration::ZERO };
        assert_eq!(of_postgres(&busy).exit, Exit::RetryLater);
        let silent = PostgresFault::Silent(sqlx::Error::PoolTimedOut);
        let told = of_postgres(&silent);
        assert_eq!(told.exit, Exit::Unreachable);
        assert!(told.message.starts_with("the private Postgres did not answer: "), "{told:?}");
        assert_eq!(of_postgres(&PostgresFault::Interrupted).exit, Exit::Failed);
    }
}
