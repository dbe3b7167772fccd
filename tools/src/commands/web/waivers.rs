//! `weir web waivers`: hosts that are asked although they are blocked, and code that may stay.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

const PATH: &str = "api/web/waivers";

#[derive(Debug, Subcommand)]
pub(crate) enum WaiversCommand {
    /// List waivers that are in force or wait for a second person
    List(ListArgs),
    /// Ask for a waiver: a second person grants it
    Request(RequestArgs),
    /// Grant what somebody else asked for
    Grant(GrantArgs),
    /// Take a waiver back, or say no to one that waits
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// What it permits: host (to be asked although it is blocked) or code (to stay in what is fetched)
    #[arg(value_parser = ["host", "code"])]
    permits: String,
    /// The hosts, as a rule that allows has them
    #[arg(long)]
    pattern: Option<String>,
    /// The one agent that may have code, by its id
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Why
    #[arg(long)]
    reason: String,
    /// Who answers for it
    #[arg(long)]
    owner: String,
    /// In how many days it ends
    #[arg(long, required_unless_present = "expires_at", conflicts_with = "expires_at")]
    days: Option<u16>,
    /// When it ends, like 2026-12-24T18:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// The waiver's id
    id: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The waiver's id
    id: String,
    /// Why
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, command: &WaiversCommand) -> Result<Exit, Failure> {
    match command {
        WaiversCommand::List(args) => list(context, args),
        WaiversCommand::Request(args) => request(context, args),
        WaiversCommand::Grant(args) => {
            step(context, &args.server, args.sure, &args.id, ("grant", "is granted"), None)
        }
        WaiversCommand::Revoke(args) => {
            let body = json!({ "reason": args.reason });
            let words = ("revoke", "is revoked");
            step(context, &args.server, args.sure, &args.id, words, Some(&body))
        }
    }
}

fn list(context: &Context, args: &ListArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get(PATH, &[]).await?;
        context.output.data(&answer, || {
            let keys =
                ["id", "state", "permits", "pattern", "agent", "expires_at", "owner", "reason"];
            let rows: Vec<Vec<String>> = waivers(&answer)
                .iter()
                .map(|waiver| keys.map(|key| text(waiver, key)).to_vec())
                .collect();
            let heads = ["ID", "STATE", "PERMITS", "PATTERN", "AGENT", "UNTIL", "OWNER", "REASON"];
            table(&heads, &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn request(context: &Context, args: &RequestArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "permits": args.permits,
            "pattern": args.pattern,
            "agent": args.agent,
            "reason": args.reason,
            "owner": args.owner,
            "days": args.days,
            "expires_at": args.expires_at,
        });
        let waiver = client.send(Method::POST, PATH, Some(&body)).await?;
        context.output.data(&waiver, || {
            let id = text(&waiver, "id");
            format!("waiver {id} waits: somebody else runs `weir web waivers grant {id}`")
        })?;
        Ok(Exit::Done)
    })
}

/// Does something to a waiver, after saying what that is about.
fn step(
    context: &Context,
    server: &ServerArgs,
    sure: Sure,
    id: &str,
    (verb, done): (&str, &str),
    body: Option<&Value>,
) -> Result<Exit, Failure> {
    let client = Client::new(context, server)?;
    let waiver = runtime::runtime()?.block_on(async {
        let answer = client.get(PATH, &[]).await?;
        let found = waivers(&answer).iter().find(|waiver| waiver["id"] == *id).cloned();
        found.ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("no waiver with the id `{}` is open", harmless(id)),
            )
            .hint("`weir web waivers list` lists them")
        })
    })?;
    let keys = ["requested_by", "permits", "pattern", "agent", "reason"];
    let [by, permits, pattern, agent, reason] = keys.map(|key| text(&waiver, key));
    let what =
        format!("{verb} waiver {id} of {by}: {permits} of {pattern} for agent {agent} ({reason})");
    if sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    runtime::run(async {
        let path = format!("{PATH}/{id}/{verb}");
        let answer = client.send(Method::POST, &path, body).await?;
        context.output.data(&answer, || format!("waiver {id} {done}"))?;
        Ok(Exit::Done)
    })
}

fn waivers(answer: &Value) -> &[Value] {
    answer["waivers"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(waiver: &Value, key: &str) -> String {
    waiver[key].as_str().map_or_else(|| "-".to_owned(), harmless)
}
