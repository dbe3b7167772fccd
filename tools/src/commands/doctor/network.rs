//! The outside: whether upstreams answer.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use uuid::Uuid;
use weir_processors::outbound::{Ask, Encoding, Limits, Outbound, Reach, Trail};

use super::Checked;
use crate::cli::ServerArgs;
use crate::client::Client;
use crate::config::{Config, HttpUrl, without_password};
use crate::context::Context;
use crate::discovery;
use crate::environment;
use crate::exit::{Failure, chain};

const WHAT: &str = "pypi upstream";
const WITHIN: Duration = Duration::from_secs(10);
/// A project that every index has, since pip installs itself.
const PROJECT: &str = "pip/";
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

pub(super) async fn check(config: &Config, offline: bool) -> Vec<Checked> {
    let pypi = &config.registries.pypi;
    if !pypi.enabled {
        return vec![Checked::ok(WHAT, "disabled")];
    }
    let Some(HttpUrl(upstream)) = &pypi.upstream else {
        let fix = "run `weir init`, or set registries.pypi.upstream";
        return vec![Checked::warn(WHAT, "not set: Python packages are not served", fix)];
    };
    if discovery::is_itself(upstream, &config.server) {
        let fix = "set registries.pypi.upstream to the index behind it";
        return vec![Checked::fail(WHAT, "it is this Weir itself", fix)];
    }
    let mut checked = Vec::new();
    let proxies = PROXY_VARIABLES.into_iter().filter(|name| environment::is_set(name));
    let proxies: Vec<&str> = proxies.collect();
    if !proxies.is_empty() {
        let why = format!("{} set, which Weir does not use", proxies.join(", "));
        let fix = "point registries.pypi.upstream at an index that is reachable without a proxy";
        checked.push(Checked::warn("proxy", why, fix));
    }
    if offline {
        return checked;
    }
    let shown = without_password(upstream.as_str());
    checked.push(match ask(upstream).await {
        Ok(200) => Checked::ok(WHAT, format!("{shown} answers")),
        Ok(status @ (401 | 403)) => Checked::fail(
            WHAT,
            format!("{shown} answers {status}"),
            "put user name and password into registries.pypi.upstream: https://${USER}:${PASSWORD}@…",
        ),
        Ok(status) => Checked::fail(
            WHAT,
            format!("{shown} answers {status} for {PROJECT}"),
            "set registries.pypi.upstream to the index, up to and with its `simple/`",
        ),
        Err(failure) => Checked::fail(
            WHAT,
            format!("{shown} does not answer: {}", failure.message),
            "check the network, and registries.pypi.upstream",
        ),
    });
    checked
}

async fn ask(upstream: &Url) -> Result<u16, Failure> {
    let (reach, bare) = Reach::of_upstream(upstream)?;
    let outbound = Outbound::new(Uuid::nil(), Limits::default())?;
    let mut headers = HeaderMap::new();
    headers
        .insert(ACCEPT, HeaderValue::from_static("application/vnd.pypi.simple.v1+json, text/html"));
    let ask = Ask {
        method: reqwest::Method::GET,
        url: bare.join(PROJECT)?,
        reach: &reach,
        encoding: Encoding::Decoded,
        headers,
        trail: &Trail::default(),
    };
    match tokio::time::timeout(WITHIN, outbound.open(ask)).await {
        Ok(reply) => Ok(reply.map_err(|fault| Failure::failed(chain(&fault)))?.status().as_u16()),
        Err(_) => Err(Failure::failed(format!("nothing within {} s", WITHIN.as_secs()))),
    }
}
