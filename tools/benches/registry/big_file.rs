//! What a large file costs while it passes.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinSet;

use super::{OPEN, documents::Request};
use crate::{
    Fault,
    effort::{Effort, rate},
    http::client,
    instance::Instance,
    line::{Line, Target},
    options::Options,
    origin::{Content, Origin},
    report::Report,
    server::Setup,
};

const N_CLIENTS: usize = 8;
const FILE: &str = "big-1.0-py3-none-any.whl";
/// How often the size of the process is looked at.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "memory.big_file",
        "resident growth while 8 clients pull one large file that nobody had before",
        "MB",
        "",
        Target::SizeAtMost(64.0),
    );
    if options.wants(line.name) {
        let measured = measure(options, effort, line.clone()).await;
        report.add(line, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let n_bytes: u64 = if effort.quick { 256 << 20 } else { 2 << 30 };
    let origin = origin(n_bytes).await?;
    let upstream = format!("http://{}/simple/", origin.address);
    let mut variables = OPEN.to_vec();
    variables.push(("WEIR__REGISTRIES__PYPI__UPSTREAM", &upstream));
    let setup = Setup { part: "api", variables: &variables, config: None };
    let firewall = Instance::start(options, "big_file", &setup).await?;
    let client = client()?;
    let page = Request::new(&client, firewall.url("pypi/simple/big/"), "text/html");
    let page = page.text().await?;
    let start = page.split("href=\"").nth(1).and_then(|rest| rest.split(['"', '#']).next());
    let link = start.ok_or("a page without a file")?;
    let url = reqwest::Url::parse(&firewall.url("pypi/simple/big/"))?.join(link)?;

    let before = firewall.server.resident()?;
    let began = Instant::now();
    let mut pulling = JoinSet::new();
    for _ in 0..N_CLIENTS {
        let request = Request::new(&client, url.to_string(), "*/*");
        pulling.spawn(async move { request.read().await });
    }
    let (mut most, mut n_done) = (before, 0_usize);
    while n_done < N_CLIENTS {
        tokio::select! {
            pulled = pulling.join_next() => {
                let n = pulled.ok_or("nobody pulls")???;
                if u64::try_from(n)? != n_bytes {
                    return Err(format!("{n} of {n_bytes} bytes came").into());
                }
                n_done += 1;
            }
            () = tokio::time::sleep(LOOK) => most = most.max(firewall.server.resident()?),
        }
    }
    let total = usize::try_from(n_bytes)? * N_CLIENTS;
    let note = format!(
        "{N_CLIENTS} times {} MB at {:.0} MB/s together, {:.0} MB resident before",
        n_bytes >> 20,
        rate(total >> 20, began),
        before / 1_024.0
    );
    firewall.stop().await?;
    Ok(line.alone((most - before) / 1_024.0).noting(note))
}

/// An index with one project of one large wheel.
async fn origin(n_bytes: u64) -> Result<Origin, Fault> {
    let (mut digest, zeros) = (Sha256::new(), vec![0; 1 << 20]);
    for _ in 0..n_bytes >> 20 {
        digest.update(&zeros);
    }
    let page = json!({
        "meta": {"api-version": "1.1"},
        "name": "big",
        "versions": ["1.0"],
        "files": [{"filename": FILE, "url": format!("/files/{FILE}"), "size": n_bytes,
            "hashes": {"sha256": hex::encode(digest.finalize())},
            "upload-time": "2020-01-01T00:00:00Z"}],
    });
    let page = Content::Of {
        kind: "application/vnd.pypi.simple.v1+json",
        body: Bytes::from(page.to_string()),
    };
    let contents =
        [("/simple/big/".to_owned(), page), (format!("/files/{FILE}"), Content::Zeros(n_bytes))];
    Origin::start(HashMap::from(contents)).await
}
