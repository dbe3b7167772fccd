//! The environment of the process: read here, and only as configuration.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// Begins the variables that stand for configuration keys: `WEIR__SERVER__PORT` is `server.port`.
pub(crate) const OVERRIDE_PREFIX: &str = "WEIR__";

/// The value of a variable, if it is set and is text.
#[expect(clippy::disallowed_methods, reason = "configuration is read here")]
pub(crate) fn var(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Whether a variable is set to anything.
pub(crate) fn is_set(name: &str) -> bool {
    var(name).is_some_and(|value| !value.is_empty())
}

/// Whether a program is found where programs are looked for.
pub(crate) fn in_path(program: &str) -> bool {
    env::split_paths(&var("PATH").unwrap_or_default()).any(|folder| {
        let found = fs::metadata(folder.join(program));
        found.is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    })
}

/// The variables that stand for configuration keys, in alphabetical order.
pub(crate) fn overrides() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| name.starts_with(OVERRIDE_PREFIX))
        .collect();
    found.sort();
    found
}
