//! docker: its daemon asks, whose file is JSON and often root's. Only the lists that need a word more
//! are touched, and every other byte stays; where the file is not ours to write, its owner is told what to
//! write. What a mirror does not do is told in any case.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::file::File;
use super::{Step, diff};
use crate::config::HttpUrl;
use crate::{discovery, environment};

const DAEMON: &str = "/etc/docker/daemon.json";
const MIRRORS: &str = "registry-mirrors";
const INSECURE: &str = "insecure-registries";

/// What is to be done so that the daemon asks Weir.
pub(super) fn point(base: &str) -> Result<Step, String> {
    pointed(&file(), base)
}

/// What is to be done so that it asks again what it asked before.
pub(super) fn undo(base: &str) -> Result<Step, String> {
    let path = file();
    let file = File::read(path.clone())?;
    let mut after = file.text().to_owned();
    for (list, entry) in wanted(base) {
        after = without(&after, list, &entry).map_err(|why| at(&path, &why))?;
    }
    // Nothing is left of a file that held nothing else.
    let after = if is_empty(&after) { String::new() } else { after };
    if after == file.text() || is_empty(file.text()) {
        return Ok(Step::Nothing);
    }
    if is_ours(&path) {
        return Ok(Step::Undo { file, after });
    }
    let path = path.display();
    Ok(Step::Tell(format!("take {base} out of {path}, which is not yours to write")))
}

fn pointed(path: &Path, base: &str) -> Result<Step, String> {
    let file = File::read(path.to_owned())?;
    let mut after = file.text().to_owned();
    for (list, entry) in wanted(base) {
        after = with(&after, list, &entry).map_err(|why| at(path, &why))?;
    }
    if after == file.text() {
        return Ok(Step::Nothing);
    }
    let then = format!(
        "restart docker, so that it reads that. It passes by a mirror that refuses, and asks the registry \
         itself: what is to be refused for certain is pulled by Weir's name: docker pull \
         {}/library/alpine:3.20",
        host(base)
    );
    if is_ours(path) {
        let shown = diff::of(file.text(), &after);
        return Ok(Step::Write { file, shown, after, then: Some(then) });
    }
    let members: BTreeMap<_, _> =
        wanted(base).into_iter().map(|(list, entry)| (list, json!([entry]))).collect();
    let (path, members) = (path.display(), json!(members));
    Ok(Step::Tell(format!("into {path}, which is not yours to write:\n    {members}\n{then}")))
}

/// The daemon's file; where it runs without root, the user's.
fn file() -> PathBuf {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    let own = folder.map(|folder| folder.join("docker/daemon.json"));
    own.filter(|own| own.is_file()).unwrap_or_else(|| PathBuf::from(DAEMON))
}

/// Whether this user may replace it, or make it in a folder that is there.
fn is_ours(path: &Path) -> bool {
    // Through a link: what it leads to is what is written.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.parent().is_some_and(|folder| access(folder, Access::WRITE_OK).is_ok())
}

fn at(path: &Path, why: &str) -> String {
    format!("{}: {why}", path.display())
}

fn host(base: &str) -> &str {
    base.split_once("://").map_or(base, |(_, host)| host)
}

/// What must stand in which list. What is on this machine, docker asks without TLS anyway.
fn wanted(base: &str) -> Vec<(&'static str, String)> {
    let url = base.parse::<HttpUrl>().ok();
    let near = url.and_then(|url| url.0.host_str().map(discovery::is_loopback)) == Some(true);
    let mut wanted = vec![(MIRRORS, base.to_owned())];
    if base.starts_with("http://") && !near {
        wanted.push((INSECURE, host(base).to_owned()));
    }
    wanted
}

fn is_empty(text: &str) -> bool {
    text.trim().is_empty() || serde_json::from_str::<Value>(text).ok() == Some(json!({}))
}

/// A list of a file: where its text is, and what it names.
struct List<'a> {
    at: usize,
    text: &'a str,
    entries: Vec<String>,
}

/// The members of a file, and the list of a name among them.
fn list<'a>(text: &'a str, name: &str) -> Result<(usize, Option<List<'a>>), String> {
    let members: BTreeMap<String, &'a RawValue> =
        serde_json::from_str(text).map_err(|fault| format!("it is no JSON object: {fault}"))?;
    let found = members.get(name).map(|raw| {
        let entries = serde_json::from_str(raw.get());
        let entries = entries.map_err(|_| format!("`{name}` is no list of addresses"))?;
        let at = raw.get().as_ptr().addr() - text.as_ptr().addr();
        Ok::<_, String>(List { at, text: raw.get(), entries })
    });
    Ok((members.len(), found.transpose()?))
}

/// The member that is put in where there is none.
fn member(list: &str, entry: &str, last: bool) -> String {
    let end = if last { "\n" } else { "," };
    format!("\n  \"{list}\": [{}]{end}", json!(entry))
}

/// A file with an entry in a list, before the others: docker asks mirrors in their order.
fn with(text: &str, name: &str, entry: &str) -> Result<String, String> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let put = |at: usize, words: &str| format!("{}{words}{}", &text[..at], &text[at..]);
    match list(text, name)? {
        (n_members, None) => {
            let open = text.find('{').map_or(0, |at| at + 1);
            Ok(put(open, &member(name, entry, n_members == 0)))
        }
        (_, Some(list)) if list.entries.iter().any(|other| same(other, entry)) => {
            Ok(text.to_owned())
        }
        (_, Some(list)) => {
            let gap = if list.entries.is_empty() { "" } else { ", " };
            Ok(put(list.at + 1, &format!("{}{gap}", json!(entry))))
        }
    }
}

/// The same without it.
fn without(text: &str, name: &str, entry: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let (_, found) = list(text, name)?;
    let Some(found) = found else { return Ok(text.to_owned()) };
    let quoted = json!(entry).to_string();
    let Some(at) = found.text.find(&quoted) else { return Ok(text.to_owned()) };
    // The whole member where it stands as it was put in, otherwise only the entry.
    let own = member(name, entry, true);
    let own = own.trim_end();
    let start = (found.at + found.text.len()).checked_sub(own.len());
    let start = start.filter(|start| text.get(*start..).is_some_and(|rest| rest.starts_with(own)));
    let out = match start {
        Some(start) => cut(text, start, own.len(), ""),
        None => cut(text, found.at + at, quoted.len(), " "),
    };
    serde_json::from_str::<BTreeMap<String, &RawValue>>(&out).map_err(|fault| {
        format!("take {entry} out of `{name}` by hand, as it left no JSON: {fault}")
    })?;
    Ok(out)
}

/// A text without a part of it, and without the comma that stands behind it, or else before it. `gap`:
/// what was put in behind the comma.
fn cut(text: &str, at: usize, len: usize, gap: &str) -> String {
    let (before, after) = (&text[..at], &text[at + len..]);
    if let Some(after) = after.trim_start().strip_prefix(',') {
        let after = after.strip_prefix(gap).unwrap_or_else(|| after.trim_start());
        return format!("{before}{after}");
    }
    match before.trim_end().strip_suffix(',') {
        Some(before) => format!("{before}{after}"),
        // It stood alone: so does the line's end that was put in with a member.
        None if gap.is_empty() => format!("{before}{}", after.strip_prefix('\n').unwrap_or(after)),
        None => format!("{before}{after}"),
    }
}

fn same(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "http://127.0.0.1:7400";

    #[test]
    fn a_mirror_comes_into_any_file_and_out_again_without_a_trace() {
        for text in [
            "",
            "{}\n",
            "{\"debug\": true}\n",
            "{\n\t\"registry-mirrors\": [\"https://mirror.example/\"],\n\t\"debug\": true\n}",
            "{\"registry-mirrors\": []}",
            "{\"log-opts\": {\"registry-mirrors\": [1]}, \"z\": 1e3}",
        ] {
            let put = with(text, MIRRORS, BASE).unwrap();
            let read: Value = serde_json::from_str(&put).unwrap();
            assert_eq!(read[MIRRORS][0], BASE, "{put}");
            assert_eq!(with(&put, MIRRORS, BASE).unwrap(), put, "twice is once");
            let out = without(&put, MIRRORS, BASE).unwrap();
            assert!(out == text || (is_empty(&out) && is_empty(text)), "{text} became {out}");
        }
        let last = "{\"registry-mirrors\": [\"https://a.example\", \"http://127.0.0.1:7400\"]}";
        let out = without(last, MIRRORS, BASE).unwrap();
        assert_eq!(out, "{\"registry-mirrors\": [\"https://a.example\"]}");
        let slash = "{\"registry-mirrors\": [\"http://127.0.0.1:7400/\"]}";
        assert_eq!(with(slash, MIRRORS, BASE).unwrap(), slash);
    }

    #[test]
    fn lists_are_taken_out_in_any_order_whatever_was_written_around_them() {
        let base = "http://weir.example:7400";
        let orders = [[0, 1], [1, 0]];
        let texts = [
            "",
            "{}",
            "{\n}\n",
            "{\n  \"debug\": true\n}\n",
            "{ \"a\": [1, 2] , \"b\": {} }",
            "{\"registry-mirrors\": [\n  \"https://a.example\"\n]}",
            "{\"insecure-registries\": [], \"z\": \"x,\"}",
        ];
        let mut n_cases = 0;
        for (text, puts, takes) in texts
            .iter()
            .flat_map(|text| orders.map(|puts| (*text, puts)))
            .flat_map(|(text, puts)| orders.map(|takes| (text, puts, takes)))
        {
            let lists = wanted(base);
            let mut put = text.to_owned();
            for at in puts {
                put = with(&put, lists[at].0, &lists[at].1).unwrap();
            }
            let end = put.rfind('}').unwrap();
            let (inner, close) = put.split_at(end);
            let behind = format!("{},\n  \"behind\": 1\n{close}", inner.trim_end());
            let before = put.replacen('{', "{\n  \"before\": true,", 1);
            let both = behind.replacen('{', "{\n  \"before\": true ,", 1);
            // As another program would write it.
            let tidied: Value = serde_json::from_str(&both).unwrap();
            let pretty = serde_json::to_string_pretty(&tidied).unwrap();
            for written in [put.clone(), behind, before, both, pretty] {
                let mut out = written.clone();
                for at in takes {
                    out = without(&out, lists[at].0, &lists[at].1).unwrap();
                }
                let mut left: Value = serde_json::from_str(&out).unwrap();
                let mut kept: Value = serde_json::from_str(&written).unwrap();
                for (list, entry) in &lists {
                    for value in [&mut left, &mut kept] {
                        let Some(entries) = value.get_mut(list) else { continue };
                        entries.as_array_mut().unwrap().retain(|other| other != entry);
                        if entries == &json!([]) {
                            value.as_object_mut().unwrap().remove(*list);
                        }
                    }
                }
                assert_eq!(left, kept, "{written} became {out}");
                assert!(!out.contains("weir.example"), "{written} became {out}");
                n_cases += 1;
            }
        }
        assert_eq!(n_cases, texts.len() * 4 * 5);
        let list =
            "{\"registry-mirrors\": [\n  \"https://a.example\",\n  \"http://127.0.0.1:7400\"\n]}";
        let out = without(list, MIRRORS, BASE).unwrap();
        assert_eq!(out, "{\"registry-mirrors\": [\n  \"https://a.example\"\n]}");
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_left_alone() {
        for (text, words) in [
            ("not JSON", "no JSON object"),
            ("[]", "no JSON object"),
            ("{\"registry-mirrors\": \"x\"}", "no list of addresses"),
            ("{\"registry-mirrors\": [1]}", "no list of addresses"),
        ] {
            let why = with(text, MIRRORS, BASE).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn a_daemon_is_shown_what_it_gets_and_what_a_mirror_does_not_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.json");
        fs::write(&path, "{\n  \"debug\": true\n}\n").unwrap();
        let Step::Write { shown, after, then, .. } =
            pointed(&path, "http://weir.example:7400").unwrap()
        else {
            panic!("nothing is written");
        };
        for words in [
            "+   \"registry-mirrors\": [\"http://weir.example:7400\"],",
            "+   \"insecure-registries\": [\"weir.example:7400\"],",
        ] {
            assert!(shown.contains(words), "{shown}");
        }
        assert!(!shown.contains("debug") && then.is_some_and(|then| then.contains("passes by")));
        fs::write(&path, after).unwrap();
        assert!(matches!(pointed(&path, "http://weir.example:7400").unwrap(), Step::Nothing));
        let nobodys = Path::new("/nobody/daemon.json");
        let Step::Tell(told) = pointed(nobodys, BASE).unwrap() else { panic!("it is written") };
        assert!(told.contains("{\"registry-mirrors\":[\"http://127.0.0.1:7400\"]}"), "{told}");
    }
}
