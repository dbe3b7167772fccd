//! `weir waivers`: what may pass in spite of a "no", for how long, and who said so.

pub(super) mod steps;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use weir_events::registry::Ecosystem;

use self::steps::{GrantArgs, Kind, RevokeArgs, Terms, listed, text};
use super::rules::ecosystem;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

/// How many waivers can be open at once.
const MAX_OPEN: u16 = 1_000;

#[derive(Debug, Subcommand)]
pub(crate) enum WaiversCommand {
    /// List waivers, the newest first
    Ls(LsArgs),
    /// Ask for a waiver: in force at once, or waiting for a second person
    Request(RequestArgs),
    /// Grant what somebody else asked for
    Grant(GrantArgs),
    /// Take a waiver back, or say no to one that waits
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only those that are waiting, granted, revoked or expired
    #[arg(long, value_parser = ["waiting", "granted", "revoked", "expired"])]
    state: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RequestArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem)]
    ecosystem: Ecosystem,
    /// The package, with * for any run of characters
    package: String,
    /// The versions, in the ecosystem's own syntax
    #[arg(default_value = "*", allow_hyphen_values = true)]
    versions: String,
    /// A rule or advisory that does not count, by its id; several by several flags; without one
    /// everything but malware
    #[arg(long = "waives", value_name = "ID")]
    waives: Vec<String>,
    /// The one token that may pass, by its id [default: everybody]
    #[arg(long, value_name = "ID")]
    token_id: Option<String>,
    #[command(flatten)]
    terms: Terms,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &WaiversCommand) -> Result<Exit, Failure> {
    match command {
        WaiversCommand::Ls(args) => ls(context, args),
        WaiversCommand::Request(args) => request(context, args),
        WaiversCommand::Grant(args) => steps::grant::<Packages>(context, args),
        WaiversCommand::Revoke(args) => steps::revoke::<Packages>(context, args),
    }
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let waivers = newest(&client, args.state.as_deref(), args.limit).await?;
        let answer = json!({ "waivers": waivers });
        context.output.data(&answer, || {
            let keys = ["id", "state", "ecosystem", "package", "versions", "expires_at", "owner"];
            let row = |waiver: &Value| {
                let mut row = keys.map(|key| text(waiver, key)).to_vec();
                row.push(waived(waiver));
                row.push(text(waiver, "reason"));
                row
            };
            let rows: Vec<Vec<String>> = waivers.iter().map(row).collect();
            let heads = ["ID", "STATE", "ECOSYSTEM", "PACKAGE", "VERSIONS", "UNTIL", "OWNER"];
            table(&[&heads[..], &["WAIVES", "REASON"]].concat(), &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn request(context: &Context, args: &RequestArgs) -> Result<Exit, Failure> {
    let body = json!({
        "ecosystem": args.ecosystem,
        "package": args.package,
        "versions": args.versions,
        "waives": args.waives,
        "token": args.token_id,
    });
    steps::request::<Packages>(context, &args.server, &args.terms, body)
}

/// The waivers of packages.
struct Packages;

impl Kind for Packages {
    const PATH: &'static str = "api/registry/waivers";
    const COMMAND: &'static str = "weir waivers";
    const HINT: &'static str = "`weir waivers ls` lists them all";

    async fn of_states(client: &Client, states: &[&str]) -> Result<Vec<Value>, Failure> {
        let mut waivers: Vec<Value> = Vec::new();
        for state in states {
            let of_state = newest(client, Some(state), MAX_OPEN).await?;
            // One that is granted between two looks is seen twice.
            waivers.retain(|known| of_state.iter().all(|other| other["id"] != known["id"]));
            waivers.extend(of_state);
        }
        Ok(waivers)
    }

    fn about(waiver: &Value) -> String {
        let [ecosystem, package, versions] =
            ["ecosystem", "package", "versions"].map(|key| text(waiver, key));
        format!("{ecosystem} {package} {versions}, {}", waived(waiver))
    }
}

/// The newest waivers, perhaps of one state.
async fn newest(client: &Client, state: Option<&str>, limit: u16) -> Result<Vec<Value>, Failure> {
    let mut query = vec![("limit", limit.to_string())];
    query.extend(state.map(|state| ("state", state.to_owned())));
    Ok(listed(client.read(Packages::PATH, &query).await?))
}

/// What does not count, for whom.
fn waived(waiver: &Value) -> String {
    let named = waiver["waives"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let named: Vec<String> = named.map(harmless).collect();
    let what = if named.is_empty() { "all but malware".to_owned() } else { named.join(", ") };
    match waiver["token"].as_str() {
        Some(token) => format!("{what}, for token {}", harmless(token)),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_sees_what_does_not_count_and_for_whom() {
        assert_eq!(waived(&json!({"waives": [], "token": null})), "all but malware");
        let named = json!({"waives": ["GHSA-1", "MAL-\u{1b}2"], "token": "0a1b"});
        let told = waived(&named);
        assert!(told.starts_with("GHSA-1, MAL-") && told.ends_with(", for token 0a1b"), "{told}");
        assert!(!told.contains('\u{1b}'), "what somebody wrote cannot colour the terminal");
    }
}
