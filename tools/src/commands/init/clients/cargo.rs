//! cargo: a source that replaces its default one, in the user's own `config.toml`. Lock files go on
//! naming the default, so they stay what they are.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::discovery;

pub(super) fn path() -> Option<PathBuf> {
    let home = discovery::cargo_home()?;
    // Where there are both, cargo takes the one without an ending.
    let old = home.join("config");
    Some(if old.is_file() { old } else { home.join("config.toml") })
}

pub(super) fn edit(base: &str) -> Edit {
    let text = format!(
        "[source.crates-io]\nreplace-with = \"weir\"\n\n[registries.weir]\n\
         index = \"sparse+{base}/cargo/\"\ncredential-provider = \"cargo:token\""
    );
    let lines = text.lines().map(str::to_owned).collect();
    // Below all tables: what came after ours would be part of it.
    Edit { lines, place: Place::End, set_aside: |_| false }
}

pub(super) fn objection(without: &str, with: &str) -> Option<String> {
    let table = match toml_span::parse(without) {
        Ok(table) => table,
        Err(fault) => return Some(format!("cargo itself cannot read it: {fault}")),
    };
    let has = |table: &toml_span::Value<'_>, outer: &str, inner: &str| {
        let outer = table.as_table().and_then(|all| all.get(outer));
        outer.and_then(|outer| outer.as_table()).is_some_and(|outer| outer.contains_key(inner))
    };
    for (outer, inner) in [("source", "crates-io"), ("source", "weir"), ("registries", "weir")] {
        if has(&table, outer, inner) {
            return Some(format!(
                "it has a table `{outer}.{inner}` of its own; take that out by hand first, its \
                 registry can be Weir's upstream"
            ));
        }
    }
    toml_span::parse(with).err().map(|fault| format!("it would not be TOML any more: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(without: &str) -> Option<String> {
        objection(without, &edit("http://127.0.0.1:7400").put_in(without))
    }

    #[test]
    fn the_source_is_replaced_below_whatever_is_there() {
        for text in
            ["", "paths = []\n", "[net]\nretry = 3", "[source.vendored]\ndirectory = \"x\"\n"]
        {
            assert_eq!(told(text), None, "{text}");
            let with = edit("http://127.0.0.1:7400").put_in(text);
            let table = toml_span::parse(&with).unwrap();
            let index = table.pointer("/registries/weir/index").and_then(|index| index.as_str());
            assert_eq!(index, Some("sparse+http://127.0.0.1:7400/cargo/"));
        }
    }

    #[test]
    fn what_says_otherwise_already_is_for_its_owner_to_decide() {
        for (text, words) in [
            ("[source.crates-io]\nreplace-with = \"company\"\n", "source.crates-io"),
            ("[registries.weir]\nindex = \"x\"\n", "registries.weir"),
            ("[source", "cannot read it"),
            ("registries = { a = { index = \"x\" } }\n", "would not be TOML"),
        ] {
            let told = told(text).expect(text);
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
