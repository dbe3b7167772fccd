//! What a policy would change, for people.

use std::fmt::Write as _;

use serde_json::Value;

use crate::output::{harmless, table};

pub(super) fn told(answer: &Value) -> String {
    let n = |key: &str| answer[key].as_u64().unwrap_or_default();
    let mut out = format!(
        "{} decisions since {}, judged by {}: {} newly blocked, {} newly allowed",
        n("n_judged"),
        text(&answer["since"]),
        if answer["facts"] == "then" { "what was known then" } else { "what is known today" },
        n("n_newly_blocked"),
        n("n_newly_allowed"),
    );
    for (name, key) in [("in force", "in_force"), ("tried", "tried")] {
        let stands = &answer[key];
        let line = format!(
            "\n{name:<9} {} pass, {} pass with a warning, {} are refused",
            text(&stands["passing"]),
            text(&stands["warned"]),
            text(&stands["refused"]),
        );
        out.push_str(&line);
    }
    let mut line = |count: &str, what: &str| {
        if n(count) > 0 {
            let _infallible = write!(out, "\n{} {what}", n(count));
        }
    };
    line("n_answered_otherwise", "were answered otherwise than the policy in force answers them");
    line("n_age_unknown", "are too young, for nobody told their age");
    line("n_version_unknown", "have no version that a file's name tells");
    line("n_outside", "were refused by what is no policy, a quota or a date: not judged");
    line("n_unreadable", "cannot be read by the server's build: not judged");
    if answer["complete"] == false {
        out.push_str("\nthe time ran out: the latest decisions were not judged");
    }
    if answer["by_one_policy"] == false {
        out.push_str("\nthe policy in force became another meanwhile: run it again for one answer");
    }
    let keys = ["ecosystem", "package", "version", "first_at", "last_at", "told"];
    let headings =
        ["BLOCKED", "ALLOWED", "ECOSYSTEM", "PACKAGE", "VERSION", "FIRST", "LAST", "TOLD"];
    listed(&mut out, &answer["by_version"], &headings, &keys);
    let keys = ["principal", "token", "first_at", "last_at"];
    let headings = ["BLOCKED", "ALLOWED", "PRINCIPAL", "TOKEN", "FIRST", "LAST"];
    listed(&mut out, &answer["by_token"], &headings, &keys);
    let days = answer["by_day"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !days.is_empty() {
        let rows = rows(days, &["day"]);
        let _infallible = write!(out, "\n\n{}", table(&["BLOCKED", "ALLOWED", "DAY"], &rows));
    }
    let _infallible = write!(
        out,
        "\n\n{} decisions a second, {} ms",
        text(&answer["rate"]),
        text(&answer["duration_ms"]),
    );
    out
}

fn listed(out: &mut String, of: &Value, headings: &[&str], keys: &[&str]) {
    let listed = of["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
    if listed.is_empty() {
        return;
    }
    let _infallible = write!(out, "\n\n{}", table(headings, &rows(listed, keys)));
    let n_rows = of["n_rows"].as_u64().unwrap_or_default();
    if n_rows > listed.len() as u64 {
        let _infallible = write!(out, "\n{} of {n_rows} rows: --limit", listed.len());
    }
    let n_beyond = of["n_beyond"].as_u64().unwrap_or_default();
    if n_beyond > 0 {
        let _infallible = write!(out, "\n{n_beyond} more are counted above and in no row");
    }
}

fn rows(all: &[Value], keys: &[&str]) -> Vec<Vec<String>> {
    let counts = ["n_newly_blocked", "n_newly_allowed"];
    let row = |row: &Value| counts.iter().chain(keys).map(|key| text(&row[*key])).collect();
    all.iter().map(row).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => harmless(text),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_person_is_told_the_difference_and_what_is_not_known() {
        let answer = json!({
            "since": "2026-11-01T00:00:00Z", "facts": "today", "n_judged": 2000,
            "n_newly_blocked": 3, "n_newly_allowed": 1, "n_age_unknown": 4, "n_outside": 0,
            "in_force": {"passing": 1990, "warned": 0, "refused": 10},
            "tried": {"passing": 1980, "warned": 8, "refused": 12},
            "complete": false, "by_one_policy": true, "rate": 4000, "duration_ms": 500,
            "by_version": {"n_rows": 2, "n_beyond": 7, "rows": [{
                "ecosystem": "npm", "package": "a", "version": null, "n_newly_blocked": 2,
                "n_newly_allowed": 0, "first_at": "x", "last_at": "y", "told": "no\u{1b}[31m"}]},
            "by_token": {"n_rows": 1, "n_beyond": 0, "rows": [{
                "principal": "ci", "token": "0a", "n_newly_blocked": 3, "n_newly_allowed": 1,
                "first_at": "x", "last_at": "y"}]},
            "by_day": [{"day": "2026-11-02", "n_newly_blocked": 3, "n_newly_allowed": 1}],
        });
        let told = told(&answer);
        for words in [
            "2000 decisions since 2026-11-01T00:00:00Z, judged by what is known today: 3 newly \
             blocked, 1 newly allowed",
            "tried     1980 pass, 8 pass with a warning, 12 are refused",
            "4 are too young",
            "the time ran out",
            "1 of 2 rows: --limit",
            "7 more are counted above",
            "3        1        ci         0a",
            "3        1        2026-11-02",
            "4000 decisions a second, 500 ms",
        ] {
            assert!(told.contains(words), "{words}: {told}");
        }
        for absent in ["no policy", "became another", "\u{1b}"] {
            assert!(!told.contains(absent), "{absent}: {told}");
        }
    }
}
