//! The table of hostile addresses, each of them by every way that an address can come: asked for,
//! redirected to, as a websocket. What is refused is refused before a packet leaves.

use std::net::{IpAddr, SocketAddr};

use super::world::{PUBLIC, World, anything, class, page, redirect};
use crate::outbound::web::{ask::Terms, snapshot::SnapshotAsk};

struct Row {
    verdict: String,
    url: String,
    answers: String,
    ways: String,
}

fn rows(table: &str) -> Vec<Row> {
    let lines = table.lines().filter(|line| !line.starts_with("# ") && !line.is_empty());
    lines.map(row).collect()
}

fn row(line: &str) -> Row {
    let mut cells = line.split('\t');
    let mut cell = || cells.next().unwrap_or_default();
    let (verdict, url) = (cell().to_owned(), cell());
    let url = url.replace("\\\\", "\u{1}").replace("\\t", "\t").replace("\\n", "\n");
    let url = url.replace("\\r", "\r").replace("\\0", "\0").replace('\u{1}', "\\");
    let url = url.replace("LONG", &"a".repeat(8_192));
    Row { verdict, url, answers: cell().to_owned(), ways: cell().to_owned() }
}

/// A world in which `http://start.example/` leads to the address, and its name means what it should.
fn world(row: &Row) -> World {
    let to = row.url.clone();
    let world = World::new(move |seen| match seen.header("host") {
        Some("start.example") => redirect(302, &to),
        _ => page("", "the page"),
    });
    let rest = row.url.split("://").nth(1).unwrap_or_default();
    let name = rest.split(['/', ':', '?', '#']).next().unwrap_or_default();
    let name = name.trim_end_matches('.').to_lowercase();
    match row.answers.as_str() {
        "" => {}
        "-" => world.names.script(&name, ""),
        answers => world.names.script(&name, answers),
    }
    world
}

fn as_websocket(url: &str) -> Option<String> {
    url.strip_prefix("http").map(|rest| format!("ws{rest}"))
}

async fn look(world: &World, url: String) -> Result<(), crate::outbound::web::fault::EgressFault> {
    let ask =
        SnapshotAsk { agent: [1; 32], url, text: None, max_bytes: 1_000, terms: Terms::default() };
    world.egress.snapshot(ask, &anything).await.map(drop)
}

#[tokio::test]
async fn nothing_is_sent_to_a_hostile_address_by_any_way() {
    let (mut n_cases, mut wrong) = (0, Vec::new());
    for row in rows(include_str!("hostile.tsv")) {
        let mut judge = |way: &str, world: &World, class: &str, n_before: usize| {
            n_cases += 1;
            let (found, attempts) = (class.to_owned(), world.wires.attempts());
            if found != row.verdict || attempts.len() != n_before {
                wrong.push(format!(
                    "{way} {:?}: {found}, not {}; {attempts:?}",
                    row.url, row.verdict
                ));
            }
        };
        let direct = world(&row);
        let fault = direct.get(&row.url).await.err();
        judge("direct", &direct, fault.map_or("a page", |fault| class(&fault.why)), 0);
        if row.ways != "direct" {
            let led = world(&row);
            let fault = led.get("http://start.example/").await.unwrap_err();
            assert_eq!(fault.hops.first().unwrap(), "http://start.example/");
            assert_eq!(*fault.contacted, [Box::from("start.example")], "{}", row.url);
            judge("redirect", &led, class(&fault.why), 1);
        }
        if let (Some(url), "") = (as_websocket(&row.url), row.ways.as_str()) {
            let looked = world(&row);
            let fault = look(&looked, url).await.err();
            judge("websocket", &looked, fault.map_or("opened", |fault| class(&fault.why)), 0);
        }
    }
    assert!(wrong.is_empty(), "{} of {n_cases} cases:\n{}", wrong.len(), wrong.join("\n"));
    println!("{n_cases} hostile cases refused, no packet sent");
    assert!(n_cases >= 400, "{n_cases}");
}

#[tokio::test]
async fn a_harmless_address_is_let_through_by_every_way() {
    let (mut n_cases, mut wrong) = (0, Vec::new());
    for row in rows(include_str!("harmless.tsv")) {
        let mut answers = row.answers.split(',').map(|ip| ip.parse::<IpAddr>().ok());
        let first = answers.next().flatten().or_else(|| PUBLIC.parse().ok());
        let first = first.map(|ip| ip.to_canonical());
        for way in ["direct", "redirect", "websocket"] {
            n_cases += 1;
            let world = world(&row);
            let (done, expected) = match way {
                "direct" => (world.get(&row.url).await.map(drop), None),
                "redirect" => (world.get("http://start.example/").await.map(drop), None),
                // It is let through to a server that speaks no websocket.
                _ => (look(&world, as_websocket(&row.url).unwrap()).await, Some("notwebsocket")),
            };
            let tls = row.url.starts_with("https");
            let found = done.err().map(|fault| class(&fault.why));
            // The server here speaks no TLS: that the connection was opened is what counts.
            let expected = if tls { Some("broken") } else { expected };
            let attempt = world.wires.attempts().last().map(SocketAddr::ip);
            let named = row.url.contains("example") || row.url.contains("single");
            if found != expected || attempt.is_none() || (named && attempt != first) {
                wrong.push(format!("{way} {:?}: {found:?}, at {attempt:?}", row.url));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {n_cases} cases:\n{}", wrong.len(), wrong.join("\n"));
    println!("{n_cases} harmless cases let through");
    assert!(n_cases >= 50, "{n_cases}");
}
