//! `weir version compare`: the order of versions as an ecosystem's own tools see it.

use std::cmp::Ordering;
use std::io::{self, BufRead as _};

use clap::{Args, Subcommand};
use serde_json::json;
use weir_aggregates::registry::pep440;
use weir_events::registry::Ecosystem;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json};

/// A line of input holds two versions; no version is longer than this.
const MAX_LINE_BYTES: usize = 8 << 10;

#[derive(Debug, Subcommand)]
pub(crate) enum VersionCommand {
    /// Say which of two versions is newer: prints <, = or >
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The ecosystem whose rules count: pypi
    ecosystem: String,
    /// The left version
    #[arg(required_unless_present = "stdin", allow_hyphen_values = true)]
    a: Option<String>,
    /// The right version
    #[arg(required_unless_present = "stdin", allow_hyphen_values = true)]
    b: Option<String>,
    /// Read pairs from standard input, two versions a line
    #[arg(long, conflicts_with_all = ["a", "b"])]
    stdin: bool,
}

pub(crate) fn run(context: &Context, command: &VersionCommand) -> Result<Exit, Failure> {
    let VersionCommand::Compare(args) = command;
    match Ecosystem::find(&args.ecosystem) {
        Some(Ecosystem::Pypi) => {}
        Some(other) => {
            let message = format!("this build does not compare versions of {other} yet");
            return Err(Failure::new(Exit::Usage, message).hint("it knows: pypi"));
        }
        None => {
            let message = format!("`{}` is no ecosystem", args.ecosystem);
            return Err(Failure::new(Exit::Usage, message).hint("it knows: pypi"));
        }
    }
    if let (Some(a), Some(b)) = (&args.a, &args.b) {
        say(context, a, b)?;
        return Ok(Exit::Done);
    }
    let mut input = io::stdin().lock();
    let mut number = 0_u64;
    loop {
        let mut line = String::new();
        let n = io::Read::take(&mut input, MAX_LINE_BYTES as u64).read_line(&mut line)?;
        if n == 0 {
            return Ok(Exit::Done);
        }
        number += 1;
        if n == MAX_LINE_BYTES {
            return Err(Failure::new(Exit::Usage, format!("line {number} is too long")));
        }
        let words: Vec<&str> = if line.contains('\t') {
            line.trim_end_matches(['\n', '\r']).split('\t').collect()
        } else {
            line.split_whitespace().collect()
        };
        match words[..] {
            [] => {}
            [a, b] => say(context, a, b)?,
            _ => {
                let message = format!("line {number} does not hold two versions");
                return Err(Failure::new(Exit::Usage, message)
                    .hint("separate them by a tab where a version holds blanks"));
            }
        }
    }
}

fn say(context: &Context, a: &str, b: &str) -> Result<(), Failure> {
    let order = pep440::Version::parse(a).cmp(&pep440::Version::parse(b));
    if context.output.json {
        let number = order as i8;
        return print_json(&json!({ "a": a, "b": b, "order": number }));
    }
    print(sign(order))
}

const fn sign(order: Ordering) -> &'static str {
    match order {
        Ordering::Less => "<",
        Ordering::Equal => "=",
        Ordering::Greater => ">",
    }
}
