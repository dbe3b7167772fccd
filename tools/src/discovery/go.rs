//! What the go command uses: the first proxy that it would ask, as it says itself.

use super::{Named, Unknown, ask};

/// What it asks where there is no proxy, and that it asks nobody.
const NO_PROXIES: [&str; 2] = ["direct", "off"];

/// What stands for no checksum database.
const NO_DATABASES: [&str; 2] = ["", "off"];

pub(super) async fn named() -> Result<Named, Unknown> {
    let unknown = || Unknown::NoClient("go");
    let list = ask("go", &["env", "GOPROXY"]).await.ok_or_else(unknown)?;
    let address = first_of(&list).ok_or_else(unknown)?.to_owned();
    Ok(Named { address, by: "go env GOPROXY".to_owned() })
}

/// The checksum database that it asks.
pub(super) async fn checksum_database() -> Option<String> {
    let named = ask("go", &["env", "GOSUMDB"]).await?;
    // Behind its name may stand its key and its address.
    let name = named.split([' ', '+']).next().unwrap_or_default();
    (!NO_DATABASES.contains(&name)).then(|| name.to_owned())
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
}
