//! What happens on the road of a request: who is shown what ([`sharing`]), who waits for whom
//! ([`waiting`]), what is forgotten ([`forgetting`]), and what is on record of it.

mod forgetting;
mod sharing;
mod waiting;

use serde_json::{Value, json};
use weir_events::web::request::HttpMethod;
use weir_processors::web::pages;
use weir_tests::{
    agent::Agent,
    deadline,
    outside::{Outside, Page},
    weir::{Answer, Client, Part, Place, Weir},
};

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
        let words = words.replace(' ', "+");
        let path = format!("/api/web/search?q={words}&agent={}&min_position=head", agent.id);
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
    let path = "/api/web/reports/0?min_position=head";
    let all = road.admin().get(path).await.expect(200).json();
    assert_eq!(all["top_users"].as_array().map(Vec::len), Some(2), "{all}");
    assert_eq!(all["domains_accessed"], json!(["127.0.0.1"]));
    let hers = reader.get(path).await.expect(200).json();
    assert_eq!(hers["top_users"], json!([{"agent": ann.id, "requests": 1}]));
    assert_eq!((&hers["domains_accessed"], &hers["total_requests"]), (&json!([]), &json!(2)));
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
    let shown = format!("/api/web/requests?agent={}&min_position=head", ann.id);
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
    for (list, of) in [("search?q=regulates&", "search"), ("cache?", "cache")] {
        let path = format!("/api/web/{list}min_position=head");
        let pages = road.admin().get(&path).await.expect(200).json();
        assert_eq!(pages["pages"][0]["title"], "How weirs work", "{of}: {pages}");
        assert!(pages["pages"][0]["request"].is_string(), "{of}: {pages}");
    }
    road.weir.stop().await;
}
