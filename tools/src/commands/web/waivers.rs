//! `weir web waivers`: hosts that are asked although they are blocked, and code that may stay.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::super::waivers::steps::{self, GrantArgs, Kind, RevokeArgs, Terms, listed, text};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::table;
use crate::runtime;

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
    #[command(flatten)]
    terms: Terms,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, command: &WaiversCommand) -> Result<Exit, Failure> {
    match command {
        WaiversCommand::List(args) => list(context, args),
        WaiversCommand::Request(args) => request(context, args),
        WaiversCommand::Grant(args) => steps::grant::<Hosts>(context, args),
        WaiversCommand::Revoke(args) => steps::revoke::<Hosts>(context, args),
    }
}

fn list(context: &Context, args: &ListArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get(Hosts::PATH, &[]).await?;
        context.output.data(&answer, || {
            let keys =
                ["id", "state", "permits", "pattern", "agent", "expires_at", "owner", "reason"];
            let row = |waiver: &Value| keys.map(|key| text(waiver, key)).to_vec();
            let rows: Vec<Vec<String>> = listed(answer.clone()).iter().map(row).collect();
            let heads = ["ID", "STATE", "PERMITS", "PATTERN", "AGENT", "UNTIL", "OWNER", "REASON"];
            table(&heads, &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn request(context: &Context, args: &RequestArgs) -> Result<Exit, Failure> {
    let body = json!({
        "permits": args.permits,
        "pattern": args.pattern,
        "agent": args.agent,
    });
    steps::request::<Hosts>(context, &args.server, &args.terms, body)
}

/// The waivers of the web gateway.
struct Hosts;

impl Kind for Hosts {
    const PATH: &'static str = "api/web/waivers";
    const COMMAND: &'static str = "weir web waivers";
    const HINT: &'static str = "`weir web waivers list` lists them";

    /// All there are: those of the past are not among them.
    async fn of_states(client: &Client, _: &[&str]) -> Result<Vec<Value>, Failure> {
        Ok(listed(client.get(Self::PATH, &[]).await?))
    }

    fn about(waiver: &Value) -> String {
        let [permits, pattern, agent] =
            ["permits", "pattern", "agent"].map(|key| text(waiver, key));
        format!("{permits} of {pattern} for agent {agent}")
    }
}
