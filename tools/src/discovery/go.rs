//! What the go command uses: the first proxy that it would ask, as it says itself.

use std::path::Path;

use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::{Named, Unknown, ask};
use crate::config::ChecksumDatabase;

/// What it asks where there is no proxy, and that it asks nobody.
const NO_PROXIES: [&str; 2] = ["direct", "off"];

/// Where its source has the keys of the databases that it knows by name, below its root.
const KEYS: &str = "src/cmd/go/internal/modfetch/key.go";

/// As much of it as is read.
const MAX_KEYS_BYTES: u64 = 64 << 10;

/// What stands for no checksum database.
const NO_DATABASES: [&str; 2] = ["", "off"];

pub(super) async fn named() -> Result<Named, Unknown> {
    let unknown = || Unknown::NoClient("go");
    let list = ask("go", &["env", "GOPROXY"]).await.ok_or_else(unknown)?;
    let address = first_of(&list).ok_or_else(unknown)?.to_owned();
    Ok(Named { address, by: "go env GOPROXY".to_owned() })
}

/// The checksum database that it asks, with its key where that is told, or stands in the command itself.
pub(super) async fn checksum_database() -> Option<String> {
    let named = ask("go", &["env", "GOSUMDB"]).await?;
    // Behind it may stand its address.
    let named = named.split(' ').next().unwrap_or_default();
    if NO_DATABASES.contains(&named) {
        return None;
    }
    let known = || async {
        let root = ask("go", &["env", "GOROOT"]).await?;
        let file = Path::new(&root).join(KEYS);
        let mut text = String::new();
        // A file of a few lines.
        File::open(file).await.ok()?.take(MAX_KEYS_BYTES).read_to_string(&mut text).await.ok()?;
        key_in(&text, named)
    };
    let known = if named.contains('+') { None } else { known().await };
    Some(known.unwrap_or_else(|| named.to_owned()))
}

/// The key of a database among those that the go command knows by itself.
fn key_in(source: &str, name: &str) -> Option<String> {
    let start = format!("{name}+");
    let mut quoted = source.split('"').skip(1).step_by(2);
    let key = quoted.find(|text| text.starts_with(&start))?;
    key.parse::<ChecksumDatabase>().ok().map(|it| it.to_string())
}

/// The first proxy of a list, between which stand commas or bars.
fn first_of(list: &str) -> Option<&str> {
    let mut proxies = list.split([',', '|']).map(str::trim);
    proxies.find(|proxy| !proxy.is_empty() && !NO_PROXIES.contains(proxy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_proxy_counts_and_direct_is_none() {
        for (list, first) in [
            ("https://a.example,direct", Some("https://a.example")),
            ("direct|https://b.example,https://c.example", Some("https://b.example")),
            ("https://a.example", Some("https://a.example")),
            ("direct", None),
            ("off", None),
            ("", None),
        ] {
            assert_eq!(first_of(list), first, "{list}");
        }
    }

    /// A database with the first public key of RFC 8032.
    const SUMS: &str = "sums.example+93b9e21d+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";

    #[test]
    fn the_key_of_a_database_is_found_by_its_name_and_taken_only_whole() {
        let source =
            |key: &str| format!("var known = map[string]string{{\n\t\"x\": \"{key}\",\n}}");
        assert_eq!(key_in(&source("sums.example+00000000+AAAA"), "sums.example"), None);
        assert_eq!(key_in(&source(SUMS), "sums.example"), Some(SUMS.to_owned()));
        for name in ["other.example", "sums.exampl"] {
            assert_eq!(key_in(&source(SUMS), name), None, "{name}");
        }
    }
}
