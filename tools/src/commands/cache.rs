//! `weir cache`: what lies in the cache, how much it is used, and to have some of it forgotten.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::Value;
use weir_events::registry::Ecosystem;

use super::rules::ecosystem;
use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Show what lies in the cache, and how much it is used
    Stats(StatsArgs),
    /// Have files and lists forgotten, on every instance: they are fetched anew when asked for
    Purge(PurgeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct PurgeArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem, required_unless_present = "all")]
    ecosystem: Option<Ecosystem>,
    /// A package, with `*` for any run of characters; all, without
    package: Option<String>,
    /// A version constraint as the ecosystem writes it; all, without. Images are told by digest
    versions: Option<String>,
    /// Everything there is, of all ecosystems
    #[arg(long, conflicts_with_all = ["ecosystem", "package", "versions"])]
    all: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &CacheCommand) -> Result<Exit, Failure> {
    match command {
        CacheCommand::Stats(args) => stats(context, args),
        CacheCommand::Purge(args) => purge(context, args),
    }
}

fn stats(context: &Context, args: &StatsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get("api/cache/stats", &[]).await?;
        context.output.data(&answer, || told(&answer))?;
        Ok(Exit::Done)
    })
}

fn told(answer: &Value) -> String {
    let bytes = |value: &Value| value.as_u64().map_or_else(|| "-".to_owned(), size);
    let first = format!(
        "{} of {} used ({})",
        bytes(&answer["total"]["files"]["size_bytes"]),
        bytes(&answer["max_bytes"]),
        percent(&answer["used"]),
    );
    let row = |name: &str, part: &Value| {
        let gone =
            ["lru", "expired", "purged", "broken"].map(|key| part["evictions"][key].to_string());
        vec![
            name.to_owned(),
            part["files"]["n"].to_string(),
            bytes(&part["files"]["size_bytes"]),
            percent(&part["files"]["hit_rate"]),
            part["documents"]["n"].to_string(),
            bytes(&part["documents"]["size_bytes"]),
            percent(&part["documents"]["hit_rate"]),
            gone.join("/"),
        ]
    };
    let all = answer["ecosystems"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = |part: &Value| row(&harmless(part["ecosystem"].as_str().unwrap_or("-")), part);
    let mut rows: Vec<_> = all.iter().map(named).collect();
    rows.push(row("total", &answer["total"]));
    let headings = [
        "ECOSYSTEM",
        "FILES",
        "SIZE",
        "HITS",
        "LISTS",
        "SIZE",
        "HITS",
        "LRU/EXPIRED/PURGED/BROKEN",
    ];
    format!("{first}\n\n{}", table(&headings, &rows))
}

fn percent(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// A size as a person reads it.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let (mut whole, mut tenth, mut unit) = (bytes, 0, 0);
    while whole >= 1_000 && unit + 1 < UNITS.len() {
        (whole, tenth, unit) = (whole / 1_000, whole % 1_000 / 100, unit + 1);
    }
    let unit = UNITS.get(unit).unwrap_or(&"B");
    if bytes < 1_000 { format!("{whole} {unit}") } else { format!("{whole}.{tenth} {unit}") }
}

fn purge(context: &Context, args: &PurgeArgs) -> Result<Exit, Failure> {
    let what = what(args);
    if args.sure.ask(context, &format!("forget {what}"))? == Answer::Leave {
        return Ok(Exit::Done);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let query: Vec<(&str, String)> = [
            ("ecosystem", args.ecosystem.map(|ecosystem| ecosystem.to_string())),
            ("package", args.package.clone()),
            ("versions", args.versions.clone()),
            ("all", args.all.then(|| "true".to_owned())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect();
        let answer = client.command(Method::DELETE, "api/cache", &query).await?;
        context.output.data(&answer, || {
            let bytes = size(answer["size_bytes"].as_u64().unwrap_or_default());
            let (files, lists) = (&answer["n_files"], &answer["n_documents"]);
            format!("{what}: {files} files ({bytes}) and {lists} lists are forgotten")
        })?;
        Ok(Exit::Done)
    })
}

/// What would go, in words.
fn what(args: &PurgeArgs) -> String {
    let Some(ecosystem) = args.ecosystem else {
        return "everything in the cache, of all ecosystems".to_owned();
    };
    let versions = |versions: &String| format!(" {}", harmless(versions));
    match &args.package {
        Some(package) => {
            let versions = args.versions.as_ref().map(versions).unwrap_or_default();
            format!("what is cached of {ecosystem} {}{versions}", harmless(package))
        }
        None => format!("all that is cached of {ecosystem}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_size_reads_well_at_every_size() {
        for (bytes, wanted) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_550, "1.5 kB"),
            (50_000_000_000, "50.0 GB"),
            (u64::MAX, "18446744.0 TB"),
        ] {
            assert_eq!(size(bytes), wanted);
        }
    }

    #[test]
    fn every_ecosystem_has_a_row_and_the_total_the_last() {
        let kind = json!({"n": 2, "size_bytes": 1_500, "hit_rate": 0.75});
        let gone = json!({"lru": 1, "expired": 2, "purged": 3, "broken": 4});
        let part = json!({"ecosystem": "npm", "files": kind, "documents": kind,
            "evictions": gone});
        let answer = json!({"max_bytes": 3_000, "used": 0.5, "total": part, "ecosystems": [part]});
        let said = told(&answer);
        assert!(said.starts_with("1.5 kB of 3.0 kB used (50.0 %)"), "{said}");
        let lines: Vec<_> = said.lines().filter(|line| line.contains("1/2/3/4")).collect();
        assert!(lines[0].starts_with("npm") && lines[1].starts_with("total"), "{said}");
    }
}
