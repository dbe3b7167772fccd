//! Log lines of this process: standard error, for people or machines.

use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;

use crate::config::logging::{LogFormat, Logging};
use crate::context::Context;
use crate::environment;
use crate::exit::{Exit, Failure};

/// What is told of every broken connection helps nobody who did not ask for it.
const QUIETER: &str = "sqlx=warn";

/// Begins to log. A command that serves logs as configured; the others only what went wrong.
pub(crate) fn start(context: &Context, logging: &Logging, serves: bool) -> Result<(), Failure> {
    let level = match context.verbose {
        _ if context.log_filter.is_some() => logging.level.as_str(),
        0 if serves => logging.level.as_str(),
        0 => "error",
        1 => "debug",
        _ => "trace",
    };
    let filter = if level.contains(['=', ',']) || context.verbose > 1 {
        level.to_owned()
    } else {
        format!("{level},{QUIETER}")
    };
    let filter = EnvFilter::try_new(filter).map_err(|fault| {
        Failure::new(Exit::Usage, format!("`{level}` is no filter for log lines: {fault}"))
            .hint("write a level (error, warn, info, debug, trace) or a filter like `info,weir_log=debug`")
    })?;
    let colour = !environment::is_set("NO_COLOR") && io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        // Whoever reads our standard error may go away. The layer would complain of that on
        // standard error, which panics in whatever request happens to log.
        .log_internal_errors(false)
        .with_env_filter(filter)
        .with_ansi(colour)
        .with_target(serves || 0 < context.verbose);
    let begun = match logging.format {
        LogFormat::Pretty => lines.compact().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    begun.map_err(|fault| Failure::failed(format!("could not begin to log: {fault}")))
}
