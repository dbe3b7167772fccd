//! npm's `package-lock.json`: a tree in version 1, a flat list of folders in version 3, and both in
//! version 2, where the list is what npm goes by.

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_events::registry::Ecosystem;

use super::{CheckFault, Kind, Listing, elsewhere, loose::Loose, unreadable};

#[derive(Debug, Deserialize)]
struct Lock {
    packages: Option<BTreeMap<String, Folder>>,
    dependencies: Option<BTreeMap<String, Node>>,
}

/// A folder below the project's own.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Folder {
    name: Option<String>,
    version: Loose,
    resolved: Loose,
    link: bool,
}

/// A package in the tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node {
    version: Loose,
    resolved: Loose,
    dependencies: BTreeMap<String, Self>,
}

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let lock: Lock =
        serde_json::from_str(text).map_err(|fault| unreadable(Kind::PackageLock, &fault))?;
    match (lock.packages, lock.dependencies) {
        (Some(folders), _) => {
            folders.iter().try_for_each(|(path, folder)| of_folder(path, folder, list))
        }
        (None, Some(tree)) => of_tree(&tree, list),
        (None, None) => Ok(()),
    }
}

fn of_folder(path: &str, folder: &Folder, list: &mut Listing) -> Result<(), CheckFault> {
    let Some((_, installed_as)) = path.rsplit_once("node_modules/") else {
        // The empty path is the project itself.
        return if path.is_empty() { Ok(()) } else { list.skip(path, "a folder of the project") };
    };
    if folder.link {
        return list.skip(path, "a link to a folder of the project");
    }
    // Installed under another name, it says its own.
    let name = folder.name.as_deref().unwrap_or(installed_as);
    let Some(version) = folder.version.as_deref() else {
        return list.skip(path, "it names no version");
    };
    of_registry(path, name, version, folder.resolved.as_deref(), list)
}

fn of_tree(tree: &BTreeMap<String, Node>, list: &mut Listing) -> Result<(), CheckFault> {
    for (name, node) in tree {
        match node.version.as_deref() {
            None => list.skip(name, "it names no version")?,
            Some(version) => {
                let alias = version.strip_prefix("npm:").and_then(|alias| {
                    let at = alias.rfind('@').filter(|at| *at > 0)?;
                    Some((alias.get(..at)?, alias.get(at + 1..)?))
                });
                let (name, version) = alias.unwrap_or((name, version));
                of_registry(name, name, version, node.resolved.as_deref(), list)?;
            }
        }
        of_tree(&node.dependencies, list)?;
    }
    Ok(())
}

fn of_registry(
    entry: &str,
    name: &str,
    version: &str,
    resolved: Option<&str>,
    list: &mut Listing,
) -> Result<(), CheckFault> {
    let of_http = |at: &str| at.starts_with("https://") || at.starts_with("http://");
    if elsewhere(version) || resolved.is_some_and(|at| elsewhere(at) && !of_http(at)) {
        let at = if elsewhere(version) { version } else { resolved.unwrap_or_default() };
        return list.skip(&format!("{entry} ({at})"), "it does not come from a registry");
    }
    list.add(Ecosystem::Npm, name, version)
}
