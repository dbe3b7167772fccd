//! `weir web why`: what becomes of an address, and by which rule.

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
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &Context, args: &WhyArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let check = client.get("api/web/check", &[("url", args.url.clone())]).await?;
        context.output.data(&check, || told(&check))?;
        Ok(Exit::Done)
    })
}

fn told(check: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), harmless);
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
        return told;
    }
    let keys = ["pattern", "action", "category", "reason"];
    let rows: Vec<Vec<String>> =
        matching.iter().map(|rule| keys.map(|key| text(&rule[key])).to_vec()).collect();
    format!("{told}\n{}", table(&["PATTERN", "ACTION", "CATEGORY", "REASON"], &rows))
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
}
