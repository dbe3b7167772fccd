//! The suite about the package firewall, in the order of the table of targets.

mod big_file;
mod decide;
mod documents;
mod install;
mod metadata;
mod peers;
mod sync;
mod upstreams;

use self::upstreams::Upstreams;
use crate::{effort::Effort, options::Options, report::Report};

/// Measures every line.
pub(crate) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let upstreams = Upstreams::find(options).await;
    metadata::run(options, effort, upstreams.as_ref(), report).await;
    install::run(options, effort, upstreams.as_ref(), report).await;
    big_file::run(options, effort, report).await;
    decide::run(options, effort, report);
    sync::run(options, effort, report).await;
}

/// Packages pass without a token on this machine, and nothing is asked of the public sources.
const OPEN: [(&str, &str); 3] = [
    ("WEIR__AUTH__LOOPBACK_PACKAGES", "open"),
    ("WEIR__SOURCES__OSV__ENABLED", "false"),
    ("WEIR__SOURCES__OPENSSF__ENABLED", "false"),
];
