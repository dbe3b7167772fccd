//! `weir version compare`: the order of versions as an ecosystem's own tools see it.

use std::cmp::Ordering;
use std::io::{self, BufRead as _};

use clap::{Args, Subcommand};
use serde_json::json;
use weir_aggregates::registry::version::Version;
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
    /// The ecosystem whose order counts: pypi, npm, cargo or go
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
    let ecosystem = ordered(&args.ecosystem)?;
    if let (Some(a), Some(b)) = (&args.a, &args.b) {
        say(context, ecosystem, a, b)?;
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
            [a, b] => say(context, ecosystem, a, b)?,
            _ => {
                let message = format!("line {number} does not hold two versions");
                return Err(Failure::new(Exit::Usage, message)
                    .hint("separate them by a tab where a version holds blanks"));
            }
        }
    }
}

/// The ecosystem of this name, if its versions have an order.
fn ordered(name: &str) -> Result<Ecosystem, Failure> {
    const ORDERED: &str = "there are: pypi, npm, cargo, go";
    let message = match Ecosystem::find(name) {
        Some(Ecosystem::Docker) => {
            "tags have no order: docker's are compared by name only".to_owned()
        }
        Some(ecosystem) => return Ok(ecosystem),
        None => format!("`{}` is no ecosystem", name.chars().take(40).collect::<String>()),
    };
    Err(Failure::new(Exit::Usage, message).hint(ORDERED))
}

fn say(context: &Context, ecosystem: Ecosystem, a: &str, b: &str) -> Result<(), Failure> {
    let order = Version::parse(ecosystem, a).cmp(&Version::parse(ecosystem, b));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ecosystem_whose_versions_have_an_order_is_compared() {
        for name in ["pypi", "npm", "cargo", "go"] {
            assert_eq!(ordered(name).unwrap().as_str(), name);
        }
        let refused = ordered("docker").unwrap_err();
        assert_eq!(refused.exit, Exit::Usage);
        assert!(refused.message.contains("tags have no order"), "{}", refused.message);
        assert_eq!(ordered("conda").unwrap_err().exit, Exit::Usage);
    }
}
