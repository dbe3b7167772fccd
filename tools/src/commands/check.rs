//! `weir check`: what becomes of everything that lock files and bills of materials name, before
//! anybody installs it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use reqwest::Method;
use serde_json::{Value, json};
use weir_processors::registry::check::{Kind, MAX_TEXT_BYTES};

use crate::cli::ServerArgs;
use crate::client::Client;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::output::{harmless, table};
use crate::runtime;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Lock files, requirements, go.mod, go.sum, or bills of materials; `-` is standard input
    #[arg(required_unless_present = "purls", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A package URL, like pkg:npm/left-pad@1.3.0; more than once for more
    #[arg(long = "purl", value_name = "PURL", conflicts_with = "files")]
    purls: Vec<String>,
    /// What kind of files they are [default: as their content tells]
    #[arg(long, value_parser = kind)]
    kind: Option<Kind>,
    /// The id of the token that would ask: where a waiver is for one token
    #[arg(long, value_name = "ID")]
    token_id: Option<String>,
    #[command(flatten)]
    server: ServerArgs,
}

fn kind(name: &str) -> Result<Kind, String> {
    Kind::find(name).ok_or_else(|| format!("there are: {}", Kind::names()))
}

pub(crate) fn run(context: &Context, args: &CheckArgs) -> Result<Exit, Failure> {
    let client = Client::new(context, &args.server)?;
    let mut asked = Vec::new();
    if !args.purls.is_empty() {
        asked.push(("package URLs".to_owned(), json!({"purls": args.purls})));
    }
    for file in &args.files {
        let kind = args.kind.or_else(|| by_name(file)).map(Kind::as_str);
        let lock = json!({"kind": kind, "text": read(file)?});
        asked.push((file.display().to_string(), json!({"lock": lock})));
    }
    runtime::run(async {
        let mut answers = Vec::new();
        for (name, mut body) in asked {
            body["token"] = json!(args.token_id);
            let answer = client.send(Method::POST, "api/registry/check", Some(&body)).await;
            let mut answer = answer.map_err(|mut failure| {
                failure.message = format!("{name}: {}", failure.message);
                failure
            })?;
            answer["file"] = json!(name);
            answers.push(answer);
        }
        let blocked = answers.iter().any(|answer| answer["summary"]["blocked"] != json!(0));
        let told = || answers.iter().map(told).collect::<Vec<_>>().join("\n\n");
        context.output.data(&json!({"files": answers, "blocked": blocked}), told)?;
        Ok(if blocked { Exit::Denied } else { Exit::Done })
    })
}

/// The kind of a file whose content may not tell it.
fn by_name(file: &Path) -> Option<Kind> {
    let stem = file.file_stem()?.to_str()?;
    let named = stem.starts_with("requirements") && file.extension()? == "txt";
    named.then_some(Kind::Requirements)
}

fn read(file: &Path) -> Result<String, Failure> {
    let of = |fault: &dyn std::fmt::Display| {
        Failure::new(Exit::Usage, format!("could not read {}: {fault}", file.display()))
    };
    let mut reader: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(|fault| of(&fault))?)
    };
    let mut bytes = Vec::new();
    let most = MAX_TEXT_BYTES as u64 + 1;
    reader.by_ref().take(most).read_to_end(&mut bytes).map_err(|fault| of(&fault))?;
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(of(&format!("it has more than {MAX_TEXT_BYTES} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| of(&"it is not UTF-8"))
}

/// What becomes of a file's entries, for a person: all that is not simply allowed.
fn told(answer: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), harmless);
    let list = |key: &str| answer[key].as_array().map(Vec::as_slice).unwrap_or_default();
    let n = |key: &str| answer["summary"][key].as_u64().unwrap_or_default();
    let mut out = format!(
        "{}: {} versions; {} blocked, {} warned of, {} excused, {} not judged",
        text(&answer["file"]),
        n("components"),
        n("blocked"),
        n("warned"),
        n("excused"),
        n("not_judged"),
    );
    let objected = list("components").iter().filter(|it| it["verdict"] != "allow");
    let rows: Vec<Vec<String>> = objected
        .map(|it| {
            let why = [&it["told"], &it["waiver"], &it["fixes"]];
            let why = why.into_iter().find(|why| !why.is_null()).unwrap_or(&Value::Null);
            let first = it["objections"].as_array().and_then(|all| {
                all.iter().find(|objection| objection["advisory"]["fixed_by"].is_string())
            });
            let fixed = first.map_or(&Value::Null, |first| &first["advisory"]["fixed_by"]);
            ["verdict", "ecosystem", "package", "version"]
                .map(|key| &it[key])
                .into_iter()
                .chain([fixed, why])
                .map(text)
                .collect()
        })
        .collect();
    if !rows.is_empty() {
        let headings = ["VERDICT", "ECOSYSTEM", "PACKAGE", "VERSION", "FIXED BY", "WHY"];
        let _infallible = write!(out, "\n{}", table(&headings, &rows));
    }
    for entry in list("not_judged") {
        let (entry, reason) = (text(&entry["entry"]), text(&entry["reason"]));
        let _infallible = write!(out, "\nnot judged: {entry}: {reason}");
    }
    if n("age_unknown") > 0 {
        let _infallible = write!(
            out,
            "\n{} versions were judged as if they were old enough: the file does not tell their age",
            n("age_unknown")
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_told_all_that_is_not_simply_allowed() {
        let answer = json!({
            "file": "package-lock.json",
            "summary": {"components": 2, "blocked": 1, "not_judged": 1, "age_unknown": 2},
            "components": [
                {"ecosystem": "npm", "package": "fine", "version": "1.0.0", "verdict": "allow"},
                {"ecosystem": "npm", "package": "lodash", "version": "4.17.20", "verdict": "block",
                    "told": "Blocked by Weir: GHSA-1\u{1b}[31m",
                    "objections": [{"advisory": {"fixed_by": "4.17.21"}}]},
            ],
            "not_judged": [{"entry": "me", "reason": "a folder of the project"}],
        });
        let told = told(&answer);
        for words in [
            "package-lock.json: 2 versions; 1 blocked, 0 warned of, 0 excused, 1 not judged",
            "lodash   4.17.20  4.17.21   Blocked by Weir: GHSA-1",
            "not judged: me: a folder of the project",
            "2 versions were judged as if they were old enough",
        ] {
            assert!(told.contains(words), "{told}");
        }
        assert!(!told.contains("fine") && !told.contains('\u{1b}'), "{told}");
    }

    #[test]
    fn requirements_are_known_by_their_name_too() {
        assert_eq!(by_name(Path::new("x/requirements-dev.txt")), Some(Kind::Requirements));
        assert_eq!(by_name(Path::new("x/notes.txt")), None);
        assert!(kind("gems").unwrap_err().contains("package-lock"));
    }
}
