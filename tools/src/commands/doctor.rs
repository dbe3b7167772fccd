//! `weir doctor`: what is or will be wrong, why, and exactly how to fix it.

mod clients;
mod database;
mod machine;
mod network;
mod redis;

use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::cli::DatabaseArgs;
use crate::config::{Config, Loaded};
use crate::context::Context;
use crate::exit::{Exit, Failure, chain};
use crate::output::{Output, Style};
use crate::runtime::{self, Need, interruptible};

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Do not ask upstreams
    #[arg(long)]
    offline: bool,
    /// Only this: prove of each package client that is installed here whether it asks Weir. Each is
    /// run as it is configured, for a package that Weir alone has and refuses
    #[arg(long, conflicts_with = "offline")]
    clients: bool,
    #[command(flatten)]
    database: DatabaseArgs,
}

/// How well something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// What was looked at, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Checked {
    what: &'static str,
    verdict: Verdict,
    why: String,
    fix: Option<String>,
}

impl Checked {
    fn ok(what: &'static str, why: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Ok, why: why.into(), fix: None }
    }

    fn warn(what: &'static str, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Warn, why: why.into(), fix: Some(fix.into()) }
    }

    fn fail(what: &'static str, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Fail, why: why.into(), fix: Some(fix.into()) }
    }
}

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Result<Exit, Failure> {
    let (mut checked, config) = match context.load_quietly(&args.database.flags()) {
        Ok(loaded) => (vec![configuration(&loaded)], loaded.config),
        // Everything else is still worth looking at, by the defaults.
        Err(fault) => {
            let why = chain(&fault);
            let failed = Checked::fail("configuration", why, "correct it, see `weir config check`");
            (vec![failed], Config::default())
        }
    };
    if args.clients {
        return prove(context, &config, checked);
    }
    checked.extend(machine::check(context, &config));
    let asking = async {
        let mut found = network::check(&config, args.offline).await;
        found.extend(redis::check(&config).await);
        found.extend(network::ui(context).await);
        found
    };
    checked.extend(runtime::runtime()?.block_on(asking));
    let (inner, its) = (context.clone(), config.clone());
    let (send, receive) = std::sync::mpsc::channel();
    let asked = runtime::with_database(context, &config, Need::Existing, move |url| {
        interruptible(async move {
            for found in database::check(&inner, &its, &url).await {
                // The receiver lives until this has ended.
                drop(send.send(found));
            }
            Ok(Exit::Done)
        })
    });
    checked.extend(receive.try_iter());
    match asked {
        Ok(Exit::Done) => {}
        Ok(stopped) => return Ok(stopped),
        Err(failure) if failure.exit == Exit::NotFound => checked.push(Checked::warn(
            "database",
            failure.message,
            format!("the first `{} up` makes it", context.weir()),
        )),
        Err(failure) => checked.push(Checked::fail(
            "postgres",
            failure.message,
            failure.hint.unwrap_or_else(|| {
                "do what the message says, or name a running database with --database-url"
                    .to_owned()
            }),
        )),
    }
    answer(context, &checked)
}

/// Whether this machine's package clients ask Weir.
fn prove(context: &Context, config: &Config, mut checked: Vec<Checked>) -> Result<Exit, Failure> {
    let context = context.clone();
    runtime::run(async {
        checked.extend(clients::check(&context, config).await);
        answer(&context, &checked)
    })
}

fn answer(context: &Context, checked: &[Checked]) -> Result<Exit, Failure> {
    say(context.output, checked)?;
    let worst = checked.iter().map(|checked| checked.verdict).max();
    Ok(if worst == Some(Verdict::Fail) { Exit::Problems } else { Exit::Done })
}

fn configuration(loaded: &Loaded) -> Checked {
    let file = loaded.file.as_ref().map(|file| file.display().to_string());
    match (loaded.warnings.first(), file) {
        (Some(warning), _) => {
            Checked::warn("configuration", warning.clone(), "take the key out of the file")
        }
        (None, Some(file)) => Checked::ok("configuration", file),
        (None, None) => Checked::ok("configuration", "no file, the defaults count"),
    }
}

fn say(output: Output, checked: &[Checked]) -> Result<(), Failure> {
    let count = |verdict| checked.iter().filter(|c| c.verdict == verdict).count();
    let (n_warn, n_fail) = (count(Verdict::Warn), count(Verdict::Fail));
    let said = json!({ "ok": n_fail == 0, "checks": checked, "warn": n_warn, "fail": n_fail });
    output.data(&said, || {
        let mut lines = Vec::new();
        for Checked { what, verdict, why, fix } in checked {
            let (style, word) = match verdict {
                Verdict::Ok => (Style::Good, "ok  "),
                Verdict::Warn => (Style::Warn, "warn"),
                Verdict::Fail => (Style::Bad, "fail"),
            };
            lines.push(format!("{}  {what}: {why}", output.paint(style, word)));
            lines.extend(fix.iter().map(|fix| format!("      fix: {fix}")));
        }
        lines.push(format!("{} looked at, {n_warn} to watch, {n_fail} wrong", checked.len()));
        lines.join("\n")
    })
}
