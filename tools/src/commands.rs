//! One file per command: what its words and flags are, and what it does.

pub(crate) mod agent;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod dead_letters;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod fetch;
pub(crate) mod filter;
pub(crate) mod holds;
pub(crate) mod init;
pub(crate) mod migrate;
pub(crate) mod mint;
pub(crate) mod nexus;
pub(crate) mod path;
pub(crate) mod postgres;
pub(crate) mod profiles;
pub(crate) mod progress;
pub(crate) mod registry;
pub(crate) mod replay;
pub(crate) mod reserved;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod sources;
pub(crate) mod status;
pub(crate) mod tail;
pub(crate) mod token;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod waivers;
pub(crate) mod web;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::cli::Command;
use crate::config::Config;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::logging;

/// Runs a command. On the main thread, outside any runtime.
pub(crate) fn run(context: &Context, command: Command) -> Result<Exit, Failure> {
    if !command.serves() {
        let mut logging = Config::default().logging;
        logging.level = context.log_filter.clone().unwrap_or(logging.level);
        logging.format = context.log_format.unwrap_or(logging.format);
        logging::start(context, &logging, false)?;
    }
    // The one that may not be there yet is the one that is to be written.
    if !matches!(command, Command::Init(_)) {
        context.check_config_file()?;
    }
    match command {
        Command::Up(args) => serve::up(context, &args),
        Command::Down(args) => down::run(context, &args),
        Command::Api(args) => serve::api(context, &args),
        Command::Worker(args) => serve::worker(context, &args),
        Command::Migrate(args) => migrate::run(context, &args),
        Command::Init(args) => init::run(context, &args),
        Command::Config(command) => config::run(context, &command),
        Command::Doctor(args) => doctor::run(context, &args),
        Command::Status(args) => status::run(context, &args),
        Command::Tail(args) => tail::run(context, &args),
        Command::Events(command) => events::run(context, &command),
        Command::Replay(args) => replay::run(context, &args),
        Command::DeadLetters(command) => dead_letters::run(context, &command),
        Command::Verify(args) => verify::run(context, &args),
        Command::Token(command) => token::run(context, &command),
        Command::Agent(command) => agent::run(context, &command),
        Command::Explain(args) => explain::run(context, &args),
        Command::Check(args) => check::run(context, &args),
        Command::Cache(command) => cache::run(context, &command),
        Command::Holds(command) => holds::run(context, &command),
        Command::Nexus(command) => nexus::run(context, &command),
        Command::Mint(command) => mint::run(context, &command),
        Command::Web(command) => web::run(context, &command),
        Command::Profiles(command) => profiles::run(context, &command),
        Command::Registry(command) => registry::run(context, &command),
        Command::Reserved(command) => reserved::run(context, &command),
        Command::Rules(command) => rules::run(context, &command),
        Command::Sources(args) => sources::run(context, &args),
        Command::Waivers(command) => waivers::run(context, &command),
        Command::Version(command) => version::run(context, &command),
        Command::Filter(args) => filter::run(context, &args),
        Command::Fetch(args) => fetch::run(context, &args),
        Command::Path(command) => path::run(context, &command),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => completions::man(context, &args),
        Command::Postgres(args) => {
            logging::start(context, &Config::default().logging, true)?;
            let data_dir = context.data_dir.path().to_owned();
            postgres::run(data_dir, args.pg_bindir)?;
            Ok(Exit::Done)
        }
    }
}

/// Flags of commands that cannot be taken back.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Sure {
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Go,
    Leave,
}

impl Sure {
    /// Asks whether to do it, where somebody can answer.
    pub(crate) fn ask(self, context: &Context, what: &str) -> Result<Answer, Failure> {
        if self.dry_run {
            context.output.say(&format!("would {what}"));
            return Ok(Answer::Leave);
        }
        if self.yes {
            return Ok(Answer::Go);
        }
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            let message = format!("cannot ask whether to {what}: there is no terminal");
            return Err(Failure::new(Exit::Usage, message).hint("add --yes if you mean it"));
        }
        write!(io::stderr(), "{what}? [y/N] ")?;
        io::stderr().flush()?;
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer)?;
        let yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
        Ok(if yes { Answer::Go } else { Answer::Leave })
    }
}
