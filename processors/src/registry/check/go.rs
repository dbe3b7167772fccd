//! `go.sum` and `go.mod`, as the reference of Go modules has them.

use std::collections::{BTreeMap, BTreeSet};

use weir_aggregates::registry::advisory::release;
use weir_events::registry::Ecosystem;

use super::{CheckFault, Kind, Listing, unreadable};

/// `go.sum` has a line for the files of a module and one for its `go.mod`. Of a module that stands
/// there with the latter only, no code is ever downloaded.
pub(super) fn sum(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let (mut files, mut only) = (BTreeSet::new(), BTreeSet::new());
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [module, version, _hash] = fields[..] else {
            return Err(unreadable(Kind::GoSum, &format!("line {}: not three words", n + 1)));
        };
        match version.strip_suffix("/go.mod") {
            Some(version) => only.insert((module, version)),
            None => files.insert((module, version)),
        };
    }
    for (module, version) in &files {
        list.add(Ecosystem::Go, module, version)?;
    }
    for (module, version) in only.difference(&files) {
        list.skip(&format!("{module}@{version}"), "only its go.mod is read, never its code")?;
    }
    Ok(())
}

/// What stands between the words of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Require,
    Replace,
    Other,
}

impl Block {
    fn of(verb: &str) -> Self {
        match verb {
            "require" => Self::Require,
            "replace" => Self::Replace,
            _ => Self::Other,
        }
    }
}

/// What stands in for a module: another with its version, or a folder.
type Replacements<'a> = BTreeMap<(&'a str, Option<&'a str>), (&'a str, Option<&'a str>)>;

/// The release of Go that a line names: `toolchain go1.22.0`, or from 1.21 on `go 1.22.0`. Before, the
/// latter named a language, and no release was ever fetched because of it.
fn release_in<'a>(words: &[&'a str]) -> Option<&'a str> {
    match words {
        ["toolchain", name] => name.strip_prefix("go"),
        ["go", release] => {
            let minor = release.strip_prefix("1.")?.split(|c: char| !c.is_ascii_digit()).next()?;
            minor.parse::<u32>().is_ok_and(|minor| minor >= 21).then_some(*release)
        }
        _ => None,
    }
}

/// `go.mod` names what is required; what replaces it is what is downloaded. Of the releases of Go that
/// it names the `toolchain` is fetched, and without that the one of its `go`.
pub(super) fn module(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let (mut required, mut replaced) = (Vec::new(), Replacements::new());
    let (mut block, mut go) = (None, None);
    for (n, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default().trim();
        let bad = |what: &str| unreadable(Kind::GoMod, &format!("line {}: {what}", n + 1));
        let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('"')).collect();
        if let (None, Some(release)) = (block, release_in(&words)) {
            // The go command wants the `toolchain` to be no older.
            if words.first() == Some(&"toolchain") || go.is_none() {
                go = Some(release);
            }
        }
        let (kind, words) = match (block, &words[..]) {
            (_, []) => continue,
            (Some(_), [")"]) => {
                block = None;
                continue;
            }
            (Some(kind), words) => (kind, words),
            (None, [verb, "("]) => {
                block = Some(Block::of(verb));
                continue;
            }
            (None, [verb, words @ ..]) => (Block::of(verb), words),
        };
        match (kind, words) {
            (Block::Require, [module, version]) => required.push((*module, *version)),
            (Block::Replace, [old, "=>", new]) => drop(replaced.insert((old, None), (new, None))),
            (Block::Replace, [old, "=>", new, version]) => {
                replaced.insert((old, None), (new, Some(version)));
            }
            (Block::Replace, [old, at, "=>", new]) => {
                replaced.insert((old, Some(at)), (new, None));
            }
            (Block::Replace, [old, at, "=>", new, version]) => {
                replaced.insert((old, Some(at)), (new, Some(version)));
            }
            (Block::Other, _) => {}
            (Block::Require | Block::Replace, _) => {
                return Err(bad("it names no module with its version"));
            }
        }
    }
    if block.is_some() {
        return Err(unreadable(Kind::GoMod, &"a block is never closed"));
    }
    if let Some(go) = go {
        list.add(Ecosystem::Go, release::MODULE, &format!("{}{go}", release::PREFIX))?;
    }
    for (module, version) in required {
        let of_version = replaced.get(&(module, Some(version)));
        match of_version.or_else(|| replaced.get(&(module, None))) {
            None => list.add(Ecosystem::Go, module, version)?,
            Some((module, Some(version))) => list.add(Ecosystem::Go, module, version)?,
            Some((folder, None)) => {
                list.skip(&format!("{module}@{version} => {folder}"), "a folder of the project")?;
            }
        }
    }
    Ok(())
}
