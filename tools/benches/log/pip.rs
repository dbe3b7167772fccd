//! One more line, with no target: what pip waits for a project's page through Weir.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{Client, header::ACCEPT};
use weir_processors::{clock::SystemClock, door::Door};

use super::tail::admin;
use crate::{
    Fault,
    database::Scratch,
    effort::{Effort, alternate, median},
    line::{Line, Target},
    options::Options,
    report::{Missing, Report},
    server::Server,
};

/// What pip says it takes.
const PAGE: &str = "application/vnd.pypi.simple.v1+json, \
    application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
const PROJECT: &str = "six/";
const PATIENCE: Duration = Duration::from_secs(10);
/// Pages of one side of a pair.
const N_PAGES: usize = 5;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "pip.metadata",
        "a project's page as pip asks for it, kept by Weir",
        "ms",
        "the index itself",
        Target::Shown,
    );
    if options.wants(line.name) {
        let measured = measure(options, effort, line.clone()).await;
        report.add(line, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let missing = |what: &str| Missing(what.to_owned());
    let index = options.index.as_deref().ok_or_else(|| missing("pip names no index"))?;
    let index = format!("{}/", index.trim_end_matches('/'));
    let client = client()?;
    let direct = format!("{index}{PROJECT}");
    page(&client, &direct).await.map_err(|_| missing("the index cannot be reached"))?;

    let scratch = Scratch::migrated(&options.database, "pip").await?;
    let open = scratch.log().await?;
    let token = admin(&Door::new(open.log.clone(), Arc::new(SystemClock))).await?;
    let variables = [
        ("WEIR__REGISTRIES__PYPI__UPSTREAM", index.as_str()),
        ("WEIR__AUTH__LOOPBACK_PACKAGES", "open"),
    ];
    let mut server = Server::start(options, &scratch, &variables)?;
    drop(server.client(&token).await?);
    let through = format!("http://{}/pypi/simple/{PROJECT}", server.address());
    page(&client, &through).await?;
    let pair =
        alternate(effort.n_rounds, || pages(&client, &through), || pages(&client, &direct)).await?;
    server.stop().await?;
    open.close().await;
    scratch.discard().await?;
    Ok(line.pair(pair))
}

#[expect(clippy::disallowed_methods, reason = "what pip does, not Weir going out")]
fn client() -> Result<Client, Fault> {
    // Another part of the program may have chosen it already.
    drop(rustls::crypto::ring::default_provider().install_default());
    Ok(Client::builder().timeout(PATIENCE).build()?)
}

async fn pages(client: &Client, url: &str) -> Result<f64, Fault> {
    let mut millis = Vec::new();
    for _ in 0..N_PAGES {
        let began = Instant::now();
        page(client, url).await?;
        millis.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    Ok(median(&mut millis))
}

async fn page(client: &Client, url: &str) -> Result<(), Fault> {
    let answer = client.get(url).header(ACCEPT, PAGE).send().await?.error_for_status()?;
    if answer.bytes().await?.is_empty() { Err("an empty page".into()) } else { Ok(()) }
}
