//! `weir sources`: where advisories come from, and how each source stands.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SourcesArgs {
    #[command(subcommand)]
    command: Option<SourcesCommand>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SourcesCommand {
    /// List the sources and how they stand, as `weir sources` alone does
    Ls(LsArgs),
    /// Have a source visited now, and all it has read anew
    Sync(SyncArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// The source: osv, openssf-malicious or blocklist
    name: String,
    /// You have looked: what is gone from the source is gone indeed, however much that is
    #[arg(long)]
    believe_losses: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, args: &SourcesArgs) -> Result<Exit, Failure> {
    match &args.command {
        None => ls(context, &args.server),
        Some(SourcesCommand::Ls(args)) => ls(context, &args.server),
        Some(SourcesCommand::Sync(args)) => sync(context, args),
    }
}

fn ls(context: &Context, server: &ServerArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, server)?;
    runtime::run(async {
        let answer = client.read("api/security-sources", &[]).await?;
        context.output.data(&answer, || {
            let headings = ["SOURCE", "PART", "STATE", "SUCCEEDED", "NEXT", "SAYS", "CAUSE"];
            table(&headings, &rows(&answer))
        })?;
        Ok(Exit::Done)
    })
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A row for each part of each source; one for a source that was never visited.
fn rows(answer: &Value) -> Vec<Vec<String>> {
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), harmless);
    let mut rows = Vec::new();
    for source in list(answer, "sources") {
        let counted = |ecosystem: &Value| {
            let mut counts = list(source, "advisories").iter();
            let found = counts.find(|count| count["ecosystem"] == *ecosystem);
            found.map_or(&source["n_advisories"], |count| &count["n_advisories"]).to_string()
        };
        let parts = list(source, "parts");
        for part in parts {
            let ecosystem = &part["ecosystem"];
            rows.push(vec![
                text(&source["name"]),
                ecosystem.as_str().map_or_else(|| "all".to_owned(), harmless),
                text(&part["state"]),
                text(&part["succeeded_at"]),
                text(&part["next_due_at"]),
                counted(ecosystem),
                text(&part["cause"]),
            ]);
        }
        if parts.is_empty() {
            let (name, state) = (text(&source["name"]), text(&source["state"]));
            let dash = || "-".to_owned();
            rows.push(vec![name, "all".to_owned(), state, dash(), dash(), "0".to_owned(), dash()]);
        }
    }
    rows
}

fn sync(context: &Context, args: &SyncArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let name = harmless(&args.name);
        let path = format!("api/security-sources/{}/sync", args.name);
        let body = json!({ "believe_losses": args.believe_losses });
        let answer = client.send(Method::POST, &path, Some(&body)).await?;
        context.output.data(&answer, || {
            format!(
                "{name} is visited as soon as a worker is free; `weir sources` shows how it went"
            )
        })?;
        Ok(Exit::Done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_has_a_row_with_what_is_said_about_it() {
        let answer = json!({"sources": [
            {"name": "osv", "n_advisories": 7, "state": "failing",
             "advisories": [{"ecosystem": "npm", "n_advisories": 5}],
             "parts": [{"ecosystem": "npm", "state": "ok", "succeeded_at": "then", "cause": null},
                       {"ecosystem": null, "state": "failing", "cause": "bad\u{1b}[31m"}]},
            {"name": "blocklist", "state": "disabled", "parts": []},
        ]});
        let rows = rows(&answer);
        assert_eq!(rows[0], ["osv", "npm", "ok", "then", "-", "5", "-"]);
        assert_eq!(rows[1][..6], ["osv", "all", "failing", "-", "-", "7"]);
        assert!(!rows[1][6].contains('\u{1b}'));
        assert_eq!(rows[2], ["blocklist", "all", "disabled", "-", "-", "0", "-"]);
    }
}
