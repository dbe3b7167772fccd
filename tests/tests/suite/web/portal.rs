//! The road of a request: what an agent may ask, and what it costs.

use serde_json::{Value, json};
use weir_events::web::request::HttpMethod;
use weir_tests::{
    agent::Agent,
    outside::{Outside, Page},
    weir::{Answer, Client, Part, Place, Weir},
};

/// A place whose gateway reaches the test's own website, with a driven clock.
pub(super) async fn place(outside: &Outside, more: &str) -> Place {
    place_where(outside, "allow", more).await
}

async fn place_where(outside: &Outside, default: &str, more: &str) -> Place {
    let setting = format!(
        "nexus: {{clock: driven, ticks_per_cycle: 100}}\n\
         web: {{allow_private: [127.0.0.0/8], ports: [80, 443, {}], default_action: {}{more}}}\n",
        outside.port, default
    );
    Place::on_a_test_database().await.setting(&setting)
}

/// Advances the epoch.
pub(super) async fn open(weir: &Weir, epoch: u32) {
    if epoch > 0 {
        advance(&weir.client, epoch).await;
    }
}

pub(super) async fn advance(admin: &Client, epoch: u32) {
    let body = json!({"epoch": epoch, "reason": "a test"});
    admin.post("/api/nexus/epoch", &body).await.has(200);
}

/// Moves the clock on, and answers the tick.
pub(super) async fn tick(admin: &Client, ticks: u64) -> u64 {
    let now = admin.post("/api/nexus/ticks", &json!({"ticks": ticks})).await.expect(200).json();
    now["tick"].as_u64().expect("a tick")
}

pub(super) fn code(answer: &Answer) -> (u16, String) {
    let code = answer.json()["code"].as_str().unwrap_or_default().to_owned();
    (answer.status, code)
}

pub(super) fn refused(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

/// All events of a kind.
pub(super) async fn events(admin: &Client, kind: &str) -> Vec<Value> {
    let answer = admin.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200);
    answer.json()["events"].as_array().expect("events").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_epoch_allows_and_charges_what_the_contract_says() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 0).await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let at = |path: &str| format!("{}{path}", outside.url);

    // Epoch 0: nothing, and it costs nothing.
    let answer = agent.get("closed", &at("/a"), 0).await;
    assert_eq!(code(&answer), refused(403, "portal_closed"));
    assert_eq!(answer.json()["wire_code"], 0x0700);
    assert_eq!(agent.account(admin).await, (100, 0));

    // Epoch 3: GET and HEAD, five in a cycle.
    advance(admin, 3).await;
    let now = tick(admin, 1).await;
    let page = agent.get("get", &at("/a"), now).await.expect(200).json();
    assert_eq!(page["cost"], json!({"ticks": 3, "spark": 2}), "{page}");
    assert_eq!((&page["status"], &page["cached"]), (&json!(200), &json!(false)));
    assert!(page["content"].as_str().expect("text").contains("This is the page at /a."));
    assert_eq!(agent.account(admin).await, (97, 0), "2, and a tax of 1");

    // The same again comes from the cache: one tick, no spark.
    let now = tick(admin, 1).await;
    let page = agent.get("hit", &at("/a"), now).await.expect(200).json();
    assert_eq!(page["cost"], json!({"ticks": 1, "spark": 0}));
    assert_eq!(page["cached"], true);
    assert_eq!((agent.account(admin).await, outside.asked("/a")), ((97, 0), 1));

    let now = tick(admin, 1).await;
    let mut head = agent.asks("head", &at("/b"), now);
    head.method = HttpMethod::Head;
    let page = agent.send(head).await.expect(200).json();
    assert_eq!((&page["cost"], &page["content"]), (&json!({"ticks": 2, "spark": 1}), &json!("")));
    assert_eq!(agent.account(admin).await, (95, 0));

    let post = |seed: &str, now| {
        let mut post = agent.asks(seed, &at("/c"), now);
        post.method = HttpMethod::Post;
        post.body = Some(b"{\"q\": 1}".to_vec().into());
        post.headers = [("content-type", "application/json")].into();
        post
    };
    let now = tick(admin, 1).await;
    let answer = agent.send(post("early", now)).await;
    assert_eq!(code(&answer), refused(403, "portal_closed"));
    for n in 0..3 {
        let now = tick(admin, 1).await;
        agent.get(&format!("more {n}"), &at(&format!("/more/{n}")), now).await.has(200);
    }
    let now = tick(admin, 1).await;
    let answer = agent.get("sixth", &at("/d"), now).await;
    assert_eq!(code(&answer), refused(429, "portal_quota"));
    // An exhausted agent is refused even what is cached.
    let answer = agent.get("sixth hit", &at("/a"), now).await;
    assert_eq!(code(&answer), refused(429, "portal_quota"));
    // That it is used up is said once, each refusal every time (ruling A12).
    let exceeded = async || {
        let blocked = events(admin, "WebRequestBlocked").await.into_iter();
        let blocked = blocked.filter(|event| event["payload"]["error"] == "QuotaExceeded");
        (events(admin, "QuotaExhausted").await.len(), blocked.count())
    };
    assert_eq!(exceeded().await, (1, 2));
    let left = admin.get(&format!("/api/web/access?agent={}", agent.id)).await.expect(200).json();
    assert_eq!((&left["remaining"], &left["quota"]), (&json!(0), &json!(5)));

    // Epoch 4: two more, and POST.
    advance(admin, 4).await;
    let now = tick(admin, 1).await;
    let page = agent.send(post("post", now)).await.expect(200).json();
    assert_eq!(page["cost"], json!({"ticks": 3, "spark": 3}));
    assert_eq!(agent.account(admin).await, (95 - 9 - 4, 0));
    let now = tick(admin, 1).await;
    let gone = format!("http://127.0.0.1:{}/x", closed_port().await);
    let answer = agent.get("failed", &gone, now).await;
    assert_eq!(code(&answer), refused(403, "portal_domain_blocked"), "a port that no rule names");
    agent.get("seventh", &at("/e"), now).await.has(200);
    let now = tick(admin, 1).await;
    assert_eq!(code(&agent.get("eighth", &at("/f"), now).await), refused(429, "portal_quota"));
    assert_eq!(exceeded().await, (1, 3), "a wider quota is used up in the same cycle");

    // A new cycle has new ones.
    let now = tick(admin, 100).await;
    agent.get("next cycle", &at("/f"), now).await.has(200);
    weir.stop().await;
}

/// A port that nobody listens at.
async fn closed_port() -> u16 {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    listener.local_addr().expect("its address").port()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn by_default_one_request_a_tick_is_let_through() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 9).await;
    let agent = Agent::with_spark(&weir.client, "ann", 100).await;
    let now = tick(&weir.client, 1).await;
    let urls: Vec<String> = (0..20).map(|n| format!("{}/{n}", outside.url)).collect();
    let asks = urls.iter().map(|url| agent.get(url, url, now));
    let answers = futures_util::future::join_all(asks).await;
    let n_through = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!((n_through, outside.n_asked()), (1, 1));
    let limited = answers.iter().filter(|a| code(a) == refused(429, "portal_rate")).count();
    assert_eq!(limited, 19);
    // Who was limited was not answered: he may come again under the same id.
    let now = tick(&weir.client, 1).await;
    let again = answers.iter().position(|answer| answer.status == 429).expect("one of them");
    agent.get(&urls[again], &urls[again], now).await.has(200);
    assert_eq!(outside.n_asked(), 2);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_judged_like_an_address() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 9).await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let at = |path: &str| format!("{}{path}", outside.url);
    outside.put("/near", Page::redirect("/there"));
    outside.put("/blocked", Page::redirect("https://github.com/"));
    outside.put("/inside", Page::redirect("http://169.254.169.254/latest/meta-data/"));
    outside.put("/loop", Page::redirect("/loop"));
    outside.put("/file", Page::redirect("file:///etc/passwd"));
    outside.put("/user", Page::redirect("//ann:secret@127.0.0.1/there?key=secret"));
    let now = tick(admin, 1).await;
    let page = agent.get("near", &at("/near"), now).await.expect(200).json();
    assert!(page["content"].as_str().expect("text").contains("/there"), "{page}");
    for (path, expected) in [
        ("/blocked", refused(403, "portal_domain_blocked")),
        ("/inside", refused(403, "portal_domain_blocked")),
        ("/loop", refused(502, "portal_failed")),
        ("/file", refused(502, "portal_failed")),
        ("/user", refused(502, "portal_failed")),
        // A name that cannot be resolved is a failure like another (A16).
        ("http://no-such-host.invalid/", refused(502, "portal_failed")),
    ] {
        let before = agent.account(admin).await.0;
        let url = if path.starts_with('/') { at(path) } else { path.to_owned() };
        let answer = agent.get(path, &url, now).await;
        assert_eq!(code(&answer), expected, "{path}");
        assert_eq!(agent.account(admin).await, (before - 2, 0), "{path}: it left, so it costs");
    }
    assert_eq!(outside.asked("/loop"), 3, "two redirects are followed");
    // Where each led is on record, and what was said of it (ruling A32).
    let redirects = async |seed: &str| {
        let id = agent.asks(seed, "", 0).id;
        let path = format!("/api/web/requests/{id}?min_position=head");
        let shown = admin.get(&path).await.expect(200).json();
        let all = shown["redirects"].as_array().expect("redirects").clone();
        all.into_iter().map(|it| json!([it["url"], it["action"], it["rule"]])).collect::<Vec<_>>()
    };
    assert_eq!(redirects("near").await, [json!([at("/there"), "allow", null])]);
    assert_eq!(
        redirects("/blocked").await,
        [json!(["https://github.com/", "block", "github.com"])]
    );
    let inside = "http://169.254.169.254/latest/meta-data/";
    assert_eq!(redirects("/inside").await, [json!([inside, "block", null])]);
    let looped = |action| json!([at("/loop"), action, null]);
    assert_eq!(redirects("/loop").await, ["allow", "allow", "block"].map(looped));
    assert_eq!(redirects("/file").await, [json!(["file:///etc/passwd", "block", null])]);
    let user = "http://127.0.0.1/there?…";
    assert_eq!(redirects("/user").await, [json!([user, "block", null])]);
    let blocked = agent.get("/blocked", &at("/blocked"), now).await.json();
    let words = blocked["detail"].as_str().expect("words");
    assert_eq!(words.matches("github.com").count(), 1, "{words}");
    // What is refused before anything leaves costs nothing.
    let before = agent.account(admin).await;
    for (seed, url) in [
        ("metadata", "http://169.254.169.254/latest/meta-data/"),
        ("private", "http://10.0.0.1/"),
        ("userinfo", "https://docs.rs@github.com/"),
        ("port", "https://docs.rs:22/"),
        ("scheme", "file:///etc/passwd"),
    ] {
        let answer = agent.get(seed, url, now).await;
        assert!(matches!(answer.status, 403 | 422), "{url}: {answer:?}");
    }
    assert_eq!(agent.account(admin).await, before);
    weir.stop().await;
}

/// Ruling A16: an outside that does not answer is a failure, and what has left costs what a failure does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outside_that_does_not_answer_in_time_costs_what_a_failure_does() {
    let outside = Outside::start().await;
    let place = place(&outside, ", timeout: 1s").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let now = tick(admin, 1).await;
    outside.hold();
    let answer = agent.get("slow", &format!("{}/slow", outside.url), now).await;
    assert_eq!(code(&answer), refused(504, "portal_timeout"));
    assert_eq!((outside.asked("/slow"), agent.account(admin).await), (1, (98, 0)));
    let failed = events(admin, "WebRequestFailed").await;
    assert_eq!(failed.len(), 1);
    let failed = &failed[0]["payload"];
    assert_eq!((&failed["error"], &failed["tax"]), (&json!("Timeout"), &json!(1)));
    assert_eq!(failed["cost"], json!({"ticks": 1, "spark": 1}));
    assert_eq!(failed["hosts"], json!(["127.0.0.1"]));
    // It has used a place in the quota.
    let left = admin.get(&format!("/api/web/access?agent={}", agent.id)).await.expect(200).json();
    assert_eq!(left["remaining"], 4);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_told_that_it_is_too_much_pauses() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 9).await;
    let agent = Agent::with_spark(&weir.client, "ann", 100).await;
    let busy = Page { status: 429, ..Page::html("<p>Too many requests for today.</p>") };
    outside.put("/busy", busy);
    let now = tick(&weir.client, 1).await;
    let page = agent.get("busy", &format!("{}/busy", outside.url), now).await.expect(200).json();
    assert_eq!(page["status"], 429, "the answer of the outside, at its full price");
    assert_eq!(page["cost"], json!({"ticks": 3, "spark": 2}));
    let early = agent.get("early", &format!("{}/a", outside.url), now).await;
    assert_eq!(code(&early), refused(429, "portal_rate"));
    assert!(early.header("retry-after").is_some());
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_pay_fetches_nothing() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let agent = Agent::register(&weir.client, "ann").await;
    let now = tick(&weir.client, 1).await;
    let url = format!("{}/a", outside.url);
    let answer = agent.get("broke", &url, now).await;
    assert_eq!(code(&answer), refused(403, "portal_denied"));
    assert!(answer.json()["detail"].as_str().expect("words").contains("insufficient spark"));
    assert_eq!((outside.n_asked(), answer.json()["wire_code"].as_u64()), (0, Some(0x0705)));
    agent.grant(&weir.client, 3).await;
    let now = tick(&weir.client, 1).await;
    agent.get("paid", &url, now).await.has(200);
    assert_eq!(agent.account(&weir.client).await, (0, 0));
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_human_lets_a_blocked_request_through_for_a_time_and_nothing_else() {
    let outside = Outside::start().await;
    let place = place_where(&outside, "block", ", requests_per_tick: 100").await;
    let weir = place.start(Part::Up).await;
    advance(&weir.client, 9).await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let now = tick(admin, 1).await;
    let url = format!("{}/wanted", outside.url);
    let blocked = agent.get("blocked", &url, now).await;
    assert_eq!(code(&blocked), refused(403, "portal_domain_blocked"));
    let signed = |seed: &str, url: &str| {
        serde_json::to_value(agent.sign(agent.asks(seed, url, now))).expect("JSON")
    };
    let asked = agent.client.post("/api/web/approvals", &signed("ask", &url)).await.expect(202);
    let approval = asked.json()["approval"].as_str().expect("an approval").to_owned();
    let again = agent.client.post("/api/web/approvals", &signed("ask", &url)).await.expect(202);
    assert_eq!(again.json()["approval"], json!(approval));
    let path = format!("/api/web/approvals/{approval}/answer");
    let allow = json!({"word": "allow", "reason": "looked at it", "seconds": 3600});
    agent.client.post(&path, &allow).await.has(403);
    admin.post(&path, &json!({"word": "allow", "reason": ""})).await.has(422);
    admin.post(&path, &allow).await.has(200);
    admin.post(&path, &json!({"word": "deny", "reason": "no"})).await.has(409);
    let listed = admin.get("/api/web/approvals?min_position=head").await.expect(200);
    assert_eq!(listed.json()["approvals"][0]["state"], "allowed");
    agent.get("allowed", &url, now).await.has(200);
    // Another page, another purpose, another agent: not what was allowed.
    let other = agent.get("other", &format!("{url}2"), now).await;
    assert_eq!(code(&other), refused(403, "portal_domain_blocked"));
    let mut purpose = agent.asks("purpose", &url, now);
    purpose.purpose = "for something else".to_owned();
    assert_eq!(code(&agent.send(purpose).await), refused(403, "portal_domain_blocked"));
    let bob = Agent::with_spark(admin, "bob", 100).await;
    assert_eq!(code(&bob.get("bob", &url, now).await), refused(403, "portal_domain_blocked"));
    // Nobody asks without an end, at however many instances: somebody has to answer first.
    let two = place.start(Part::Api).await;
    let floods = (0..40).map(|n| {
        let other = signed(&format!("flood {n}"), &format!("{url}/{n}"));
        let client = if n % 2 == 0 { agent.client.clone() } else { agent.client.at(&two.url) };
        async move { client.post("/api/web/approvals", &other).await.status }
    });
    let statuses = futures_util::future::join_all(floods).await;
    let n_asked = statuses.iter().filter(|status| **status == 202).count();
    assert_eq!(n_asked, 32, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 8, "{statuses:?}");
    // The one that is answered is not asked again, and known.
    agent.client.post("/api/web/approvals", &signed("ask", &url)).await.has(202);
    // What is no approval is not answered.
    let refusal = admin.post("/api/web/approvals/00/answer", &allow).await;
    assert_eq!(code(&refusal), refused(404, "no_such_approval"));
    two.stop().await;
    weir.stop().await;
}
