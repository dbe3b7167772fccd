//! `weir profiles`: the stricter policies that tokens can name.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::registry::advisory::Severity;

use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum ProfilesCommand {
    /// List profiles
    Ls(LsArgs),
    /// Make a profile, or have it say exactly this from now on
    Set(SetArgs),
    /// Remove a profile: tokens that name it get nothing
    Rm(RmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// Its name, like agent: what `weir token create --profile` says
    name: String,
    /// Whether a "no" is acted upon: enforce, or audit, which lets pass with a warning and is an
    /// administrator's to grant [default: as the ecosystem says]
    #[arg(long, value_parser = ["enforce", "audit"])]
    mode: Option<String>,
    /// How old a version must be at least, in hours; never less than the settings say
    #[arg(long, value_name = "HOURS", default_value_t = 0)]
    min_age_hours: u32,
    /// The least severity of a vulnerability that counts: low, medium, high or critical; never more
    /// than the settings say
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    severity_floor: Option<Severity>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// Its name
    name: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &ProfilesCommand) -> Result<Exit, Failure> {
    match command {
        ProfilesCommand::Ls(args) => ls(context, args),
        ProfilesCommand::Set(args) => set(context, args),
        ProfilesCommand::Rm(args) => rm(context, args),
    }
}

fn severity(name: &str) -> Result<Severity, String> {
    let found = Severity::find(name).filter(|severity| *severity != Severity::Unknown);
    found.ok_or_else(|| "there are: low, medium, high, critical".to_owned())
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get("api/registry/profiles", &[]).await?;
        context.output.data(&answer, || {
            let profiles = answer["profiles"].as_array().into_iter().flatten();
            let rows: Vec<Vec<String>> = profiles.map(row).collect();
            table(&["NAME", "MODE", "MIN AGE", "SEVERITY FLOOR"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn row(profile: &Value) -> Vec<String> {
    let text = |key: &str| profile[key].as_str().map_or_else(|| "-".to_owned(), harmless);
    let age = match profile["min_age_hours"].as_u64() {
        None | Some(0) => "-".to_owned(),
        Some(hours) => format!("{hours} h"),
    };
    vec![text("name"), text("mode"), age, text("severity_floor")]
}

fn set(context: &Context, args: &SetArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "mode": args.mode,
            "min_age_hours": args.min_age_hours,
            "severity_floor": args.severity_floor,
        });
        let path = format!("api/registry/profiles/{}", args.name);
        let profile = client.send(Method::PUT, &path, Some(&body)).await?;
        context.output.data(&profile, || {
            let name = &args.name;
            format!("profile {name} is in force; `weir token create … --profile {name}` names it")
        })?;
        Ok(Exit::Done)
    })
}

fn rm(context: &Context, args: &RmArgs) -> Result<Exit, Failure> {
    let what = format!("remove profile {}: tokens that name it get nothing then", args.name);
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let path = format!("api/registry/profiles/{}", args.name);
        let answer = client.send(Method::DELETE, &path, None).await?;
        context.output.data(&answer, || format!("profile {} is removed", args.name))?;
        Ok(Exit::Done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_is_a_severity_that_somebody_gave() {
        assert_eq!(severity("low"), Ok(Severity::Low));
        assert!(severity("unknown").is_err() && severity("worst").is_err());
    }

    #[test]
    fn a_row_says_what_a_profile_says_and_leaves_out_the_rest() {
        let profile = json!({"name": "agent", "mode": null, "min_age_hours": 0,
            "severity_floor": "low"});
        assert_eq!(row(&profile), ["agent", "-", "-", "low"]);
        assert_eq!(row(&json!({"name": "a", "min_age_hours": 72}))[2], "72 h");
    }
}
