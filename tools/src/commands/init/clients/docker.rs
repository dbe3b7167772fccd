//! docker: its daemon asks, whose file is root's and has no room for a word of ours. So it is told
//! what to write, and what a mirror does not do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::config::HttpUrl;
use crate::{discovery, environment};

const DAEMON: &str = "/etc/docker/daemon.json";

/// What is to be done, unless it is.
pub(super) fn told(base: &str) -> Option<String> {
    let file = file();
    let text = fs::read_to_string(&file).unwrap_or_default();
    to_do(&file, &text, base)
}

/// The daemon's file; where it runs without root, the user's.
fn file() -> PathBuf {
    let set = |name: &str| environment::var(name).filter(|value| !value.is_empty());
    let folder = set("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = folder.or_else(|| Some(PathBuf::from(set("HOME")?).join(".config")));
    let own = folder.map(|folder| folder.join("docker/daemon.json"));
    own.filter(|own| own.is_file()).unwrap_or_else(|| PathBuf::from(DAEMON))
}

fn to_do(file: &Path, text: &str, base: &str) -> Option<String> {
    let now: Value = serde_json::from_str(text).unwrap_or_default();
    let mirrors = now["registry-mirrors"].as_array().into_iter().flatten();
    let mut mirrors = mirrors.filter_map(Value::as_str);
    if mirrors.any(|mirror| mirror.trim_end_matches('/') == base) {
        return None;
    }
    let url = base.parse::<HttpUrl>().ok();
    let host = base.split_once("://").map_or(base, |(_, host)| host);
    let near = url.and_then(|url| url.0.host_str().map(discovery::is_loopback)) == Some(true);
    let mut members = json!({ "registry-mirrors": [base] });
    if base.starts_with("http://") && !near {
        members["insecure-registries"] = json!([host]);
    }
    Some(format!(
        "into {}, which is the daemon's and not written here; then restart docker:\n    {members}\n\
         docker passes by a mirror that refuses, and asks the registry itself. What is to be refused \
         for certain is pulled by Weir's name: docker pull {host}/library/alpine:3.20",
        file.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_told_what_it_lacks_and_nothing_when_it_has_it() {
        let file = Path::new(DAEMON);
        let told = to_do(file, "", "http://127.0.0.1:7400").unwrap();
        for words in [DAEMON, "{\"registry-mirrors\":[\"http://127.0.0.1:7400\"]}", "passes by"] {
            assert!(told.contains(words), "{told}");
        }
        let far = to_do(file, "not JSON", "http://weir.example:7400").unwrap();
        assert!(far.contains("\"insecure-registries\":[\"weir.example:7400\"]"), "{far}");
        let has = "{\"registry-mirrors\": [\"https://weir.example/\"]}";
        assert_eq!(to_do(file, has, "https://weir.example"), None);
    }
}
