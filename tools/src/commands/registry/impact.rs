//! `weir registry impact`: who has what an advisory or a rule is about.

use std::fmt::Write as _;

use clap::Args;
use reqwest::Url;
use serde_json::Value;

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct ImpactArgs {
    /// The id or an alias of an advisory, or the id of a rule
    name: String,
    /// How many downloads are listed, the last ones first
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Where the list before ended: `next` of its JSON
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(context: &Context, args: &ImpactArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    runtime::run(async {
        let mut query = vec![("limit", args.limit.to_string())];
        query.extend(args.cursor.clone().map(|cursor| ("cursor", cursor)));
        let answer = client.read(&path(&args.name), &query).await?;
        context.output.data(&answer, || told(&answer))?;
        Ok(Exit::Done)
    })
}

/// The address of a name that may hold anything.
fn path(name: &str) -> String {
    // Any base will do: only the path is taken from it, with what it must not hold escaped.
    let escaped = Url::parse("http://weir.invalid").ok().and_then(|mut url| {
        url.path_segments_mut().ok()?.push(name);
        Some(url.path().trim_start_matches('/').to_owned())
    });
    format!("api/registry/impact/{}", escaped.unwrap_or_default())
}

fn told(answer: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => harmless(text),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let rows = |all: &[Value], keys: &[&str]| -> Vec<Vec<String>> {
        all.iter().map(|row| keys.iter().map(|key| text(&row[*key])).collect()).collect()
    };
    let mut out = format!(
        "{}: {} principals downloaded {} files of {} affected versions; {} files lie in the cache",
        text(&answer["name"]),
        text(&answer["n_principals"]),
        text(&answer["n_downloads"]),
        list(&answer["versions"]).len(),
        text(&answer["n_cached"]),
    );
    for record in list(&answer["records"]) {
        let [source, ecosystem, id, summary] =
            ["source", "ecosystem", "id", "summary"].map(|key| text(&record[key]));
        let _infallible = write!(out, "\n  {source} {id} ({ecosystem}): {summary}");
    }
    if answer["complete"] == false {
        out.push_str("\nthere is more than could be looked at: these are not all");
    }
    let mut versions = list(&answer["versions"]);
    for version in &mut versions {
        let files = list(&version["files"]);
        let cached = files.iter().filter(|file| file["cached"] == true).count();
        version["cached"] = format!("{cached} of {}", files.len()).into();
    }
    if !versions.is_empty() {
        let keys = ["ecosystem", "package", "version", "n_principals", "cached", "hit"];
        let headings = ["ECOSYSTEM", "PACKAGE", "VERSION", "PRINCIPALS", "CACHED", "AFFECTED"];
        let _infallible = write!(out, "\n\n{}", table(&headings, &rows(&versions, &keys)));
    }
    let downloads = list(&answer["downloads"]);
    if !downloads.is_empty() {
        let keys =
            ["principal", "token", "package", "version", "n_downloads", "first_at", "last_at"];
        let headings = ["PRINCIPAL", "TOKEN", "PACKAGE", "VERSION", "FILES", "FIRST", "LAST"];
        let _infallible = write!(out, "\n\n{}", table(&headings, &rows(&downloads, &keys)));
    }
    if !answer["next"].is_null() {
        out.push_str("\nthere are more downloads: --limit, or --cursor with `next` of --json");
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_person_is_told_who_has_it_and_what_lies_here() {
        let answer = json!({
            "name": "CVE-1", "n_principals": 2, "n_downloads": 7, "n_cached": 1, "complete": false,
            "records": [{"source": "osv", "ecosystem": "npm", "id": "GHSA-1",
                "summary": "x\u{1b}[31m"}],
            "versions": [{"ecosystem": "npm", "package": "a", "version": "1.0.0",
                "n_principals": 2, "hit": "before 1.1.0",
                "files": [{"file": "a.tgz", "cached": true}, {"file": "b", "cached": false}]}],
            "downloads": [{"principal": "ci", "token": "0a", "package": "a", "version": null, "n_downloads": 3,
                "first_at": "2026-11-01T00:00:00Z", "last_at": "2026-11-02T00:00:00Z"}],
            "next": "x",
        });
        let told = told(&answer);
        for words in [
            "CVE-1: 2 principals downloaded 7 files of 1 affected versions; 1 files lie",
            "osv GHSA-1 (npm): x",
            "these are not all",
            "a        1.0.0    2           1 of 2  before 1.1.0",
            "ci         0a     a        -        3      2026-11-01T00:00:00Z  2026-11-02T00:00:00Z",
            "there are more downloads",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
        assert!(!told.contains('\u{1b}'), "what a source wrote cannot colour the terminal");
    }

    #[test]
    fn a_name_stays_one_step_of_the_address() {
        assert_eq!(path("GHSA-1"), "api/registry/impact/GHSA-1");
        assert_eq!(path("a/../b?c"), "api/registry/impact/a%2F..%2Fb%3Fc");
    }
}
