//! `weir dead-letters`: events that a projection could not apply.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

/// Pages of a list that are read at most.
const MAX_PAGES: usize = 1_000;

#[derive(Debug, Subcommand)]
pub(crate) enum DeadLettersCommand {
    /// List dead letters of one projection, or of all
    Ls(LsArgs),
    /// Apply a dead letter again, or all of a projection
    Redeliver(RedeliverArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// The projection
    projection: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RedeliverArgs {
    /// The projection
    projection: String,
    /// The event's position
    #[arg(required_unless_present = "all")]
    position: Option<u64>,
    /// All of them, in order
    #[arg(long, conflicts_with = "position")]
    all: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &DeadLettersCommand) -> Result<Exit, Failure> {
    match command {
        DeadLettersCommand::Ls(args) => ls(context, args),
        DeadLettersCommand::Redeliver(args) => redeliver(context, args),
    }
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut letters = Vec::new();
        for projection in projections(&client, args.projection.as_deref()).await? {
            letters.extend(letters_of(&client, &projection).await?);
        }
        context.output.data(&json!({ "dead_letters": letters }), || {
            if letters.is_empty() {
                return "no dead letters".to_owned();
            }
            let rows: Vec<Vec<String>> = letters.iter().map(row).collect();
            table(&["PROJECTION", "POSITION", "KIND", "STREAM", "ATTEMPTS", "ERROR"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

async fn projections(client: &Client, named: Option<&str>) -> Result<Vec<String>, Failure> {
    if let Some(named) = named {
        return Ok(vec![named.to_owned()]);
    }
    let answer = client.get("api/projections", &[]).await?;
    let all = answer["projections"].as_array().into_iter().flatten();
    let with_letters = all.filter(|p| p["dead_letters"].as_u64() != Some(0));
    Ok(with_letters.filter_map(|p| p["name"].as_str().map(str::to_owned)).collect())
}

async fn letters_of(client: &Client, projection: &str) -> Result<Vec<Value>, Failure> {
    let path = format!("api/projections/{projection}/dead-letters");
    let mut letters = Vec::new();
    let mut query = vec![("limit", "1000".to_owned())];
    for _ in 0..MAX_PAGES {
        let mut page = client.get(&path, &query).await?;
        if let Value::Array(found) = page["dead_letters"].take() {
            letters.extend(found);
        }
        let Some(next) = page["next"].as_str() else { break };
        query = vec![("limit", "1000".to_owned()), ("cursor", next.to_owned())];
    }
    Ok(letters)
}

fn row(letter: &Value) -> Vec<String> {
    ["projection", "position", "kind", "stream", "attempts", "error"]
        .into_iter()
        .map(|key| match &letter[key] {
            Value::String(text) => harmless(text),
            other => other.to_string(),
        })
        .collect()
}

fn redeliver(context: &Context, args: &RedeliverArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let positions: Vec<u64> = if let Some(position) = args.position {
            vec![position]
        } else {
            let letters = letters_of(&client, &args.projection).await?;
            letters.iter().filter_map(|letter| letter["position"].as_u64()).collect()
        };
        if args.dry_run {
            context.output.data(&json!({ "would_redeliver": positions }), || {
                format!("would redeliver {} to {}", positions.len(), args.projection)
            })?;
            return Ok(Exit::Done);
        }
        let mut failures = Vec::new();
        for position in &positions {
            let path =
                format!("api/projections/{}/dead-letters/{position}/redeliver", args.projection);
            match client.send(Method::POST, &path, Some(&json!({}))).await {
                Ok(_) => context.output.say(&format!("position {position}: redelivered")),
                // With one, its own failure; with many, the others still get their turn.
                Err(failure) if positions.len() == 1 => return Err(failure),
                Err(failure) => failures.push(format!("position {position}: {}", failure.message)),
            }
        }
        let n_redelivered = positions.len() - failures.len();
        let said = json!({ "redelivered": n_redelivered, "failed": failures });
        context.output.data(&said, || {
            let mut lines = failures.clone();
            lines.push(format!("{n_redelivered} redelivered, {} failed", failures.len()));
            lines.join("\n")
        })?;
        Ok(if failures.is_empty() { Exit::Done } else { Exit::Failed })
    })
}
