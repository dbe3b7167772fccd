//! The road of a request: what an agent may ask, what it costs, and that nothing is fetched or charged
//! twice, whoever asks at the same time and whatever is killed.

use std::time::Duration;

use serde_json::{Value, json};
use weir_events::web::request::HttpMethod;
use weir_tests::{
    agent::Agent,
    deadline,
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
async fn open(weir: &Weir, epoch: u32) {
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
async fn events(admin: &Client, kind: &str) -> Vec<Value> {
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

/// What is foreseen of a request.
async fn foreseen(admin: &Client, url: &str, more: &str) -> Value {
    admin.get(&format!("/api/web/check?url={url}{more}")).await.expect(200).json()
}

/// The gates that do not say `passes`, and what they say.
fn others(foreseen: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let gates = foreseen["gates"].as_array().expect("gates").iter();
    let said = gates.map(|gate| match text(&gate["error"]) {
        none if none.is_empty() => (text(&gate["gate"]), text(&gate["outcome"])),
        error => (text(&gate["gate"]), error),
    });
    said.filter(|(_, said)| said != "passes").collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_become_of_a_request_is_foreseen_gate_by_gate_and_comes_true() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let weir = place.start(Part::Up).await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let poor = Agent::register(admin, "poor").await;
    let (page, by) = (format!("{}/a", outside.url), format!("&agent={}", agent.id));
    let are = |all: &[(&str, &str)]| -> Vec<(String, String)> {
        all.iter().map(|(gate, said)| ((*gate).to_owned(), (*said).to_owned())).collect()
    };

    open(&weir, 3).await;
    tick(admin, 1).await;
    let said = foreseen(admin, &page, "").await;
    assert_eq!((&said["passes"], &said["epoch"]), (&json!(true), &json!(3)), "{said}");
    assert_eq!(said["gates"].as_array().map(Vec::len), Some(3), "no agent, no gates of its own");
    assert_eq!((&said["cached"], &said["agent"]), (&Value::Null, &Value::Null));
    let said = foreseen(admin, &page, &by).await;
    let gates: Vec<&str> = said["gates"]
        .as_array()
        .expect("gates")
        .iter()
        .filter_map(|g| g["gate"].as_str())
        .collect();
    assert_eq!(gates, ["agent", "epoch", "pace", "quota", "host", "spark", "address"]);
    assert_eq!((others(&said), &said["passes"]), (are(&[]), &json!(true)), "{said}");
    assert_eq!(said["gates"][3]["detail"], format!("0 of 5 are used in cycle {}", said["cycle"]));

    // The method, whoever cannot pay, whoever is not known, what an address is.
    let post = foreseen(admin, &page, &format!("{by}&method=POST")).await;
    assert_eq!(others(&post), are(&[("epoch", "ReadOnlyEpoch")]));
    assert_eq!((&post["passes"], &post["gates"][1]["wire_code"]), (&json!(false), &json!(0x0700)));
    let said = foreseen(admin, &page, &format!("&agent={}", poor.id)).await;
    assert_eq!(others(&said), are(&[("spark", "PermissionDenied")]), "{said}");
    let now = tick(admin, 1).await;
    let answer = poor.get("poor", &page, now).await;
    assert_eq!(code(&answer), refused(403, "portal_denied"));
    assert_eq!(answer.json()["detail"], said["gates"][5]["detail"], "the same words");
    let said = foreseen(admin, &page, &format!("&agent={}", "ab".repeat(32))).await;
    assert_eq!(others(&said)[0], ("agent".to_owned(), "PermissionDenied".to_owned()));
    let said = foreseen(admin, "https://docs.rs/", &by).await;
    assert_eq!(others(&said), are(&[("address", "later")]));
    let said = foreseen(admin, "http://10.0.0.1/", &by).await;
    assert_eq!(others(&said), are(&[("address", "DomainBlocked")]), "{said}");
    assert_eq!(outside.n_asked(), 0, "to foresee asks nobody");

    // What was asked in this tick, what the cache has, what the quota has left.
    let now = tick(admin, 1).await;
    agent.get("first", &page, now).await.has(200);
    let said = foreseen(admin, &page, &by).await;
    assert_eq!(others(&said)[0], ("pace".to_owned(), "RateLimited".to_owned()), "{said}");
    tick(admin, 1).await;
    let said = foreseen(admin, &page, &by).await;
    assert_eq!(others(&said), are(&[("spark", "unneeded"), ("address", "unneeded")]));
    assert_eq!((&said["cached"], &said["keeps_code"]), (&json!(true), &json!(false)));
    for n in 0..4 {
        let now = tick(admin, 1).await;
        let url = format!("{}/more/{n}", outside.url);
        assert_eq!(foreseen(admin, &url, &by).await["passes"], true);
        agent.get(&url, &url, now).await.has(200);
    }
    let now = tick(admin, 1).await;
    let said = foreseen(admin, &format!("{}/b", outside.url), &by).await;
    assert_eq!(others(&said), are(&[("quota", "QuotaExceeded")]), "{said}");
    let answer = agent.get("sixth", &format!("{}/b", outside.url), now).await;
    assert_eq!(code(&answer), refused(429, "portal_quota"));

    // A token of an agent shows what is foreseen for that agent, and for nobody else.
    let token = json!({"name": "ann reads", "scopes": ["web:read"], "agent": agent.id});
    let issued = admin.post("/api/tokens", &token).await.expect(201).json();
    let own = admin.with_token(issued["secret"].as_str());
    assert_eq!(foreseen(&own, &page, "").await["agent"], json!(agent.id));
    own.get(&format!("/api/web/check?url={page}&agent={}", poor.id)).await.has(403);

    // Nor is it told how much is cached for all of them.
    let all = admin.get("/api/web/cache").await.expect(200).json();
    assert_eq!(all["n_pages"], all["pages"].as_array().expect("pages").len(), "{all}");
    let seen = own.get("/api/web/cache").await.expect(200).json();
    assert_eq!((&seen["n_pages"], &seen["n_bytes"]), (&json!(null), &json!(null)), "{seen}");
    weir.stop().await;
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
async fn a_thousand_at_once_on_two_instances_and_a_kill_let_exactly_the_quota_through() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 100000, at_once: 100, per_host: 100").await;
    let one = place.start(Part::Up).await;
    let two = place.start(Part::Api).await;
    open(&one, 3).await;
    let agent = Agent::with_spark(&one.client, "ann", 1_000).await;
    let now = tick(&one.client, 1).await;
    let gate = outside.hold();
    let (first, second) = (agent.client.clone(), agent.client.at(&two.url));
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..1_000 {
        let client = if n % 2 == 0 { first.clone() } else { second.clone() };
        let url = format!("{}/{n}", outside.url);
        let request = agent.sign(agent.asks(&url, &url, now));
        asking.spawn(async move {
            let body = serde_json::to_value(request).expect("JSON");
            client.send("POST", "/api/web/requests", &[], Some(&body)).await
        });
    }
    deadline::until("five have left", async || match outside.n_asked() {
        5 => Ok(()),
        n => Err(n),
    })
    .await;
    // One instance dies while its requests wait for the outside.
    two.kill();
    gate.add_permits(1_000);
    let mut statuses = Vec::new();
    while let Some(answer) = asking.join_next().await {
        statuses.push(answer.expect("no panic").map_or(0, |answer| answer.status));
    }
    let admin = &one.client;
    deadline::within(Duration::from_mins(1), "everything is settled", async || {
        let account = agent.account(admin).await;
        if account.1 == 0 { Ok(()) } else { Err(account) }
    })
    .await;
    assert_eq!(outside.n_asked(), 5, "no more than the quota left");
    let submitted = events(admin, "WebRequestSubmitted").await.len();
    let completed = events(admin, "WebRequestCompleted").await.len();
    let failed = events(admin, "WebRequestFailed").await.len();
    assert_eq!((submitted, completed + failed), (5, 5), "{statuses:?}");
    let n_through = statuses.iter().filter(|status| **status == 200).count();
    assert!(n_through <= completed, "{n_through} of {completed}");
    // 2 and a tax of 1 for an answer, 1 and a tax of 1 for what the kill cut off.
    let paid = i64::try_from(completed * 3 + failed * 2).expect("a number");
    assert_eq!(agent.account(admin).await, (1_000 - paid, 0));
    assert_eq!(events(admin, "SparkTransferred").await.len(), 5, "each was charged once");
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_kill_cuts_off_is_settled_after_the_restart() {
    let outside = Outside::start().await;
    let place = place(&outside, ", timeout: 1s").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let agent = Agent::with_spark(&weir.client, "ann", 100).await;
    let now = tick(&weir.client, 1).await;
    outside.hold();
    let url = format!("{}/slow", outside.url);
    let request = agent.sign(agent.asks("cut", &url, now));
    let body = serde_json::to_value(&request).expect("JSON");
    let client = agent.client.clone();
    let sent = body.clone();
    let asking =
        tokio::spawn(
            async move { client.send("POST", "/api/web/requests", &[], Some(&sent)).await },
        );
    deadline::until("it has left", async || match outside.n_asked() {
        1 => Ok(()),
        n => Err(n),
    })
    .await;
    weir.kill();
    assert!(asking.await.expect("no panic").is_err());
    outside.release();
    let weir = place.start(Part::Up).await;
    deadline::within(Duration::from_mins(1), "it is settled", async || {
        let account = agent.account(&weir.client).await;
        if account == (98, 0) { Ok(()) } else { Err(account) }
    })
    .await;
    assert_eq!(events(&weir.client, "WebRequestFailed").await.len(), 1);
    // Asked again, it has the answer it has: nothing leaves, nothing is charged.
    let agent = agent.at(&weir.url);
    let answer = agent.client.post("/api/web/requests", &body).await;
    assert_eq!(code(&answer), refused(502, "portal_failed"));
    assert_eq!((outside.n_asked(), agent.account(&weir.client).await), (1, (98, 0)));
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_again_gets_its_first_answer() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let one = place.start(Part::Up).await;
    let two = place.start(Part::Api).await;
    open(&one, 3).await;
    let agent = Agent::with_spark(&one.client, "ann", 100).await;
    let now = tick(&one.client, 1).await;
    let url = format!("{}/once", outside.url);
    let gate = outside.hold();
    let request = agent.asks("once", &url, now);
    let elsewhere = agent.at(&two.url);
    // At the same time, here and on another instance.
    let asks = [&agent, &agent, &elsewhere, &elsewhere].map(|from| from.send(request.clone()));
    let release = async {
        deadline::until("it has left", async || match outside.n_asked() {
            0 => Err(0),
            n => Ok(n),
        })
        .await;
        gate.add_permits(10);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json()).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    // And later.
    assert_eq!(elsewhere.send(request.clone()).await.expect(200).json(), answers[0]);
    assert_eq!((outside.n_asked(), agent.account(&one.client).await), (1, (97, 0)));
    // Another request under the same id is a mistake.
    let other = agent.asks("once", &format!("{}/other", outside.url), now);
    assert_eq!(code(&agent.send(other).await), refused(422, "portal_invalid"));
    // A refusal is an answer too.
    let blocked = agent.asks("blocked", "https://github.com/", now + 1);
    tick(&one.client, 1).await;
    let first = agent.send(blocked.clone()).await;
    assert_eq!(code(&first), refused(403, "portal_domain_blocked"));
    let again = elsewhere.send(blocked).await;
    assert_eq!((code(&again), &again.json()["detail"]), (code(&first), &first.json()["detail"]));
    assert_eq!(events(&one.client, "WebRequestBlocked").await.len(), 1);
    two.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_who_want_the_same_wait_for_one_fetch() {
    let outside = Outside::start().await;
    let place = place(&outside, ", requests_per_tick: 1000, timeout: 2m").await;
    let weir = place.start(Part::Up).await;
    open(&weir, 3).await;
    let admin = &weir.client;
    let mut agents = Vec::new();
    for n in 0..40 {
        agents.push(Agent::with_spark(admin, &format!("agent {n}"), 100).await);
    }
    let now = tick(admin, 1).await;
    let gate = outside.hold();
    let url = format!("{}/popular", outside.url);
    let seeds: Vec<String> = (0..5).map(|n| format!("ask {n}")).collect();
    let asks = agents.iter().flat_map(|agent| {
        let url = url.clone();
        seeds.iter().map(move |seed| {
            let url = url.clone();
            async move { agent.get(seed, &url, now).await }
        })
    });
    let release = async {
        deadline::until("all are admitted", async || {
            let n = events(admin, "WebRequestSubmitted").await.len();
            if n == 200 { Ok(()) } else { Err(n) }
        })
        .await;
        gate.add_permits(1_000);
    };
    let (answers, ()) = tokio::join!(futures_util::future::join_all(asks), release);
    let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json()).collect();
    assert_eq!(outside.n_asked(), 1, "one fetch for all");
    let cached = answers.iter().filter(|answer| answer["cached"] == true).count();
    assert_eq!(cached, 199, "who waited pays for a hit");
    let mut paid = 0;
    for agent in &agents {
        paid += 100 - agent.account(admin).await.0;
    }
    assert_eq!(paid, 3);
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
    let now = tick(admin, 1).await;
    let page = agent.get("near", &at("/near"), now).await.expect(200).json();
    assert!(page["content"].as_str().expect("text").contains("/there"), "{page}");
    for (path, expected) in [
        ("/blocked", refused(403, "portal_domain_blocked")),
        ("/inside", refused(403, "portal_domain_blocked")),
        ("/loop", refused(502, "portal_failed")),
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
    let head = admin.get("/api/nexus").await.position();
    let redirects = async |seed: &str| {
        let id = agent.asks(seed, "", 0).id;
        let path = format!("/api/web/requests/{id}?min_position={head}");
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
    let looped = json!([at("/loop"), "allow", null]);
    assert_eq!(redirects("/loop").await, [looped.clone(), looped]);
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
    let head = admin.get("/api/nexus").await.position();
    let listed = admin.get(&format!("/api/web/approvals?min_position={head}")).await.expect(200);
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
