//! The `weir` command.
//!
//! Reads the command line, configuration and environment, and hands them to the other crates:
//! nothing here decides anything about events, and nothing else reads the environment.

mod cli;
mod client;
mod commands;
mod config;
mod context;
mod data_dir;
mod discovery;
mod environment;
mod exit;
mod logging;
mod output;
mod postgres;
mod query;
mod runtime;
mod tls;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli::Cli { global, command } = cli::Cli::parse();
    let context = context::Context::new(global);
    match commands::run(&context, command) {
        Ok(exit) => exit.into(),
        // The reader of our output has gone; nobody is there to tell.
        Err(failure) if failure.exit == exit::Exit::Done => ExitCode::SUCCESS,
        Err(failure) => {
            context.output.failure(&failure);
            failure.exit.into()
        }
    }
}
