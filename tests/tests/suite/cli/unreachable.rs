//! A server that is not there, or is none: every command says so alike.

use axum::{Router, http::StatusCode, response::IntoResponse as _};
use serde_json::{Value, json};
use weir_tests::{site, weir::Place};

use super::{Ran, nobody, run};

/// Every command that asks a server, with as much as it needs.
const ASKING: &[&[&str]] = &[
    &["status"],
    &["events", "get", "1"],
    &["events", "get", "1", "--chain"],
    &["dead-letters", "ls"],
    &["dead-letters", "ls", "block_log"],
    &["dead-letters", "redeliver", "block_log", "7"],
    &["dead-letters", "redeliver", "block_log", "--all"],
    &["token", "create", "ci", "--scope", "admin"],
    &["token", "ls"],
    &["token", "revoke", "00", "--yes"],
    &["agent", "register", "a", "--public-key", AGENT],
    &["agent", "ls"],
    &["agent", "revoke", AGENT, "--yes"],
    &["explain", "npm", "left-pad", "1.0.0"],
    &["check", "--purl", "pkg:npm/left-pad@1.3.0"],
    &["cache", "stats"],
    &["cache", "purge", "--all", "--yes"],
    &["holds", "ls"],
    &["holds", "allow", "1", "--reason", "why", "--yes"],
    &["holds", "deny", "1", "--reason", "why", "--yes"],
    &["nexus", "show"],
    &["nexus", "epoch", "3", "--reason", "why"],
    &["nexus", "tick"],
    &["mint", "ls"],
    &["mint", "grant", "ann", "1", "--reason", "why"],
    &["web", "requests"],
    &["web", "cache"],
    &["web", "reports"],
    &["web", "reports", "0"],
    &["web", "search", "weir"],
    &["web", "purge", "--host", "docs.example"],
    &["web", "rules", "list"],
    &["web", "rules", "set", "allow", "x.example", "--category", "c", "--reason", "why"],
    &["web", "rules", "remove", "x.example", "--yes"],
    &["web", "why", "https://docs.example/"],
    &["web", "waivers", "list"],
    &["web", "waivers", "request", "host", "--reason", "w", "--owner", "o", "--days", "1"],
    &["web", "waivers", "grant", "1", "--yes"],
    &["web", "waivers", "revoke", "1", "--reason", "why", "--yes"],
    &["profiles", "ls"],
    &["profiles", "set", "agent"],
    &["profiles", "rm", "agent", "--yes"],
    &["registry", "impact", "GHSA-1"],
    &["reserved", "ls"],
    &["reserved", "add", "npm", "@acme/*"],
    &["reserved", "rm", "npm", "@acme/*", "--yes"],
    &["rules", "add", "pypi", "six", "*", "--reason", "why"],
    &["rules", "ls"],
    &["rules", "rm", "1", "--yes"],
    &["sources"],
    &["sources", "ls"],
    &["sources", "sync", "osv"],
    &["waivers", "ls"],
    &["waivers", "request", "npm", "a", "--reason", "w", "--owner", "o", "--days", "1"],
    &["waivers", "grant", "1", "--yes"],
    &["waivers", "revoke", "1", "--reason", "why", "--yes"],
];

const AGENT: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

/// What a command says of a failure in JSON, on standard error; there are no data then.
fn failure(ran: &Ran) -> Value {
    assert_eq!(ran.out, "", "{ran:?}");
    let last = ran.err.lines().last().unwrap_or_default();
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

#[tokio::test]
async fn where_nobody_answers_every_command_names_the_server_and_what_starts_it() {
    let place = Place::with_a_private_postgres();
    let (_held, server) = nobody();
    let start = format!("start it with `weir --data-dir {} up`", place.data_dir().display());
    for command in ASKING {
        let asked = [*command, &["--server", &server, "--json"]].concat();
        let told = failure(&run(&place, &asked).ends(69, &[]));
        let (error, hint) = (told["error"].as_str(), told["hint"].as_str());
        assert!(
            error.is_some_and(|it| it.contains(&format!("could not reach {server}/: "))),
            "{told}"
        );
        assert!(hint.is_some_and(|it| it.starts_with(&start)), "{told}");
        assert_eq!((&told["exit"], &told["problem"]), (&json!(69), &Value::Null), "{told}");
    }
    let told = run(&place, &["status", "--server", &server]).ends(69, &[]);
    assert!(told.err.starts_with("error: could not reach") && told.err.contains("\nfix: start it"));
    assert!(!place.data_dir().exists(), "something was made to find that out");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_weir_is_not_taken_for_one() {
    let place = Place::with_a_private_postgres();
    let page = |request: axum::extract::Request| async move {
        match request.uri().path() {
            "/page/api/status" => "<html>Welcome</html>".into_response(),
            "/broken/api/status" => (StatusCode::BAD_GATEWAY, "<html>Oh</html>").into_response(),
            "/closed/api/status" => {
                let problem = r#"{"title":"Go away","status":403,"code":"closed"}"#;
                (StatusCode::FORBIDDEN, problem).into_response()
            }
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    };
    let server = site::start(Router::new().fallback(page)).await;
    let status = |path: &str| run(&place, &["status", "--server", &format!("{server}{path}")]);
    let check = "fix: check the address given with --server or WEIR_SERVER";
    status("/page").ends(1, &["/page does not answer like a Weir", check]);
    let front = "fix: check the address: is there a Weir, or something in front of it?";
    status("/broken").ends(75, &["the server answered 502 without saying why", front]);
    status("/nothing").ends(3, &["the server answered 404 without saying why", front]);
    let closed = status("/closed").ends(4, &["error: Go away"]);
    assert!(!closed.err.contains("fix:"), "another token does not help: {}", closed.err);
    // It speaks no TLS: nothing is said to it in the clear.
    let secure = server.replace("http://", "https://");
    let told =
        run(&place, &["status", "--server", &secure]).ends(69, &["could not reach https://"]);
    assert!(told.err.contains("fix: start it with"), "{}", told.err);
    run(&place, &["status", "--server", "nonsense"]).ends(2, &["`nonsense` is not an address"]);
}

#[tokio::test]
async fn without_a_word_the_server_of_the_configuration_is_asked() {
    let (_held, server) = nobody();
    let port = server.rsplit(':').next().expect("a port");
    for (host, asked) in [("0.0.0.0", "127.0.0.1"), ("'::'", "[::1]"), ("'::1'", "[::1]")] {
        let place = Place::with_a_private_postgres();
        let place = place.setting(&format!("server: {{host: {host}, port: {port}}}\n"));
        run(&place, &["status"]).ends(69, &[&format!("could not reach http://{asked}:{port}/")]);
    }
    let place = Place::with_a_private_postgres().setting("server: {port: many}\n");
    run(&place, &["status"]).ends(2, &["weir.yaml:1:16: `server.port`"]);
}
