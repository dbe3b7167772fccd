//! The suite about the web gateway, in the order of the table of targets.

mod agent;
mod corpus;
mod cycle;
mod decide;
mod evict;
mod filter;
#[path = "../../processors/src/web/filter/tests/forms.rs"]
mod forms;
mod gateway;
mod hits;
mod hostile;
mod leak;
mod misses;
mod python;
mod tree;

use crate::{effort::Effort, options::Options, report::Report};

/// Measures every line.
pub(crate) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    filter::run(options, effort, report).await;
    leak::run(options, effort, report).await;
    decide::run(options, effort, report).await;
    hits::run(options, effort, report).await;
    misses::run(options, effort, report).await;
    cycle::run(options, effort, report).await;
    evict::run(options, effort, report).await;
}
