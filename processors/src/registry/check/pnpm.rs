//! `pnpm-lock.yaml`: the keys of `packages`, which each version spells in its own way.
//!
//! | version | key |
//! | --- | --- |
//! | 5 | `/@scope/name/1.0.0_peers` |
//! | 6 | `/@scope/name@1.0.0(peers)` |
//! | 9 | `@scope/name@1.0.0` |

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_events::registry::Ecosystem;

use super::{CheckFault, Kind, Listing, elsewhere, loose::Loose, unreadable, yaml};

#[derive(Debug, Deserialize)]
struct Lock {
    #[serde(rename = "lockfileVersion")]
    version: Option<Loose>,
    #[serde(default)]
    packages: Option<BTreeMap<String, Loose>>,
}

pub(super) fn read(text: &str, list: &mut Listing) -> Result<(), CheckFault> {
    let documents: Vec<Lock> = yaml::documents(Kind::Pnpm, text)?;
    for lock in documents {
        let version = lock.version.as_ref().and_then(Loose::as_deref).unwrap_or_default();
        let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
        let major = major.ok_or_else(|| unreadable(Kind::Pnpm, &"it has no lockfileVersion"))?;
        for key in lock.packages.iter().flat_map(BTreeMap::keys) {
            package(major, key, list)?;
        }
    }
    Ok(())
}

fn package(major: u32, key: &str, list: &mut Listing) -> Result<(), CheckFault> {
    const ELSEWHERE: &str = "it does not come from a registry";
    let of_registry = key.strip_prefix('/');
    let path = match (major, of_registry) {
        (..9, None) => return list.skip(key, ELSEWHERE),
        (_, path) => path.unwrap_or(key),
    };
    let path = path.split('(').next().unwrap_or_default();
    let parts = if major < 6 { path.rsplit_once('/') } else { at(path) };
    let Some((name, version)) = parts else { return list.skip(key, ELSEWHERE) };
    let version = if major < 6 { version.split('_').next().unwrap_or_default() } else { version };
    if elsewhere(version) {
        return list.skip(key, ELSEWHERE);
    }
    list.add(Ecosystem::Npm, name, version)
}

/// Splits at the `@` that is not the scope's.
fn at(path: &str) -> Option<(&str, &str)> {
    let at = path.get(1..)?.find('@')? + 1;
    Some((path.get(..at)?, path.get(at + 1..)?))
}
