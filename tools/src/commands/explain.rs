//! `weir explain`: everything that is known for and against one version, and what becomes of it.

use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;
use weir_events::registry::Ecosystem;

use super::rules::ecosystem;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The ecosystem: pypi, npm, cargo, go or docker
    #[arg(value_parser = ecosystem)]
    ecosystem: Ecosystem,
    /// The package
    package: String,
    /// The version
    version: String,
    /// When it was published, like 2026-11-28T00:00:00Z: where a minimum age counts
    #[arg(long, value_name = "TIME")]
    published_at: Option<String>,
    /// The id of the token that would ask: where a waiver is for one token
    #[arg(long, value_name = "ID")]
    token_id: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, args: &ExplainArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut query = vec![
            ("ecosystem", args.ecosystem.to_string()),
            ("package", args.package.clone()),
            ("version", args.version.clone()),
        ];
        query.extend(args.published_at.clone().map(|at| ("published_at", at)));
        query.extend(args.token_id.clone().map(|id| ("token", id)));
        let answer = client.get("api/registry/explain", &query).await?;
        context.output.data(&answer, || told(&answer))?;
        // So that a script can ask: what is refused here is refused by every client.
        Ok(if answer["verdict"] == "block" { Exit::Denied } else { Exit::Done })
    })
}

/// The whole verdict, for a person.
fn told(answer: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), harmless);
    let head = ["ecosystem", "package", "version"].map(|key| text(&answer[key])).join(" ");
    let mut out = format!("{head}: {}", text(&answer["verdict"]));
    let mut line = |label: &str, value: &Value| {
        if !value.is_null() {
            let value = value.as_str().map_or_else(|| value.to_string(), harmless);
            let _infallible = write!(out, "\n  {label}: {value}");
        }
    };
    line("told", &answer["told"]);
    line("waived by", &answer["waiver"]);
    line("fixes", &answer["fixes"]);
    line("published at", &answer["published_at"]);
    line("first seen here at", &answer["first_seen_at"]);
    line("old enough at", &answer["ripens_at"]);
    for objection in answer["objections"].as_array().into_iter().flatten() {
        let (source, id) = (text(&objection["source"]), text(&objection["id"]));
        let (mask, reason) = (text(&objection["mask"]), text(&objection["reason"]));
        let _infallible = write!(out, "\n  {source} {id} ({mask}): {reason}");
        let advisory = &objection["advisory"];
        if advisory.is_object() {
            let class = text(&advisory["class"]);
            let (severity, hit) = (text(&advisory["severity"]), text(&advisory["hit"]));
            let fixed_by = text(&advisory["fixed_by"]);
            let _infallible =
                write!(out, "\n    {class}, {severity} severity; {hit}; fixed in {fixed_by}");
        }
    }
    let known = [("n_rules", "rules"), ("n_advisories", "advisories")];
    let known = known.map(|(key, what)| format!("{} {what}", answer[key]));
    let _infallible = write!(
        out,
        "\n  known of the package: {}; policy {}",
        known.join(", "),
        answer["policy_revision"]
    );
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_person_is_told_the_whole_verdict() {
        let answer = json!({
            "ecosystem": "npm", "package": "lodash", "version": "4.17.20", "verdict": "block",
            "told": "Blocked by Weir: GHSA-1 (high severity): x", "waiver": null, "fixes": null,
            "objections": [{
                "source": "osv", "id": "GHSA-1", "reason": "x\u{1b}[31m", "mask": "mark",
                "advisory": {"class": "vulnerability", "severity": "high", "hit": "before 4.17.21",
                    "fixed_by": "4.17.21"},
            }],
            "published_at": null, "first_seen_at": null, "ripens_at": null, "n_rules": 0, "n_advisories": 3,
            "policy_revision": 17,
        });
        let told = told(&answer);
        for words in [
            "npm lodash 4.17.20: block\n",
            "osv GHSA-1 (mark): x",
            "high severity; before 4.17.21; fixed in 4.17.21",
            "0 rules, 3 advisories; policy 17",
        ] {
            assert!(told.contains(words), "{told}");
        }
        assert!(!told.contains('\u{1b}'), "what a source wrote cannot colour the terminal");
    }
}
