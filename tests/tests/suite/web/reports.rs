//! At the end of a cycle its report is published, once, and what has expired is forgotten; operators
//! see all of it.

use bytes::Bytes;
use serde_json::{Value, json};
use weir_events::web::{
    Event,
    request::{Cost, Hash256},
};
use weir_log::append::Outcome;
use weir_processors::web::content::Contents;
use weir_tests::{
    database::TestLog,
    deadline::until,
    events::facts,
    web::{agent, asked, blocked, completed, failed, hit, shown, stored, submitted},
    weir::{Client, Part, Place, Weir},
};

const DRIVEN: &str = "nexus: {clock: driven, ticks_per_cycle: 10}";

/// A gateway with a few requests of cycle 0.
struct Scene {
    place: Place,
    weir: Weir,
    log: TestLog,
    content: Hash256,
}

impl Scene {
    async fn new() -> Self {
        let place = Place::on_a_test_database().await.setting(DRIVEN);
        let weir = place.start(Part::Up).await;
        let log = place.database.as_ref().expect("a database").log().await;
        let contents = Contents::new(log.log.clone());
        let words = Bytes::from_static(b"<p>How weirs regulate a flow.</p>");
        let content = contents.put(&words).await.expect("put");
        let scene = Self { place, weir, log, content };
        scene.append(&scene.requests()).await;
        scene
    }

    fn requests(&self) -> Vec<Event> {
        let (ann, bob) = (agent(1), agent(2));
        let (first, second, third) = (asked(1, ann, 0), asked(2, ann, 0), asked(3, bob, 0));
        let (fourth, fifth) = (asked(4, bob, 0), asked(7, bob, 0));
        let page = stored(&first, None, self.content);
        vec![
            submitted(&first).into(),
            completed(&first, self.content, 2).into(),
            page.clone().into(),
            hit(&page, &second).into(),
            shown(&second, self.content).into(),
            submitted(&third).into(),
            failed(&third, Cost::FAILED).into(),
            blocked(&fourth, Cost::NONE).into(),
            blocked(&fifth, Cost::NONE).into(),
        ]
    }

    async fn append(&self, events: &[Event]) {
        let done = self.log.log.append(facts("facts", events)).await.expect("append");
        let Outcome::Appended(at) = done else { panic!("{done:?}") };
        for name in ["request_log", "cache", "reports"] {
            self.weir.client.reaches(name, at.last.0).await;
        }
    }

    async fn drive(&self, ticks: u64) {
        self.weir.client.post("/api/nexus/ticks", &json!({ "ticks": ticks })).await.has(200);
    }

    async fn get(&self, path: &str) -> Value {
        self.weir.client.get(path).await.expect(200).json()
    }

    async fn published(&self, cycle: u64) -> Value {
        let path = format!("/api/web/reports/{cycle}");
        until(&format!("the report of cycle {cycle} is published"), async || {
            let report = self.get(&path).await;
            if report["published_position"].is_i64() { Ok(report) } else { Err(report) }
        })
        .await
    }

    fn said(&self, arguments: &[&str]) -> String {
        let server = ["--server", &self.weir.url];
        let done = self.place.run(&[arguments, &server].concat());
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text")
    }
}

async fn events(client: &Client, kind: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200).json();
    page["events"].as_array().expect("events").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_a_cycle_ends_its_report_is_published_once_and_what_has_expired_goes() {
    let scene = Scene::new().await;
    let other = scene.place.start(Part::Worker).await;
    let so_far = scene.get("/api/web/reports/0").await;
    assert_eq!((&so_far["ended"], &so_far["total_requests"]), (&json!(false), &json!(5)));
    scene.weir.client.get("/api/web/state-hash?cycle=0").await.has(404);
    scene.weir.client.get("/api/web/reports/1").await.has(404);
    scene.drive(10).await;
    let report = scene.published(0).await;
    for (key, wanted) in [
        ("ended", json!(true)),
        ("total_requests", json!(5)),
        ("cache_hit_rate", json!(0.5)),
        ("domains_accessed", json!(["docs0.example", "docs1.example", "docs2.example"])),
        ("code_filter_hits", json!(1)),
        ("blocked_requests", json!(2)),
        ("tick_cost", json!(5)),
        ("spark_cost", json!(3)),
        ("tax", json!(2)),
    ] {
        assert_eq!(report[key], wanted, "{key} of {report}");
    }
    let users = report["top_users"].as_array().expect("users");
    let users: Vec<_> = users.iter().map(|user| &user["requests"]).collect();
    assert_eq!(users, [&json!(3), &json!(2)]);
    let hash = scene.get("/api/web/state-hash?cycle=0").await;
    assert_eq!(hash["state_hash"], report["state_hash"]);
    assert_eq!(scene.get("/api/web/state-hash").await, hash);

    // Three cycles at once: the one that was announced has a report, those nobody saw have none.
    scene.drive(30).await;
    let quiet = scene.published(1).await;
    assert_eq!((&quiet["total_requests"], &quiet["cache_hit_rate"]), (&json!(0), &json!(0.0)));
    assert_ne!(quiet["state_hash"], report["state_hash"]);
    let reports = scene.get("/api/web/reports").await;
    let reports: Vec<_> = reports["reports"].as_array().expect("reports").iter().collect();
    assert_eq!(reports.iter().map(|r| &r["cycle"]).collect::<Vec<_>>(), [&json!(1), &json!(0)]);
    until("the page has expired", async || {
        let cache = scene.get("/api/web/cache").await;
        if cache["n_pages"] == 0 { Ok(()) } else { Err(cache) }
    })
    .await;
    let gone = events(&scene.weir.client, "WebCacheExpired").await;
    let said = json!({"n_pages": 1, "cycle": 4});
    assert_eq!((gone.len(), &gone[0]["payload"]), (1, &said));
    let published = events(&scene.weir.client, "PortalReportPublished").await;
    let said: Vec<_> = published.iter().map(|event| &event["payload"]["state_hash"]).collect();
    assert_eq!(said, [&report["state_hash"], &quiet["state_hash"]]);
    scene.weir.stop().await;

    // Whoever takes the work over publishes nothing twice, and a replay proves what was published.
    other.stop().await;
    let database = scene.place.database.as_ref().expect("a database");
    let weir = scene.place.start(Part::Up).await;
    weir.client.post("/api/nexus/ticks", &json!({"ticks": 10})).await.has(200);
    until("the next report is published", async || {
        let published = events(&weir.client, "PortalReportPublished").await;
        if published.len() == 3 { Ok(()) } else { Err(published.len()) }
    })
    .await;
    weir.stop().await;
    for name in ["request_log", "cache", "reports"] {
        let checked = ["replay", name, "--check", "--database-url", &database.url];
        let checked = scene.place.run(&checked);
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_after_its_cycle_stands_in_the_cycles_report_and_what_comes_later_in_a_second_one()
 {
    let scene = Scene::new().await;
    let (slow, late) = (asked(8, agent(1), 0), asked(9, agent(2), 0));
    scene.append(&[submitted(&slow).into()]).await;
    scene.drive(10).await;
    let so_far = scene.get("/api/web/reports/0?min_position=head").await;
    assert_eq!((&so_far["ended"], &so_far["total_requests"]), (&json!(false), &json!(6)));
    scene.append(&[completed(&slow, scene.content, 0).into()]).await;
    let report = scene.published(0).await;
    assert_eq!((&report["total_requests"], &report["spark_cost"]), (&json!(6), &json!(5)));
    scene.append(&[blocked(&late, Cost::NONE).into()]).await;
    let second = until("the second report is published", async || {
        let report = scene.published(0).await;
        if report["revision"] == 1 { Ok(report) } else { Err(report) }
    })
    .await;
    assert_eq!((&second["total_requests"], &second["blocked_requests"]), (&json!(7), &json!(3)));
    assert_eq!(second["state_hash"], report["state_hash"]);
    let said = events(&scene.weir.client, "PortalReportPublished").await;
    let said: Vec<_> = said.iter().map(|event| &event["payload"]["report"]).collect();
    let totals: Vec<_> = said.iter().map(|report| &report["total_requests"]).collect();
    assert_eq!(totals, [&json!(6), &json!(7)]);
    scene.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_see_what_was_asked_and_what_was_given() {
    let scene = Scene::new().await;
    let (ann, bob) = (agent(1), agent(2));
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = scene.get(&format!("/api/web/requests?limit=2&cursor={cursor}")).await;
        seen.extend(page["requests"].as_array().expect("requests").clone());
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    let states: Vec<_> = seen.iter().map(|request| request["state"].as_str()).collect();
    let [done, no, came_to] = [Some("completed"), Some("blocked"), Some("failed")];
    assert_eq!(states, [no, no, came_to, done, done]);
    assert_eq!(seen[0]["block_reason"], "`evil.example` is blocked: no rule");
    assert_eq!(
        (&seen[2]["error"]["code"], &seen[2]["status_code"]),
        (&json!(0x0703), &Value::Null)
    );
    let of_ann = scene.get(&format!("/api/web/requests?agent={ann}&state=completed&q=page")).await;
    assert_eq!(of_ann["requests"].as_array().map(Vec::len), Some(2));
    scene.weir.client.get("/api/web/requests?state=done").await.has(400);

    let id = seen[4]["id"].as_str().expect("an id");
    let shown = scene.get(&format!("/api/web/requests/{id}")).await;
    assert_eq!(shown, seen[4]);
    let nobodys = format!("/api/web/requests/{id}?agent={bob}");
    let missing = scene.weir.client.get(&nobodys).await.expect(404).json();
    assert_eq!(missing["code"], "no_such_web_request");
    let content = scene.weir.client.get(&format!("/api/web/requests/{id}/content")).await;
    let content = content.expect(200);
    assert_eq!(content.body, "<p>How weirs regulate a flow.</p>");
    assert_eq!(content.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(content.header("weir-content-type"), Some("text/markdown; charset=utf-8"));
    let none = seen[0]["id"].as_str().expect("an id");
    scene.weir.client.get(&format!("/api/web/requests/{none}/content")).await.has(404);

    let quotas = scene.get("/api/web/quotas").await;
    let quotas: Vec<_> = quotas["quotas"].as_array().expect("quotas").iter().collect();
    let used: Vec<_> = quotas.iter().map(|quota| (&quota["used"], &quota["max"])).collect();
    assert_eq!(used, [(&json!(1), &json!(7)), (&json!(1), &json!(7))]);
    let of_bob = scene.get(&format!("/api/web/quotas?agent={bob}")).await;
    assert_eq!((&of_bob["quotas"][0]["n_blocked"], &of_bob["next"]), (&json!(2), &Value::Null));
    scene.weir.client.get(&format!("/api/web/quotas?agent={bob}&after={ann}")).await.has(400);

    let found = scene.get("/api/web/search?q=regulating%20flows").await;
    assert_eq!(found["pages"].as_array().map(Vec::len), Some(1), "{found}");
    scene.weir.client.get("/api/web/search?q=%20").await.has(400);

    let (_, secret) = scene.weir.client.issue("ci", &["events:read"]).await;
    let stranger = scene.weir.client.with_token(Some(&secret));
    for path in ["requests", "quotas", "cache", "reports", "search?q=x", "state-hash"] {
        stranger.get(&format!("/api/web/{path}")).await.has(403);
    }
    let (_, secret) = scene.weir.client.issue("reader", &["web:read"]).await;
    let reader = scene.weir.client.with_token(Some(&secret));
    reader.get("/api/web/requests").await.has(200);
    reader.delete("/api/web/cache?host=docs1.example").await.has(403);
    scene.weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_shows_and_purges() {
    let scene = Scene::new().await;
    let requests = scene.said(&["web", "requests", "--state", "failed"]);
    assert!(requests.contains("page/3") && !requests.contains("page/1"), "{requests}");
    let cached = scene.said(&["web", "cache"]);
    assert!(cached.contains("https://docs1.example/page/1"), "{cached}");
    let found = scene.said(&["web", "search", "weirs"]);
    assert!(found.contains("**weirs**"), "{found}");
    assert!(scene.said(&["web", "search", "nothing of it"]).contains("nothing was found"));
    let report = scene.said(&["web", "reports", "0"]);
    assert!(report.contains("50 %") && report.contains("not ended"), "{report}");
    let purge = ["web", "purge", "--host", "docs1.example", "--json"];
    let purged: Value = serde_json::from_str(&scene.said(&purge)).expect("JSON");
    assert_eq!(purged["n_pages"], 1);
    let again = scene.said(&["web", "purge", "https://docs1.example/page/1"]);
    assert!(again.contains("0 pages"), "{again}");
    let cache: Value =
        serde_json::from_str(&scene.said(&["web", "cache", "--json"])).expect("JSON");
    assert_eq!(cache["n_pages"], 0);
    assert!(!scene.place.run(&["web", "purge", "--server", &scene.weir.url]).status.success());
    let gone = events(&scene.weir.client, "WebCacheEvicted").await;
    assert_eq!(gone[0]["payload"]["cause"], "purged");
    scene.weir.stop().await;
}
