//! Making a cluster: beside its place, and moved there when it is complete.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tracing::info;

use super::binaries::Binaries;
use super::fault::{Doing as _, PostgresFault};
use super::layout::Layout;
use super::process;
use super::server::{Address, DATABASE, USER};
use super::settings;

const WITHIN: Duration = Duration::from_mins(3);

/// The major version that made the cluster, or `None` if there is no cluster yet.
pub(super) fn stored_major(pgdata: &Path) -> Result<Option<u32>, PostgresFault> {
    let path = pgdata.join("PG_VERSION");
    match fs::read_to_string(&path) {
        Ok(text) => match text.trim().parse() {
            Ok(major) => Ok(Some(major)),
            Err(_) => Err(io::Error::other(format!("it says `{}`", text.trim())))
                .doing("read the version in", &path),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound && !pgdata.exists() => Ok(None),
        Err(error) => Err(error).doing("read the version in", &path),
    }
}

/// Makes a cluster with its settings and its database. A half-made one is never seen at `pgdata`.
pub(super) fn initialise(
    layout: &Layout,
    binaries: &Binaries,
    address: &Address,
) -> Result<(), PostgresFault> {
    let fresh = layout.data_dir.join("pgdata.new");
    match fs::remove_dir_all(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).doing("remove the half-made", &fresh);
        }
        _ => {}
    }
    layout.make_private(&fresh)?;
    let initdb = [
        &format!("--username={USER}"),
        "--encoding=UTF8",
        // The same order on every machine.
        "--locale=C",
        "--data-checksums",
        "--auth=trust",
        "--no-instructions",
    ];
    run(layout, binaries, &fresh, "initdb", &initdb, None)?;

    layout.write(&fresh.join("pg_hba.conf"), settings::HBA)?;
    layout.write(&fresh.join("weir.conf"), &settings::text(address))?;
    let conf = fresh.join("postgresql.conf");
    let text = fs::read_to_string(&conf).doing("read", &conf)?;
    layout.write(&conf, &(text + settings::INCLUDE))?;
    let create = format!("CREATE DATABASE {DATABASE}\n");
    run(layout, binaries, &fresh, "postgres", &["--single", "postgres"], Some(&create))?;

    let pgdata = &layout.pgdata;
    fs::rename(&fresh, pgdata).doing("move the new cluster to", pgdata)?;
    fs::File::open(&layout.data_dir)
        .and_then(|dir| dir.sync_all())
        .doing("sync", &layout.data_dir)?;
    info!(pgdata = %pgdata.display(), major = binaries.major, "made a Postgres cluster");
    Ok(())
}

fn run(
    layout: &Layout,
    binaries: &Binaries,
    pgdata: &Path,
    program: &'static str,
    arguments: &[&str],
    input: Option<&str>,
) -> Result<(), PostgresFault> {
    let path = binaries.bindir.join(program);
    let mut command = process::server_command(&path, &layout.account);
    // `postgres` wants `--single` first and the database last.
    command.args(&arguments[..1]).arg("-D").arg(pgdata).args(&arguments[1..]);
    let done = process::run(&mut command, input, WITHIN).doing("run", &path)?;
    // A statement that fails does not fail single-user mode.
    if done.success && !done.output.contains("ERROR:") {
        return Ok(());
    }
    if let Some(closed) = layout.account.first_closed(pgdata).filter(|_| layout.account.dropped) {
        let account = layout.account.name.clone();
        let (path, closed) = (pgdata.to_owned(), Some(closed));
        return Err(PostgresFault::Unreachable { account, path, closed });
    }
    let mut output = done.output;
    if output.contains("effective user ID") {
        output.push_str(" (Postgres needs an entry for this uid in /etc/passwd)");
    }
    Err(PostgresFault::Failed { program, pgdata: pgdata.to_owned(), output })
}
