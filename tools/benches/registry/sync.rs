//! A whole feed of advisories, from the archive to the first verdict that knows it.

use std::{
    collections::HashMap,
    io::{Cursor, Write as _},
    time::{Duration, Instant},
};

use bytes::Bytes;
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::{
    Fault,
    effort::Effort,
    http::client,
    instance::Instance,
    line::{Line, Target},
    options::Options,
    origin::{Content, Origin},
    report::Report,
    server::Setup,
};

const PATIENCE: Duration = Duration::from_mins(5);
/// How often it is asked how far it is.
const LOOK: Duration = Duration::from_millis(20);

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let speed = Line::new(
        "sync.300k",
        "advisories from the archive of a source until they count in verdicts",
        "per s",
        "",
        Target::About(">= 30,000/s, <= 400 MB"),
    );
    if options.wants(speed.name) {
        let measured = measure(options, effort, speed.clone()).await;
        report.add(speed, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let n_records: usize = if effort.quick { 30_000 } else { 300_000 };
    let empty = Content::Of { kind: "application/zip", body: archive(0)?.into() };
    let full = Content::Of { kind: "application/zip", body: Bytes::from(archive(n_records)?) };
    let contents = [("/npm/all.zip".to_owned(), full), ("/PyPI/all.zip".to_owned(), empty)];
    let origin = Origin::start(HashMap::from(contents)).await?;
    std::fs::create_dir_all(&options.scratch)?;
    let config = options.scratch.join("sync.yaml");
    let sources = format!(
        "sources:\n  openssf:\n    enabled: false\n  osv:\n    address: http://{}/\n    \
         ecosystems: [npm, pypi]\n    rate_limit: 0s\n",
        origin.address
    );
    std::fs::write(&config, sources)?;
    let setup = Setup { part: "up", variables: &[], config: Some(config) };
    let firewall = Instance::start(options, "sync", &setup).await?;
    let took = took(&firewall, n_records).await?;
    let peak = firewall.server.peak()? / 1_024.0;
    firewall.stop().await?;
    let note = format!("{n_records} records in {:.1} s, {peak:.0} MB at most", took.as_secs_f64());
    let n_records = f64::from(u32::try_from(n_records)?);
    Ok(line.alone(n_records / took.as_secs_f64()).noting(note))
}

/// How long it took from the event that a visit began until a verdict knows the last of the records.
#[expect(clippy::disallowed_methods, reason = "a client on loopback, not Weir going out")]
async fn took(firewall: &Instance, n_records: usize) -> Result<Duration, Fault> {
    let (client, opened) = (client()?, Instant::now());
    let get = |path: String| {
        let request = client.get(firewall.url(&path)).bearer_auth(&firewall.token);
        async move { Ok::<Value, Fault>(serde_json::from_str(&request.send().await?.text().await?)?) }
    };
    let last = n_records - 1;
    let (known, about) = (format!("MAL-2026-{last}"), format!("helper-{last}"));
    let known_at = loop {
        let path = format!("api/registry/explain?ecosystem=npm&package={about}&version=1.0.0");
        let told = get(path).await?;
        let objections = told.get("objections").and_then(Value::as_array);
        let ids = objections.into_iter().flatten().filter_map(|said| said.get("id")?.as_str());
        if ids.into_iter().any(|id| id == known) {
            break OffsetDateTime::now_utc();
        }
        if opened.elapsed() > PATIENCE {
            return Err(format!("the visit does not end: {told}").into());
        }
        tokio::time::sleep(LOOK).await;
    };
    let page = get("api/events?kind=SyncStarted&limit=10".to_owned()).await?;
    let started = page.get("events").and_then(Value::as_array).into_iter().flatten();
    let of_npm =
        |event: &&Value| event.pointer("/payload/ecosystem").and_then(Value::as_str) == Some("npm");
    let began = started.into_iter().find(of_npm).and_then(|event| event.get("recorded_at"));
    let began = began.and_then(Value::as_str).ok_or("no visit was recorded")?;
    let began = OffsetDateTime::parse(began, &Rfc3339)?;
    Ok(Duration::try_from(known_at - began)?)
}

/// An archive as OSV makes them: one record a file.
fn archive(n_records: usize) -> Result<Vec<u8>, Fault> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let details = "What it does, at some length. ".repeat(20);
    for n in 0..n_records {
        archive.start_file(format!("MAL-2026-{n}.json"), options)?;
        let record = serde_json::json!({
            "id": format!("MAL-2026-{n}"), "modified": "2026-11-01T00:00:00Z",
            "summary": format!("Malicious code in helper-{n} (npm)"), "details": details,
            "affected": [{"package": {"ecosystem": "npm", "name": format!("helper-{n}")},
                "versions": ["1.0.0"]}],
        });
        archive.write_all(record.to_string().as_bytes())?;
    }
    Ok(archive.finish()?.into_inner())
}
