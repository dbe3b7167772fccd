//! `weir rules`: what packages may not pass, and why.

use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use weir_events::registry::{Ecosystem, Mask};

use super::{Answer, Sure};
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Forbid versions of a package
    Add(AddArgs),
    /// List rules
    Ls(LsArgs),
    /// Remove a rule
    Rm(RmArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem)]
    ecosystem: Ecosystem,
    /// The package, with * for any run of characters
    package: String,
    /// The versions, in the ecosystem's own syntax, like '>=1.17'; '*' is every version
    #[arg(allow_hyphen_values = true)]
    versions: String,
    /// What people are told
    #[arg(long)]
    reason: String,
    /// How the versions look in lists: mark, hide or deny-only
    #[arg(long, default_value = "mark", value_parser = mask)]
    mask: Mask,
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    server: ServerArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RmArgs {
    /// The rule's id, or an unambiguous end of it
    id: String,
    #[command(flatten)]
    sure: Sure,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, command: &RulesCommand) -> Result<Exit, Failure> {
    match command {
        RulesCommand::Add(args) => add(context, args),
        RulesCommand::Ls(args) => ls(context, args),
        RulesCommand::Rm(args) => rm(context, args),
    }
}

pub(super) fn ecosystem(name: &str) -> Result<Ecosystem, String> {
    Ecosystem::find(name).ok_or_else(|| "there are: pypi, npm, cargo, go, docker".to_owned())
}

fn mask(name: &str) -> Result<Mask, String> {
    Mask::find(name).ok_or_else(|| "there are: mark, hide, deny-only".to_owned())
}

fn add(context: &Context, args: &AddArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let body = json!({
            "ecosystem": args.ecosystem,
            "package": args.package,
            "versions": args.versions,
            "reason": args.reason,
            "mask": args.mask,
        });
        let rule = client.send(Method::POST, "api/rules", Some(&body)).await?;
        context.output.data(&rule, || {
            let id = rule["id"].as_str().unwrap_or_default();
            format!("rule {id}: {} {} {} is forbidden", args.ecosystem, args.package, args.versions)
        })?;
        Ok(Exit::Done)
    })
}

fn ls(context: &Context, args: &LsArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let answer = client.read("api/rules", &[]).await?;
        context.output.data(&answer, || {
            let rows: Vec<Vec<String>> = rules(&answer)
                .iter()
                .map(|rule| {
                    let keys = ["id", "ecosystem", "package", "versions", "mask", "reason"];
                    let text = |key| rule[key].as_str().map_or_else(|| "-".to_owned(), harmless);
                    keys.into_iter().map(text).collect()
                })
                .collect();
            table(&["ID", "ECOSYSTEM", "PACKAGE", "VERSIONS", "MASK", "REASON"], &rows)
        })?;
        Ok(Exit::Done)
    })
}

fn rules(answer: &Value) -> &[Value] {
    answer["rules"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn rm(context: &Context, args: &RmArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    let (id, what) = runtime::runtime()?.block_on(async {
        let answer = client.read("api/rules", &[]).await?;
        let rule = one_of(rules(&answer), &args.id)?;
        let text = |key: &str| harmless(rule[key].as_str().unwrap_or("-"));
        let what = format!(
            "remove rule {}: {} {} {} ({})",
            text("id"),
            text("ecosystem"),
            text("package"),
            text("versions"),
            text("reason")
        );
        Ok::<_, Failure>((text("id"), what))
    })?;
    if args.sure.ask(context, &what)? == Answer::Leave {
        return Ok(Exit::Done);
    }
    runtime::run(async {
        let answer = client.send(Method::DELETE, &format!("api/rules/{id}"), None).await?;
        context.output.data(&answer, || format!("rule {id} is removed"))?;
        Ok(Exit::Done)
    })
}

/// The one rule whose id is, or ends with, what was written.
fn one_of<'a>(rules: &'a [Value], id: &str) -> Result<&'a Value, Failure> {
    let ends = |rule: &&Value| rule["id"].as_str().is_some_and(|known| known.ends_with(id));
    let found: Vec<&Value> = rules.iter().filter(ends).collect();
    match found[..] {
        [rule] if !id.is_empty() => Ok(rule),
        [] => Err(Failure::new(Exit::NotFound, format!("there is no rule `{id}`"))
            .hint("`weir rules ls` lists them")),
        _ => Err(Failure::new(Exit::Conflict, format!("{} rules end with `{id}`", found.len()))
            .hint("write more of the id")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_can_be_about_every_ecosystem() {
        for known in Ecosystem::ALL {
            assert_eq!(ecosystem(known.as_str()), Ok(known));
            assert!(ecosystem("conda").unwrap_err().contains(known.as_str()));
        }
    }

    #[test]
    fn a_rule_is_found_by_the_end_of_its_id_if_that_is_one() {
        let rules = [json!({"id": "019a-01"}), json!({"id": "019a-11"})];
        assert_eq!(one_of(&rules, "019a-01").unwrap()["id"], "019a-01");
        assert_eq!(one_of(&rules, "11").unwrap()["id"], "019a-11");
        assert_eq!(one_of(&rules, "1").unwrap_err().exit, Exit::Conflict);
        assert_eq!(one_of(&rules, "x").unwrap_err().exit, Exit::NotFound);
        assert!(one_of(&rules[..1], "").is_err());
    }
}
