//! Programs beside ours: how they are started, ended, and what they cost.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::Fault;

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long it may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(20);

/// An address that was free a moment ago; whoever takes it meanwhile makes a line fail, not lie.
pub(crate) fn free_address() -> Result<SocketAddr, Fault> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// A program that listens, with its children.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    child: Child,
    address: SocketAddr,
}

impl Program {
    /// Starts it, and waits until it takes connections. What it says goes into a file of the folder.
    pub(crate) async fn start(
        name: &'static str,
        mut command: Command,
        address: SocketAddr,
        folder: &Path,
    ) -> Result<Self, Fault> {
        std::fs::create_dir_all(folder)?;
        let said = std::fs::File::create(folder.join("said.log"))?;
        command.stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said).kill_on_drop(true);
        let child = command.spawn().map_err(|fault| format!("{name}: {fault}"))?;
        let mut program = Self { name, child, address };
        let began = Instant::now();
        #[expect(clippy::disallowed_methods, reason = "a look at loopback, not Weir going out")]
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = program.child.try_wait()? {
                let said = std::fs::read_to_string(folder.join("said.log")).unwrap_or_default();
                let end = said.lines().rev().find(|line| !line.trim().is_empty());
                return Err(format!("{name} ended: {status}: {}", end.unwrap_or_default()).into());
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("{name} does not answer").into());
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(program)
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Result<u32, Fault> {
        self.child.id().ok_or_else(|| format!("{} has ended", self.name).into())
    }

    /// Asks it to end, so that it ends its children; kills it where it does not.
    pub(crate) async fn stop(mut self) -> Result<(), Fault> {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            kill_process(pid, Signal::TERM)?;
        }
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            self.child.kill().await?;
        }
        Ok(())
    }
}

/// Seconds of processor time that a process and its children have had so far.
pub(crate) fn processor(pid: u32) -> Result<f64, Fault> {
    let (mut parents, mut spent) = (BTreeMap::new(), BTreeMap::new());
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let Ok(id) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        // It may have ended since.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let field = |nth: usize| fields.get(nth).and_then(|field| field.parse::<u32>().ok());
        if let (Some(parent), Some(user), Some(system)) = (field(1), field(11), field(12)) {
            parents.insert(id, parent);
            spent.insert(id, f64::from(user) + f64::from(system));
        }
    }
    let mut family = BTreeSet::from([pid]);
    loop {
        let found = parents.iter().filter(|(_, parent)| family.contains(parent)).map(|(id, _)| *id);
        let found: Vec<u32> = found.filter(|id| !family.contains(id)).collect();
        if found.is_empty() {
            break;
        }
        family.extend(found);
    }
    if !spent.contains_key(&pid) {
        return Err(format!("process {pid} has ended").into());
    }
    let ticks: f64 = family.iter().filter_map(|id| spent.get(id)).sum();
    // Linux counts hundredths of seconds for everybody outside the kernel.
    Ok(ticks / 100.0)
}

/// A size of a process in kilobytes, by the name `/proc` has for it.
pub(crate) fn kilobytes(pid: u32, name: &str) -> Result<f64, Fault> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let size = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    size.ok_or_else(|| format!("no {name} in /proc").into())
}
