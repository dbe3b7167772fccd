//! pip's `requirements.txt`. A requirement is judged where it leaves one version only.

use weir_events::registry::Ecosystem;

use super::{CheckFault, Listing};

/// Options that name more than they configure.
const NAMING: [&str; 6] = ["-r", "--requirement", "-c", "--constraint", "-e", "--editable"];

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let mut whole = String::new();
    for line in text.lines() {
        // A comment ends with its line, also where the requirement goes on.
        let line = uncommented(line);
        if let Some(begun) = line.strip_suffix('\\') {
            whole.push_str(begun);
            whole.push(' ');
            continue;
        }
        whole.push_str(line);
        requirement(&std::mem::take(&mut whole), list)?;
    }
    requirement(&whole, list)
}

/// Without the comment: `#` at the beginning, or after a blank (an address may hold one).
fn uncommented(line: &str) -> &str {
    let trimmed = line.trim_start();
    if trimmed.starts_with('#') {
        return "";
    }
    let comment = line.find(" #").into_iter().chain(line.find("\t#")).min();
    comment.and_then(|at| line.get(..at)).unwrap_or(line).trim_end()
}

fn requirement(line: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(());
    }
    if line.starts_with('-') {
        let names = |option: &&str| {
            line.strip_prefix(*option).is_some_and(|rest| {
                rest.starts_with([' ', '=', '\t']) || (option.len() == 2 && !rest.is_empty())
            })
        };
        return match NAMING.iter().find(|option| names(option)) {
            Some(&("-r" | "--requirement" | "-c" | "--constraint")) => {
                list.skip(line, "another file; check it by itself")
            }
            Some(_) => list.skip(line, "a folder of the project"),
            // An option of pip's: nothing is named by it.
            None => Ok(()),
        };
    }
    // Hashes and other options of one requirement come behind it.
    let wish = line.split(" --").next().unwrap_or_default();
    let wish = wish.split(';').next().unwrap_or_default().trim();
    let end = wish.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let (name, rest) = wish.split_at(end.unwrap_or(wish.len()));
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest.trim_start()),
        None => rest,
    };
    if rest.starts_with('@') || elsewhere(wish) {
        return list.skip(wish, "it does not come from a registry");
    }
    let clauses = rest.trim_start_matches('(').trim_end_matches(')').split(',').map(str::trim);
    let mut pins = clauses.filter_map(|clause| {
        let version = clause.strip_prefix("===").or_else(|| clause.strip_prefix("=="))?.trim();
        (!version.is_empty() && !version.contains('*')).then_some(version)
    });
    match pins.next_back() {
        Some(version) => list.add(Ecosystem::Pypi, name, version),
        None => list.skip(wish, "it is not pinned to one version"),
    }
}

/// Whether it is the address or the folder of something.
fn elsewhere(wish: &str) -> bool {
    wish.contains("://") || wish.contains('/') || wish.starts_with('.')
}
