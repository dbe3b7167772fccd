//! `postmaster.pid`: what a running Postgres says about itself, one fact a line.

use std::fs;
use std::path::{Path, PathBuf};

use super::process;
use super::server::Address;

/// The facts in the file that somebody else may need.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PidFile {
    pub(super) pid: u32,
    /// The cluster it serves.
    pub(super) pgdata: PathBuf,
    /// Missing in the first moments of a start.
    pub(super) address: Option<Address>,
    /// Connections are accepted.
    pub(super) ready: bool,
}

impl PidFile {
    /// Reads the file of the cluster in `pgdata`, whoever wrote it and whether or not it lives.
    pub(super) fn read(pgdata: &Path) -> Option<Self> {
        Self::at(&path(pgdata))
    }

    /// Reads such a file, or the lock file beside a socket, which begins in the same way.
    pub(super) fn at(path: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(path).ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let line = |number: usize| lines.get(number - 1).copied().filter(|line| !line.is_empty());
        let port = line(4).and_then(|port| port.parse().ok());
        Some(Self {
            pid: line(1)?.parse().ok()?,
            pgdata: PathBuf::from(line(2)?),
            address: port
                .zip(line(5))
                .map(|(port, dir)| Address { socket_dir: PathBuf::from(dir), port }),
            ready: line(8) == Some("ready"),
        })
    }

    /// The file of a Postgres that lives and serves this cluster.
    pub(super) fn of_living(pgdata: &Path) -> Option<Self> {
        Self::read(pgdata).filter(|file| process::serves(file.pid, pgdata))
    }
}

pub(super) fn path(pgdata: &Path) -> PathBuf {
    pgdata.join("postmaster.pid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_starting_server_has_no_address_yet() {
        let half = PidFile::parse("77\n/d\n1700000000\n5432\n").unwrap();
        assert_eq!(half, PidFile { pid: 77, pgdata: "/d".into(), address: None, ready: false });
        assert_eq!(PidFile::parse(""), None);
    }

    #[test]
    fn a_ready_server_says_where_it_listens() {
        let text = "77\n/d\n1700000000\n5432\n/d/run\n\n  1234  5\nready   \n";
        let address = Some(Address { socket_dir: "/d/run".into(), port: 5432 });
        let ready = PidFile { pid: 77, pgdata: "/d".into(), address, ready: true };
        assert_eq!(PidFile::parse(text).unwrap(), ready);
    }
}
