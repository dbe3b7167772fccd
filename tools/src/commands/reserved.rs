//! `weir reserved`: names that no public registry is ever asked for.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::registry::Ecosystem;

use super::{Answer, Sure, rules::ecosystem};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

const PATH: &str = "api/registry/reserved";

#[derive(Debug, Subcommand)]
pub(crate) enum ReservedCommand {
    /// List reserved names: those of the configuration, and those that were reserved here
    Ls(LsArgs),
    /// Reserve a name, or many: no public registry is asked for it from now on
    Add(AddArgs),
    /// Release a name: whoever asks for it is given what a public registry has under it
    Rm(RmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem)]
    ecosystem: Ecosystem,
    /// The package, with * for any run of characters, like '@acme/*'
    package: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem)]
    ecosystem: Ecosystem,
    /// The package, in any spelling
    package: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &ReservedCommand) -> Result<Exit, Failure> {
    match command {
        ReservedCommand::Ls(args) => ls(context, args),
        ReservedCommand::Add(args) => add(context, args),
        ReservedCommand::Rm(args) => rm(context, args),
    }
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get(PATH, &[]).await?;
        context.output.data(&answer, || {
            let row = |name: &Value| {
                let text = |key: &str| name[key].as_str().map_or_else(|| "-".to_owned(), harmless);
                ["ecosystem", "package", "origin"].map(text).to_vec()
            };
            let rows: Vec<_> =
                answer["reserved"].as_array().into_iter().flatten().map(row).collect();
            table(&["ECOSYSTEM", "PACKAGE", "ORIGIN"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn add(context: &Context, args: &AddArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({"ecosystem": args.ecosystem, "package": args.package});
        let added = client.send(Method::POST, PATH, Some(&body)).await?;
        context.output.data(&added, || {
            let AddArgs { ecosystem, package, .. } = args;
            format!("{ecosystem} {package} is reserved: no public registry is asked for it")
        })?;
        Ok(Exit::Done)
    })
}

fn rm(context: &Context, args: &RmArgs) -> Result<Exit, Failure> {
    let RmArgs { ecosystem, package, sure, server } = args;
    let what =
        format!("release {ecosystem} {package}: whoever asks gets what a public registry has");
    if sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    let client = Client::new(context, server)?;
    runtime::run(async {
        let named = [("ecosystem", ecosystem.to_string()), ("package", package.clone())];
        let answer = client.command(Method::DELETE, PATH, &named).await?;
        context.output.data(&answer, || format!("{ecosystem} {package} is released"))?;
        Ok(Exit::Done)
    })
}
