//! `weir replay`: builds a projection anew from the log, beside the one that is live.

use clap::Args;
use serde_json::json;
use weir_events::position::Position;
use weir_projections::engine::check::CheckReport;
use weir_projections::engine::rebuild::{self, ReplayEnd, ReplayOptions};
use weir_projections::engine::{Engine, EngineFault};

use super::progress::Progress;
use super::serve::opened::Opened;
use crate::cli::DatabaseArgs;
use crate::config::nearest;
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::output::Output;
use crate::runtime::{self, Need, Signals};

#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    /// The projection
    name: String,
    /// Begin after this position instead of before the first event
    #[arg(long, value_name = "POSITION", conflicts_with = "check")]
    from: Option<i64>,
    /// Compare a fresh build with the live one and change nothing
    #[arg(long)]
    check: bool,
    /// Begin again, even if an interrupted replay could be gone on with
    #[arg(long, conflicts_with = "check")]
    restart: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

pub(crate) fn run(context: &Context, args: &ReplayArgs) -> Result<Exit, Failure> {
    let config = context.load(&args.database.flags())?.config;
    let (output, weir, args, its) = (context.output, context.weir(), args.clone(), config.clone());
    runtime::with_database(context, &config, Need::Existing, move |url| async move {
        let mut signals = Signals::new()?;
        let opened = Opened::open(&its, &url).await?;
        let engine = opened.engine();
        let work = async {
            if args.check {
                check(output, &engine, &args.name).await
            } else {
                // Where no worker runs, this is the worker.
                engine.start(opened.work());
                replay(output, &engine, &args).await
            }
        };
        let done = tokio::select! {
            done = work => done,
            exit = signals.next() => {
                if !args.check {
                    output.say(&format!(
                        "left it where it is; a worker that runs goes on with it, else \
                         `{weir} replay {}` does",
                        args.name
                    ));
                }
                Ok(exit)
            }
        };
        opened.close().await;
        done
    })
}

async fn replay(output: Output, engine: &Engine, args: &ReplayArgs) -> Result<Exit, Failure> {
    let name = &args.name;
    let options = ReplayOptions { from: args.from.map(Position), restart: args.restart };
    let asked = engine.replay(name, options).await.map_err(|f| failed(engine, &f))?;
    if asked.resumed {
        output.say("going on with the replay that was interrupted");
    }
    let mut progress = Progress::new(output, format!("replay {name}"));
    let mut reached = (0, 0);
    let end = engine
        .follow_replay(name, asked.build, |at| {
            reached = numbers(at);
            progress.at(reached.0, reached.1, Some(at.rate));
        })
        .await;
    let seconds = progress.elapsed().as_secs_f64();
    progress.finish();
    let end = end.map_err(|fault| failed(engine, &fault))?;
    let (state, exit) = match &end {
        ReplayEnd::Swapped => ("live", Exit::Done),
        ReplayEnd::Cancelled => ("cancelled", Exit::Failed),
        ReplayEnd::Halted(_) => ("halted", Exit::Failed),
    };
    if let ReplayEnd::Halted(error) = &end {
        return Err(Failure::failed(format!("the replay of {name} halted: {error}"))
            .hint(format!("weir dead-letters ls {name}")));
    }
    let said = json!({
        "projection": name,
        "build": asked.build,
        "resumed": asked.resumed,
        "state": state,
        "position": reached.0,
        "duration_seconds": seconds,
    });
    output.data(&said, || match end {
        ReplayEnd::Swapped => {
            format!("{name}: build {} is live, in {seconds:.1} s", asked.build)
        }
        _ => format!("{name}: build {} was called off", asked.build),
    })?;
    Ok(exit)
}

async fn check(output: Output, engine: &Engine, name: &str) -> Result<Exit, Failure> {
    let mut progress = Progress::new(output, format!("check {name}"));
    let report = engine
        .check(name, |at| {
            let (position, target) = numbers(at);
            progress.at(position, target, Some(at.rate));
        })
        .await;
    progress.finish();
    let report = report.map_err(|fault| failed(engine, &fault))?;
    output.data(&as_json(name, &report), || human(name, &report))?;
    Ok(if report.equal() { Exit::Done } else { Exit::Problems })
}

fn as_json(name: &str, report: &CheckReport) -> serde_json::Value {
    let tables: Vec<_> = report
        .tables
        .iter()
        .map(|table| {
            json!({
                "table": table.table,
                "rows": table.n_rows,
                "only_live": table.n_only_live,
                "only_rebuilt": table.n_only_rebuilt,
                "first_only_live": table.only_live,
                "first_only_rebuilt": table.only_rebuilt,
            })
        })
        .collect();
    json!({
        "projection": name,
        "position": report.position,
        "equal": report.equal(),
        "tables": tables,
    })
}

fn human(name: &str, report: &CheckReport) -> String {
    let mut lines = Vec::new();
    for table in &report.tables {
        let (live, rebuilt) = (table.n_only_live, table.n_only_rebuilt);
        if live + rebuilt == 0 {
            lines.push(format!("{}: {} rows, equal", table.table, table.n_rows));
            continue;
        }
        lines.push(format!(
            "{}: {live} rows only in the live build, {rebuilt} only in the fresh one",
            table.table
        ));
        lines.extend(table.only_live.iter().map(|row| format!("  live   {row}")));
        lines.extend(table.only_rebuilt.iter().map(|row| format!("  fresh  {row}")));
    }
    let verdict = if report.equal() { "equals" } else { "differs from" };
    lines.push(format!("{name} {verdict} a fresh build at position {}", report.position));
    lines.join("\n")
}

fn numbers(at: rebuild::Progress) -> (u64, u64) {
    let number = |position: Position| u64::try_from(position.0).unwrap_or(0);
    (number(at.position), number(at.target))
}

fn failed(engine: &Engine, fault: &EngineFault) -> Failure {
    let exit = match fault {
        EngineFault::Unknown(_) => Exit::NotFound,
        EngineFault::Replaying { .. } => Exit::Conflict,
        EngineFault::NotBuilt(_) => Exit::RetryLater,
        _ => Exit::Failed,
    };
    let failure = Failure::new(exit, chain(fault));
    let names = || engine.projections().map(|projection| projection.name());
    match fault {
        EngineFault::Unknown(name) => failure.hint(nearest(name, names()).map_or_else(
            || format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        )),
        _ => failure,
    }
}
