//! uv: its default index, in the user's own `uv.toml`.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::environment;

/// What goes before the user's file, or beside what it names.
const OVERRIDES: [&str; 5] =
    ["UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_NO_CONFIG"];
/// What names indexes in it.
const KEYS: [&str; 5] =
    ["/index", "/index-url", "/extra-index-url", "/pip/index-url", "/pip/extra-index-url"];

pub(super) fn path() -> Option<PathBuf> {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    if let Some(named) = set("UV_CONFIG_FILE") {
        return Some(PathBuf::from(named));
    }
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    folder.map(|folder| folder.join("uv/uv.toml"))
}

pub(super) fn edit(base: &str) -> Edit {
    let url = format!("url = \"{base}/pypi/simple/\"");
    let lines = ["[[index]]", "name = \"weir\"", &url, "default = true"];
    // Below all tables: what came after ours would be part of it.
    Edit { lines: lines.map(str::to_owned).to_vec(), place: Place::End, set_aside: |_| false }
}

/// What stands against an edit, in the file without it and in the file with it.
pub(super) fn objection(without: &str, with: &str) -> Option<String> {
    if let Some(name) = OVERRIDES.into_iter().find(|name| environment::is_set(name)) {
        return Some(format!("{name} is set in the environment and goes before it"));
    }
    in_file(without, with)
}

fn in_file(without: &str, with: &str) -> Option<String> {
    let table = match toml_span::parse(without) {
        Ok(table) => table,
        Err(fault) => return Some(format!("uv itself cannot read it: {fault}")),
    };
    if let Some(key) = KEYS.into_iter().find(|key| table.pointer(key).is_some()) {
        let key = key.trim_start_matches('/').replace('/', ".");
        return Some(format!(
            "it names indexes of its own (`{key}`); take them out by hand first, what they name can \
             be Weir's upstream"
        ));
    }
    toml_span::parse(with).err().map(|fault| format!("it would not be TOML any more: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(without: &str) -> Option<String> {
        in_file(without, &edit("http://127.0.0.1:7400").put_in(without))
    }

    #[test]
    fn the_default_index_is_weir_below_whatever_is_there() {
        for text in ["", "offline = false", "[pip]\nstrict = true\n"] {
            assert_eq!(told(text), None, "{text}");
            let with = edit("http://127.0.0.1:7400").put_in(text);
            let table = toml_span::parse(&with).unwrap();
            let url = table.pointer("/index/0/url").and_then(|url| url.as_str());
            assert_eq!(url, Some("http://127.0.0.1:7400/pypi/simple/"));
        }
    }

    #[test]
    fn what_names_an_index_already_is_for_its_owner_to_decide() {
        for (text, words) in [
            ("[[index]]\nurl = \"https://a.example/\"\n", "`index`"),
            ("extra-index-url = [\"https://a.example/\"]\n", "`extra-index-url`"),
            ("[pip]\nindex-url = \"https://a.example/\"\n", "`pip.index-url`"),
            ("[pip", "cannot read it"),
        ] {
            let told = told(text).expect(text);
            assert!(told.contains(words), "{text}: {told}");
        }
    }
}
