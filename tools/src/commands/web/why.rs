//! `weir web why`: what would become of a request now, by which rule, and what every gate says.

use clap::Args;
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// The address, with its scheme
    url: String,
    /// The agent that would ask, by its id: its pace, quota and balance are looked at too
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// The method
    #[arg(long, default_value = "GET", value_parser = ["GET", "HEAD", "POST"])]
    method: String,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, args: &WhyArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut query = vec![("url", args.url.clone()), ("method", args.method.clone())];
        query.extend(args.agent.clone().map(|agent| ("agent", agent)));
        let check = client.get("api/web/check", &query).await?;
        context.output.data(&check, || told(&check))?;
        Ok(Exit::Done)
    })
}

fn told(check: &Value) -> String {
    let word = if check["action"] == "allow" { "is allowed" } else { "is blocked" };
    let mut told = format!(
        "{} port {} {word}: {}",
        text(&check["host"]),
        check["port"],
        text(&check["reason"])
    );
    if check["waived_by"].is_string() {
        told = format!("{told}\nby waiver {}", text(&check["waived_by"]));
    }
    let matching = check["matching"].as_array().map(Vec::as_slice).unwrap_or_default();
    if matching.is_empty() {
        told.push_str("\nno rule names it");
    } else {
        let keys = ["pattern", "action", "category", "reason"];
        let rows = rows(matching, &keys);
        told = format!("{told}\n{}", table(&["PATTERN", "ACTION", "CATEGORY", "REASON"], &rows));
    }
    let gates = check["gates"].as_array().map(Vec::as_slice).unwrap_or_default();
    if gates.is_empty() {
        return told;
    }
    let word = if check["passes"] == true { "would pass" } else { "would not pass" };
    let rows = rows(gates, &["gate", "outcome", "detail"]);
    format!(
        "{told}\na {} now {word}\n{}",
        text(&check["method"]),
        table(&["GATE", "SAYS", "WHY"], &rows)
    )
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| "-".to_owned(), harmless)
}

fn rows(all: &[Value], keys: &[&str]) -> Vec<Vec<String>> {
    let row = |one: &Value| keys.iter().map(|key| text(&one[*key])).collect();
    all.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_person_sees_the_word_the_waiver_and_every_rule_that_matches() {
        let none = json!({"host": "a.example", "port": 443, "action": "block",
            "reason": "no rule", "matching": []});
        assert_eq!(told(&none), "a.example port 443 is blocked: no rule\nno rule names it");
        let waived = json!({"host": "github.com", "port": 443, "action": "allow",
            "reason": "looked into", "waived_by": "019a", "matching": [
                {"pattern": "github.com", "action": "block", "category": "code_repo",
                 "reason": "closed\u{1b}"}]});
        let shown = told(&waived);
        assert!(shown.starts_with("github.com port 443 is allowed: looked into\nby waiver 019a"));
        assert!(shown.contains("code_repo") && !shown.contains('\u{1b}'), "{shown}");
    }

    #[test]
    fn a_person_sees_which_gate_would_stop_a_request() {
        let check = json!({"host": "docs.rs", "port": 443, "action": "allow", "reason": "to learn",
            "matching": [], "passes": false, "method": "POST", "gates": [
                {"gate": "epoch", "outcome": "refuses", "detail": "epoch 3 is read-only"},
                {"gate": "host", "outcome": "passes", "detail": "to learn"}]});
        let shown = told(&check);
        assert!(shown.contains("\na POST now would not pass\nGATE"), "{shown}");
        assert!(shown.contains("epoch  refuses  epoch 3 is read-only"), "{shown}");
        let passing = json!({"gates": check["gates"], "passes": true, "method": "GET"});
        assert!(told(&passing).contains("a GET now would pass"));
    }
}
