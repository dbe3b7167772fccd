//! Which registries this machine's own package clients use today, so that Weir can step in between.
//! No address of a registry stands in Weir itself: who knows one is asked.

mod cargo;
mod go;
mod npm;
mod pypi;
pub(crate) mod sources;

use std::net::IpAddr;
use std::process::Stdio;
use std::time::Duration;

use reqwest::Url;
use tokio::process::Command;
use weir_events::registry::Ecosystem;

pub(crate) use self::cargo::home as cargo_home;
use crate::config::server::Server;
use crate::config::{HttpUrl, without_password};

/// How long a client may take to answer: the first start after an installation compiles pip.
const ASKED_WITHIN: Duration = Duration::from_secs(20);

/// The key of the checksum database that a module proxy passes on.
pub(crate) const CHECKSUM_DATABASE: &str = "registries.go.checksum_database";

/// A registry, and who named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) upstream: HttpUrl,
    pub(crate) by: String,
    /// What the same client says beside it: a key, and its value.
    pub(crate) beside: Option<(&'static str, String)>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("no {0} on this machine says which registry it uses")]
    NoClient(&'static str),
    #[error("{by} names `{named}`, which is no address of a registry")]
    NoAddress { by: String, named: String },
    /// Weir would ask itself.
    #[error("{by} names `{named}`, which is this Weir itself")]
    Itself { by: String, named: String },
    /// A folder, a git repository: nothing that is asked over HTTP.
    #[error("{by} names `{named}`, which is no sparse index")]
    NotSparse { by: String, named: String },
    #[error("could not read `{path}`: {why}")]
    Unreadable { path: String, why: String },
}

/// What is known of the registry of one ecosystem.
pub(crate) type Answer = (Ecosystem, Result<Found, Unknown>);

/// Asks the clients of all these ecosystems at once.
pub(crate) async fn ask_all(ecosystems: Vec<Ecosystem>, server: &Server) -> Vec<Answer> {
    let asking =
        ecosystems.into_iter().map(async |ecosystem| (ecosystem, of(ecosystem, server).await));
    futures_util::future::join_all(asking).await
}

async fn of(ecosystem: Ecosystem, server: &Server) -> Result<Found, Unknown> {
    let Named { address, by } = named(ecosystem).await?;
    let mut found = check(&address, by, server)?;
    if ecosystem == Ecosystem::Go {
        let database = go::checksum_database().await;
        found.beside = database.map(|name| (CHECKSUM_DATABASE, name));
    }
    Ok(found)
}

/// What the client of an ecosystem asks, started where this command was.
pub(crate) async fn named(ecosystem: Ecosystem) -> Result<Named, Unknown> {
    match ecosystem {
        Ecosystem::Pypi => pypi::named().await,
        Ecosystem::Npm => npm::named().await,
        Ecosystem::Cargo => cargo::named(),
        Ecosystem::Go => go::named().await,
        Ecosystem::Docker => Err(Unknown::NoClient("docker")),
    }
}

/// An address as somebody gave it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) address: String,
    pub(crate) by: String,
}

fn check(named: &str, by: String, server: &Server) -> Result<Found, Unknown> {
    let mut upstream: HttpUrl = match named.parse() {
        Ok(upstream) => upstream,
        Err(_) => return Err(Unknown::NoAddress { by, named: without_password(named) }),
    };
    if !upstream.0.path().ends_with('/') {
        let path = format!("{}/", upstream.0.path());
        upstream.0.set_path(&path);
    }
    if is_itself(&upstream.0, server) {
        return Err(Unknown::Itself { by, named: without_password(named) });
    }
    Ok(Found { upstream, by, beside: None })
}

/// Whether an address leads back to this Weir. What is not noticed here is noticed by the trail
/// that every request carries.
pub(crate) fn is_itself(upstream: &Url, server: &Server) -> bool {
    if let Some(HttpUrl(public)) = &server.public_url
        && upstream.origin() == public.origin()
    {
        return true;
    }
    let bare = |host: &str| host.trim_matches(['[', ']']).to_lowercase();
    let (host, ours) = (bare(upstream.host_str().unwrap_or_default()), bare(&server.host));
    let any = |host: &str| host.parse::<IpAddr>().is_ok_and(|address| address.is_unspecified());
    let same_host =
        host == ours || (is_loopback(&host) && (is_loopback(&ours) || any(&ours))) || any(&host);
    same_host && upstream.port_or_known_default() == Some(server.port)
}

/// Whether a host is this machine, by its loopback.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_matches(['[', ']']);
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The only line a program prints, if it succeeds.
pub(crate) async fn ask(program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let output = tokio::time::timeout(ASKED_WITHIN, command.output()).await.ok()?.ok()?;
    let printed = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    let line = printed.trim().lines().last()?.trim().to_owned();
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: u16, public: Option<&str>) -> Server {
        let public_url = public.map(|url| url.parse().unwrap());
        Server { host: host.parse().unwrap(), port, public_url, ..Server::default() }
    }

    #[test]
    fn an_index_gets_its_last_slash() {
        let server = Server::default();
        let found = check("https://mirror.example/simple", "pip".into(), &server).unwrap();
        assert_eq!(found.upstream.to_string(), "https://mirror.example/simple/");
    }

    #[test]
    fn what_is_no_address_is_told_without_its_password() {
        let fault = check("ftp://u:hunter2@mirror.example", "pip".into(), &Server::default());
        let said = fault.unwrap_err().to_string();
        assert!(said.contains("no address") && !said.contains("hunter2"), "{said}");
    }

    #[test]
    fn weir_does_not_ask_itself() {
        for (address, host, port, public) in [
            ("http://127.0.0.1:7400/pypi/simple/", "127.0.0.1", 7400, None),
            ("http://localhost:7400/pypi/simple/", "0.0.0.0", 7400, None),
            ("http://[::1]:7400/pypi/simple/", "127.0.0.1", 7400, None),
            ("http://weir.internal:80/pypi/simple/", "weir.internal", 80, None),
            ("https://weir.example/pypi/simple/", "0.0.0.0", 7400, Some("https://weir.example")),
        ] {
            let server = server(host, port, public);
            let found = check(address, "pip".into(), &server);
            assert!(matches!(found, Err(Unknown::Itself { .. })), "{address}: {found:?}");
        }
        let elsewhere = server("127.0.0.1", 7400, None);
        for address in ["http://127.0.0.1:3141/root/simple/", "https://mirror.example/simple/"] {
            assert!(check(address, "pip".into(), &elsewhere).is_ok(), "{address}");
        }
    }
}
