//! `weir profiles`: the stricter policies that tokens can name.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::registry::advisory::Severity;
use weir_events::registry::hold::Ground;

use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::config::Size;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

/// Said where profiles bind nobody who is on this machine and shows no token.
const LEFT: &str = "warning: an agent on this machine that leaves its token out is bound by none of \
    these; name one in auth.loopback_profile, or set auth.loopback_packages: closed";

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
    /// How many files each of its tokens may download in an hour (UTC)
    #[arg(long, value_name = "N")]
    downloads_per_hour: Option<u32>,
    /// How many files each of its tokens may download in a day (UTC)
    #[arg(long, value_name = "N")]
    downloads_per_day: Option<u32>,
    /// How much each of its tokens may download in a day (UTC), like 2GiB
    #[arg(long, value_name = "SIZE")]
    bytes_per_day: Option<Size>,
    /// What a person has to answer before it passes (comma list, may repeat): new-package, new-version,
    /// advisory
    #[arg(long, value_name = "GROUND", value_parser = ground, value_delimiter = ',')]
    hold: Vec<Ground>,
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

fn ground(name: &str) -> Result<Ground, String> {
    Ground::find(name).ok_or_else(|| "there are: new-package, new-version, advisory".to_owned())
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.get("api/registry/profiles", &[]).await?;
        context.output.data(&answer, || {
            let profiles = answer["profiles"].as_array().into_iter().flatten();
            let rows: Vec<Vec<String>> = profiles.map(row).collect();
            table(&["NAME", "MODE", "MIN AGE", "SEVERITY FLOOR", "QUOTA", "HOLD"], &rows)
        })?;
        let some = answer["profiles"].as_array().is_some_and(|profiles| !profiles.is_empty());
        // Whoever cannot read the configuration here does not know.
        let loaded = context.load_quietly(&[]);
        if some && loaded.is_ok_and(|loaded| loaded.config.lets_profiles_be_left()) {
            context.output.say(LEFT);
        }
        Ok(Exit::Done)
    })
}

fn row(profile: &Value) -> Vec<String> {
    let text = |key: &str| profile[key].as_str().map_or_else(|| "-".to_owned(), harmless);
    let age = match profile["min_age_hours"].as_u64() {
        None | Some(0) => "-".to_owned(),
        Some(hours) => format!("{hours} h"),
    };
    let grounds = profile["hold"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let grounds = grounds.collect::<Vec<_>>().join(", ");
    let hold = if grounds.is_empty() { "-".to_owned() } else { grounds };
    let quota = quota(&profile["quota"], &Value::Null);
    vec![text("name"), text("mode"), age, text("severity_floor"), quota, hold]
}

/// How much may be downloaded, and, where that is known, how much was.
pub(super) fn quota(quota: &Value, used: &Value) -> String {
    let of = |used: Option<String>, max: String, per: &str| match used {
        Some(used) => format!("{used} of {max}{per}"),
        None => format!("{max}{per}"),
    };
    let count = |max: &str, key: &str, per: &str| {
        let max = quota[max].as_u64()?;
        Some(of(used[key].as_u64().map(|n| n.to_string()), max.to_string(), per))
    };
    let bytes = quota["bytes_per_day"].as_u64().map(|max| {
        let shown = |bytes: u64| Size(bytes).to_string();
        of(used["bytes_today"].as_u64().map(shown), shown(max), "/d")
    });
    let parts = [
        count("downloads_per_hour", "downloads_this_hour", "/h"),
        count("downloads_per_day", "downloads_today", "/d"),
        bytes,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}

fn set(context: &Context, args: &SetArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "mode": args.mode,
            "min_age_hours": args.min_age_hours,
            "severity_floor": args.severity_floor,
            "quota": {
                "downloads_per_hour": args.downloads_per_hour,
                "downloads_per_day": args.downloads_per_day,
                "bytes_per_day": args.bytes_per_day.map(|size| size.0),
            },
            "hold": args.hold,
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
        assert_eq!(row(&profile), ["agent", "-", "-", "low", "-", "-"]);
        assert_eq!(row(&json!({"name": "a", "min_age_hours": 72}))[2], "72 h");
        let counted = json!({"downloads_per_hour": 10, "bytes_per_day": 2048});
        assert_eq!(quota(&counted, &Value::Null), "10/h, 2KiB/d");
        let used = json!({"downloads_this_hour": 3, "downloads_today": 7, "bytes_today": 1024});
        assert_eq!(quota(&counted, &used), "3 of 10/h, 1KiB of 2KiB/d");
    }
}
