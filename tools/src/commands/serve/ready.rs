//! What is said when a server is ready: where it is, who may come in, what to try next.

use std::net::{IpAddr, SocketAddr};

use serde_json::json;

use super::first_start::Admin;
use crate::config::Config;
use crate::config::server::Server;
use crate::context::Context;
use crate::exit::Failure;
use crate::output::{Style, print, print_json};

/// The address people reach this Weir by.
pub(super) fn url(server: &Server, address: SocketAddr) -> String {
    if let Some(public) = &server.public_url {
        return public.0.as_str().trim_end_matches('/').to_owned();
    }
    let host = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
    };
    format!("http://{}", SocketAddr::new(host, address.port()))
}

pub(super) fn server(
    context: &Context,
    config: &Config,
    url: &str,
    admin: Option<&Admin>,
) -> Result<(), Failure> {
    let output = context.output;
    if output.json {
        return print_json(&json!({
            "url": url,
            "admin_token": admin.map(|admin| admin.token.as_str()),
            "data_dir": context.data_dir.path(),
            "pid": std::process::id(),
        }));
    }
    print(&text(context, config, url, admin))
}

pub(super) fn worker(context: &Context, address: Option<SocketAddr>) -> Result<(), Failure> {
    let output = context.output;
    let health = address.map(|address| format!("http://{address}/readyz"));
    if output.json {
        return print_json(&json!({ "health": health, "pid": std::process::id() }));
    }
    let health = health.map_or_else(String::new, |health| format!(", health at {health}"));
    print(&format!("weir worker {} is ready{health}", env!("CARGO_PKG_VERSION")))
}

fn text(context: &Context, config: &Config, url: &str, admin: Option<&Admin>) -> String {
    let output = context.output;
    let weir = context.weir();
    let mut lines = vec![format!(
        "weir {} is ready: {}",
        env!("CARGO_PKG_VERSION"),
        output.paint(Style::Strong, url)
    )];
    if let Some(Admin { token, kept_in }) = admin {
        lines.push(String::new());
        lines.push(format!("  admin token   {}", output.paint(Style::Strong, token)));
        lines.push("                shown this once; sign in to the UI with it".to_owned());
        lines.extend(kept_in.as_ref().map(|path| {
            let path = path.display();
            format!("                kept in {path} (0600): commands on this machine use it")
        }));
    }
    lines.push(String::new());
    lines.push("try next".to_owned());
    if config.registries.pypi.enabled && config.registries.pypi.upstream.is_some() {
        lines.push(format!("  pip install --index-url {url}/pypi/simple/ six"));
    }
    lines.push(format!(
        "  {weir} rules add pypi six '>=1.17' --reason 'not looked at yet' --mask mark"
    ));
    lines.push(format!("  {weir} tail"));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_one_that_can_be_opened() {
        let server = Server::default();
        let at = |address: &str| url(&server, address.parse().unwrap());
        assert_eq!(at("127.0.0.1:7400"), "http://127.0.0.1:7400");
        assert_eq!(at("0.0.0.0:80"), "http://127.0.0.1:80");
        assert_eq!(at("[::]:80"), "http://[::1]:80");
        let public_url = Some("https://weir.example/".parse().unwrap());
        let behind = Server { public_url, ..Server::default() };
        assert_eq!(url(&behind, "0.0.0.0:80".parse().unwrap()), "https://weir.example");
    }
}
