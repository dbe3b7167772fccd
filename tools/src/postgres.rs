//! The private Postgres that `weir up` runs for itself.
//!
//! It listens on a Unix socket in a folder of its own and nowhere else, runs as another account
//! when Weir is root, ends with Weir, and is started again when it is killed. Exactly one process
//! owns a cluster, by a lock on `owner.lock` that ends with the process; only the owner starts and
//! stops Postgres, others with the same data directory use it.
//!
//! Nothing here needs an async runtime, and nothing is downloaded.

mod account;
mod binaries;
mod fault;
mod initialise;
mod layout;
mod log;
mod pidfile;
mod process;
mod server;
mod settings;
#[cfg(test)]
mod tests;

use std::fs::{self, File, TryLockError};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tracing::{error, info, warn};

use binaries::Places;
use fault::Doing as _;
pub(crate) use fault::PostgresFault;
use layout::Layout;
pub(crate) use layout::default_data_dir;
use pidfile::PidFile;
use server::{Address, Postmaster, START_WITHIN};

/// Not the usual 5432, so that a mistyped client does not reach some other server.
const DEFAULT_PORT: u16 = 54320;
/// How soon a dead postmaster is noticed, and a wish to stop.
const ROUND: Duration = Duration::from_millis(50);
/// A start that failed is tried again after this, doubled each time up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long backends that outlived their postmaster get to end by themselves.
const ORPHANS_WITHIN: Duration = Duration::from_secs(2);

/// What a private cluster is made from.
#[derive(Debug, Clone)]
pub(crate) struct ClusterOptions {
    /// Holds the cluster, its socket and its lock; see [`default_data_dir`].
    pub(crate) data_dir: PathBuf,
    /// The folder of `initdb` and `postgres`; searched in the usual places if `None`.
    pub(crate) bindir: Option<PathBuf>,
    /// Names the socket file; there is no TCP port.
    pub(crate) port: Option<u16>,
}

/// Whether [`Cluster::supervise`] had to do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Restarted {
    /// Postgres runs.
    No,
    /// Postgres was gone and answers again.
    Yes { after: String, took: Duration },
}

/// A running private Postgres.
///
/// It stays on the thread that started it, which must be the main one: the system stops Postgres
/// when the *thread* that started it ends, so that even a kill -9 of Weir leaves none behind.
#[derive(Debug)]
pub(crate) struct Cluster {
    options: ClusterOptions,
    layout: Layout,
    lock: File,
    owner: bool,
    address: Address,
    server: Server,
    _stays_on_its_thread: PhantomData<*const ()>,
}

#[derive(Debug)]
enum Server {
    Child(Postmaster),
    /// Started by another process, which is the owner or was.
    Adopted(u32),
    Gone,
}

impl Cluster {
    /// Uses the cluster in the data directory if it runs, else starts it, making it if need be.
    /// Returns when it answers; not to be called from within an async runtime.
    pub(crate) fn start(options: ClusterOptions) -> Result<Self, PostgresFault> {
        let layout = Layout::prepare(&options.data_dir)?;
        let lock = layout.lock_file()?;
        let port = options.port.unwrap_or(DEFAULT_PORT);
        let mut cluster = Self {
            options,
            lock,
            owner: false,
            address: Address { socket_dir: layout.data_dir.join("run"), port },
            layout,
            server: Server::Gone,
            _stays_on_its_thread: PhantomData,
        };
        cluster.bring_up(&|| false)?;
        Ok(cluster)
    }

    /// Where clients connect, in the form sqlx and libpq both read.
    pub(crate) fn url(&self) -> String {
        self.address.url()
    }

    pub(crate) fn socket_dir(&self) -> &Path {
        &self.address.socket_dir
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port
    }

    /// The postmaster's process id, or `None` after it was found dead.
    pub(crate) fn pid(&self) -> Option<u32> {
        match &self.server {
            Server::Child(postmaster) => Some(postmaster.pid()),
            Server::Adopted(pid) => Some(*pid),
            Server::Gone => None,
        }
    }

    /// Whether the postmaster lives; costs a system call or two.
    pub(crate) fn is_running(&mut self) -> bool {
        match &mut self.server {
            Server::Child(postmaster) => postmaster.ended().is_none(),
            Server::Adopted(pid) => process::serves(*pid, &self.layout.pgdata),
            Server::Gone => false,
        }
    }

    /// Starts Postgres again if it is gone; cheap while it runs, so call it often.
    ///
    /// A start after a crash may take long; `stop` is asked meanwhile and ends it with
    /// [`PostgresFault::Interrupted`].
    pub(crate) fn supervise(
        &mut self,
        stop: &dyn Fn() -> bool,
    ) -> Result<Restarted, PostgresFault> {
        self.try_to_own()?;
        if self.is_running() {
            return Ok(Restarted::No);
        }
        let began = Instant::now();
        let after = match &mut self.server {
            Server::Child(postmaster) => {
                postmaster.ended().map_or_else(String::new, |status| status.to_string())
            }
            Server::Adopted(_) => "its owner stopped it or it was killed".to_owned(),
            Server::Gone => "an earlier start failed".to_owned(),
        };
        warn!(after, "postgres is gone, starting it again");
        self.server = Server::Gone;
        self.bring_up(stop)?;
        let took = began.elapsed();
        info!(duration_ms = took.as_millis(), "postgres answers again");
        Ok(Restarted::Yes { after, took })
    }

    /// Supervises until `stop` says so, then stops Postgres. Looks at `stop` every 50 ms, and at
    /// once when this thread is unparked.
    pub(crate) fn run_until(mut self, stop: impl Fn() -> bool) {
        let mut pause = FIRST_PAUSE;
        let mut not_before = Instant::now();
        while !stop() {
            if not_before <= Instant::now() {
                match self.supervise(&stop) {
                    Ok(_) => pause = FIRST_PAUSE,
                    Err(PostgresFault::Interrupted) => break,
                    Err(fault) => {
                        error!(error = chain(&fault), "postgres does not start, retrying");
                        not_before = Instant::now() + pause;
                        pause = (pause * 2).min(LONGEST_PAUSE);
                    }
                }
            }
            thread::park_timeout(ROUND);
        }
        self.stop();
    }

    /// Stops Postgres if this process owns it: cleanly, after ten seconds at once.
    pub(crate) fn stop(mut self) {
        self.halt();
    }

    fn halt(&mut self) {
        let pgdata = &self.layout.pgdata;
        match std::mem::replace(&mut self.server, Server::Gone) {
            Server::Child(mut postmaster) => postmaster.stop(),
            Server::Adopted(pid) if self.owner && process::serves(pid, pgdata) => {
                server::end(pid, || !process::serves(pid, pgdata));
            }
            Server::Adopted(_) | Server::Gone => {}
        }
    }

    /// Takes the lock if nobody has it. Whoever has it is responsible for Postgres.
    fn try_to_own(&mut self) -> Result<(), PostgresFault> {
        if self.owner {
            return Ok(());
        }
        match self.lock.try_lock() {
            Ok(()) => self.owner = true,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                return Err(error).doing("lock", &self.layout.data_dir.join("owner.lock"));
            }
        }
        Ok(())
    }

    fn bring_up(&mut self, stop: &dyn Fn() -> bool) -> Result<(), PostgresFault> {
        let deadline = Instant::now() + START_WITHIN;
        loop {
            self.try_to_own()?;
            match PidFile::of_living(&self.layout.pgdata) {
                None if self.owner => return self.start_child(stop),
                // Its Weir is dead, so it has the order to stop already; see to it, and start one
                // that ends with this process.
                Some(file) if self.owner && cfg!(target_os = "linux") => {
                    let pgdata = &self.layout.pgdata;
                    server::end(file.pid, || !process::serves(file.pid, pgdata));
                }
                Some(PidFile { pid, address: Some(address), ready: true, .. }) => {
                    // It may stop between these lines; then the next round sees that.
                    if let Ok(true) = address.serves(&self.layout.pgdata) {
                        info!(pid, "using the postgres that runs already");
                        self.address = address;
                        self.server = Server::Adopted(pid);
                        return Ok(());
                    }
                }
                None | Some(_) => {}
            }
            if stop() {
                return Err(PostgresFault::Interrupted);
            }
            if deadline < Instant::now() {
                let data_dir = self.layout.data_dir.clone();
                return Err(PostgresFault::Busy { data_dir, waited: START_WITHIN });
            }
            thread::sleep(process::LOOK_AGAIN);
        }
    }

    fn start_child(&mut self, stop: &dyn Fn() -> bool) -> Result<(), PostgresFault> {
        let (layout, port) = (&self.layout, self.address.port);
        let stored = initialise::stored_major(&layout.pgdata)?;
        let bindir = self.options.bindir.as_deref();
        let binaries = binaries::find(bindir, &Places::of_this_machine(), layout, stored)?;
        self.address = Address { socket_dir: layout.socket_dir(port)?, port };
        if stored.is_none() {
            initialise::initialise(layout, &binaries, &self.address)?;
        }
        layout.take_over()?;
        clear_remains(&layout.pgdata, &self.address)?;
        let deadline = Instant::now() + ORPHANS_WITHIN;
        let postmaster = loop {
            match Postmaster::start(layout, &binaries, &self.address, stop) {
                // A backend of the last postmaster has not noticed yet.
                Err(PostgresFault::Failed { output, .. })
                    if output.contains("shared memory block") && Instant::now() < deadline =>
                {
                    thread::sleep(process::LOOK_AGAIN);
                }
                Err(fault) => return Err(fault),
                Ok(postmaster) => break postmaster,
            }
        };
        self.server = Server::Child(postmaster);
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.halt();
    }
}

/// Removes what a killed postmaster left: backends busy with a long query, and the files with its
/// number, the one in the cluster and the one beside the socket. Postgres looks whether there is a
/// process of that number, and takes another program, or a dead process nobody has waited for yet,
/// for the postmaster.
///
/// Only the owner does this, and only when no postmaster of the cluster lives.
fn clear_remains(pgdata: &Path, address: &Address) -> Result<(), PostgresFault> {
    let orphans = process::all_of(pgdata);
    if !orphans.is_empty() {
        warn!(n = orphans.len(), "ending what is left of a killed postgres");
    }
    for signal in [Signal::QUIT, Signal::KILL] {
        let deadline = Instant::now() + ORPHANS_WITHIN;
        let left = orphans.iter().filter(|pid| process::serves(**pid, pgdata));
        left.for_each(|pid| process::signal(*pid, signal));
        while orphans.iter().any(|pid| process::serves(*pid, pgdata)) && Instant::now() < deadline {
            thread::sleep(process::LOOK_AGAIN);
        }
    }
    for path in [pidfile::path(pgdata), address.lock_file()] {
        let Some(left) = PidFile::at(&path) else { continue };
        if left.pgdata == pgdata && process::is_alive(left.pid) {
            fs::remove_file(&path).doing("remove the stale", &path)?;
        }
    }
    Ok(())
}

/// A fault and its causes in one line.
fn chain(fault: &dyn std::error::Error) -> String {
    let mut line = fault.to_string();
    let mut cause = fault.source();
    while let Some(source) = cause {
        line.push_str(": ");
        line.push_str(&source.to_string());
        cause = source.source();
    }
    line
}
