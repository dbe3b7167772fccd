//! `weir agent`: whose signatures count, and signing in an agent's name.

mod key;
mod signing;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Map, Value, json};
use weir_events::web::request::{AgentId, PortalRequest, PublicKey};

use self::key::public;
use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Make an agent's key; needs no server
    Keygen(KeygenArgs),
    /// Register an agent by its key: what it signs counts from now on
    Register(RegisterArgs),
    /// List agents
    #[command(visible_alias = "list")]
    Ls(LsArgs),
    /// Revoke an agent and every token of it, everywhere and at once
    Revoke(RevokeArgs),
    /// Sign a web request in an agent's name
    Sign(signing::SignArgs),
}

#[derive(Debug, Args)]
pub(crate) struct KeygenArgs {
    /// The file to write the secret key to (PKCS #8, PEM); never over another
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RegisterArgs {
    /// What it is to be called
    name: String,
    /// The file of its secret key, which stays here: only the public key is sent
    #[arg(long, value_name = "FILE", required_unless_present = "public_key")]
    key: Option<PathBuf>,
    /// Its ed25519 public key, 64 hexadecimal digits, where the secret one is elsewhere
    #[arg(long, value_name = "DIGITS", conflicts_with = "key")]
    public_key: Option<PublicKey>,
    /// Issue a token of its own too, with scope web:fetch; it is shown once
    #[arg(long)]
    with_token: bool,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The agent's id: 64 hexadecimal digits
    id: AgentId,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &AgentCommand) -> Result<Exit, Failure> {
    match command {
        AgentCommand::Keygen(args) => keygen(context, args),
        AgentCommand::Register(args) => register(context, args),
        AgentCommand::Ls(args) => ls(context, args),
        AgentCommand::Revoke(args) => revoke(context, args),
        AgentCommand::Sign(args) => signing::run(context, args),
    }
}

/// A request of a draft, signed with the key in a file, under a fresh id.
pub(crate) fn signed_by(file: &Path, draft: Map<String, Value>) -> Result<PortalRequest, Failure> {
    signing::signed(draft, &key::read(file)?, rand::random())
}

fn keygen(context: &Context, args: &KeygenArgs) -> Result<Exit, Failure> {
    let key = key::generate();
    key::write(&args.file, &key)?;
    let public_key = public(&key);
    let agent = AgentId::of_key(&public_key);
    let data = json!({ "id": agent, "public_key": public_key, "file": args.file });
    context.output.say(&format!("the secret key is in `{}`", args.file.display()));
    context.output.data(&data, || format!("agent       {agent}\npublic key  {public_key}"))?;
    Ok(Exit::Done)
}

fn register(context: &Context, args: &RegisterArgs) -> Result<Exit, Failure> {
    let public_key = match (&args.key, args.public_key) {
        (Some(file), _) => public(&key::read(file)?),
        (None, Some(public_key)) => public_key,
        (None, None) => return Err(Failure::new(Exit::Usage, "name a key")),
    };
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({ "name": args.name, "public_key": public_key });
        let mut answer = client.send(Method::POST, "api/access/agents", Some(&body)).await?;
        let id = answer["id"].as_str().unwrap_or_default().to_owned();
        context.output.say(&format!("agent `{}` is registered: {id}", harmless(&args.name)));
        if !args.with_token {
            context.output.data(&answer, || id)?;
            return Ok(Exit::Done);
        }
        let body = json!({ "name": args.name, "scopes": ["web:fetch"], "agent": id });
        let issued = client.send(Method::POST, "api/tokens", Some(&body)).await?;
        context.output.say("its token is shown this once");
        answer["token"] = issued["id"].clone();
        answer["secret"] = issued["secret"].clone();
        // The secret alone on standard output, so that it can be piped to where it is kept.
        context
            .output
            .data(&answer, || issued["secret"].as_str().unwrap_or_default().to_owned())?;
        Ok(Exit::Done)
    })
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let (mut agents, mut query) = (Vec::new(), Vec::new());
        loop {
            let page = client.read("api/access/agents", &query).await?;
            agents.extend(page["agents"].as_array().into_iter().flatten().cloned());
            match page["next"].as_str() {
                Some(next) => query = vec![("cursor", next.to_owned())],
                None => break,
            }
        }
        context.output.data(&json!({ "agents": agents }), || {
            let rows: Vec<Vec<String>> = agents.iter().map(row).collect();
            table(&["ID", "NAME", "REGISTERED", "BY", "STATE"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn row(agent: &Value) -> Vec<String> {
    let text = |key: &str| agent[key].as_str().map_or_else(|| "-".to_owned(), harmless);
    let state = if agent["revoked_at"].is_string() { "revoked" } else { "trusted" };
    let [id, name, at, by] = ["id", "name", "registered_at", "registered_by"].map(text);
    vec![id, name, at, by, state.to_owned()]
}

fn revoke(context: &Context, args: &RevokeArgs) -> Result<Exit, Failure> {
    let what = format!("revoke agent {} and every token of it", args.id);
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let path = format!("api/access/agents/{}", args.id);
        let answer = client.send(Method::DELETE, &path, None).await?;
        context.output.data(&answer, || format!("agent {} is revoked", args.id))?;
        Ok(Exit::Done)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_whose_signature_counts() {
        let agent = json!({ "id": "00ff", "name": "re\u{7}ader", "registered_at": "2026-11-28",
            "registered_by": "ann", "revoked_at": null });
        let told = row(&agent);
        assert_eq!((told[0].as_str(), told[4].as_str()), ("00ff", "trusted"));
        assert!(!told[1].contains('\u{7}'));
        let revoked = json!({ "id": "00ff", "revoked_at": "2026-11-29" });
        assert_eq!(row(&revoked)[4], "revoked");
    }
}
