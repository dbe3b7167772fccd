//! The go command: `GOPROXY` in the user's own file of its environment, without a way past Weir.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::environment;

const CONFIG_FILE: &str = "GOENV";
/// Named for the file, it stands for none.
const NOTHING: &str = "off";

pub(super) fn path() -> Option<PathBuf> {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    if let Some(named) = set(CONFIG_FILE).filter(|named| named != NOTHING) {
        return Some(PathBuf::from(named));
    }
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    folder.map(|folder| folder.join("go/env"))
}

pub(super) fn edit(base: &str) -> Edit {
    // Nothing behind it: what Weir does not have is not to be had elsewhere.
    let lines = vec![format!("GOPROXY={base}/go")];
    Edit { lines, place: Place::End, set_aside: names_the_proxy }
}

pub(super) fn objection(_without: &str, _with: &str) -> Option<String> {
    if environment::var(CONFIG_FILE).is_some_and(|named| named == NOTHING) {
        return Some(format!("{CONFIG_FILE} is {NOTHING}, so go reads no file"));
    }
    let set = environment::is_set("GOPROXY");
    set.then(|| "GOPROXY is set in the environment and goes before it".to_owned())
}

fn names_the_proxy(line: &str) -> bool {
    line.starts_with("GOPROXY=")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_is_another_and_nothing_else_is() {
        let old = "GOPROXY=https://mirror.example,direct\nGOFLAGS=-mod=mod\n";
        let new = edit("http://127.0.0.1:7400").put_in(old);
        let effective: Vec<_> = new.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(effective, ["GOFLAGS=-mod=mod", "GOPROXY=http://127.0.0.1:7400/go"]);
    }
}
