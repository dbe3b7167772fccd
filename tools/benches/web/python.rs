//! What Python makes of the same pages, in a process of its own that has read them already.

use std::{fs, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::Mutex,
};

use crate::{Fault, caches::installed, options::Options, report::Missing};

/// Measures as it is told to.
const SCRIPT: &str = include_str!("../peers/pages.py");

/// Python, with what takes pages apart.
pub(super) struct Python {
    /// What it has, and in which versions.
    pub(super) versions: String,
    n_pages: usize,
    talk: Mutex<Talk>,
}

struct Talk {
    _child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Python {
    /// Starts it, and has it read the pages.
    pub(super) async fn start(options: &Options, pages: &[String]) -> Result<Self, Fault> {
        let program = installed(options.peers.join("python/bin/python"), "Python")?;
        let folder = options.scratch.join("pages");
        fs::create_dir_all(&folder)?;
        for (nth, page) in pages.iter().enumerate() {
            fs::write(folder.join(format!("{nth}.html")), page)?;
        }
        let mut command = Command::new(program);
        command.args(["-I", "-c", SCRIPT]).arg(folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let input = child.stdin.take().ok_or("Python has no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("Python has no output")?);
        let mut output = output.lines();
        let missing = || Missing("bs4, lxml and trafilatura are not installed".to_owned());
        let versions = output.next_line().await?.ok_or_else(missing)?;
        let talk = Mutex::new(Talk { _child: child, input, output });
        Ok(Self { versions, n_pages: pages.len(), talk })
    }

    /// How many pages a second it takes apart, by one of its ways.
    pub(super) async fn rate(&self, way: &str) -> Result<f64, Fault> {
        let mut talk = self.talk.lock().await;
        talk.input.write_all(format!("{way}\n").as_bytes()).await?;
        let said = talk.output.next_line().await?.ok_or("Python has ended")?;
        let seconds: f64 = said.parse().map_err(|_| format!("Python says {said}"))?;
        #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are small")]
        Ok(self.n_pages as f64 / seconds)
    }
}
