//! `weir web`: which hosts agents reach, and why.

mod rules;
mod waivers;
mod why;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum WebCommand {
    /// List, set, remove and import rules about hosts
    #[command(subcommand)]
    Rules(rules::RulesCommand),
    /// Say what becomes of an address, and by which rule
    Why(why::WhyArgs),
    /// List, ask for, grant and revoke permissions to pass in spite of a rule about hosts
    #[command(subcommand)]
    Waivers(waivers::WaiversCommand),
}

pub(crate) fn run(context: &Context, command: &WebCommand) -> Result<Exit, Failure> {
    match command {
        WebCommand::Rules(command) => rules::run(context, command),
        WebCommand::Why(args) => why::run(context, args),
        WebCommand::Waivers(command) => waivers::run(context, command),
    }
}
