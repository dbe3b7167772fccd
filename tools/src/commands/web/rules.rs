//! `weir web rules`: which hosts are fetched from.

use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::web::rule::Action;

use super::super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

/// How many rules are sent at once.
const AT_ONCE: usize = 2_000;
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 64 << 20;

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List rules, those that were changed last first
    List(ListArgs),
    /// Have a rule hold from now on, instead of what its pattern said before
    Set(SetArgs),
    /// Have a pattern say nothing any more
    Remove(RemoveArgs),
    /// Have all rules of a file hold from now on: one JSON object a line
    Import(ImportArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those with this somewhere in their pattern
    search: Option<String>,
    /// Only those that allow or block
    #[arg(long, value_parser = action)]
    action: Option<Action>,
    /// Only those of a category
    #[arg(long)]
    category: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// allow or block
    #[arg(value_parser = action)]
    action: Action,
    /// The hosts: docs.rs, '*.example.org' (below), '**.example.org' (with it), 're:…'; :port behind
    /// it for that port only
    pattern: String,
    /// What kind of host it is, like documentation or papers
    #[arg(long)]
    category: String,
    /// What agents are told
    #[arg(long)]
    reason: String,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The pattern, as `weir web rules list` shows it
    pattern: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file; - is what is piped in. A line: {"pattern": …, "action": …, "category": …, "reason": …}
    file: PathBuf,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, command: &RulesCommand) -> Result<Exit, Failure> {
    match command {
        RulesCommand::List(args) => list(context, args),
        RulesCommand::Set(args) => set(context, args),
        RulesCommand::Remove(args) => remove(context, args),
        RulesCommand::Import(args) => import(context, args),
    }
}

fn action(name: &str) -> Result<Action, String> {
    Action::find(name).ok_or_else(|| "there are: allow, block".to_owned())
}

fn list(context: &Context, args: &ListArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.search.clone().map(|search| ("search", search)));
        query.extend(args.action.map(|action| ("action", action.as_str().to_owned())));
        query.extend(args.category.clone().map(|category| ("category", category)));
        let answer = client.read("api/web/rules", &query).await?;
        context.output.data(&answer, || {
            let rules = answer["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
            let keys = ["pattern", "action", "category", "updated_at", "updated_by", "reason"];
            let rows: Vec<Vec<String>> =
                rules.iter().map(|rule| keys.map(|key| text(rule, key)).to_vec()).collect();
            table(&["PATTERN", "ACTION", "CATEGORY", "SINCE", "BY", "REASON"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn set(context: &Context, args: &SetArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "pattern": args.pattern,
            "action": args.action,
            "category": args.category,
            "reason": args.reason,
        });
        let rule = client.send(Method::PUT, "api/web/rules", Some(&body)).await?;
        context.output.data(&rule, || {
            let done = if args.action == Action::Allow { "allowed" } else { "blocked" };
            format!("{} is {done}", text(&rule, "pattern"))
        })?;
        Ok(Exit::Done)
    })
}

fn remove(context: &Context, args: &RemoveArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    let what = format!("remove the rule of `{}`", harmless(&args.pattern));
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    runtime::run(async {
        let query = [("pattern", args.pattern.clone())];
        let answer = client.command(Method::DELETE, "api/web/rules", &query).await?;
        context.output.data(&answer, || format!("no rule stands under `{}`", args.pattern))?;
        Ok(Exit::Done)
    })
}

fn import(context: &Context, args: &ImportArgs) -> Result<Exit, Failure> {
    let file = read(&args.file)?;
    let lines: Vec<&str> = file.lines().filter(|line| !line.trim().is_empty()).collect();
    let client = Client::new(context, &args.server)?;
    let what = format!("set {} rules about hosts", lines.len());
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    runtime::run(async {
        let (mut sent, mut changed) = (0, 0);
        for some in lines.chunks(AT_ONCE) {
            let body = some.join("\n");
            let answer = client.send_lines("api/web/rules/import", body).await;
            let answer = answer.map_err(|mut failure| {
                if sent > 0 {
                    let told = failure.message;
                    failure.message = format!("after {sent} rules that are set: {told}");
                }
                failure
            })?;
            sent += some.len();
            changed += answer["changed"].as_u64().unwrap_or_default();
        }
        let answer = json!({ "rules": sent, "changed": changed });
        context.output.data(&answer, || format!("{sent} rules are in force, {changed} are new"))?;
        Ok(Exit::Done)
    })
}

fn read(path: &std::path::Path) -> Result<String, Failure> {
    let told =
        |fault: io::Error| Failure::failed(format!("could not read `{}`: {fault}", path.display()));
    let mut text = String::new();
    let read = if path.as_os_str() == "-" {
        io::stdin().take(MAX_FILE_BYTES + 1).read_to_string(&mut text)
    } else {
        fs::File::open(path)
            .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text))
    };
    let n_bytes = read.map_err(told)?;
    if n_bytes as u64 > MAX_FILE_BYTES {
        return Err(Failure::new(Exit::Usage, "a file of rules has at most 64 MiB"));
    }
    Ok(text)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().map_or_else(|| "-".to_owned(), harmless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_rules_is_read_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.jsonl");
        assert!(read(&path).unwrap_err().message.contains("rules.jsonl"));
        fs::write(&path, "{}\n\n{}\n").unwrap();
        assert_eq!(read(&path).unwrap(), "{}\n\n{}\n");
        assert_eq!((action("allow"), action("deny").is_err()), (Ok(Action::Allow), true));
    }
}
