//! The machine: disk, open files, port, paths, and what this build brings along.

use std::net::TcpListener;
use std::path::Path;

use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};

use super::Checked;
use crate::config::Config;
use crate::config::auth::LoopbackPackages;
use crate::context::Context;
use crate::discovery::CHECKSUM_DATABASE;

const GIB: u64 = 1 << 30;
/// Less free disk than this is worth a warning, less than a tenth of it is wrong.
const FREE_WANTED: u64 = 10 * GIB;
/// Files beside the connections: the log, the cache, Postgres' pipes.
const FILES_BESIDE: u64 = 256;
/// What fits into a socket's address.
const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
const SOCKET_NAME: &str = "run/.s.PGSQL.54320";

pub(super) fn check(context: &Context, config: &Config) -> Vec<Checked> {
    let mut checked = vec![disk(context.data_dir.path())];
    checked.push(open_files(config));
    checked.push(port(context, config));
    checked.push(proxy(config));
    checked.extend(profiles(config));
    checked.extend(checksum_database(config));
    if config.database.url.is_none() {
        checked.push(socket_path(context.data_dir.path()));
    }
    checked
}

fn disk(data_dir: &Path) -> Checked {
    const WHAT: &str = "disk";
    let existing = data_dir.ancestors().find(|path| path.exists()).unwrap_or(data_dir);
    let place = existing.display();
    let free = match statvfs(existing) {
        Ok(free) => free,
        Err(fault) => {
            let why = format!("could not ask how full `{place}` is: {fault}");
            return Checked::warn(WHAT, why, "look with `df`");
        }
    };
    let (bytes, inodes) = (free.f_bavail.saturating_mul(free.f_frsize), free.f_favail);
    let fix = "make room, or move the data directory to a larger disk with --data-dir";
    // Some file systems have no fixed number of files.
    if bytes < FREE_WANTED / 10 || (free.f_files != 0 && inodes < 1_000) {
        let why = format!("{} MiB and {inodes} files free in `{place}`", bytes >> 20);
        return Checked::fail(WHAT, why, fix);
    }
    let why = format!("{} GiB free in `{place}`", bytes / GIB);
    if bytes < FREE_WANTED || (free.f_files != 0 && inodes < 100_000) {
        return Checked::warn(WHAT, format!("{why}, {inodes} files"), fix);
    }
    Checked::ok(WHAT, why)
}

fn open_files(config: &Config) -> Checked {
    const WHAT: &str = "open files";
    let server = &config.server;
    let wanted = server.max_connections as u64 + FILES_BESIDE;
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < wanted => {
            let why =
                format!("this process may open {limit}, its connections alone may need {wanted}");
            let fix = format!("ulimit -n {wanted}, or set server.max_connections lower");
            Checked::warn(WHAT, why, fix)
        }
        Some(limit) => Checked::ok(WHAT, format!("this process may open {limit}")),
        None => Checked::ok(WHAT, "no limit"),
    }
}

fn port(context: &Context, config: &Config) -> Checked {
    const WHAT: &str = "port";
    if let Some(running) = context.data_dir.running() {
        return Checked::ok(
            WHAT,
            format!("weir (process {}) answers at {}", running.pid, running.url),
        );
    }
    let server = &config.server;
    let place = format!("{}:{}", server.host, server.port);
    match TcpListener::bind((server.host.trim_matches(['[', ']']), server.port)) {
        Ok(_) => Checked::ok(WHAT, format!("{place} is free")),
        Err(fault) => {
            let why = format!("{place} cannot be listened on: {fault}");
            Checked::fail(WHAT, why, "stop what listens there, or set server.port (0: a free one)")
        }
    }
}

fn proxy(config: &Config) -> Checked {
    const WHAT: &str = "package clients";
    let open = config.auth.loopback_packages != Some(LoopbackPackages::Closed);
    if config.lets_a_proxy_in(open) {
        let why = "a proxy on this machine would let everybody in as principal `local`";
        let fix = "name it in server.trusted_proxies, or set auth.loopback_packages: closed";
        return Checked::warn(WHAT, why, fix);
    }
    let who = if open { "on this machine need no token" } else { "need a token everywhere" };
    Checked::ok(WHAT, who)
}

/// What is left of the profiles of the configuration where a token need not be shown.
fn profiles(config: &Config) -> Option<Checked> {
    const WHAT: &str = "profiles";
    if config.policy.profiles.is_empty() {
        return None;
    }
    if config.lets_profiles_be_left() {
        let why = "an agent on this machine that leaves its token out is bound by no profile";
        let fix = "name one in auth.loopback_profile, or set auth.loopback_packages: closed";
        return Some(Checked::warn(WHAT, why, fix));
    }
    Some(match &config.auth.loopback_profile {
        Some(profile) => Checked::ok(WHAT, format!("without a token on this machine: {profile}")),
        None => Checked::ok(WHAT, "nobody installs without a token"),
    })
}

/// Whether what the checksum database says is verified here.
fn checksum_database(config: &Config) -> Option<Checked> {
    const WHAT: &str = "checksum database";
    let go = &config.registries.go;
    let named = &go.checksum_database.as_ref().filter(|_| go.enabled)?.0;
    let name = &named.name;
    Some(match &named.key {
        Some(key) => Checked::ok(WHAT, format!("what {key} has signed is verified")),
        None => Checked::warn(
            WHAT,
            format!("what {name} says is believed and passed on without a look at its signature"),
            format!(
                "set {CHECKSUM_DATABASE} to NAME+HASH+KEY, or run `weir init` beside a go command"
            ),
        ),
    })
}

fn socket_path(data_dir: &Path) -> Checked {
    const WHAT: &str = "socket path";
    let length = data_dir.join(SOCKET_NAME).as_os_str().len();
    if length <= SOCKET_PATH_BYTES {
        return Checked::ok(WHAT, format!("{length} of {SOCKET_PATH_BYTES} bytes"));
    }
    let why = format!(
        "the socket of the private Postgres would need {length} bytes, {SOCKET_PATH_BYTES} fit: a \
         short folder elsewhere is used instead"
    );
    Checked::warn(WHAT, why, "choose a shorter --data-dir")
}
