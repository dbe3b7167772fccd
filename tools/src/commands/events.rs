//! `weir events get`: one recorded event, or everything its first cause set off.

use clap::{Args, Subcommand};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::commands::tail::line;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::print;
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum EventsCommand {
    /// Print one event
    Get(GetArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    /// Its position in the log
    position: u64,
    /// Print all events of the same first cause, in order
    #[arg(long)]
    chain: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &EventsCommand) -> Result<Exit, Failure> {
    let EventsCommand::Get(args) = command;
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let output = context.output;
        if !args.chain {
            let event = client.get(&format!("api/events/{}", args.position), &[]).await?;
            print(&serde_json::to_string_pretty(&event)?)?;
            return Ok(Exit::Done);
        }
        let chain = client.read(&format!("api/events/{}/chain", args.position), &[]).await?;
        output.data(&chain, || {
            let events = chain["events"].as_array().map(Vec::as_slice).unwrap_or_default();
            events.iter().map(|event| line(output, event)).collect::<Vec<_>>().join("\n")
        })?;
        Ok(Exit::Done)
    })
}
