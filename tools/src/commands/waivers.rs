//! `weir waivers`: what may pass in spite of a "no", for how long, and who said so.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::registry::Ecosystem;

use super::rules::ecosystem;
use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

/// How many waivers can be open at once.
const MAX_OPEN: u16 = 1_000;
/// The states in which something can still be done about a waiver.
const OPEN: [&str; 2] = ["waiting", "granted"];

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
    /// Why
    #[arg(long)]
    reason: String,
    /// Who answers for it
    #[arg(long)]
    owner: String,
    /// In how many days it ends
    #[arg(long, required_unless_present = "expires_at", conflicts_with = "expires_at")]
    days: Option<u16>,
    /// When it ends, like 2026-12-24T18:00:00Z
    #[arg(long, value_name = "TIME")]
    expires_at: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GrantArgs {
    /// The waiver's id, or an unambiguous end of it
    id: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The waiver's id, or an unambiguous end of it
    id: String,
    /// Why
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &WaiversCommand) -> Result<Exit, Failure> {
    match command {
        WaiversCommand::Ls(args) => ls(context, args),
        WaiversCommand::Request(args) => request(context, args),
        WaiversCommand::Grant(args) => {
            let step = Step { verb: "grant", done: "is granted", of: &["waiting"], body: None };
            step.take(context, &args.server, args.sure, &args.id)
        }
        WaiversCommand::Revoke(args) => {
            let body = Some(json!({ "reason": args.reason }));
            let step = Step { verb: "revoke", done: "is revoked", of: &OPEN, body };
            step.take(context, &args.server, args.sure, &args.id)
        }
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
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "ecosystem": args.ecosystem,
            "package": args.package,
            "versions": args.versions,
            "waives": args.waives,
            "token": args.token_id,
            "reason": args.reason,
            "owner": args.owner,
            "days": args.days,
            "expires_at": args.expires_at,
        });
        let waiver = client.send(Method::POST, "api/registry/waivers", Some(&body)).await?;
        context.output.data(&waiver, || {
            let id = text(&waiver, "id");
            if waiver["state"] == "waiting" {
                return format!("waiver {id} waits: somebody else runs `weir waivers grant {id}`");
            }
            format!("waiver {id} is in force until {}", text(&waiver, "expires_at"))
        })?;
        Ok(Exit::Done)
    })
}

/// A step of a waiver's life: what is done, and in which states it can be.
struct Step<'a> {
    verb: &'a str,
    done: &'a str,
    of: &'a [&'a str],
    body: Option<Value>,
}

impl Step<'_> {
    fn take(
        &self,
        context: &Context,
        server: &ServerArgs,
        sure: Sure,
        id: &str,
    ) -> Result<Exit, Failure> {
        let client = Client::new(context, server)?;
        let waivers = runtime::runtime()?.block_on(async {
            let mut waivers: Vec<Value> = Vec::new();
            for state in self.of {
                let of_state = newest(&client, Some(state), MAX_OPEN).await?;
                // One that is granted between two looks is seen twice.
                waivers.retain(|known| of_state.iter().all(|other| other["id"] != known["id"]));
                waivers.extend(of_state);
            }
            Ok::<_, Failure>(waivers)
        })?;
        let waiver = one_of(&waivers, id)?;
        let id = text(waiver, "id");
        let what = format!(
            "{} waiver {id} of {}: {} {} {}, {} ({})",
            self.verb,
            text(waiver, "requested_by"),
            text(waiver, "ecosystem"),
            text(waiver, "package"),
            text(waiver, "versions"),
            waived(waiver),
            text(waiver, "reason")
        );
        if sure.ask(context, &what)? == Answer::Leave {
            return Ok(Exit::Done);
        }
        runtime::run(async {
            let path = format!("api/registry/waivers/{id}/{}", self.verb);
            let answer = client.send(Method::POST, &path, self.body.as_ref()).await?;
            context.output.data(&answer, || format!("waiver {id} {}", self.done))?;
            Ok(Exit::Done)
        })
    }
}

/// The newest waivers, perhaps of one state.
async fn newest(client: &Client, state: Option<&str>, limit: u16) -> Result<Vec<Value>, Failure> {
    let mut query = vec![("limit", limit.to_string())];
    query.extend(state.map(|state| ("state", state.to_owned())));
    let mut page = client.get("api/registry/waivers", &query).await?;
    Ok(page["waivers"].as_array_mut().map(std::mem::take).unwrap_or_default())
}

fn text(waiver: &Value, key: &str) -> String {
    waiver[key].as_str().map_or_else(|| "-".to_owned(), harmless)
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

/// The one waiver whose id is, or ends with, what was written.
fn one_of<'a>(waivers: &'a [Value], id: &str) -> Result<&'a Value, Failure> {
    let ends = |waiver: &&Value| waiver["id"].as_str().is_some_and(|known| known.ends_with(id));
    let found: Vec<&Value> = waivers.iter().filter(ends).collect();
    match found[..] {
        [waiver] if !id.is_empty() => Ok(waiver),
        [] => Err(Failure::new(Exit::NotFound, format!("no waiver with the id `{id}` is open"))
            .hint("`weir waivers ls` lists them all")),
        _ => Err(Failure::new(Exit::Conflict, format!("{} waivers end with `{id}`", found.len()))
            .hint("write more of the id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiver_is_found_by_the_end_of_its_id_if_that_is_one() {
        let waivers = [json!({"id": "019a-01"}), json!({"id": "019a-11"})];
        assert_eq!(one_of(&waivers, "11").unwrap()["id"], "019a-11");
        assert_eq!(one_of(&waivers, "1").unwrap_err().exit, Exit::Conflict);
        assert_eq!(one_of(&waivers, "x").unwrap_err().exit, Exit::NotFound);
        assert!(one_of(&waivers[..1], "").is_err());
    }

    #[test]
    fn a_person_sees_what_does_not_count_and_for_whom() {
        assert_eq!(waived(&json!({"waives": [], "token": null})), "all but malware");
        let named = json!({"waives": ["GHSA-1", "MAL-\u{1b}2"], "token": "0a1b"});
        let told = waived(&named);
        assert!(told.starts_with("GHSA-1, MAL-") && told.ends_with(", for token 0a1b"), "{told}");
        assert!(!told.contains('\u{1b}'), "what somebody wrote cannot colour the terminal");
    }
}
