//! `weir token`: who may pass.

use std::sync::Arc;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_aggregates::access::{Grantor, Scope};
use weir_events::web::request::AgentId;
use weir_processors::access::{Tokens, Wish};
use weir_processors::caller::Caller;
use weir_processors::clock::SystemClock;
use weir_processors::door::Door;

use super::profiles::quota;
use super::serve::opened::Opened;
use super::{Answer, Sure};
use crate::cli::{DatabaseArgs, ServerArgs};
use crate::client::Client;
use crate::config::{Span, nearest};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Output, harmless, table};
use crate::runtime::{self, Need};

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Issue a token; it is shown once
    Create(CreateArgs),
    /// List tokens
    Ls(LsArgs),
    /// Revoke a token, everywhere and at once
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// What it is for; also the name its owner has in the log
    name: String,
    /// What it may do (may repeat): admin, events:read, rules:write, registry:pypi, registry:npm,
    /// registry:cargo, …
    #[arg(long, value_name = "SCOPE", required = true, value_parser = scope, value_delimiter = ',')]
    scope: Vec<String>,
    /// When it ends by itself, like 30d or 12h; never unless given
    #[arg(long, value_name = "SPAN")]
    expires_in: Option<Span>,
    /// The profile it is judged by, beside everything else, like agent: see `weir profiles`
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// The agent whose own it is, by its id; with scope web:fetch it asks the outside
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentId>,
    /// Issue it on the database itself, without a server: for when the admin's token is lost
    #[arg(long, conflicts_with_all = ["server", "token"])]
    direct: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    database: DatabaseArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RevokeArgs {
    /// The token's id: 16 hexadecimal digits
    id: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &TokenCommand) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create(args) => create(context, args),
        TokenCommand::Ls(args) => ls(context, args),
        TokenCommand::Revoke(args) => revoke(context, args),
    }
}

fn scope(name: &str) -> Result<String, String> {
    let names = || Scope::ALL.into_iter().map(Scope::as_str);
    if names().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let all = names().collect::<Vec<_>>().join(", ");
    Err(nearest(name, names()).map_or_else(
        || format!("there is no such scope; there are {all}"),
        |near| format!("did you mean `{near}`? There are {all}"),
    ))
}

fn create(context: &Context, args: &CreateArgs) -> Result<Exit, Failure> {
    if args.direct {
        return create_directly(context, args);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut body = json!({ "name": args.name, "scopes": args.scope });
        if let Some(profile) = &args.profile {
            body["profile"] = profile.as_str().into();
        }
        if let Some(agent) = &args.agent {
            body["agent"] = agent.to_string().into();
        }
        if let Some(span) = args.expires_in {
            body["expires_in_seconds"] = span.0.as_secs().into();
        }
        let issued = client.send(Method::POST, "api/tokens", Some(&body)).await?;
        show(context.output, &issued)
    })
}

/// Who can write to the database needs nobody's leave; that it was done stands in the log.
fn create_directly(context: &Context, args: &CreateArgs) -> Result<Exit, Failure> {
    let config = context.load(&args.database.flags())?.config;
    let (output, its) = (context.output, config.clone());
    let (name, scopes, span) = (args.name.clone(), args.scope.clone(), args.expires_in);
    let (profile, agent) = (args.profile.clone(), args.agent);
    runtime::with_database(context, &config, Need::Existing, move |url| {
        runtime::interruptible(async move {
            let opened = Opened::open(&its, &url).await?;
            let door = Door::new(opened.log.clone(), Arc::new(SystemClock));
            let seconds = span.map(|span| i64::try_from(span.0.as_secs()).unwrap_or(i64::MAX));
            let expires_at = seconds.map(|seconds| door.now().plus_seconds(seconds));
            let caller = Caller::processor("cli");
            let wish = Wish { name: name.clone(), scopes, expires_at, profile, agent };
            let issued = Tokens::new(door).issue(wish, Grantor::admin(), &caller, None).await;
            opened.close().await;
            let issued = issued?;
            show(output, &json!({ "id": issued.token_id, "name": name, "secret": issued.token }))
        })
    })
}

/// The token alone on standard output, so that it can be piped to where it is kept.
fn show(output: Output, issued: &Value) -> Result<Exit, Failure> {
    let text = |key: &str| issued[key].as_str().unwrap_or_default().to_owned();
    output.say(&format!("token {} of `{}`; it is shown this once", text("id"), text("name")));
    output.data(issued, || text("secret"))?;
    Ok(Exit::Done)
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.read("api/tokens", &[]).await?;
        context.output.data(&answer, || {
            let rows: Vec<Vec<String>> =
                answer["tokens"].as_array().into_iter().flatten().map(row).collect();
            table(&["ID", "NAME", "SCOPES", "PROFILE", "USED", "EXPIRES", "STATE"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn row(token: &Value) -> Vec<String> {
    let text = |key: &str| token[key].as_str().map_or_else(|| "-".to_owned(), harmless);
    let scopes = token["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let state = if token["revoked_at"].is_string() { "revoked" } else { "live" };
    vec![
        text("id"),
        text("name"),
        scopes.collect::<Vec<_>>().join(","),
        text("profile"),
        quota(&token["used"]["quota"], &token["used"]),
        token["expires_at"].as_str().unwrap_or("never").to_owned(),
        state.to_owned(),
    ]
}

fn revoke(context: &Context, args: &RevokeArgs) -> Result<Exit, Failure> {
    let what = format!("revoke token {}", args.id);
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let path = format!("api/tokens/{}", args.id);
        let answer = client.send(Method::DELETE, &path, None).await?;
        context.output.data(&answer, || format!("token {} is revoked", args.id))?;
        Ok(Exit::Done)
    })
}
