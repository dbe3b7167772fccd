//! Writers in processes of their own, which report every append that was acknowledged to them.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::JoinHandle,
};

/// One acknowledged append: position, stream, version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledged {
    /// Where it went.
    pub position: i64,
    /// Its stream.
    pub stream: String,
    /// Its version in the stream.
    pub version: i64,
}

/// A process full of writers.
#[derive(Debug)]
pub struct WriterProcess {
    child: Child,
    report: JoinHandle<Vec<Acknowledged>>,
}

impl WriterProcess {
    /// Starts a process with `n_writers` writers for `seconds`, on streams of their own and on
    /// shared ones.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(url: &str, name: &str, n_writers: usize, seconds: u64) -> Self {
        let test = std::env::current_exe().expect("the path of this test");
        let folder = test.parent().and_then(|deps| deps.parent()).map(PathBuf::from);
        let program = folder.expect("the build folder").join("weir-log-writer");
        assert!(program.exists(), "{} is missing: cargo build -p weir-tests", program.display());
        let mut child = Command::new(program)
            .args([url, name, &n_writers.to_string(), &seconds.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .expect("start a writer process");
        let stdout = child.stdout.take().expect("its output");
        let report = std::thread::spawn(move || {
            BufReader::new(stdout).lines().map_while(Result::ok).filter_map(|l| parse(&l)).collect()
        });
        Self { child, report }
    }

    /// Kills it with no warning.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(&mut self) {
        self.child.kill().expect("kill a writer process");
    }

    /// Waits for its end, and answers what was acknowledged to it.
    ///
    /// # Panics
    /// When its report cannot be read.
    pub fn acknowledged(mut self) -> Vec<Acknowledged> {
        self.child.wait().expect("wait for a writer process");
        self.report.join().expect("its report")
    }
}

fn parse(line: &str) -> Option<Acknowledged> {
    let mut parts = line.split(' ');
    Some(Acknowledged {
        position: parts.next()?.parse().ok()?,
        stream: parts.next()?.to_owned(),
        version: parts.next()?.parse().ok()?,
    })
}
