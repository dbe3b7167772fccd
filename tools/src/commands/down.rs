//! `weir down`: stops the Weir of a data directory and waits until it has.

use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::context::Context;
use crate::exit::{EndsWith as _, Exit, Failure};

/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
pub(crate) struct DownArgs {
    /// How long to wait for it to end, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
}

pub(crate) fn run(context: &Context, args: &DownArgs) -> Result<Exit, Failure> {
    let dir = context.data_dir.path().display();
    let Some(running) = context.data_dir.running() else {
        context.output.data(&json!({ "stopped": false }), || format!("no weir runs with {dir}"))?;
        return Ok(Exit::Done);
    };
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    let pid =
        pid.ok_or_else(|| Failure::failed(format!("the pid file in {dir} names no process")))?;
    let began = Instant::now();
    kill_process(pid, Signal::TERM).ends_with(Exit::Denied)?;
    // The lock on the pid file ends with the process.
    while context.data_dir.running().is_some_and(|now| now.pid == running.pid) {
        if began.elapsed() > Duration::from_secs(args.timeout) {
            let message =
                format!("weir (process {}) has not ended after {} s", running.pid, args.timeout);
            return Err(Failure::new(Exit::RetryLater, message).hint(format!(
                "wait longer with --timeout, or end it at once: kill -KILL {}",
                running.pid
            )));
        }
        thread::sleep(LOOK);
    }
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let said = json!({ "stopped": true, "pid": running.pid, "duration_ms": millis });
    context
        .output
        .data(&said, || format!("stopped weir (process {}) in {millis} ms", running.pid))?;
    Ok(Exit::Done)
}
