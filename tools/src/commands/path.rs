//! `weir path`: actor paths, read as every part of Weir reads them.

use clap::{Args, Subcommand};
use serde_json::json;
use weir_actor::ActorPath;

use crate::context::Context;
use crate::exit::{EndsWith as _, Exit, Failure};
use crate::output::{print, print_json};

#[derive(Debug, Subcommand)]
pub(crate) enum PathCommand {
    /// Print the canonical form of an actor path
    Parse(ParseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ParseArgs {
    /// The path, like `pekko://weir/user/agents/1`
    #[arg(value_name = "INPUT", allow_hyphen_values = true)]
    input: String,
}

pub(crate) fn run(context: &Context, command: &PathCommand) -> Result<Exit, Failure> {
    let PathCommand::Parse(ParseArgs { input }) = command;
    let path: ActorPath = input.parse().ends_with(Exit::Usage)?;
    let canonical = path.to_canonical();
    if context.output.json {
        print_json(&json!({ "canonical": canonical }))?;
    } else {
        print(&canonical)?;
    }
    Ok(Exit::Done)
}
