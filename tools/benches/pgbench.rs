//! `pgbench` as the other side of a pair.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{
    Fault,
    database::{Scratch, fresh},
    effort,
    options::Options,
    report::Missing,
};

/// A script and where it runs.
#[derive(Debug, Clone)]
pub(crate) struct Pgbench {
    program: PathBuf,
    script: PathBuf,
    scratch: PathBuf,
    database: Scratch,
    variables: Vec<(&'static str, String)>,
}

impl Pgbench {
    /// A script for a database, with the values of its variables. Values travel with every
    /// statement, as ours do.
    pub(crate) fn new(
        options: &Options,
        database: &Scratch,
        script: &str,
        variables: Vec<(&'static str, String)>,
    ) -> Result<Self, Fault> {
        let program = options.bindir.as_ref().map(|folder| folder.join("pgbench"));
        let program = program.filter(|program| program.is_file());
        let program = program.ok_or_else(|| Missing("there is no pgbench here".to_owned()))?;
        let scratch = options.scratch.clone();
        let path = scratch.join(format!("{}.pgbench.sql", fresh().simple()));
        fs::write(&path, script)?;
        Ok(Self { program, script: path, scratch, database: database.clone(), variables })
    }

    /// Transactions a second of this many clients, over about this many transactions each.
    pub(crate) async fn rate(&self, n_clients: usize, n_each: usize) -> Result<f64, Fault> {
        let said = self.run(n_clients, n_each, None).await?;
        let words = said.lines().find_map(|line| line.strip_prefix("tps = "));
        let number = words.and_then(|words| words.split(' ').next()?.parse().ok());
        Ok(number.ok_or_else(|| format!("pgbench said no rate: {said}"))?)
    }

    /// How many transactions each client runs in about `seconds`.
    pub(crate) async fn pace(&self, n_clients: usize, seconds: f64) -> Result<usize, Fault> {
        self.rate(n_clients, 40).await?;
        let rate = self.rate(n_clients, 60).await?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a rough count"
        )]
        Ok(((rate * seconds / n_clients as f64) as usize).max(20))
    }

    /// The milliseconds each transaction took.
    pub(crate) async fn latencies(
        &self,
        n_clients: usize,
        n_each: usize,
    ) -> Result<Vec<f64>, Fault> {
        let prefix = format!("{}.pgbench", fresh().simple());
        self.run(n_clients, n_each, Some(&self.scratch.join(&prefix))).await?;
        let mut all = Vec::new();
        for entry in fs::read_dir(&self.scratch)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(&prefix) {
                let text = fs::read_to_string(entry.path())?;
                fs::remove_file(entry.path())?;
                let micros = text.lines().filter_map(|line| line.split(' ').nth(2)?.parse().ok());
                all.extend(micros.map(|micros: f64| micros / 1_000.0));
            }
        }
        if all.is_empty() { Err("pgbench logged no latencies".into()) } else { Ok(all) }
    }

    /// The median of these.
    pub(crate) async fn latency(&self, n_clients: usize, n_each: usize) -> Result<f64, Fault> {
        Ok(effort::median(&mut self.latencies(n_clients, n_each).await?))
    }

    async fn run(
        &self,
        n_clients: usize,
        n_each: usize,
        log: Option<&Path>,
    ) -> Result<String, Fault> {
        let mut command = Command::new(&self.program);
        to(&mut command, &self.database)?;
        command.args(["--no-vacuum", "--protocol=prepared", "--jobs=2"]);
        command.arg(format!("--client={n_clients}")).arg(format!("--transactions={n_each}"));
        command.arg("--file").arg(&self.script);
        for (name, value) in &self.variables {
            command.arg(format!("--define={name}={value}"));
        }
        if let Some(prefix) = log {
            command.arg("--log").arg(format!("--log-prefix={}", prefix.display()));
        }
        output(command.arg(&self.database.name)).await
    }
}

/// Runs a file of statements, or several, with `psql`.
pub(crate) async fn psql(
    options: &Options,
    database: &Scratch,
    files: &[PathBuf],
) -> Result<(), Fault> {
    let program = options.bindir.as_ref().map(|folder| folder.join("psql"));
    let program = program.filter(|program| program.is_file());
    let program = program.ok_or_else(|| Missing("there is no psql here".to_owned()))?;
    let mut command = Command::new(program);
    to(&mut command, database)?;
    command.env("PGOPTIONS", "-c client_min_messages=warning");
    command
        .args(["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--dbname"])
        .arg(&database.name);
    for file in files {
        command.arg("--file").arg(file);
    }
    output(&mut command).await.map(drop)
}

/// Says where Postgres is, in the words of its own programs.
fn to(command: &mut Command, database: &Scratch) -> Result<(), Fault> {
    let address = database.client_options()?;
    match address.get_socket() {
        Some(folder) => command.arg("--host").arg(folder),
        None => command.arg(format!("--host={}", address.get_host())),
    };
    command.arg(format!("--port={}", address.get_port()));
    command.arg(format!("--username={}", address.get_username()));
    Ok(())
}

/// Runs a program and answers what it said.
pub(crate) async fn output(command: &mut Command) -> Result<String, Fault> {
    let done = command.stdin(Stdio::null()).kill_on_drop(true).output().await?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().find(|line| line.contains("ERROR")).or_else(|| said.lines().next());
    let program = command.as_std().get_program().display();
    Err(format!("{program} failed: {}", first.unwrap_or("without a word")).into())
}
