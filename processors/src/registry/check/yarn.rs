//! `yarn.lock`: a format of its own in yarn 1, YAML in those after it.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_events::registry::Ecosystem;

use super::{CheckFault, Kind, Listing, elsewhere, loose::Loose, unreadable, yaml};

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    if text.lines().any(|line| line.starts_with("__metadata:")) {
        berry(text, list)
    } else {
        classic(text, list)
    }
}

/// An entry of yarn 1: the wishes it fulfils, and the version that does.
#[derive(Debug, Default)]
struct Entry<'a> {
    wishes: Vec<&'a str>,
    version: Option<&'a str>,
}

impl Entry<'_> {
    fn take(&mut self, list: &mut Listing) -> Result<(), CheckFault> {
        let Self { wishes, version } = std::mem::take(self);
        for wish in wishes {
            let Some((name, range)) = named(wish) else {
                list.skip(wish, "it names no package")?;
                continue;
            };
            // Installed under another name, the range says its own.
            let alias = range.strip_prefix("npm:");
            let aliased = alias.map(|alias| named(alias).unwrap_or((alias, "")));
            let (name, range) = aliased.unwrap_or((name, range));
            match version {
                _ if elsewhere(range) => list.skip(wish, "it does not come from a registry")?,
                None => list.skip(wish, "it names no version")?,
                Some(version) => list.add(Ecosystem::Npm, name, version)?,
            }
        }
        Ok(())
    }
}

/// Splits `@scope/name@range` at the `@` that is not the scope's.
fn named(text: &str) -> Option<(&str, &str)> {
    let at = text.get(1..)?.find('@')? + 1;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

fn classic(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let mut entry = Entry::default();
    for (n, line) in text.lines().enumerate() {
        let bad = |what: &str| unreadable(Kind::Yarn, &format!("line {}: {what}", n + 1));
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        match line.strip_prefix("  ") {
            None => {
                entry.take(list)?;
                let wishes = line.strip_suffix(':').ok_or_else(|| bad("no entry begins so"))?;
                entry.wishes = unquoted(wishes).ok_or_else(|| bad("a quote is never closed"))?;
            }
            Some(_) if entry.wishes.is_empty() => return Err(bad("it belongs to no entry")),
            Some(field) => {
                if let Some(version) = field.strip_prefix("version ") {
                    entry.version = Some(version.trim().trim_matches('"'));
                }
            }
        }
    }
    entry.take(list)
}

/// The wishes of a line: with commas between them, each in quotes or not.
fn unquoted(mut line: &str) -> Option<Vec<&str>> {
    let mut wishes = Vec::new();
    loop {
        line = line.trim_start_matches([',', ' ']);
        if line.is_empty() {
            return Some(wishes);
        }
        let (wish, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => line.split_at(line.find(", ").unwrap_or(line.len())),
        };
        wishes.push(wish);
        line = rest;
    }
}

/// An entry of the yarns after 1.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resolved {
    resolution: Loose,
}

fn berry(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let documents: Vec<BTreeMap<String, Resolved>> = yaml::documents(Kind::Yarn, text)?;
    for (wish, entry) in documents.iter().flatten().filter(|(key, _)| *key != "__metadata") {
        match entry.resolution.as_deref() {
            Some(resolution) => resolved(wish, resolution, list)?,
            None => list.skip(wish, "it says nothing of where it is from")?,
        }
    }
    Ok(())
}

/// `name@npm:1.0.0`, `name@workspace:folder`, or a patch of one of them.
fn resolved(wish: &str, resolution: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let Some((name, reference)) = named(resolution) else {
        return list.skip(wish, "it names no package");
    };
    if let Some(version) = reference.strip_prefix("npm:") {
        let version = version.split("::").next().unwrap_or_default();
        return list.add(Ecosystem::Npm, name, version);
    }
    if let Some(patched) = reference.strip_prefix("patch:") {
        // What is patched is downloaded all the same.
        let original = patched.split('#').next().unwrap_or_default().replace("%3A", ":");
        return match named(&original) {
            Some((_, inner)) if !inner.starts_with("patch:") => resolved(wish, &original, list),
            _ => list.skip(wish, "it cannot be told what is patched"),
        };
    }
    let reason = if reference.starts_with("workspace:") {
        "a folder of the project"
    } else {
        "it does not come from a registry"
    };
    list.skip(resolution, reason)
}
