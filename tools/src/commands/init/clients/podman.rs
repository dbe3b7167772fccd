//! podman, skopeo and buildah: a file of ours in the folder that they read beside their own
//! configuration. Weir stands in the place of the registry it asks, so nothing passes it by.

use std::path::PathBuf;

use super::edit::{Edit, Place};
use crate::config::Config;
use crate::environment;

pub(super) fn path() -> Option<PathBuf> {
    // Wherever XDG_CONFIG_HOME points: they do not look there.
    let home = environment::var("HOME").filter(|home| !home.is_empty())?;
    Some(PathBuf::from(home).join(".config/containers/registries.conf.d/weir.conf"))
}

pub(super) fn edit(base: &str, config: &Config) -> Edit {
    let upstream = config.registries.docker.upstream.as_ref();
    let host = upstream.and_then(|url| {
        let host = url.0.host_str()?;
        Some(url.0.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    });
    Edit { lines: lines(base, &host.unwrap_or_default()), place: Place::End, set_aside: |_| false }
}

pub(super) fn objection(_without: &str, _with: &str) -> Option<String> {
    let set = environment::is_set("CONTAINERS_REGISTRIES_CONF");
    set.then(|| {
        "CONTAINERS_REGISTRIES_CONF is set in the environment and goes before it".to_owned()
    })
}

/// Weir in the place of each name that images of the upstream have.
fn lines(base: &str, upstream: &str) -> Vec<String> {
    let host = base.split_once("://").map_or(base, |(_, host)| host);
    let tables = names(upstream).into_iter().map(|name| {
        let insecure = if base.starts_with("http://") { "\ninsecure = true" } else { "" };
        format!("[[registry]]\nprefix = \"{name}\"\nlocation = \"{host}\"{insecure}")
    });
    tables.flat_map(|table| table.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// What images of a registry are called by: its host, and where that is one of many of its kind
/// (`registry-1`, `index`), the domain it is in.
fn names(upstream: &str) -> Vec<&str> {
    let mut names = vec![upstream];
    if let Some((first, domain)) = upstream.split_once('.')
        && domain.contains('.')
        && (first.starts_with("registry-") || first == "index")
    {
        names.push(domain);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weir_stands_where_the_registry_stood_under_each_of_its_names() {
        let one = lines("https://weir.example", "mirror.example.org");
        let wanted =
            ["[[registry]]", "prefix = \"mirror.example.org\"", "location = \"weir.example\""];
        assert_eq!(one, wanted);
        let two = lines("http://127.0.0.1:7400", "registry-1.images.example");
        let prefixes: Vec<_> = two.iter().filter(|line| line.starts_with("prefix")).collect();
        let wanted = ["prefix = \"registry-1.images.example\"", "prefix = \"images.example\""];
        assert_eq!(prefixes, wanted);
        assert_eq!(two.iter().filter(|line| *line == "insecure = true").count(), 2);
        assert_eq!(names("index.example"), ["index.example"], "no domain of its own is left");
    }
}
