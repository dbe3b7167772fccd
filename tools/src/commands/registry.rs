//! `weir registry`: what a warning or a policy of today means for the past.

mod impact;
mod what_if;

use clap::Subcommand;

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, Subcommand)]
pub(crate) enum RegistryCommand {
    /// Say who downloaded what an advisory or a rule is about, when, and what of it lies here
    Impact(impact::ImpactArgs),
    /// Say what a policy would change about what was asked for, before it is switched on
    WhatIf(what_if::WhatIfArgs),
}

pub(crate) fn run(context: &Context, command: &RegistryCommand) -> Result<Exit, Failure> {
    match command {
        RegistryCommand::Impact(args) => impact::run(context, args),
        RegistryCommand::WhatIf(args) => what_if::run(context, args),
    }
}
