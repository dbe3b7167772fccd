//! What happens on the road of a request: who is shown what was fetched for whom, who waits for whom,
//! what a request costs that did not leave, and how long a pause is.

use std::time::Duration;

use serde_json::{Value, json};
use weir_events::web::{
    content::{ContentFilter, ContentFormat},
    request::{HttpMethod, PortalRequest},
};
use weir_processors::web::pages;
use weir_tests::{
    agent::Agent,
    deadline,
    outside::{Outside, Page},
    weir::{Answer, Client, Part, Place, Weir},
};

use super::kills::holder::{Fate, Holder};

/// A running Weir whose gateway reaches the test's own website, with a driven clock, in epoch 40.
struct Road {
    outside: Outside,
    weir: Weir,
    place: Place,
}

impl Road {
    /// With many requests in a tick, and more settings of the gateway.
    async fn start(more: &str) -> Self {
        let nexus = "nexus: {clock: driven, ticks_per_cycle: 100}\n";
        Self::under(nexus, "allow", more).await
    }

    /// The same, under a clock, and with another answer to what no rule names.
    async fn under(nexus: &str, default: &str, more: &str) -> Self {
        let outside = Outside::start().await;
        let setting = format!(
            "{nexus}web: {{allow_private: [127.0.0.0/8], ports: [80, 443, {}], \
             default_action: {default}, requests_per_tick: 1000{more}}}\n",
            outside.port
        );
        let place = Place::on_a_test_database().await.setting(&setting);
        let weir = place.start(Part::Up).await;
        let body = json!({"epoch": 40, "reason": "a test"});
        weir.client.post("/api/nexus/epoch", &body).await.has(200);
        Self { outside, weir, place }
    }

    fn admin(&self) -> &Client {
        &self.weir.client
    }

    /// An agent with spark.
    async fn agent(&self, name: &str) -> Agent {
        Agent::with_spark(self.admin(), name, 1_000).await
    }

    /// An address of the website.
    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.outside.url)
    }

    /// Moves the clock on, and answers the tick.
    async fn tick(&self, ticks: u64) -> u64 {
        let body = json!({"ticks": ticks});
        let now = self.admin().post("/api/nexus/ticks", &body).await.expect(200).json();
        now["tick"].as_u64().expect("a tick")
    }

    /// The tick it is.
    async fn now(&self) -> u64 {
        let now = self.admin().get("/api/nexus").await.expect(200).json();
        now["tick"].as_u64().expect("a tick")
    }

    /// All events of a kind.
    async fn events(&self, kind: &str) -> Vec<Value> {
        let path = format!("/api/events?kind={kind}&limit=1000");
        let answer = self.admin().get(&path).await.expect(200);
        answer.json()["events"].as_array().expect("events").clone()
    }

    /// Has a rule about a host hold.
    async fn rule(&self, pattern: &str, action: &str) {
        let rule = json!({"pattern": pattern, "action": action, "category": "test",
            "reason": "a test"});
        let set = self.admin().send("PUT", "/api/web/rules", &[], Some(&rule)).await;
        assert!(set.expect("an answer").status < 300);
    }

    /// Has agents keep the code of a host, as two persons want it.
    async fn waive_code(&self, pattern: &str) {
        let waiver = json!({"permits": "code", "pattern": pattern, "owner": "team blue",
            "reason": "its authors agree", "days": 7});
        let person = async |name: &str| {
            let (_, secret) = self.admin().issue(name, &["web:read", "web:write"]).await;
            self.admin().with_token(Some(&secret))
        };
        let path = "/api/web/waivers";
        let asks = person(&format!("asks for {pattern}")).await;
        let asked = asks.post(path, &waiver).await.expect(201).json();
        let id = asked["id"].as_str().expect("its id");
        let grants = person(&format!("grants {pattern}")).await;
        grants.post(&format!("{path}/{id}/grant"), &json!({})).await.has(204);
    }

    /// The addresses of the pages that an agent finds words in.
    async fn found(&self, agent: &Agent, words: &str) -> Vec<String> {
        let head = self.admin().get("/api/nexus").await.position();
        let words = words.replace(' ', "+");
        let path = format!("/api/web/search?q={words}&agent={}&min_position={head}", agent.id);
        let found = self.admin().get(&path).await.expect(200).json();
        let pages = found["pages"].as_array().expect("pages");
        pages.iter().map(|page| page["url"].as_str().expect("a URL").to_owned()).collect()
    }

    /// Waits until the website was asked for something so often.
    async fn asked(&self, path: &str, times: usize) {
        deadline::until("it has left", async || {
            let n = self.outside.asked(path);
            if n == times { Ok(()) } else { Err(n) }
        })
        .await;
    }

    /// Waits until so many requests are admitted.
    async fn admitted(&self, n: usize) {
        deadline::until("they are admitted", async || {
            let found = self.events("WebRequestSubmitted").await.len();
            if found == n { Ok(()) } else { Err(found) }
        })
        .await;
    }
}

/// A redirect that is for good.
fn moved(to: &str) -> Page {
    Page { status: 301, ..Page::redirect(to) }
}

fn code(answer: &Answer) -> (u16, String) {
    let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
    (answer.status, code)
}

fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

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

/// Who asked what, and where, is nothing for another agent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_tells_an_agent_of_itself_alone() {
    let road = Road::start("").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let (url, now) = (road.at("/page"), road.tick(1).await);
    for (agent, name) in [(&ann, "ann"), (&bob, "bob")] {
        agent.get(name, &url, now).await.has(200);
    }
    let token = json!({"name": "ann reads", "scopes": ["web:read"], "agent": ann.id});
    let token = road.admin().post("/api/tokens", &token).await.expect(201).json();
    let reader = road.admin().with_token(token["secret"].as_str());
    let head = road.admin().get("/api/nexus").await.position();
    let path = format!("/api/web/reports/0?min_position={head}");
    let all = road.admin().get(&path).await.expect(200).json();
    assert_eq!(all["top_users"].as_array().map(Vec::len), Some(2), "{all}");
    assert_eq!(all["domains_accessed"], json!(["127.0.0.1"]));
    let hers = reader.get(&path).await.expect(200).json();
    assert_eq!(hers["top_users"], json!([{"agent": ann.id, "requests": 1}]));
    assert_eq!((&hers["domains_accessed"], &hers["total_requests"]), (&json!([]), &json!(2)));
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

/// Who waited for another one's page, which was not for him, was once sent away where his queue was full.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_was_let_in_without_a_seat_waits_for_one() {
    let road = Road::start(", at_once: 2, timeout: 1m").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let session = Page::html("<p>You are signed in.</p>").with("set-cookie", "sid=1");
    road.outside.put("/session", session);
    let now = road.tick(1).await;
    let (gate, url) = (road.outside.hold(), road.at("/session"));
    let urls: Vec<String> = (0..40).map(|n| road.at(&format!("/{n}"))).collect();
    let anns = async {
        road.asked("/session", 1).await;
        // Hers needs no seat: it waits for bob's. Then all her seats are taken.
        let waits = async { ann.get("session", &url, now).await };
        let others = async {
            road.admitted(2).await;
            futures_util::future::join_all(urls.iter().map(|url| ann.get(url, url, now))).await
        };
        tokio::join!(waits, others)
    };
    let bobs = async {
        let answer = bob.get("session", &url, now).await;
        // She has been sent away by now, or waits for a seat.
        gate.add_permits(1_000);
        answer
    };
    let release = async {
        // Two at once, and 32 who wait.
        road.admitted(2 + 34).await;
        gate.add_permits(1);
    };
    let ((hers, others), his, ()) = tokio::join!(anns, bobs, release);
    his.has(200);
    assert_eq!(hers.expect(200).json()["cached"], false);
    let sent_away = others.iter().filter(|it| code(it) == refused(429, "portal_rate")).count();
    assert_eq!((sent_away, road.outside.asked("/session")), (40 - 34, 2));
    road.weir.stop().await;
}

/// What was fetched once is rendered once, stored once, and a hit for all who waited; also a failure.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_the_same_shares_an_answer_of_any_status() {
    let road = Road::start(", timeout: 1m").await;
    road.outside.put("/broken", Page { status: 500, ..Page::html("<p>It broke.</p>") });
    let mut agents = Vec::new();
    for n in 0..20 {
        agents.push(road.agent(&format!("agent {n}")).await);
    }
    let now = road.tick(1).await;
    let mut n_before = 0;
    for (path, n_stored) in [("/broken", 0), ("/whole", 1)] {
        let gate = road.outside.hold();
        let url = road.at(path);
        let asks = agents.iter().map(|agent| agent.get(path, &url, now));
        let release = async {
            road.admitted(n_before + 20).await;
            gate.add_permits(100);
        };
        let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
        let mut n_cached = 0;
        for answer in answers {
            n_cached += usize::from(answer.expect(200).json()["cached"] == true);
        }
        assert_eq!((road.outside.asked(path), n_cached), (1, 19), "{path}");
        assert_eq!(road.events("WebCacheStored").await.len(), n_stored, "{path}");
        n_before += 20;
        assert_eq!(road.events("WebCacheHit").await.len(), n_before / 20 * 19, "{path}");
    }
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_finds_the_queue_full_may_come_again_under_the_same_id() {
    let road = Road::start(", at_once: 1, timeout: 1m").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    let gate = road.outside.hold();
    let urls: Vec<String> = (0..40).map(|n| road.at(&format!("/{n}"))).collect();
    let asks = urls.iter().map(|url| ann.get(url, url, now));
    let release = async {
        // One is under way, and 32 wait.
        road.admitted(33).await;
        deadline::until("the others are refused", async || {
            let n = road.events("WebRequestBlocked").await.len();
            if n == 7 { Ok(()) } else { Err(n) }
        })
        .await;
        gate.add_permits(1_000);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let full: Vec<usize> = (0..40).filter(|n| answers[*n].status != 200).collect();
    assert_eq!(full.len(), 7);
    let spent = ann.account(road.admin()).await;
    assert_eq!(spent, (1_000 - 33 * 3, 0), "nothing is reserved for who is refused");
    for n in full {
        assert_eq!(code(&answers[n]), refused(429, "portal_rate"));
        ann.get(&urls[n], &urls[n], now).await.has(200);
    }
    assert_eq!(road.outside.n_asked(), 40);
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_wants_to_be_left_alone_is_not_reserved_for() {
    let road = Road::under("nexus: {tick: 1h}\n", "allow", ", signature_window: 60").await;
    let (ann, bob) = (road.agent("ann").await, road.agent("bob").await);
    let busy = Page { status: 503, ..Page::html("<p>Not now.</p>") };
    road.outside.put("/busy", busy.with("retry-after", "3000"));
    let now = road.now().await;
    ann.get("cached", &road.at("/a"), now).await.has(200);
    ann.get("busy", &road.at("/busy"), now).await.has(200);
    let early = bob.get("early", &road.at("/b"), now).await;
    assert_eq!(code(&early), refused(429, "portal_rate"));
    assert_eq!(early.header("retry-after"), Some("3600"), "a tick is an hour");
    assert_eq!(bob.account(road.admin()).await, (1_000, 0));
    assert_eq!(road.events("WebRequestSubmitted").await.len(), 2);
    // What is cached is answered: nothing leaves for it.
    let cached = bob.get("hit", &road.at("/a"), now).await.expect(200).json();
    assert_eq!(cached["cached"], true);
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
    let evicted = road.events("WebCacheEvicted").await;
    assert_eq!(evicted.len(), 3, "{evicted:?}");
    assert!(evicted.iter().all(|event| event["payload"]["cause"] == "changed"), "{evicted:?}");
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

/// A purge once looked where the page was not yet, nor did it find what another host had led to it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_fetched_a_moment_ago_is_purged_at_once_however_it_is_named() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let there = road.outside.also_at("127.0.0.2").await;
    road.outside.put("/moved", moved(&format!("{there}/far")));
    let now = road.tick(1).await;
    for (path, purge) in [
        ("/a", "host=127.0.0.1".to_owned()),
        ("/a", "host=127.1".to_owned()),
        ("/a", format!("url={}%23top", road.at("/a"))),
        ("/a", format!("url={}", road.at("/b/../a").replace("http", "HTTP"))),
        ("/moved", "host=127.0.0.2".to_owned()),
    ] {
        let seed = format!("{path} {purge}");
        let page = ann.get(&seed, &road.at(path), now).await.expect(200).json();
        assert_eq!(page["cached"], false, "{seed}");
        let purged = road.admin().delete(&format!("/api/web/cache?{purge}")).await.expect(200);
        assert_eq!(purged.json()["n_pages"], 1, "{seed}");
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

/// Ruling A4: a fragment is no part of a page, and what was asked is on record as it was asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_has_an_address_as_it_was_asked_and_the_cache_its_one_spelling() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    let raw = road.at("/b/../a#top").replace("http", "HTTP");
    ann.get("raw", &raw, now).await.has(200);
    let page = ann.get("plain", &road.at("/a"), now).await.expect(200).json();
    assert_eq!(page["cached"], true);
    let submitted = road.events("WebRequestSubmitted").await;
    let key = pages::key(&road.at("/a"), HttpMethod::Get, b"");
    assert_eq!(submitted[0]["payload"]["asked"]["url"], json!(raw));
    assert_eq!(submitted[0]["payload"]["key"], json!(key));
    let stored = road.events("WebCacheStored").await;
    assert_eq!(stored[0]["payload"]["url"], json!(road.at("/a")));
    assert_eq!(stored[0]["payload"]["key"], json!(key));
    let head = road.admin().get("/api/nexus").await.position();
    let shown = format!("/api/web/requests?agent={}&min_position={head}", ann.id);
    let shown = road.admin().get(&shown).await.expect(200).json();
    assert_eq!(shown["requests"][1]["url"], json!(raw));
    road.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_is_kept_by_a_waiver_for_every_host_on_the_way() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let there = road.outside.also_at("127.0.0.2").await;
    let code_page = Page::html("<p>Read this.</p><pre>fn main() { step(); }</pre>");
    road.outside.put("/code", code_page);
    road.outside.put("/moved", Page::redirect(&format!("{there}/code")));
    let now = road.tick(1).await;
    let asks = |seed: &str, path: &str| {
        let mut asks = ann.asks(seed, &road.at(path), now);
        asks.filter.strip_code_blocks = false;
        asks
    };
    let answer = ann.send(asks("without", "/code")).await;
    assert_eq!(code(&answer), refused(403, "portal_denied"));
    assert_eq!(road.outside.n_asked(), 0);
    road.waive_code("127.0.0.1").await;
    let page = ann.send(asks("with", "/code")).await.expect(200).json();
    assert!(page["content"].as_str().expect("text").contains("step()"), "{page}");
    // Another host is another matter.
    let answer = ann.send(asks("moved", "/moved")).await;
    assert_eq!(code(&answer), refused(403, "portal_denied"));
    assert!(answer.json()["detail"].as_str().expect("words").contains(&there), "{answer:?}");
    road.waive_code("127.0.0.2").await;
    let page = ann.send(asks("both", "/moved")).await.expect(200).json();
    assert!(page["content"].as_str().expect("text").contains("step()"), "{page}");
    // Nobody is shown it who did not ask for it like this.
    let page = ann.get("plain", &road.at("/moved"), now).await.expect(200).json();
    assert!(!page["content"].as_str().expect("text").contains("step()"), "{page}");
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
    let head = road.admin().get("/api/nexus").await.position();
    let shown = format!("/api/web/requests?agent={}&min_position={head}", ann.id);
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

/// Ruling A33; and a page is found by what it is called.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_called_what_it_calls_itself_and_a_warning_is_on_record_without_any_code() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let page = "<title>How weirs work</title><h1>Weirs</h1><p>A weir regulates a flow.</p>";
    road.outside.put("/weirs", Page::html(page));
    let now = road.tick(1).await;
    ann.get("whole", &road.at("/weirs"), now).await.has(200);
    assert!(road.events("ContentFiltered").await.is_empty(), "there is nothing to say about it");
    let mut short = ann.asks("short", &road.at("/weirs"), now);
    short.filter.max_size = 20;
    let given = ann.send(short).await.expect(200).json();
    assert_eq!(given["filtered"]["code_blocks_removed"], 0);
    assert_eq!(given["filtered"]["warnings"].as_array().map(Vec::len), Some(1), "{given}");
    let said = road.events("ContentFiltered").await;
    assert_eq!(said.len(), 1);
    assert_eq!(said[0]["payload"]["report"], given["filtered"]);
    let head = road.admin().get("/api/nexus").await.position();
    for (list, of) in [("search?q=regulates&", "search"), ("cache?", "cache")] {
        let path = format!("/api/web/{list}min_position={head}");
        let pages = road.admin().get(&path).await.expect(200).json();
        assert_eq!(pages["pages"][0]["title"], "How weirs work", "{of}: {pages}");
        assert!(pages["pages"][0]["request"].is_string(), "{of}: {pages}");
    }
    road.weir.stop().await;
}

/// The first refusal of a new cycle once ended the pause, and the next pause began at one tick.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_outlives_its_cycle_and_the_next_one_is_longer() {
    let nexus = "nexus: {clock: driven, ticks_per_cycle: 5}\n";
    let road = Road::under(nexus, "allow", "").await;
    let ann = road.agent("ann").await;
    let busy = Page { status: 429, ..Page::html("<p>Too many requests for today.</p>") };
    road.outside.put("/busy", busy);
    let mut now = road.tick(1).await;
    for (n, pause) in [(2, 1), (3, 2), (4, 4), (5, 8), (6, 16), (7, 16)] {
        // Each time another host, for hosts are left alone by the clock on the wall.
        let there = road.outside.also_at(&format!("127.0.0.{n}")).await;
        let page = ann.get(&format!("busy {n}"), &format!("{there}/busy"), now).await;
        assert_eq!(page.expect(200).json()["status"], 429);
        for early in 0..=pause {
            for turn in ["first", "second"] {
                let seed = format!("early {n} {early} {turn}");
                let answer = ann.get(&seed, &road.at("/a"), now).await;
                assert_eq!(code(&answer), refused(429, "portal_rate"), "{seed}");
            }
            now = road.tick(1).await;
        }
    }
    ann.get("late", &road.at("/a"), now).await.has(200);
    road.weir.stop().await;
}

/// Between the judgement and the work nobody once looked after a request but the one who had sent it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_hangs_up_the_request_goes_on() {
    let road = Road::start("").await;
    let ann = road.agent("ann").await;
    let now = road.tick(1).await;
    for n in 0..60 {
        let url = road.at(&format!("/{n}"));
        let asking = ann.get(&url, &url, now);
        drop(tokio::time::timeout(Duration::from_millis(n), asking).await);
    }
    // One that waits for its answer is admitted after all of them.
    ann.get("last", &road.at("/last"), now).await.has(200);
    deadline::until("all are answered", async || {
        let admitted = road.events("WebRequestSubmitted").await.len();
        let answered = road.events("WebRequestCompleted").await.len();
        if admitted == answered { Ok(()) } else { Err((admitted, answered)) }
    })
    .await;
    assert!(road.events("WebRequestFailed").await.is_empty());
    road.weir.stop().await;
}
