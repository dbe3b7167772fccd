//! Who is shown what was fetched for whom, and who has to ask for himself.

use serde_json::{Value, json};
use weir_events::web::{
    content::{ContentFilter, ContentFormat},
    request::HttpMethod,
};
use weir_tests::{agent::Agent, outside::Page};

use super::{Road, code, moved, refused};
use crate::web::kills::holder::{Fate, Holder};

/// A session of one agent was once everybody's page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_sets_a_cookie_is_shown_to_nobody_else() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let session = || Page::html("<p>You are signed in.</p>").with("set-cookie", "sid=1");
    road.outside.put("/session", session());
    road.outside.put("/login", moved("/welcome").with("set-cookie", "sid=2"));
    road.outside.put("/fresh", Page::html("<p>News.</p>").with("pragma", "no-cache"));
    let now = road.tick(1).await;
    for (path, page) in [("/session", "/session"), ("/login", "/welcome")] {
        let url = road.at(path);
        ann.get(&format!("ann {path}"), &url, now).await.has(200);
        let bobs = bob.get(&format!("bob {path}"), &url, now).await.expect(200).json();
        assert_eq!((&bobs["cached"], road.outside.asked(page)), (&json!(false), 2), "{path}");
        let again = ann.get(&format!("again {path}"), &url, now).await.expect(200).json();
        assert_eq!((&again["cached"], road.outside.asked(page)), (&json!(true), 2), "her own");
    }
    for seed in ["first", "second"] {
        ann.get(seed, &road.at("/fresh"), now).await.has(200);
    }
    assert_eq!(road.outside.asked("/fresh"), 2, "it is not to be cached");
    // Nor is it shown to who waits for the same at the same time.
    road.outside.put("/both", session());
    let gate = road.outside.hold();
    let url = road.at("/both");
    let release = async {
        road.asked("/both", 1).await;
        road.admitted(8).await;
        gate.add_permits(10);
    };
    let (anns, bobs, ()) =
        tokio::join!(ann.get("both", &url, now), bob.get("both", &url, now), release);
    for answer in [anns, bobs] {
        assert_eq!(answer.expect(200).json()["cached"], false);
    }
    assert_eq!(road.outside.asked("/both"), 2);
    road.weir.stop().await;
}

/// Half a recipe is no recipe, least of all the next time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_breaks_off_says_so_and_is_kept_for_nobody() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let half = Page::html("<p>This is the first half of it.</p><p>Do not");
    road.outside.put("/half", Page { breaks_off: true, ..half });
    let (url, now) = (road.at("/half"), road.tick(1).await);
    let first = ann.get("first", &url, now).await.expect(200).json();
    let warnings = first["filtered"]["warnings"].as_array().expect("warnings");
    assert!(warnings.contains(&json!("truncated")), "{warnings:?}");
    assert!(warnings.contains(&json!("the answer broke off: this is not all of it")));
    road.outside.put("/half", Page::html("<p>This is the whole of it.</p>"));
    let second = ann.get("second", &url, now).await.expect(200).json();
    assert_eq!((&second["cached"], &second["filtered"]["warnings"]), (&json!(false), &json!([])));
    road.weir.stop().await;
}

/// The structure once said that it was all of the page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_is_too_long_says_so_in_every_format() {
    let road = Road::start(", max_page: 64KiB").await;
    let ann = road.agent("ann").await;
    let prose = "<p>A weir regulates the flow of a river.</p>".repeat(4_000);
    let page = Page::html(&format!("<title>Weirs</title>{prose}"));
    road.outside.put("/long", page.with("cache-control", "max-age=1000"));
    road.outside.put("/short", Page::html("<p>A weir regulates the flow of a river.</p>"));
    let now = road.tick(1).await;
    let ask = async |path: &str, format: ContentFormat, turn: &str| {
        let seed = format!("{path} {format:?} {turn}");
        let mut asks = ann.asks(&seed, &road.at(path), now);
        asks.filter = ContentFilter { format, max_size: 1_000_000, ..asks.filter };
        let page = ann.send(asks).await.expect(200).json();
        let text = page["content"].as_str().expect("text").to_owned();
        let said = serde_json::from_str(&text).unwrap_or(Value::Null);
        (page["filtered"]["warnings"].clone(), said["truncated"].clone(), page["cached"].clone())
    };
    for format in ContentFormat::ALL {
        let structured = format == ContentFormat::Structured;
        let says = |truncated| if structured { json!(truncated) } else { Value::Null };
        for (turn, cached) in [("first", false), ("again", true)] {
            let long = ask("/long", format, turn).await;
            assert_eq!(long, (json!(["truncated"]), says(true), json!(cached)), "{format:?}");
        }
        let short = ask("/short", format, "first").await;
        assert_eq!((short.0, short.1), (json!([]), says(false)), "{format:?}");
    }
    road.weir.stop().await;
}

/// Decoding once made a page longer than what is read, and its beginning was everybody's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_decoding_makes_too_long_is_shown_to_nobody_else() {
    let road = Road::start(", max_page: 64KiB").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    // 57 kB of windows-1251 are 90 kB of UTF-8.
    let words = b"<p>\xcf\xeb\xee\xf2\xe8\xed\xe0 \xed\xe0 \xf0\xe5\xea\xe5.</p>".repeat(2_500);
    let headers = vec![("content-type", "text/html; charset=windows-1251".to_owned())];
    let page = Page { body: words.into(), headers, ..Page::html("") };
    road.outside.put("/river", page.with("cache-control", "max-age=1000"));
    let (url, now) = (road.at("/river"), road.tick(1).await);
    let ask = async |agent: &Agent, seed: &str| {
        let mut asks = agent.asks(seed, &url, now);
        asks.filter.max_size = 1_000_000;
        agent.send(asks).await.expect(200).json()
    };
    let first = ask(&ann, "first").await;
    let warnings = first["filtered"]["warnings"].as_array().expect("warnings");
    assert!(warnings.contains(&json!("only the first 65536 bytes were read")), "{warnings:?}");
    assert!(warnings.contains(&json!("truncated")), "{warnings:?}");
    assert!(first["content"].as_str().expect("text").contains("Плотина"), "{first}");
    assert_eq!(ask(&bob, "his").await["cached"], false);
    assert_eq!(road.outside.asked("/river"), 2);
    for agent in [&ann, &bob] {
        assert_eq!(ask(agent, "again").await["cached"], true, "each has his own");
    }
    // Nor is it shown to who waits for the same at the same time.
    road.outside.put("/both", road.outside.page("/river"));
    let (gate, both) = (road.outside.hold(), road.at("/both"));
    let release = async {
        road.admitted(4).await;
        gate.add_permits(10);
    };
    let (anns, bobs, ()) =
        tokio::join!(ann.get("both", &both, now), bob.get("both", &both, now), release);
    for answer in [anns, bobs] {
        assert_eq!(answer.expect(200).json()["cached"], false);
    }
    road.weir.stop().await;
}

/// Whoever came while a page was stored was once given it, whatever it allows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_after_a_page_came_is_given_it_only_while_it_is_good() {
    let road = Road::start(", timeout: 1m").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let database = road.place.database.as_ref().expect("a test database");
    let mut holder = Holder::new(database).await;
    let now = road.tick(1).await;
    for (path, said, n_fetches) in [
        ("/anew", "no-cache", 2),
        ("/over", "max-age=0", 2),
        // Too short for the cache, and long enough for who comes now.
        ("/short", "max-age=60", 1),
    ] {
        let page = Page::html(&format!("<p>This is new at {path}.</p>"));
        road.outside.put(path, page.with("cache-control", said));
        holder.hold_content().await;
        let url = road.at(path);
        let later = async {
            // The first one has it, and is about to keep what it was given.
            let backend = holder.held("the page came").await;
            let release = async {
                holder.all_held(2).await;
                holder.let_go(backend, Fate::Lands, "portal.content").await;
            };
            tokio::join!(bob.get(path, &url, now), release).0
        };
        let (first, second) = tokio::join!(ann.get(path, &url, now), later);
        first.has(200);
        let shared = second.expect(200).json()["cached"] == true;
        assert_eq!((road.outside.asked(path), shared), (n_fetches, n_fetches == 1), "{path}");
    }
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_may_have_a_page_otherwise_have_it_cached_by_itself() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    let url = road.at("/a");
    let mut cached = Vec::new();
    for (seed, language) in [("1", "en"), ("2", "de"), ("3", "en"), ("4", "de")] {
        let mut asks = ann.asks(seed, &url, now);
        asks.headers = [("accept-language", language)].into();
        cached.push(ann.send(asks).await.expect(200).json()["cached"].clone());
    }
    assert_eq!(cached, [false, false, true, true]);
    assert_eq!(road.outside.asked("/a"), 2);
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_to_a_post_is_its_senders_own_if_it_says_for_how_long() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let fresh = Page::html("<p>The sum is four.</p>").with("cache-control", "max-age=100000");
    road.outside.put("/fresh", fresh);
    let now = road.tick(1).await;
    let post = |agent: &Agent, seed: &str, path: &str| {
        let mut asks = agent.asks(seed, &road.at(path), now);
        asks.method = HttpMethod::Post;
        asks.body = Some(b"2 and 2".to_vec().into());
        asks.headers = [("content-type", "text/plain")].into();
        asks
    };
    for (path, wanted) in [("/fresh", [false, true, false]), ("/silent", [false, false, false])] {
        let mut cached = Vec::new();
        for (n, agent) in [&ann, &ann, &bob].into_iter().enumerate() {
            let asks = post(agent, &format!("{path} {n}"), path);
            cached.push(agent.send(asks).await.expect(200).json()["cached"] == true);
        }
        assert_eq!(cached, wanted, "{path}");
    }
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_blocked_by_now_is_neither_shown_nor_found() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let there = road.outside.also_at("127.0.0.2").await;
    road.outside.put("/moved", moved(&format!("{there}/there")));
    let now = road.tick(1).await;
    ann.get("first", &road.at("/moved"), now).await.has(200);
    let hit = bob.get("hit", &road.at("/moved"), now).await.expect(200).json();
    assert_eq!(hit["cached"], true);
    assert_eq!(road.found(&bob, "page there").await, [road.at("/moved")]);
    road.rule("127.0.0.2", "block").await;
    let answer = bob.get("blocked", &road.at("/moved"), now).await;
    assert_eq!(code(&answer), refused(403, "portal_domain_blocked"));
    assert!(road.found(&bob, "page there").await.is_empty());
    road.rule("127.0.0.2", "allow").await;
    assert_eq!(road.found(&bob, "page there").await.len(), 1);
    road.rule("127.0.0.1", "block").await;
    let answer = bob.get("all", &road.at("/moved"), now).await;
    assert_eq!(code(&answer), refused(403, "portal_domain_blocked"));
    assert!(road.found(&bob, "page there").await.is_empty());
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_human_let_one_agent_see_stays_with_that_agent() {
    let nexus = "nexus: {clock: driven, ticks_per_cycle: 100}\n";
    let road = Road::under(nexus, "block", "").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let now = road.tick(1).await;
    let url = road.at("/wanted");
    let asks = ann.sign(ann.asks("ask", &url, now));
    let asks = serde_json::to_value(asks).expect("JSON");
    let asked = ann.client.post("/api/web/approvals", &asks).await.expect(202).json();
    let approval = asked["approval"].as_str().expect("an approval");
    let allow = json!({"word": "allow", "reason": "looked at it", "seconds": 3600});
    let path = format!("/api/web/approvals/{approval}/answer");
    road.admin().post(&path, &allow).await.has(200);
    ann.get("hers", &url, now).await.has(200);
    let again = ann.get("again", &url, now).await.expect(200).json();
    assert_eq!((&again["cached"], road.outside.n_asked()), (&json!(true), 1));
    // It is on record by whose leave both were let through.
    let shown = format!("/api/web/requests?agent={}&min_position=head", ann.id);
    let shown = road.admin().get(&shown).await.expect(200).json();
    let by = shown["requests"].as_array().expect("requests").iter();
    let by: Vec<_> = by.map(|request| (&request["cached"], &request["approval"])).collect();
    assert_eq!(by, [(&json!(true), &json!(approval)), (&json!(false), &json!(approval))]);
    // Once the host is open to all, bob fetches for himself, and for all.
    road.rule("127.0.0.1", "allow").await;
    let bobs = bob.get("his", &url, now).await.expect(200).json();
    assert_eq!((&bobs["cached"], road.outside.n_asked()), (&json!(false), 2));
    // What lies inside is not reached whatever a human says, so no human is asked.
    let inside = ann.sign(ann.asks("inside", "http://10.0.0.1/", now));
    let inside = serde_json::to_value(inside).expect("JSON");
    let answer = ann.client.post("/api/web/approvals", &inside).await;
    assert_eq!(code(&answer), refused(403, "portal_domain_blocked"));
    road.weir.stop().await;
}
