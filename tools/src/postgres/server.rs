//! One postmaster: started as a child, awaited until it answers, stopped cleanly.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use super::binaries::Binaries;
use super::fault::{Doing as _, PostgresFault};
use super::layout::Layout;
use super::log::Follower;
use super::pidfile::PidFile;
use super::process::{self, LOOK_AGAIN};
use super::settings;

/// The superuser and the database of a private cluster.
pub(super) const USER: &str = "weir";
pub(super) const DATABASE: &str = "weir";
/// A crash with `max_wal_size` to replay on a slow disk fits into it.
pub(super) const START_WITHIN: Duration = Duration::from_mins(5);
/// SIGINT: disconnect everybody, checkpoint, end. SIGQUIT: end, and recover at the next start.
const STOP: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(10)),
    (Signal::QUIT, Duration::from_secs(10)),
    (Signal::KILL, Duration::from_secs(5)),
];
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) socket_dir: PathBuf,
    pub(super) port: u16,
}

impl Address {
    /// What keeps two servers from one socket: it tells whose it is.
    pub(super) fn lock_file(&self) -> PathBuf {
        self.socket_dir.join(format!(".s.PGSQL.{}.lock", self.port))
    }

    /// The address as a URL. The user stands among the parameters: a URL with a user and without
    /// a host is not one.
    pub(super) fn url(&self) -> String {
        let mut dir = String::new();
        for byte in self.socket_dir.to_string_lossy().bytes() {
            if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
                dir.push(char::from(byte));
            } else {
                let _infallible = write!(dir, "%{byte:02X}");
            }
        }
        format!("postgres:///{DATABASE}?host={dir}&port={}&user={USER}", self.port)
    }

    /// Whether the server that answers here is the one of the cluster in `pgdata`.
    pub(super) fn serves(&self, pgdata: &Path) -> Result<bool, PostgresFault> {
        let silent = |error: std::io::Error| PostgresFault::Silent(sqlx::Error::Io(error));
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(silent)?;
        let ask = async {
            let options: PgConnectOptions = self.url().parse()?;
            let mut connection = options.connect().await?;
            let dir: String =
                sqlx::query_scalar("SHOW data_directory").fetch_one(&mut connection).await?;
            connection.close().await?;
            Ok(dir)
        };
        let answer = runtime.block_on(async { tokio::time::timeout(ANSWER_WITHIN, ask).await });
        let late = |_| sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
        let dir = answer.map_err(late).flatten().map_err(PostgresFault::Silent)?;
        Ok(Path::new(&dir) == pgdata)
    }
}

/// A postmaster that is a child of this thread.
#[derive(Debug)]
pub(super) struct Postmaster {
    child: Child,
    log: Follower,
}

impl Postmaster {
    /// Starts the server and returns when it answers.
    pub(super) fn start(
        layout: &Layout,
        binaries: &Binaries,
        address: &Address,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, PostgresFault> {
        layout.write(&layout.pgdata.join("weir.conf"), &settings::text(address))?;
        let program = binaries.bindir.join("postgres");
        let mut command = process::server_command(&program, &layout.account);
        command.arg("-D").arg(&layout.pgdata);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().doing("run", &program)?;
        let pid = child.id();
        let followed = match child.stderr.take() {
            Some(said) => Follower::start(said, pid),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        let mut postmaster = match followed.doing("follow the log of", &program) {
            Ok(log) => Self { child, log },
            Err(fault) => {
                end(pid, || !matches!(child.try_wait(), Ok(None)));
                return Err(fault);
            }
        };
        if let Err(fault) = postmaster.await_ready(layout, address, stop) {
            postmaster.stop();
            return Err(fault);
        }
        Ok(postmaster)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How the process ended, or `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Ends the server: cleanly, and after ten seconds at once.
    pub(super) fn stop(&mut self) {
        if self.ended().is_none() {
            end(self.child.id(), || self.child.try_wait().ok().flatten().is_some());
        }
    }

    fn await_ready(
        &mut self,
        layout: &Layout,
        address: &Address,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), PostgresFault> {
        let pgdata = &layout.pgdata;
        let failed =
            |output| PostgresFault::Failed { program: "postgres", pgdata: pgdata.clone(), output };
        let deadline = Instant::now() + START_WITHIN;
        loop {
            if self.ended().is_some() {
                return Err(failed(self.log.last_words()));
            }
            let file = PidFile::read(pgdata);
            if file.is_some_and(|file| file.ready && file.pid == self.child.id()) {
                if address.serves(pgdata)? {
                    return Ok(());
                }
                return Err(failed("another server answers on its socket".to_owned()));
            }
            if stop() {
                return Err(PostgresFault::Interrupted);
            }
            if deadline < Instant::now() {
                return Err(failed(format!("not ready after {} s", START_WITHIN.as_secs())));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// Asks process `pid` to end, ever less politely, until `gone` says it has.
pub(super) fn end(pid: u32, mut gone: impl FnMut() -> bool) {
    for (signal, patience) in STOP {
        process::signal(pid, signal);
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if gone() {
                return;
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_leads_sqlx_to_the_socket() {
        let address = Address { socket_dir: "/a folder/%run".into(), port: 54321 };
        assert_eq!(address.url(), "postgres:///weir?host=/a%20folder/%25run&port=54321&user=weir");
        let options: PgConnectOptions = address.url().parse().unwrap();
        assert_eq!(options.get_socket().unwrap(), Path::new("/a folder/%run"));
        assert_eq!(options.get_port(), 54321);
        assert_eq!(options.get_username(), "weir");
        assert_eq!(options.get_database(), Some("weir"));
    }
}
