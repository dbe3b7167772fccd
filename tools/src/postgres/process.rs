//! How the server programs are run: a clean environment, the chosen account, and death with Weir.

use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use super::account::Account;

/// How often a wait looks again: a start or a stop takes hundreds of milliseconds.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// The end of a program's output that goes into a fault.
const OUTPUT_BYTES: u64 = 4096;

/// What a program that ran to its end said, standard output and errors together.
pub(super) struct Done {
    pub(super) success: bool,
    pub(super) output: String,
}

/// `program`, run as `account` in its own process group, with nothing of Weir's environment.
///
/// The child gets SIGINT when the thread that starts it ends, however that happens: Postgres then
/// does a fast, clean shutdown. So this belongs on the main thread.
pub(super) fn server_command(program: &Path, account: &Account) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("TZ", "UTC");
    command.current_dir("/").process_group(0);
    if account.dropped {
        // The standard library drops the supplementary groups when it leaves root.
        command.uid(account.uid).gid(account.gid);
    }
    die_with_parent(&mut command);
    command
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "the death signal must be set between fork and exec, after the uid changed (which \
              clears it); `setpriv --pdeathsig` would do, but BusyBox has no such option"
)]
fn die_with_parent(command: &mut Command) {
    let parent = rustix::process::getpid();
    let arm = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::INT))?;
        // Weir may have died before the signal was armed; nobody would ever send it then.
        if rustix::process::getppid() != Some(parent) {
            return Err(rustix::io::Errno::SRCH.into());
        }
        Ok(())
    };
    // SAFETY: the closure makes two system calls and neither allocates nor takes a lock, which is
    // all that may be done in the child of a process with threads.
    unsafe {
        command.pre_exec(arm);
    }
}

/// No such signal here: an orphaned Postgres is adopted by the next Weir instead.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}

/// Runs `command` to its end; after `within` it is killed and counts as failed.
pub(super) fn run(
    command: &mut Command,
    input: Option<&str>,
    within: Duration,
) -> io::Result<Done> {
    let mut said = tempfile::tempfile()?;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(said.try_clone()?).stderr(said.try_clone()?);
    let mut child = command.spawn()?;
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program that ended early does not read; its output says why.
        let _unread = pipe.write_all(input.as_bytes());
    }
    let deadline = Instant::now() + within;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if deadline < Instant::now() {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(LOOK_AGAIN);
    };
    let from = said.metadata()?.len().saturating_sub(OUTPUT_BYTES);
    said.seek(io::SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    said.take(OUTPUT_BYTES).read_to_end(&mut bytes)?;
    let mut output = String::from_utf8_lossy(&bytes).trim().to_owned();
    if status.is_none() {
        output.push_str(" (killed: it took too long)");
    }
    Ok(Done { success: status.is_some_and(|status| status.success()), output })
}

/// Sends `signal`; a process that is already gone is what was wanted.
pub(super) fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = pid_of(pid) {
        let _gone = rustix::process::kill_process(pid, signal);
    }
}

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// Whether process `pid` is alive and a Postgres of the cluster in `pgdata` (its working folder).
///
/// A process id alone proves nothing: after a crash it may belong to somebody else.
#[cfg(target_os = "linux")]
pub(super) fn serves(pid: u32, pgdata: &Path) -> bool {
    let at = PathBuf::from(format!("/proc/{pid}"));
    let postgres = at.join("exe").read_link().is_ok_and(|exe| {
        exe.file_name().is_some_and(|name| name.to_string_lossy().starts_with("postgres"))
    });
    postgres && at.join("cwd").read_link().is_ok_and(|cwd| cwd == pgdata)
}

/// Whether process `pid` is alive; there is no portable way to ask for its working folder.
#[cfg(not(target_os = "linux"))]
pub(super) fn serves(pid: u32, _: &Path) -> bool {
    is_alive(pid)
}

/// Whether there is a process `pid`, of whatever program.
pub(super) fn is_alive(pid: u32) -> bool {
    let alive = pid_of(pid).map(rustix::process::test_kill_process);
    matches!(alive, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
}

/// All processes of the cluster in `pgdata`: after a kill -9 of the postmaster a backend in the
/// middle of a long query lives on and blocks the next start.
#[cfg(target_os = "linux")]
pub(super) fn all_of(pgdata: &Path) -> Vec<u32> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| serves(*pid, pgdata))
        .collect()
}

/// Unknown here; the start is tried again until the last backend has noticed.
#[cfg(not(target_os = "linux"))]
pub(super) fn all_of(_: &Path) -> Vec<u32> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_killed_and_counts_as_failed() {
        let began = Instant::now();
        let mut sleeper = Command::new("sleep");
        let done = run(sleeper.arg("60"), None, Duration::from_millis(50)).unwrap();
        assert!(!done.success);
        assert!(done.output.contains("too long"), "{}", done.output);
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn output_and_errors_come_together_and_only_their_end_is_kept() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "cat; seq 1 5000; echo last >&2; exit 3"]);
        let done = run(&mut shell, Some("first\n"), Duration::from_secs(20)).unwrap();
        assert!(!done.success);
        assert!(done.output.ends_with("5000\nlast"), "{}", done.output);
        assert!(done.output.len() <= 4096 && !done.output.contains("first"));
    }
}
