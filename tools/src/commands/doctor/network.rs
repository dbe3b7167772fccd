//! The outside: whether upstreams answer.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use uuid::Uuid;
use weir_events::registry::Ecosystem;
use weir_processors::outbound::{Ask, Encoding, Limits, Outbound, Reach, Trail};

use super::Checked;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::config::registries::{Registry, goods, upstream_key};
use crate::config::{Config, without_password};
use crate::context::Context;
use crate::discovery;
use crate::environment;
use crate::exit::{Failure, chain};

const WITHIN: Duration = Duration::from_secs(10);
const PROXY_VARIABLES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// The web UI, where a server runs that can be asked for it.
pub(super) async fn ui(context: &Context) -> Option<Checked> {
    const WHAT: &str = "ui";
    let running = context.data_dir.running().filter(|running| !running.url.is_empty())?;
    let args = ServerArgs { server: Some(running.url), token: None };
    let status = match Client::new(context, &args) {
        Ok(client) => client.status_of("").await,
        Err(failure) => Err(failure),
    };
    Some(match status {
        Ok(200) => Checked::ok(WHAT, "served"),
        Ok(status) => Checked::warn(
            WHAT,
            format!("the server answers {status} for it"),
            "build Weir with the feature `ui` and the committed api/ui/dist",
        ),
        Err(failure) => Checked::warn(WHAT, failure.message, failure.hint.unwrap_or_default()),
    })
}

/// How an upstream is asked whether it is one.
struct Probe {
    what: &'static str,
    /// What every registry of its kind has.
    path: &'static str,
    accept: &'static str,
    /// What the upstream's address should be.
    address: &'static str,
}

const fn probe(ecosystem: Ecosystem) -> Probe {
    match ecosystem {
        Ecosystem::Pypi => Probe {
            what: "pypi upstream",
            path: "pip/",
            accept: "application/vnd.pypi.simple.v1+json, text/html",
            address: "the index, up to and with its `simple/`",
        },
        Ecosystem::Npm => Probe {
            what: "npm upstream",
            path: "npm",
            accept: "application/vnd.npm.install-v1+json",
            address: "the registry, as `npm config get registry` prints it",
        },
        Ecosystem::Cargo => Probe {
            what: "cargo upstream",
            path: "config.json",
            accept: "application/json",
            address: "the sparse index, the folder of its config.json",
        },
        Ecosystem::Go => Probe {
            what: "go upstream",
            path: "golang.org/x/mod/@v/list",
            accept: "text/plain",
            address: "the module proxy, as `go env GOPROXY` prints it, without `direct`",
        },
        Ecosystem::Docker => Probe {
            what: "docker upstream",
            path: "v2/",
            accept: "application/json",
            address: "the registry, without a path: https://registry.example",
        },
    }
}

pub(super) async fn check(config: &Config, offline: bool) -> Vec<Checked> {
    let mut checked = Vec::new();
    for registry in config.registries.all() {
        let probe = probe(registry.ecosystem);
        checked.extend(upstream(config, &registry, &probe, offline).await);
    }
    let proxies = PROXY_VARIABLES.into_iter().filter(|name| environment::is_set(name));
    let proxies: Vec<&str> = proxies.collect();
    if !proxies.is_empty() {
        let why = format!("{} set, which Weir does not use", proxies.join(", "));
        let fix = "point the upstreams at registries that are reachable without a proxy";
        checked.push(Checked::warn("proxy", why, fix));
    }
    checked
}

async fn upstream(
    config: &Config,
    registry: &Registry<'_>,
    probe: &Probe,
    offline: bool,
) -> Option<Checked> {
    let (what, key) = (probe.what, upstream_key(registry.ecosystem));
    if !registry.enabled {
        return Some(Checked::ok(what, "disabled"));
    }
    let Some(upstream) = registry.upstream else {
        let why = format!("not set: {} are not served", goods(registry.ecosystem));
        return Some(Checked::warn(what, why, format!("run `weir init`, or set {key}")));
    };
    if discovery::is_itself(upstream, &config.server) {
        let fix = format!("set {key} to the registry behind it");
        return Some(Checked::fail(what, "it is this Weir itself", fix));
    }
    if offline {
        return None;
    }
    let shown = without_password(upstream.as_str());
    Some(match ask(upstream, probe).await {
        Ok(200) => Checked::ok(what, format!("{shown} answers")),
        // Each repository is asked with a token of its own.
        Ok(401) if registry.ecosystem == Ecosystem::Docker => {
            Checked::ok(what, format!("{shown} answers, and asks for tokens"))
        }
        Ok(status @ (401 | 403)) => Checked::fail(
            what,
            format!("{shown} answers {status}"),
            format!("put user name and password into {key}: https://${{USER}}:${{PASSWORD}}@…"),
        ),
        Ok(status) => Checked::fail(
            what,
            format!("{shown} answers {status} for {}", probe.path),
            format!("set {key} to {}", probe.address),
        ),
        Err(failure) => Checked::fail(
            what,
            format!("{shown} does not answer: {}", failure.message),
            format!("check the network, and {key}"),
        ),
    })
}

async fn ask(upstream: &Url, probe: &Probe) -> Result<u16, Failure> {
    let (reach, mut url) = Reach::of_upstream(upstream)?;
    let slash = if url.path().ends_with('/') { "" } else { "/" };
    url.set_path(&format!("{}{slash}{}", url.path(), probe.path));
    let outbound = Outbound::new(Uuid::nil(), Limits::default())?;
    let ask = Ask {
        method: reqwest::Method::GET,
        url,
        reach: &reach,
        encoding: Encoding::Decoded,
        headers: HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(probe.accept))]),
        trail: &Trail::default(),
    };
    match tokio::time::timeout(WITHIN, outbound.open(ask)).await {
        Ok(reply) => Ok(reply.map_err(|fault| Failure::failed(chain(&fault)))?.status().as_u16()),
        Err(_) => Err(Failure::failed(format!("nothing within {} s", WITHIN.as_secs()))),
    }
}
