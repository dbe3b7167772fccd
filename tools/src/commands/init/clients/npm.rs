//! npm, and pnpm, yarn 1 and bun, which read its configuration: the registry in the user's `.npmrc`.
//! Registries of scopes stay what they are.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::environment;

/// What goes before the user's file: npm reads its variables in any case.
const OVERRIDES: [&str; 2] = ["npm_config_registry", "NPM_CONFIG_REGISTRY"];
const USER_CONFIG: [&str; 2] = ["npm_config_userconfig", "NPM_CONFIG_USERCONFIG"];

pub(super) fn path() -> Option<PathBuf> {
    let named = USER_CONFIG.into_iter().filter_map(environment::var).find(|path| !path.is_empty());
    let usual = || Some(PathBuf::from(environment::var("HOME")?).join(".npmrc"));
    named.map(PathBuf::from).or_else(usual)
}

pub(super) fn edit(base: &str) -> Edit {
    let lines = vec![format!("registry={base}/npm/")];
    // Above any `[section]`; of two lines the later one would count.
    Edit { lines, place: Place::Top, set_aside: names_the_registry }
}

pub(super) fn objection(_without: &str, _with: &str) -> Option<String> {
    let set = OVERRIDES.into_iter().find(|name| environment::is_set(name))?;
    Some(format!("{set} is set in the environment and goes before it"))
}

fn names_the_registry(line: &str) -> bool {
    let key = line.split('=').next().unwrap_or_default();
    line.contains('=') && key.trim() == "registry"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_another_and_nothing_else_is() {
        let old = "registry = https://mirror.example/\n@team:registry=https://team.example/\n\
                   //team.example/:_authToken=secret\n";
        let new = edit("http://127.0.0.1:7400").put_in(old);
        let effective: Vec<_> = new.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            effective,
            [
                "registry=http://127.0.0.1:7400/npm/",
                "@team:registry=https://team.example/",
                "//team.example/:_authToken=secret",
            ]
        );
    }
}
