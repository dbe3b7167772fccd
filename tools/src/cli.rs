//! The command line: every command, its words and its flags.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    agent, cache, check, completions, config, dead_letters, doctor, down, events, explain, fetch,
    filter, holds, init, migrate, mint, nexus, path, profiles, registry, replay, reserved, rules,
    serve, sources, status, tail, token, verify, version, waivers, web,
};
use crate::config::logging::LogFormat;
use crate::exit;

/// One audited door between your agents and the outside.
#[derive(Debug, Parser)]
#[command(
    name = "weir",
    version,
    after_long_help = exit::table(),
    max_term_width = 100
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The configuration file [default: weir.yaml here, else in the data directory]
    #[arg(long, global = true, value_name = "FILE", env = "WEIR_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Where Weir keeps its keys, cache and private Postgres, and with `--database-url` all but the
    /// last [default: /var/lib/weir for root, else your data folder]
    #[arg(long, global = true, value_name = "DIR", env = "WEIR_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print data as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print data and failures only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log more; twice for much more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// What is logged, like `debug` or `info,weir_log=trace`
    #[arg(long, global = true, value_name = "FILTER", env = "WEIR_LOG")]
    pub(crate) log: Option<String>,
    /// The form of log lines
    #[arg(long, global = true, value_enum)]
    pub(crate) log_format: Option<LogFormat>,
}

/// Which server a command talks to, and as whom.
#[derive(Debug, Clone, Args)]
pub(crate) struct ServerArgs {
    /// The server [default: the one that runs with the data directory, else as configured]
    #[arg(long, value_name = "URL", env = "WEIR_SERVER")]
    pub(crate) server: Option<String>,
    /// The token to show [default: the one in the data directory]
    #[arg(long, value_name = "TOKEN", env = "WEIR_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,
}

/// Which database a command works on.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DatabaseArgs {
    /// The database [default: as configured, else the private one in the data directory]
    #[arg(long, value_name = "URL", env = "WEIR_DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    /// What stands between Weir and Postgres
    #[arg(long, value_enum)]
    pub(crate) pooler: Option<crate::config::database::Pooler>,
    /// The folder of `initdb` and `postgres` [default: searched in the usual places]
    #[arg(long, value_name = "DIR", env = "WEIR_PG_BINDIR")]
    pub(crate) pg_bindir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in one process, with a private Postgres
    Up(serve::UpArgs),
    /// Stop the Weir that runs with the data directory
    Down(down::DownArgs),
    /// Serve the API, the UI and package clients, on a shared Postgres
    Api(serve::ApiArgs),
    /// Keep projections and seals, on a shared Postgres
    Worker(serve::WorkerArgs),
    /// Bring the database to this build's schema
    Migrate(migrate::MigrateArgs),
    /// Write a configuration file that fits this machine
    Init(init::InitArgs),
    /// Check or show the configuration
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Look for what is or will be wrong, and say how to fix it
    Doctor(doctor::DoctorArgs),
    /// Show how the server is doing
    Status(status::StatusArgs),
    /// Follow events as they happen
    Tail(tail::TailArgs),
    /// Look at recorded events
    #[command(subcommand)]
    Events(events::EventsCommand),
    /// Build a projection anew from the log, beside the old one
    Replay(replay::ReplayArgs),
    /// Look at events that a projection could not apply, and redeliver them
    #[command(subcommand)]
    DeadLetters(dead_letters::DeadLettersCommand),
    /// Verify that nobody changed the log
    Verify(verify::VerifyArgs),
    /// Issue, list and revoke tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Make keys for agents, register and revoke them, and sign in their names
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Say what becomes of a version of a package, and everything known for and against it
    Explain(explain::ExplainArgs),
    /// Say what becomes of everything that lock files and bills of materials name
    Check(check::CheckArgs),
    /// See what lies in the cache, and have some of it forgotten
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    /// List what waits for a person's word, and allow or deny it
    #[command(subcommand)]
    Holds(holds::HoldsCommand),
    /// List, set and remove profiles: the stricter policies that tokens can name
    #[command(subcommand)]
    Profiles(profiles::ProfilesCommand),
    /// Ask what a warning or a policy of today means for the past
    #[command(subcommand)]
    Registry(registry::RegistryCommand),
    /// Reserve, list and release names that no public registry is ever asked for
    #[command(subcommand)]
    Reserved(reserved::ReservedCommand),
    /// Add, list and remove rules on packages
    #[command(subcommand)]
    Rules(rules::RulesCommand),
    /// See where advisories come from, and have a source visited
    Sources(sources::SourcesArgs),
    /// List, ask for, grant and revoke waivers: permissions to pass in spite of a rule or advisory
    #[command(subcommand)]
    Waivers(waivers::WaiversCommand),
    /// Compare versions as an ecosystem does
    #[command(subcommand)]
    Version(version::VersionCommand),
    /// Show what an agent would see of a page: its words, without its code
    Filter(filter::FilterArgs),
    /// Fetch a page as an agent gets it, through the gateway: judged, charged, without its code
    Fetch(fetch::FetchArgs),
    /// See the world's time, and advance it: epochs, cycles, ticks
    #[command(subcommand)]
    Nexus(nexus::NexusCommand),
    /// See accounts, and grant spark
    #[command(subcommand)]
    Mint(mint::MintCommand),
    /// See what agents asked of the outside and what is cached of it, and say which hosts they reach
    #[command(subcommand)]
    Web(web::WebCommand),
    /// Read actor paths
    #[command(subcommand)]
    Path(path::PathCommand),
    /// Print shell completions
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one a command into a folder
    Man(completions::ManArgs),
    /// A private Postgres and nothing else, for tests and scripts
    #[command(hide = true)]
    Postgres(PostgresArgs),
}

/// Flags of the hidden `postgres`; the data directory is the global one.
#[derive(Debug, Args)]
pub(crate) struct PostgresArgs {
    /// The folder of `initdb` and `postgres`
    #[arg(long, value_name = "DIR", env = "WEIR_PG_BINDIR")]
    pub(crate) pg_bindir: Option<PathBuf>,
}

impl Command {
    /// Whether it is a server, whose log is the point.
    pub(crate) const fn serves(&self) -> bool {
        matches!(self, Self::Up(_) | Self::Api(_) | Self::Worker(_) | Self::Postgres(_))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_tree_of_commands_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does() {
        fn walk(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} says nothing", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{argument} says nothing");
            }
            command.get_subcommands().for_each(walk);
        }
        walk(&Cli::command());
    }

    #[test]
    fn the_exit_codes_stand_in_the_long_help() {
        let help = Cli::command().render_long_help().to_string();
        assert!(help.contains(" 75  not now: try again later"), "{help}");
    }
}
