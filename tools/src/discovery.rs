//! Which index this machine's own pip uses today, so that Weir can step in between. No address of
//! an index stands in Weir itself: who knows one is asked.

use std::net::IpAddr;
use std::process::Stdio;
use std::time::Duration;

use reqwest::Url;
use tokio::process::Command;

use crate::config::server::Server;
use crate::config::{HttpUrl, without_password};
use crate::environment;

/// How long pip may take to answer: the first start after an installation compiles it.
const ASKED_WITHIN: Duration = Duration::from_secs(20);
const INTERPRETERS: [&str; 2] = ["python3", "python"];
/// What pip itself looks in when nobody configured anything.
const ASK_MODEL: &str = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)";

/// An index, and who named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) upstream: HttpUrl,
    pub(crate) by: String,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unknown {
    #[error("no pip on this machine says which index it uses")]
    NoPip,
    #[error("{by} names `{named}`, which is no address of an index")]
    NoAddress { by: String, named: String },
    /// Weir would ask itself.
    #[error("{by} names `{named}`, which is this Weir itself")]
    Itself { by: String, named: String },
}

/// Asks the environment, pip's configuration, and pip itself, in this order.
pub(crate) async fn pypi(server: &Server) -> Result<Found, Unknown> {
    let (named, by) = named().await.ok_or(Unknown::NoPip)?;
    check(&named, by, server)
}

async fn named() -> Option<(String, String)> {
    if let Some(named) = environment::var("PIP_INDEX_URL").filter(|named| !named.is_empty()) {
        return Some((named, "PIP_INDEX_URL".to_owned()));
    }
    for interpreter in INTERPRETERS {
        let arguments = ["-m", "pip", "config", "get", "global.index-url"];
        if let Some(named) = ask(interpreter, &arguments).await {
            return Some((named, "pip config get global.index-url".to_owned()));
        }
    }
    if let Some(named) = ask("pip", &["config", "get", "global.index-url"]).await {
        return Some((named, "pip config get global.index-url".to_owned()));
    }
    for interpreter in INTERPRETERS {
        if let Some(named) = ask(interpreter, &["-c", ASK_MODEL]).await {
            return Some((named, format!("the pip of {interpreter}")));
        }
    }
    None
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
    Ok(Found { upstream, by })
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
async fn ask(program: &str, arguments: &[&str]) -> Option<String> {
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
        Server { host: host.to_owned(), port, public_url, ..Server::default() }
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
