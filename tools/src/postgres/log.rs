//! What Postgres says on standard error, as lines of Weir's own log.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tracing::{Level, debug, error, warn};

use super::process::LOOK_AGAIN;

/// Longer lines go on in the next one.
const LINE_BYTES: u64 = 8 * 1024;
/// What a fault can quote.
const KEPT_LINES: usize = 20;
/// The last words of a process that ended, unless a child of it keeps the pipe open.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(500);

/// Follows one server's standard error to its end.
#[derive(Debug)]
pub(super) struct Follower {
    kept: Arc<Mutex<VecDeque<String>>>,
    thread: JoinHandle<()>,
}

impl Follower {
    pub(super) fn start(said: impl Read + Send + 'static, pid: u32) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(KEPT_LINES)));
        let keep = Arc::clone(&kept);
        let thread = thread::Builder::new()
            .name("weir-postgres-log".to_owned())
            .spawn(move || follow(said, pid, &keep))?;
        Ok(Self { kept, thread })
    }

    /// The last lines, of a process that has ended.
    pub(super) fn last_words(&self) -> String {
        let deadline = Instant::now() + LAST_WORDS_WITHIN;
        while !self.thread.is_finished() && Instant::now() < deadline {
            thread::sleep(LOOK_AGAIN);
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().map(String::as_str).collect::<Vec<_>>().join("; ")
    }
}

fn follow(said: impl Read, pid: u32, kept: &Mutex<VecDeque<String>>) {
    let mut said = BufReader::new(said);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        // An unreadable pipe is as good as a closed one: the server is supervised by its pid.
        if !matches!(said.by_ref().take(LINE_BYTES).read_until(b'\n', &mut bytes), Ok(1..)) {
            return;
        }
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end();
        match level_of(line) {
            Level::ERROR => error!(postmaster = pid, "postgres: {line}"),
            Level::WARN => warn!(postmaster = pid, "postgres: {line}"),
            _ => debug!(postmaster = pid, "postgres: {line}"),
        }
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT_LINES {
            kept.pop_front();
        }
        kept.push_back(line.to_owned());
    }
}

/// How loud a line is. A failed statement (`ERROR`) and a refused or ended connection (`FATAL`) are
/// told by whoever had them; a failed start quotes its last lines.
fn level_of(line: &str) -> Level {
    match line.split_once(':').map(|(severity, _)| severity) {
        Some("PANIC") => Level::ERROR,
        Some("WARNING") => Level::WARN,
        _ => Level::DEBUG,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut said: String = (0..50).flat_map(|n| [format!("LOG:  line {n}\n")]).collect();
        said.push_str(&"x".repeat(20_000));
        let follower = Follower::start(io::Cursor::new(said), 1).unwrap();
        let words = follower.last_words();
        assert!(!words.contains("line 32;") && words.contains("line 33;"), "{words}");
        assert!(words.split("; ").all(|line| line.len() <= 8192));
    }

    #[test]
    fn only_what_an_operator_can_act_on_is_loud() {
        assert_eq!(level_of("PANIC:  could not write to file"), Level::ERROR);
        assert_eq!(level_of("WARNING:  archive command failed"), Level::WARN);
        assert_eq!(level_of("FATAL:  the database system is starting up"), Level::DEBUG);
        assert_eq!(level_of("ERROR:  duplicate key value"), Level::DEBUG);
        assert_eq!(level_of("LOG:  checkpoint starting: time"), Level::DEBUG);
    }
}
