//! `weir nexus`: the world's time.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum NexusCommand {
    /// Show epoch, cycle and tick
    Show(ShowArgs),
    /// Advance the epoch: agents may do more from then on
    Epoch(EpochArgs),
    /// Move a driven clock on
    Tick(TickArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EpochArgs {
    /// The epoch; later than the one that is
    epoch: u32,
    /// Why
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TickArgs {
    /// By how many ticks
    #[arg(default_value_t = 1)]
    ticks: u64,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &NexusCommand) -> Result<Exit, Failure> {
    match command {
        NexusCommand::Show(args) => {
            let client = Client::new(context, &args.server)?;
            runtime::run(async { tell(context, &client.get("api/nexus", &[]).await?) })
        }
        NexusCommand::Epoch(args) => {
            let body = json!({"epoch": args.epoch, "reason": args.reason});
            send(context, &args.server, "api/nexus/epoch", &body)
        }
        NexusCommand::Tick(args) => {
            send(context, &args.server, "api/nexus/ticks", &json!({"ticks": args.ticks}))
        }
    }
}

fn send(context: &Context, server: &ServerArgs, path: &str, body: &Value) -> Result<Exit, Failure> {
    let client = Client::new(context, server)?;
    runtime::run(async {
        let answer = client.send(Method::POST, path, Some(body)).await?;
        tell(context, &answer)
    })
}

fn tell(context: &Context, answer: &Value) -> Result<Exit, Failure> {
    context.output.data(answer, || told(answer))?;
    Ok(Exit::Done)
}

fn told(nexus: &Value) -> String {
    let text = |key: &str| nexus[key].as_str().map_or_else(|| "-".to_owned(), harmless);
    let clock = match nexus["tick_seconds"].as_f64() {
        Some(seconds) => format!("{}, {seconds} s a tick", text("clock")),
        None => text("clock"),
    };
    let row = ["epoch", "cycle", "tick"].map(|key| nexus[key].to_string());
    let row = row.into_iter().chain([clock, text("next_cycle_at")]).collect();
    table(&["EPOCH", "CYCLE", "TICK", "CLOCK", "NEXT CYCLE"], &[row])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_told_with_its_tick_where_it_has_one() {
        let wall = json!({"epoch": 3, "cycle": 7, "tick": 1800, "clock": "wall",
            "tick_seconds": 1.0, "next_cycle_at": "2026-12-24T18:00:00Z"});
        let shown = told(&wall);
        assert!(shown.contains("wall, 1 s a tick") && shown.contains("2026-12-24"), "{shown}");
        let driven = told(&json!({"epoch": 0, "cycle": 0, "tick": 0, "clock": "driven"}));
        assert!(driven.contains("driven") && !driven.contains("a tick"), "{driven}");
    }
}
