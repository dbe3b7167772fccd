//! `weir holds`: what waits for a person's word, and the word.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum HoldsCommand {
    /// List holds whose time is not over, the newest first
    Ls(LsArgs),
    /// Let pass what waits
    Allow(AnswerArgs),
    /// Deny what waits
    Deny(AnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only those that are pending, allowed or denied
    #[arg(long, value_parser = ["pending", "allowed", "denied"])]
    state: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The hold's id, or an unambiguous end of it
    id: String,
    /// Why
    #[arg(long)]
    reason: String,
    /// How many hours it holds
    #[arg(long, default_value_t = 168)]
    hours: u32,
    /// Put this answer in the place of one that stands
    #[arg(long)]
    replace: bool,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &HoldsCommand) -> Result<Exit, Failure> {
    match command {
        HoldsCommand::Ls(args) => ls(context, args),
        HoldsCommand::Allow(args) => answer(context, args, "allow", "is allowed"),
        HoldsCommand::Deny(args) => answer(context, args, "deny", "is denied"),
    }
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let query: Vec<_> = args.state.iter().map(|state| ("state", state.clone())).collect();
        let answer = client.get("api/registry/holds", &query).await?;
        context.output.data(&answer, || {
            let keys = [
                "id",
                "state",
                "principal",
                "ecosystem",
                "package",
                "version",
                "ground",
                "advisory",
                "until",
                "answered_by",
            ];
            let row = |hold: &Value| keys.map(|key| text(hold, key)).to_vec();
            let rows: Vec<Vec<String>> = holds(&answer).iter().map(row).collect();
            let heads = [
                "ID",
                "STATE",
                "WHO",
                "ECOSYSTEM",
                "PACKAGE",
                "VERSION",
                "GROUND",
                "ADVISORY",
                "UNTIL",
                "BY",
            ];
            table(&heads, &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn answer(context: &Context, args: &AnswerArgs, verb: &str, done: &str) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    let (id, what) = runtime::runtime()?.block_on(async {
        let answer = client.get("api/registry/holds", &[]).await?;
        let hold = one_of(holds(&answer), &args.id)?;
        let words = ["principal", "ecosystem", "package", "version"].map(|key| text(hold, key));
        let what = format!("{verb} hold {}: {}", text(hold, "id"), words.join(" "));
        Ok::<_, Failure>((text(hold, "id"), what))
    })?;
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    runtime::run(async {
        let body = json!({
            "reason": args.reason, "hours": args.hours, "replace": args.replace,
        });
        let path = format!("api/registry/holds/{id}/{verb}");
        let answer = client.send(Method::POST, &path, Some(&body)).await?;
        context.output.data(&answer, || format!("hold {id} {done}"))?;
        Ok(Exit::Done)
    })
}

fn holds(answer: &Value) -> &[Value] {
    answer["holds"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(hold: &Value, key: &str) -> String {
    hold[key].as_str().map_or_else(|| "-".to_owned(), harmless)
}

/// The one hold whose id is, or ends with, what was written.
fn one_of<'a>(holds: &'a [Value], id: &str) -> Result<&'a Value, Failure> {
    let ends = |hold: &&Value| hold["id"].as_str().is_some_and(|known| known.ends_with(id));
    let found: Vec<&Value> = holds.iter().filter(ends).collect();
    match found[..] {
        [hold] if !id.is_empty() => Ok(hold),
        [] => Err(Failure::new(Exit::NotFound, format!("there is no hold `{id}`"))
            .hint("`weir holds ls` lists them")),
        _ => Err(Failure::new(Exit::Conflict, format!("{} holds end with `{id}`", found.len()))
            .hint("write more of the id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_is_found_by_the_end_of_its_id_if_that_is_one() {
        let holds = [json!({"id": "019a-01"}), json!({"id": "019a-11"})];
        assert_eq!(one_of(&holds, "11").unwrap()["id"], "019a-11");
        assert_eq!(one_of(&holds, "1").unwrap_err().exit, Exit::Conflict);
        assert_eq!(one_of(&holds, "x").unwrap_err().exit, Exit::NotFound);
        assert!(one_of(&holds[..1], "").is_err());
    }
}
