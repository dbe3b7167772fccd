//! The suite about the durable log, in the order of the table of targets.

mod append;
mod callers;
mod growth;
mod peers;
mod pip;
mod read;
mod replay;
mod tail;
mod verify;

pub(crate) use self::tail::admin;
use crate::{effort::Effort, options::Options, report::Report};

/// Measures every line.
pub(crate) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    append::run(options, effort, report).await;
    peers::run(options, effort, report).await;
    read::run(options, effort, report).await;
    tail::run(options, effort, report).await;
    pip::run(options, effort, report).await;
    growth::run(options, effort, report).await;
}
