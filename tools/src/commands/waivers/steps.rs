//! The life of a waiver on the command line, whatever it is about: it is asked for, granted by somebody
//! else, taken back.

use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};

use super::super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::runtime;

/// A kind of waivers.
pub(crate) trait Kind {
    /// Where they are in the API.
    const PATH: &'static str;
    /// The command they have.
    const COMMAND: &'static str;
    /// Where somebody finds them who wrote an id that none has.
    const HINT: &'static str;

    /// Those in one of some states.
    async fn of_states(client: &Client, states: &[&str]) -> Result<Vec<Value>, Failure>;

    /// What one is about.
    fn about(waiver: &Value) -> String;
}

/// What every waiver says.
#[derive(Debug, Args)]
pub(crate) struct Terms {
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

/// Asks for a waiver of what `body` names.
pub(crate) fn request<K: Kind>(
    context: &Context,
    server: &ServerArgs,
    terms: &Terms,
    mut body: Value,
) -> Result<Exit, Failure> {
    body["reason"] = json!(terms.reason);
    body["owner"] = json!(terms.owner);
    body["days"] = json!(terms.days);
    body["expires_at"] = json!(terms.expires_at);
    let client = Client::new(context, server)?;
    runtime::run(async {
        let waiver = client.send(Method::POST, K::PATH, Some(&body)).await?;
        context.output.data(&waiver, || {
            let id = text(&waiver, "id");
            if waiver["state"] == "waiting" {
                let command = K::COMMAND;
                return format!("waiver {id} waits: somebody else runs `{command} grant {id}`");
            }
            format!("waiver {id} is in force until {}", text(&waiver, "expires_at"))
        })?;
        Ok(Exit::Done)
    })
}

/// Grants what somebody else asked for.
pub(crate) fn grant<K: Kind>(context: &Context, args: &GrantArgs) -> Result<Exit, Failure> {
    let step = Step { verb: "grant", done: "is granted", of: &["waiting"], body: None };
    step.take::<K>(context, &args.server, args.sure, &args.id)
}

/// Takes a waiver back, or says no to one that waits.
pub(crate) fn revoke<K: Kind>(context: &Context, args: &RevokeArgs) -> Result<Exit, Failure> {
    let body = Some(json!({ "reason": args.reason }));
    let step = Step { verb: "revoke", done: "is revoked", of: &["waiting", "granted"], body };
    step.take::<K>(context, &args.server, args.sure, &args.id)
}

/// A step of a waiver's life: what is done, and in which states it can be.
struct Step<'a> {
    verb: &'a str,
    done: &'a str,
    of: &'a [&'a str],
    body: Option<Value>,
}

impl Step<'_> {
    fn take<K: Kind>(
        &self,
        context: &Context,
        server: &ServerArgs,
        sure: Sure,
        id: &str,
    ) -> Result<Exit, Failure> {
        let client = Client::new(context, server)?;
        let waivers = runtime::runtime()?.block_on(K::of_states(&client, self.of))?;
        let waiver = one_of(&waivers, id, K::HINT)?;
        let id = text(waiver, "id");
        let what = format!(
            "{} waiver {id} of {}: {} ({})",
            self.verb,
            text(waiver, "requested_by"),
            K::about(waiver),
            text(waiver, "reason")
        );
        if sure.ask(context, &what)? == Answer::Leave {
            return Ok(Exit::Done);
        }
        runtime::run(async {
            let path = format!("{}/{id}/{}", K::PATH, self.verb);
            let answer = client.send(Method::POST, &path, self.body.as_ref()).await?;
            context.output.data(&answer, || format!("waiver {id} {}", self.done))?;
            Ok(Exit::Done)
        })
    }
}

/// The waivers of an answer.
pub(crate) fn listed(mut answer: Value) -> Vec<Value> {
    answer["waivers"].as_array_mut().map(std::mem::take).unwrap_or_default()
}

/// What a waiver says under a key.
pub(crate) fn text(waiver: &Value, key: &str) -> String {
    waiver[key].as_str().map_or_else(|| "-".to_owned(), harmless)
}

/// The one waiver whose id is, or ends with, what was written.
fn one_of<'a>(waivers: &'a [Value], id: &str, hint: &str) -> Result<&'a Value, Failure> {
    let ends = |waiver: &&Value| waiver["id"].as_str().is_some_and(|known| known.ends_with(id));
    let found: Vec<&Value> = waivers.iter().filter(ends).collect();
    let shown = harmless(id);
    match found[..] {
        [waiver] if !id.is_empty() => Ok(waiver),
        [] => Err(Failure::new(Exit::NotFound, format!("no waiver with the id `{shown}` is open"))
            .hint(hint)),
        _ => {
            Err(Failure::new(Exit::Conflict, format!("{} waivers end with `{shown}`", found.len()))
                .hint("write more of the id"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiver_is_found_by_the_end_of_its_id_if_that_is_one() {
        let waivers = [json!({"id": "019a-01"}), json!({"id": "019a-11"})];
        assert_eq!(one_of(&waivers, "11", "").unwrap()["id"], "019a-11");
        assert_eq!(one_of(&waivers, "1", "").unwrap_err().exit, Exit::Conflict);
        assert_eq!(one_of(&waivers, "x", "").unwrap_err().exit, Exit::NotFound);
        assert!(one_of(&waivers[..1], "", "").is_err());
    }
}
