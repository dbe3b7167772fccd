//! `weir config`: is it right, and where does each value come from.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use crate::config::{self, Shown};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{Style, table};

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration, with the line and column of what is wrong
    Check,
    /// Show the configuration as it counts, without secrets
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Show where each value comes from
    #[arg(long)]
    origin: bool,
}

pub(crate) fn run(context: &Context, command: &ConfigCommand) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Check => check(context),
        ConfigCommand::Show(args) => show(context, args),
    }
}

fn check(context: &Context) -> Result<Exit, Failure> {
    let loaded = context.load(&[])?;
    let file = loaded.file.as_ref().map(|path| path.display().to_string());
    let said = json!({ "ok": true, "file": file, "warnings": loaded.warnings });
    context.output.data(&said, || match &file {
        Some(file) => format!("{file} is right"),
        None => format!(
            "no {} here or in {}: the defaults count",
            config::FILE,
            context.data_dir.path().display()
        ),
    })?;
    Ok(Exit::Done)
}

fn show(context: &Context, args: &ShowArgs) -> Result<Exit, Failure> {
    let loaded = context.load(&[])?;
    let output = context.output;
    let as_json: Map<String, Value> = loaded
        .values
        .iter()
        .map(|shown| {
            let value = if args.origin {
                json!({ "value": shown.value, "origin": shown.origin.to_string() })
            } else {
                shown.value.clone()
            };
            (shown.key.clone(), value)
        })
        .collect();
    output.data(&as_json, || {
        let text = |shown: &Shown| match &shown.value {
            Value::String(text) => text.clone(),
            Value::Null => "-".to_owned(),
            value => value.to_string(),
        };
        let rows: Vec<Vec<String>> = loaded
            .values
            .iter()
            .map(|shown| {
                let mut row = vec![shown.key.clone(), text(shown)];
                if args.origin {
                    row.push(output.paint(Style::Faint, &shown.origin.to_string()));
                }
                row
            })
            .collect();
        let headings: &[&str] =
            if args.origin { &["KEY", "VALUE", "ORIGIN"] } else { &["KEY", "VALUE"] };
        table(headings, &rows)
    })?;
    Ok(Exit::Done)
}
