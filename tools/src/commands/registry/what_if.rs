//! `weir registry what-if`: a policy tried on the past, before it is switched on.

mod told;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use weir_processors::registry::what_if::{
    By,
    candidate::{MAX_BYTES, parse},
};

use super::super::progress::Progress;
use crate::cli::ServerArgs;
use crate::client::{Client, failed};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    /// The policy: a YAML file with `policy` and `registries` as in weir.yaml, `rules` as in a
    /// blocklist, and `without`, ids of rules that would not be there; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How many days back
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=366))]
    days: u16,
    /// By which facts: `today`, what is known now, or `then`, what was known when each was asked for
    #[arg(long, default_value = "today", value_parser = by)]
    facts: By,
    /// How many rows of each table are listed, those with most decisions first
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
    #[command(flatten)]
    server: ServerArgs,
}

fn by(name: &str) -> Result<By, String> {
    By::find(name).ok_or_else(|| "there are: today, then".to_owned())
}

pub(crate) fn run(context: &Context, args: &WhatIfArgs) -> Result<Exit, Failure> {
    let policy = read(&args.file)?;
    // Here already: a mistake is told with the file's own name, and without a server.
    let checked = parse(&args.file.display().to_string(), &policy);
    checked.map_err(|fault| Failure::new(Exit::Usage, fault.to_string()))?;
    let client = Client::new(context, &args.server)?;
    let body = json!({
        "days": args.days,
        "policy": policy,
        "facts": args.facts.as_str(),
        "limit": args.limit,
    });
    runtime::run(async {
        let mut lines = client.lines("api/registry/what-if", &body).await?;
        let mut progress = Some(Progress::new(context.output, "what if"));
        while let Some(line) = lines.next().await? {
            if let Some(progress) = &mut progress
                && let Some(at) = line.get("progress")
            {
                let n = |key: &str| at[key].as_u64().unwrap_or_default();
                progress.at(n("n_looked"), n("n_to_look"), None);
                continue;
            }
            if let Some(progress) = progress.take() {
                progress.finish();
            }
            if let Some(problem) = line.get("problem") {
                return Err(failed(problem));
            }
            if let Some(result) = line.get("result") {
                context.output.data(result, || told::told(result))?;
                return Ok(Exit::Done);
            }
        }
        Err(Failure::new(Exit::Unreachable, "the server ended the answer before its end"))
    })
}

fn read(file: &Path) -> Result<String, Failure> {
    let name = file.display();
    let unreadable = |fault: std::io::Error| {
        Failure::new(Exit::Usage, format!("could not read the policy `{name}`: {fault}"))
    };
    let mut text = String::new();
    let most = MAX_BYTES as u64 + 1;
    if file == Path::new("-") {
        std::io::stdin().take(most).read_to_string(&mut text).map_err(unreadable)?;
    } else {
        let opened = File::open(file).map_err(unreadable)?;
        opened.take(most).read_to_string(&mut text).map_err(unreadable)?;
    }
    Ok(text)
}
