//! The go command: `GOPROXY` in the user's own file of its environment, without a way past Weir.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::environment;

pub(super) fn path() -> Option<PathBuf> {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    if let Some(named) = set("GOENV") {
        return (named != "off").then(|| PathBuf::from(named));
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
