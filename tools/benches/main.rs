//! What `tools/bench` runs: Weir measured against what does the same job, side by side in one run.
//!
//! Nothing here judges an absolute figure: machines differ. Every ratio is taken between two things
//! that ran alternately on the same machine, and is the median of at least five pairs.

mod caches;
mod database;
mod effort;
mod events;
mod http;
mod instance;
mod line;
mod log;
mod options;
mod origin;
mod pgbench;
mod picture;
mod processes;
mod registry;
mod report;
mod server;
mod sse;
mod web;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;

use crate::{
    effort::Effort,
    options::{Options, Suite},
    report::Report,
};

/// Whatever stopped a measurement, in words.
type Fault = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            say(&format!("tools/bench: {}", chain(fault.as_ref())));
            ExitCode::FAILURE
        }
    }
}

/// Runs the suites that are asked for; false when something of ours could not be measured.
fn run(options: &Options) -> Result<bool, Fault> {
    let mut well = true;
    for suite in options.suite.parts() {
        well &= run_one(options, *suite)?;
    }
    Ok(well)
}

fn run_one(options: &Options, suite: Suite) -> Result<bool, Fault> {
    let effort = Effort::new(options.quick, options.long);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut report = Report::new(suite.name(), options.machine.clone(), options.quick);
    match suite {
        Suite::Registry => runtime.block_on(registry::run(options, effort, &mut report)),
        Suite::Web => runtime.block_on(web::run(options, effort, &mut report)),
        Suite::Log | Suite::All => runtime.block_on(log::run(options, effort, &mut report)),
    }
    let mut out = io::stdout().lock();
    out.write_all(report.table().as_bytes())?;
    if let Some(folder) = &options.results {
        let file = |ending: &str| folder.join(format!("{}.{ending}", suite.name()));
        std::fs::write(file("svg"), picture::draw(&report))?;
        std::fs::write(file("json"), report.pretty_json()?)?;
    }
    if options.json {
        writeln!(out, "{}", report.json()?)?;
    }
    Ok(report.n_failed() == 0)
}

/// Tells whoever watches; figures go to standard output.
fn say(words: &str) {
    // Nobody may be watching any more.
    drop(writeln!(io::stderr().lock(), "{words}"));
}

/// A fault with its causes, in one line.
fn chain(fault: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(fault), |fault| fault.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
