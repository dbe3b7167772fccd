//! pip: the index in the user's `pip.conf`, which uv does not read.
//!
//! Follows pip's "Configuration": a file that `PIP_CONFIG_FILE` names is read instead of the user's,
//! variables go before files, and a key may be spelt with `_` for `-`.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::config::HttpUrl;
use crate::{discovery, environment};

/// What goes before the user's file.
const OVERRIDES: [&str; 3] = ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"];
const CONFIG_FILE: &str = "PIP_CONFIG_FILE";
/// Named for the file, it stands for none.
const NOTHING: &str = "/dev/null";

pub(super) fn path() -> Option<PathBuf> {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    if let Some(named) = set(CONFIG_FILE) {
        return Some(PathBuf::from(named));
    }
    let home = || Some(PathBuf::from(set("HOME")?));
    if cfg!(target_os = "macos") {
        let own = home()?.join("Library/Application Support/pip");
        if own.is_dir() {
            return Some(own.join("pip.conf"));
        }
    }
    let folder = set("XDG_CONFIG_HOME").filter(|_| !cfg!(target_os = "macos")).map(PathBuf::from);
    let folder = folder.or_else(|| Some(home()?.join(".config")));
    folder.map(|folder| folder.join("pip/pip.conf"))
}

pub(super) fn edit(base: &str) -> Edit {
    let mut lines = vec![format!("index-url = {base}/pypi/simple/")];
    lines.extend(untrusted(base).map(|host| format!("trusted-host = {host}")));
    Edit { lines, place: Place::Under("[global]"), set_aside: |line| key(line) == "index-url" }
}

/// What stands against an edit, in the file without it and in the file with it.
pub(super) fn objection(without: &str, with: &str) -> Option<String> {
    if environment::var(CONFIG_FILE).is_some_and(|named| named == NOTHING) {
        return Some(format!("{CONFIG_FILE} names {NOTHING}, so pip reads no file"));
    }
    if let Some(name) = OVERRIDES.into_iter().find(|name| environment::is_set(name)) {
        return Some(format!("{name} is set in the environment and goes before it"));
    }
    in_file(without, with)
}

fn in_file(without: &str, with: &str) -> Option<String> {
    let has = |text: &str, wanted: &str| text.lines().any(|line| key(line) == wanted);
    if has(without, "extra-index-url") {
        return Some(
            "it has an `extra-index-url`, which pip asks beside Weir; take that out first"
                .to_owned(),
        );
    }
    if has(without, "trusted-host") && with.lines().filter(|l| key(l) == "trusted-host").count() > 1
    {
        return Some(
            "it has a `trusted-host` already; add Weir's host to that by hand, and its index"
                .to_owned(),
        );
    }
    let lines: Vec<_> = without.lines().collect();
    let goes_on = lines.windows(2).any(|pair| {
        key(pair[0]) == "index-url"
            && pair[1].starts_with([' ', '\t'])
            && !pair[1].trim().is_empty()
    });
    goes_on.then(|| "its `index-url` goes on in the next line; write it into one first".to_owned())
}

/// The host of a Weir that pip does not trust: without TLS, on another machine.
fn untrusted(base: &str) -> Option<String> {
    let url = base.parse::<HttpUrl>().ok()?.0;
    let host = url.host_str()?.to_owned();
    (url.scheme() == "http" && !discovery::is_loopback(&host)).then_some(host)
}

/// The key that a line sets, as pip reads it; nothing where it sets none.
fn key(line: &str) -> String {
    if line.starts_with([' ', '\t', '#', ';', '[']) {
        return String::new();
    }
    let Some((key, _)) = line.split_once(['=', ':']) else { return String::new() };
    key.trim().to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effective(old: &str) -> Vec<String> {
        let new = edit("http://127.0.0.1:7400").put_in(old);
        let lines = new.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn the_index_is_another_in_its_section_and_nothing_else_is() {
        let ours = "index-url = http://127.0.0.1:7400/pypi/simple/";
        assert_eq!(effective(""), ["[global]", ours]);
        let old = "[install]\nuser = yes\nindex_url: https://a.example/\n[global]\ntimeout = 9\n\
                   index-url=https://b.example/\n";
        let wanted = ["[install]", "user = yes", "[global]", ours, "timeout = 9"];
        assert_eq!(effective(old), wanted);
    }

    #[test]
    fn what_would_lead_past_weir_is_for_its_owner_to_decide() {
        let told = |base: &str, old: &str| in_file(old, &edit(base).put_in(old));
        let (near, far) = ("http://127.0.0.1:7400", "http://weir.example:7400");
        for (base, old, words) in [
            (near, "[global]\nextra-index-url =\n    https://a.example/\n", "extra-index-url"),
            (near, "[global]\nindex-url =\n    https://a.example/\n", "next line"),
            (far, "[global]\ntrusted-host = a.example\n", "trusted-host"),
        ] {
            assert!(told(base, old).expect(old).contains(words), "{old}");
        }
        assert_eq!(told(near, "[global]\ntrusted-host = a.example\n"), None);
        assert_eq!(told(far, "[global]\ntimeout = 9\n"), None);
        assert!(edit(far).lines.contains(&"trusted-host = weir.example".to_owned()));
        assert_eq!(edit("https://weir.example").lines.len(), 1);
    }
}
