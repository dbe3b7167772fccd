//! What a POST or a purge makes old: kept, a moment ago, or still under way.

use std::time::Duration;

use serde_json::json;
use weir_events::web::request::{HttpMethod, PortalRequest};
use weir_processors::web::pages;
use weir_tests::{agent::Agent, deadline, outside::Page, weir::Part};

use super::{Road, code, moved, refused};

/// A POST, signed by nobody yet.
fn posts(agent: &Agent, seed: &str, url: &str, now: u64) -> PortalRequest {
    let mut asks = agent.asks(seed, url, now);
    asks.method = HttpMethod::Post;
    asks.body = Some(b"one more".to_vec().into());
    asks.headers = [("content-type", "text/plain")].into();
    asks
}

/// RFC 9111, section 4.4: what was sent somewhere once changed nothing for those who read there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_post_may_have_changed_is_asked_for_anew() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let there = road.outside.also_at("127.0.0.2").await;
    let away = format!("{there}/away");
    road.outside.put("/add", Page { status: 303, ..Page::redirect("/items/1") });
    road.outside.put("/leave", Page { status: 303, ..Page::redirect(&away) });
    let named = Page::html("<p>Done.</p>").with("content-location", "/items/2");
    road.outside.put("/name", named);
    let now = road.tick(1).await;
    let is_cached = async |url: &str, turn: &str| {
        let page = ann.get(&format!("{url} {turn}"), url, now).await.expect(200).json();
        page["cached"] == true
    };
    for (to, status, reads, stays) in [
        ("/items", 200, "/items", false),
        ("/other", 200, "/items", true),
        ("/add", 303, "/items/1", false),
        ("/name", 200, "/items/2", false),
        ("/leave", 303, away.as_str(), true),
        ("/broken", 500, "/broken", true),
    ] {
        let reads = if reads.starts_with('/') { road.at(reads) } else { reads.to_owned() };
        is_cached(&reads, &format!("before {to}")).await;
        assert!(is_cached(&reads, &format!("again before {to}")).await, "{to}");
        if status == 500 {
            road.outside.put(to, Page { status, ..Page::html("<p>It broke.</p>") });
        }
        bob.send(posts(&bob, to, &road.at(to), now)).await.has(200);
        assert_eq!(is_cached(&reads, &format!("after {to}")).await, stays, "{to}");
        assert!(is_cached(&reads, &format!("again after {to}")).await, "{to}");
    }
    let said = road.events("WebCacheInvalidated").await;
    assert_eq!(said.len(), 5, "{said:?}");
    assert!(said.iter().all(|event| event["payload"]["cause"] == "changed"), "{said:?}");
    let keys = |n: usize| said[n]["payload"]["pages"]["keys"].as_array().expect("keys");
    for (n, to) in [(0, "/items"), (2, "/items/1"), (3, "/items/2")] {
        let key = json!(pages::key(&road.at(to), HttpMethod::Get, b""));
        assert!(keys(n).contains(&key), "{to}: {said:?}");
    }
    // The same of what HEAD says.
    let head = |seed: &str| {
        let asks = ann.asks(seed, &road.at("/items"), now);
        PortalRequest { method: HttpMethod::Head, ..asks }
    };
    ann.send(head("head")).await.has(200);
    bob.send(posts(&bob, "once more", &road.at("/items"), now)).await.has(200);
    let again = ann.send(head("head again")).await.expect(200).json();
    assert_eq!(again["cached"], false);
    road.weir.stop().await;
}

/// What a redirect had led to once outlived what was sent there, for it was cached under the first address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_post_may_have_changed_is_asked_for_anew_wherever_it_came_from() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    road.outside.put("/list", moved("/list/"));
    let lasting = |text: &str| Page::html(text).with("cache-control", "max-age=100000");
    road.outside.put("/ask", lasting("<p>This is what was asked.</p>"));
    road.outside.put("/asks", Page { status: 308, ..Page::redirect("/ask") });
    let now = road.tick(1).await;
    let is_cached = async |agent: &Agent, url: &str, turn: &str| {
        let page = agent.get(&format!("{url} {turn}"), url, now).await.expect(200).json();
        page["cached"] == true
    };
    // Through the redirect, kept and under way.
    let list = road.at("/list");
    assert!(!is_cached(&ann, &list, "first").await);
    assert!(is_cached(&ann, &list, "second").await);
    bob.send(posts(&bob, "adds", &road.at("/list/"), now)).await.has(200);
    assert!(!is_cached(&ann, &list, "third").await);
    assert!(is_cached(&ann, &list, "fourth").await);
    bob.send(posts(&bob, "adds to what leads there", &list, now)).await.has(200);
    assert!(!is_cached(&ann, &list, "fifth").await);
    // What the same address gives who sends it something: his own answers.
    let asks = |seed: &str, body: &str| {
        let mut asks = posts(&ann, seed, &road.at("/ask"), now);
        asks.body = Some(body.as_bytes().to_vec().into());
        asks
    };
    for (seed, body, cached) in [
        ("list", "list", false),
        ("list again", "list", true),
        ("change", "change", false),
        ("list anew", "list", false),
        ("list at last", "list", true),
        ("change again", "change", false),
    ] {
        let page = ann.send(asks(seed, body)).await.expect(200).json();
        assert_eq!(page["cached"], cached, "{seed}");
    }
    // Where his own question is led on, too.
    for (turn, cached) in [("first", false), ("second", true)] {
        let mut asks = posts(&ann, &format!("is led on {turn}"), &road.at("/asks"), now);
        asks.body = Some(b"whatever".to_vec().into());
        let page = ann.send(asks).await.expect(200).json();
        assert_eq!(page["cached"], cached, "{turn}");
    }
    // Nothing of it is left where it is looked for, either.
    let shown = road.admin().get("/api/web/cache?min_position=head").await.expect(200);
    let shown = shown.json();
    let of: Vec<_> =
        shown["pages"].as_array().expect("pages").iter().map(|it| &it["url"]).collect();
    assert_eq!(of, [&json!(road.at("/asks")), &json!(list)], "{shown}");
    road.weir.stop().await;
}

/// What was asked for before something was sent there, or an operator had it forgotten, comes after it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_when_it_is_forgotten_is_kept_for_nobody() {
    let road = Road::start(", timeout: 1m").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let there = road.outside.also_at("127.0.0.2").await;
    road.outside.put("/moved", moved(&format!("{there}/far")));
    let now = road.tick(1).await;
    for (path, leads_to, host) in [
        ("/sent", "/sent", None),
        ("/purged", "/purged", Some("127.0.0.1")),
        ("/moved", "/far", Some("127.0.0.2")),
    ] {
        let url = road.at(path);
        let gate = road.outside.hold();
        let first = tokio::spawn({
            let (ann, url) = (ann.clone(), url.clone());
            async move { ann.get(&format!("first {url}"), &url, now).await }
        });
        road.asked(path, 1).await;
        if leads_to != path {
            gate.add_permits(1);
            road.asked(leads_to, 1).await;
        }
        // Who comes now is not held up.
        road.outside.release();
        match host {
            None => bob.send(posts(&bob, path, &url, now)).await.has(200),
            Some(host) => {
                let purge = format!("/api/web/cache?host={host}");
                road.admin().delete(&purge).await.has(200);
            }
        }
        gate.add_permits(1);
        let first = first.await.expect("no panic").expect(200).json();
        assert_eq!(first["cached"], false, "{path}");
        for (turn, cached) in [("second", false), ("third", true)] {
            let page = bob.get(&format!("{turn} {url}"), &url, now).await.expect(200).json();
            assert_eq!(page["cached"], cached, "{turn} {path}");
        }
    }
    // Nor does one wait for it who asks later.
    let url = road.at("/waits");
    let gate = road.outside.hold();
    let first = tokio::spawn({
        let (ann, url) = (ann.clone(), url.clone());
        async move { ann.get("waits", &url, now).await }
    });
    road.asked("/waits", 1).await;
    road.outside.release();
    road.admin().delete(&format!("/api/web/cache?url={url}")).await.has(200);
    let page = bob.get("does not wait", &url, now).await.expect(200).json();
    assert_eq!((&page["cached"], road.outside.asked("/waits")), (&json!(false), 2));
    gate.add_permits(1);
    first.await.expect("no panic").has(200);
    let page = ann.get("later", &url, now).await.expect(200).json();
    assert_eq!((&page["cached"], road.outside.asked("/waits")), (&json!(true), 2));
    // Who waits with those who asked before, for only what it leads to was forgotten, is not given it.
    let url = road.at("/moves");
    road.outside.put("/moves", moved(&format!("{there}/hidden")));
    let gate = road.outside.hold();
    let asks = |agent: &Agent, seed: &'static str| {
        let (agent, url) = (agent.clone(), url.clone());
        tokio::spawn(async move { agent.get(seed, &url, now).await })
    };
    let first = asks(&ann, "moves");
    road.asked("/moves", 1).await;
    gate.add_permits(1);
    road.asked("/hidden", 1).await;
    road.admin().delete("/api/web/cache?host=127.0.0.2").await.has(200);
    let n_submitted = road.events("WebRequestSubmitted").await.len();
    let second = asks(&bob, "moves, too");
    deadline::until("the second one is let in", async || {
        let n = road.events("WebRequestSubmitted").await.len();
        if n > n_submitted { Ok(()) } else { Err(n) }
    })
    .await;
    road.outside.release();
    gate.add_permits(1);
    first.await.expect("no panic").has(200);
    let page = second.await.expect("no panic").expect(200).json();
    assert_eq!((&page["cached"], road.outside.asked("/hidden")), (&json!(false), 2));
    road.weir.stop().await;
}

/// What one instance was told to forget was once kept by another one that was fetching it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_elsewhere_when_it_is_forgotten_is_kept_for_nobody() {
    let road = Road::start(", timeout: 1m").await;
    let other = road.place.start(Part::Api).await;
    let (ann, bob) = (road.agent("ann").await.at(&other.url), road.agent("bob").await);
    let now = road.tick(1).await;
    for (path, purge) in [
        ("/host", Some("host=127.0.0.1".to_owned())),
        ("/url", Some(format!("url={}", road.at("/url")))),
        ("/sent", None),
    ] {
        let url = road.at(path);
        let gate = road.outside.hold();
        let first = tokio::spawn({
            let (ann, url) = (ann.clone(), url.clone());
            async move { ann.get(&url, &url, now).await }
        });
        road.asked(path, 1).await;
        road.outside.release();
        match purge {
            None => bob.send(posts(&bob, path, &url, now)).await.has(200),
            Some(purge) => {
                let purged = road.admin().delete(&format!("/api/web/cache?{purge}")).await;
                assert_eq!(purged.expect(200).json()["n_pages"], 0, "{path}");
            }
        }
        gate.add_permits(1);
        first.await.expect("no panic").has(200);
        // It was never stored where that was heard of before, and is forgotten where it was heard of later.
        let key = json!(pages::key(&url, HttpMethod::Get, b""));
        let said = async |kind: &str| {
            let events = road.events(kind).await;
            events.iter().filter(|event| event["payload"]["key"] == key).count()
        };
        deadline::until("it is kept no more", async || {
            let (n_stored, n_evicted) =
                (said("WebCacheStored").await, said("WebCacheEvicted").await);
            if n_stored == n_evicted { Ok(()) } else { Err((n_stored, n_evicted)) }
        })
        .await;
        for (turn, cached) in [("second", false), ("third", true)] {
            let page = ann.get(&format!("{turn} {url}"), &url, now).await.expect(200).json();
            assert_eq!(page["cached"], cached, "{turn} {path}");
        }
    }
    // Each is on record, also where nothing was cached.
    let said = road.events("WebCacheInvalidated").await;
    let causes: Vec<_> = said.iter().map(|event| &event["payload"]["cause"]).collect();
    assert_eq!(causes, ["purged", "purged", "changed"]);
    other.stop().await;
    road.weir.stop().await;
}

/// A gateway that died while something was sent once left what had been there before for all to see.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_gateway_that_died_was_sending_may_have_changed_something() {
    let road = Road::start(", timeout: 5s").await;
    let other = road.place.start(Part::Api).await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let now = road.tick(1).await;
    let url = road.at("/items");
    let is_cached =
        async |turn: &str| ann.get(turn, &url, now).await.expect(200).json()["cached"] == true;
    assert!(!is_cached("first").await);
    assert!(is_cached("second").await);
    let gate = road.outside.hold();
    let sent = tokio::spawn({
        let (bob, asks) = (bob.at(&other.url), posts(&bob, "sends", &url, now));
        async move { bob.send(asks).await }
    });
    road.asked("/items", 2).await;
    other.kill();
    drop(sent.await);
    road.outside.release();
    gate.add_permits(1);
    // It is settled by whoever is left, a while after its time is up.
    deadline::within(Duration::from_mins(1), "it is settled", async || {
        let failed = road.events("WebRequestFailed").await;
        if failed.len() == 1 { Ok(()) } else { Err(failed.len()) }
    })
    .await;
    let failed = road.events("WebRequestFailed").await;
    let words = "the gateway stopped before it was answered";
    let reason = failed[0]["payload"]["reason"].as_str().expect("words");
    assert!(reason.contains(words), "it is settled by the one that is left: {reason}");
    assert!(!is_cached("third").await);
    assert!(is_cached("fourth").await);
    road.weir.stop().await;
}

/// A purge once looked where the page was not yet, nor did it find what another host had led to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_fetched_a_moment_ago_is_purged_at_once_however_it_is_named() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let there = road.outside.also_at("127.0.0.2").await;
    road.outside.put("/moved", moved(&format!("{there}/far")));
    let now = road.tick(1).await;
    for (n, (path, purge)) in [
        ("/a", "host=127.0.0.1".to_owned()),
        ("/a", "host=127.1".to_owned()),
        ("/a", format!("url={}%23top", road.at("/a"))),
        ("/a", format!("url={}", road.at("/b/../a").replace("http", "HTTP"))),
        ("/moved", "host=127.0.0.2".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let seed = format!("{path} {purge}");
        let page = ann.get(&seed, &road.at(path), now).await.expect(200).json();
        assert_eq!(page["cached"], false, "{seed}");
        let purged = road.admin().delete(&format!("/api/web/cache?{purge}")).await.expect(200);
        let purged = purged.json()["n_pages"].as_u64().expect("a number");
        // Who stored it may hear of the purge before the purge finds it, and forgets it then.
        deadline::until(&format!("it is forgotten: {seed}"), async || {
            let gone = road.events("WebCacheEvicted").await;
            let of_purge = gone.last().is_some_and(|last| last["payload"]["cause"] == "purged");
            let found = gone.len() > n && (purged == 1 || purged == 0 && !of_purge);
            if found { Ok(()) } else { Err((purged, gone)) }
        })
        .await;
    }
    for purge in ["url=docs.rs", "url=file:///a", "host=docs.rs/a", "host=http://docs.rs"] {
        let path = format!("/api/web/cache?{purge}");
        assert_eq!(
            code(&road.admin().delete(&path).await),
            refused(400, "bad_parameter"),
            "{purge}"
        );
        assert_eq!(code(&road.admin().get(&path).await), refused(400, "bad_parameter"), "{purge}");
    }
    road.weir.stop().await;
}
