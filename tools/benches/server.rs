//! A Weir in a process of its own.

use std::{
    net::SocketAddr,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use tokio::process::{Child, Command};

use crate::{
    Fault,
    database::Scratch,
    options::Options,
    processes::{free_address, kilobytes, processor},
    report::Missing,
    sse::Client,
};

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// A process of Weir, whose memory and time can be told from ours.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

/// What it is started as, and how.
#[derive(Debug)]
pub(crate) struct Setup<'a> {
    /// `api`, or `up` for all in one.
    pub(crate) part: &'static str,
    /// Variables of its configuration.
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// Its file of configuration, if it has one.
    pub(crate) config: Option<PathBuf>,
}

impl Server {
    /// Starts the API on a database, with variables of its configuration.
    pub(crate) fn start(
        options: &Options,
        scratch: &Scratch,
        variables: &[(&str, &str)],
    ) -> Result<Self, Fault> {
        Self::start_as(options, scratch, &Setup { part: "api", variables, config: None })
    }

    /// Starts it on a database.
    pub(crate) fn start_as(
        options: &Options,
        scratch: &Scratch,
        setup: &Setup<'_>,
    ) -> Result<Self, Fault> {
        let missing = || Missing("the weir binary was not given".to_owned());
        let program = options.weir.as_ref().ok_or_else(missing)?;
        let address = free_address()?;
        let data_dir = options.scratch.join(&scratch.name);
        std::fs::create_dir_all(&data_dir)?;
        let log = std::fs::File::options().create(true).append(true).open(data_dir.join("log"))?;
        let mut command = Command::new(program);
        command.args([setup.part, "--listen", &address.to_string()]);
        command.args(["--database-url", &scratch.url()]).arg("--data-dir").arg(&data_dir);
        if let Some(config) = &setup.config {
            command.arg("--config").arg(config);
        }
        let child = command
            .envs(setup.variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { child, address })
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it.
    pub(crate) async fn stop(mut self) -> Result<(), Fault> {
        Ok(self.child.kill().await?)
    }

    /// Opens a stream once the server answers.
    pub(crate) async fn client(&mut self, token: &str) -> Result<Client, Fault> {
        let began = Instant::now();
        loop {
            match Client::open(self.address, token).await {
                Ok(client) => return Ok(client),
                Err(fault) if began.elapsed() > PATIENCE => return Err(fault),
                Err(_) => {}
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("weir ended: {status}").into());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Its process.
    pub(crate) fn pid(&self) -> Result<u32, Fault> {
        Ok(self.child.id().ok_or("weir has ended")?)
    }

    /// Resident kilobytes.
    pub(crate) fn resident(&self) -> Result<f64, Fault> {
        kilobytes(self.pid()?, "VmRSS")
    }

    /// The most resident kilobytes so far.
    pub(crate) fn peak(&self) -> Result<f64, Fault> {
        kilobytes(self.pid()?, "VmHWM")
    }

    /// Seconds of processor time so far.
    pub(crate) fn processor(&self) -> Result<f64, Fault> {
        processor(self.pid()?)
    }
}
