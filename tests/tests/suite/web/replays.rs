//! Two replays of a live log say the same, byte by byte: of requests, of what is cached, of accounts,
//! and so does the hash of it all.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use weir_events::web::request::HttpMethod;
use weir_tests::{
    agent::Agent,
    database::TestDatabase,
    deadline,
    outside::{Outside, Page},
    weir::{Client, Part, Place},
};

use super::{
    kills::all_events,
    portal::{advance, place, tick},
};

const NAMES: [&str; 5] = ["request_log", "cache", "reports", "domain_rules", "accounts"];

/// What happens in the load, each at least once.
const KINDS: [&str; 13] = [
    "WebRequestSubmitted",
    "WebRequestCompleted",
    "WebRequestBlocked",
    "WebRequestFailed",
    "ContentFiltered",
    "WebCacheHit",
    "WebCacheStored",
    "WebCacheEvicted",
    "WebCacheExpired",
    "WebCacheInvalidated",
    "DomainRuleUpdated",
    "QuotaExhausted",
    "PortalReportPublished",
];

const CYCLES: u64 = 7;

/// A few agents, for a few cycles: pages, hits, blocks, failures, refusals, and what operators do.
async fn load(outside: &Outside, admin: &Client) {
    let at = |path: &str| format!("{}{path}", outside.url);
    outside.put("/code", Page::html("<p>Some words.</p><pre><code>let x = 1;</code></pre>"));
    outside.put("/led", Page::redirect("/code"));
    outside.put("/away", Page::redirect("https://github.com/"));
    outside.put("/gone", Page { status: 404, ..Page::html("<p>It is gone.</p>") });
    let mut agents = Vec::new();
    for name in ["ann", "bob", "cyd"] {
        agents.push(Agent::with_spark(admin, name, 500).await);
    }
    for cycle in 0..CYCLES {
        for n in 0..9 {
            let now = tick(admin, 1).await;
            for agent in &agents {
                let url = match n {
                    0 | 8 => at("/code"),
                    1 => at("/away"),
                    2 => at("/gone"),
                    3 => "https://github.com/x".to_owned(),
                    4 => "http://no-such-host.invalid/".to_owned(),
                    5 => at(&format!("/own/{cycle}/{}", agent.id)),
                    7 => at("/led"),
                    _ => at(&format!("/page/{cycle}/{n}")),
                };
                let mut request = agent.asks(&format!("{cycle} {n}"), &url, now);
                if n == 6 || (n == 8 && cycle % 2 == 1) {
                    request.method = HttpMethod::Post;
                    request.body = Some(b"{}".to_vec().into());
                    request.headers = [("content-type", "application/json")].into();
                }
                agent.send(request).await;
                // In the same tick: too early. It comes again in the next cycle, or never.
                let early = format!("early {} {n}", cycle / 2);
                agent.get(&early, &at("/code"), now).await;
            }
        }
        if cycle == 2 {
            let path = format!("/api/web/cache?url={}", at("/code"));
            admin.delete(&path).await.has(200);
            let rule = json!({"pattern": "late.example", "action": "block", "category": "other",
                "reason": "a late rule"});
            let answer = admin.send("PUT", "/api/web/rules", &[], Some(&rule)).await;
            assert!(answer.expect("an answer").status < 300);
        }
        tick(admin, 100).await;
    }
}

/// All rows of all tables, in one order.
async fn dump(database: &TestDatabase) -> Vec<(String, String)> {
    let mut connection = PgConnection::connect(&database.url).await.expect("connect");
    let mut dumped = Vec::new();
    for projection in weir_projections::all() {
        if !NAMES.contains(&projection.name()) {
            continue;
        }
        for table in projection.tables() {
            let view = format!("{}.{table}", projection.views());
            let all = format!(
                "SELECT coalesce(string_agg(line, E'\\n' ORDER BY line COLLATE \"C\"), '')
                 FROM (SELECT t::text AS line FROM {view} AS t) AS lines"
            );
            let rows: String = sqlx::query_scalar(AssertSqlSafe(all))
                .fetch_one(&mut connection)
                .await
                .expect("dump a table");
            dumped.push((view, rows));
        }
    }
    dumped
}

async fn head(admin: &Client) -> i64 {
    admin.get("/api/status").await.expect(200).json()["head"].as_i64().expect("a head")
}

/// Builds every read model anew from the log, beside the live one, and has it take its place.
async fn replay(place: &Place, database: &TestDatabase, admin: &Client) {
    for name in NAMES {
        let done = place.run(&["replay", name, "--database-url", &database.url]);
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{name}: {said}");
        admin.reaches(name, head(admin).await).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_replays_of_a_live_log_are_equal_byte_by_byte() {
    let outside = Outside::start().await;
    let place = place(&outside, "").await;
    let database = place.database.as_ref().expect("a test database");
    let weir = place.start(Part::Up).await;
    let admin = &weir.client;
    advance(admin, 4).await;
    load(&outside, admin).await;
    let last = format!("/api/web/reports/{}", CYCLES - 1);
    deadline::until("the last report is published", async || {
        let report = admin.get(&last).await.json();
        if report["published_position"].is_i64() { Ok(()) } else { Err(report) }
    })
    .await;
    for kind in KINDS {
        assert!(!all_events(admin, kind).await.is_empty(), "there is no {kind}");
    }
    let hash = async || -> Value {
        let position = head(admin).await;
        let path = format!("/api/web/state-hash?min_position={position}");
        admin.get(&path).await.expect(200).json()
    };
    // What the gateway does by itself at the end of a cycle may still go on: then once more.
    for attempt in 0.. {
        assert!(attempt < 5, "the log never comes to rest");
        let before = head(admin).await;
        for name in NAMES {
            admin.reaches(name, before).await;
        }
        let live = (hash().await, dump(database).await);
        replay(&place, database, admin).await;
        let once = (hash().await, dump(database).await);
        replay(&place, database, admin).await;
        let twice = (hash().await, dump(database).await);
        if head(admin).await != before {
            continue;
        }
        assert!(
            live.1.iter().any(|(view, rows)| view.ends_with("request_log") && !rows.is_empty())
        );
        assert_eq!(once, twice, "two replays");
        assert_eq!(live, once, "what was live, and its replay");
        break;
    }
    for name in NAMES {
        let checked = place.run(&["replay", name, "--check", "--database-url", &database.url]);
        let said = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(checked.status.success(), "{name}: {said}");
    }
    weir.stop().await;
}
