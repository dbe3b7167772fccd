//! The suite about the package firewall, in the order of the table of targets.

mod big_file;
mod decide;
mod documents;
mod install;
mod metadata;
mod origin;
mod peers;
mod sync;
mod upstreams;

use std::sync::Arc;

use weir_processors::{clock::SystemClock, door::Door};

use self::upstreams::Upstreams;
use crate::{
    Fault,
    database::Scratch,
    effort::Effort,
    options::Options,
    report::Report,
    server::{Server, Setup},
};

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

/// A Weir on a database of its own.
struct Firewall {
    server: Server,
    scratch: Scratch,
    /// The first admin's token.
    token: String,
}

impl Firewall {
    /// Starts it, and waits until it answers.
    async fn start(options: &Options, name: &str, setup: &Setup<'_>) -> Result<Self, Fault> {
        let scratch = Scratch::migrated(&options.database, name).await?;
        let open = scratch.log().await?;
        let token = crate::log::admin(&Door::new(open.log.clone(), Arc::new(SystemClock))).await?;
        open.close().await;
        let mut server = Server::start_as(options, &scratch, setup)?;
        drop(server.client(&token).await?);
        Ok(Self { server, scratch, token })
    }

    /// The address of something it serves.
    fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.server.address())
    }

    async fn stop(self) -> Result<(), Fault> {
        self.server.stop().await?;
        self.scratch.discard().await
    }
}
