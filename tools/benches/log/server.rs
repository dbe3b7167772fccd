//! A Weir in a process of its own.

use std::{
    net::SocketAddr,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::process::{Child, Command};

use super::sse::Client;
use crate::{Fault, database::Scratch, options::Options, report::Missing};

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// `weir api` in a process of its own, whose memory and time can be told from ours.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts it on a database, with variables of its configuration.
    pub(super) fn start(
        options: &Options,
        scratch: &Scratch,
        variables: &[(&str, &str)],
    ) -> Result<Self, Fault> {
        let missing = || Missing("the weir binary was not given".to_owned());
        let program = options.weir.as_ref().ok_or_else(missing)?;
        // Free a moment ago; whoever takes it meanwhile makes this line fail, not lie.
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let data_dir = options.scratch.join(&scratch.name);
        std::fs::create_dir_all(&data_dir)?;
        let log = std::fs::File::create(data_dir.join("log"))?;
        let child = Command::new(program)
            .args(["api", "--listen", &address.to_string(), "--database-url", &scratch.url()])
            .arg("--data-dir")
            .arg(&data_dir)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { child, address })
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it.
    pub(super) async fn stop(mut self) -> Result<(), Fault> {
        Ok(self.child.kill().await?)
    }

    /// Opens a stream once the server answers.
    pub(super) async fn client(&mut self, token: &str) -> Result<Client, Fault> {
        let began = Instant::now();
        loop {
            match Client::open(self.address, token).await {
                Ok(client) => return Ok(client),
                Err(fault) if began.elapsed() > PATIENCE => return Err(fault),
                Err(_) => {}
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("weir api ended: {status}").into());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn proc(&self) -> Result<String, Fault> {
        Ok(format!("/proc/{}", self.child.id().ok_or("weir api has ended")?))
    }

    /// Resident kilobytes.
    pub(super) fn resident(&self) -> Result<f64, Fault> {
        let status = std::fs::read_to_string(Path::new(&self.proc()?).join("status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse().ok());
        Ok(kilobytes.ok_or("no resident size in /proc")?)
    }

    /// Seconds of processor time so far.
    pub(super) fn processor(&self) -> Result<f64, Fault> {
        let stat = std::fs::read_to_string(Path::new(&self.proc()?).join("stat"))?;
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        let ticks = ticks.collect::<Result<Vec<_>, _>>()?;
        // Linux counts hundredths of seconds for everybody outside the kernel.
        Ok(ticks.iter().sum::<f64>() / 100.0)
    }
}
