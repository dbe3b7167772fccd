//! `weir postgres` (hidden): a private Postgres for tests and scripts, without anything on top.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};

use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

use crate::postgres::{Cluster, ClusterOptions, PostgresFault};

/// Why the command ended without being asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Postgres(#[from] PostgresFault),
    #[error("could not listen for signals or print the URL")]
    Io(#[from] io::Error),
}

/// Prints the cluster's URL as the first line, then keeps it running until standard input closes
/// or SIGTERM or SIGINT arrives. Runs on the main thread, outside any runtime.
pub(crate) fn run(data_dir: PathBuf, bindir: Option<PathBuf>) -> Result<(), Fault> {
    let cluster = Cluster::start(ClusterOptions { data_dir, bindir, port: None })?;
    info!(
        pid = cluster.pid(),
        socket_dir = %cluster.socket_dir().display(),
        port = cluster.port(),
        "postgres is ready"
    );
    let ended = Arc::new(Ended { ended: AtomicBool::new(false), main: thread::current() });
    end_on_signal(Arc::clone(&ended))?;
    end_on_closed_input(Arc::clone(&ended))?;
    let mut out = io::stdout();
    writeln!(out, "{}", cluster.url())?;
    out.flush()?;
    cluster.run_until(|| ended.ended.load(Ordering::Acquire));
    Ok(())
}

/// Wakes the main thread for the last time.
struct Ended {
    ended: AtomicBool,
    main: Thread,
}

impl Ended {
    fn now(&self) {
        self.ended.store(true, Ordering::Release);
        self.main.unpark();
    }
}

fn end_on_signal(ended: Arc<Ended>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut terminate, mut interrupt) = {
        let _entered = runtime.enter();
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?)
    };
    thread::Builder::new().name("weir-signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        });
        ended.now();
    })?;
    Ok(())
}

fn end_on_closed_input(ended: Arc<Ended>) -> io::Result<()> {
    thread::Builder::new().name("weir-input".to_owned()).spawn(move || {
        // An unreadable input is a closed one.
        let _read = io::copy(&mut io::stdin().lock(), &mut io::sink());
        ended.now();
    })?;
    Ok(())
}
