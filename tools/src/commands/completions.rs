//! `weir completions` and `weir man`: both from the tree of commands itself.

use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write a page for every command into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "weir", &mut script);
    print(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Done)
}

pub(crate) fn man(context: &Context, args: &ManArgs) -> Result<Exit, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    if let Some(dir) = &args.out {
        std::fs::create_dir_all(dir)?;
        clap_mangen::generate_to(command, dir)?;
        context.output.say(&format!("wrote the manual pages to {}", dir.display()));
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    print(String::from_utf8_lossy(&page).trim_end())?;
    Ok(Exit::Done)
}
