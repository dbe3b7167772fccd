//! What an agent read and what it installed is one story: one token, one name, one order.

use serde_json::{Value, json};
use weir_tests::{
    agent::Agent,
    outside::Outside,
    upstream::Index,
    weir::{Client, Part},
};

use super::portal::{open, place, tick};

/// What stands in the log in somebody's name.
async fn timeline(client: &Client, name: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/events?principal={name}&limit=1000")).await.expect(200);
    page.json()["events"].as_array().expect("events").clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_agent_fetched_and_installed_is_one_timeline_by_its_one_token() {
    let (outside, index) = (Outside::start().await, Index::start().await);
    index.project("six", &["1.16.0", "1.17.0"]);
    let place = place(&outside, "").await.upstream(&index.simple);
    let weir = place.start(Part::Up).await;
    let admin = &weir.client;
    open(&weir, 3).await;
    let ann = Agent::with_spark(admin, "ann", 100).await;
    let other = Agent::with_spark(admin, "bob", 100).await;
    // One token for all that it does.
    let token = json!({"name": "ann", "scopes": ["web:fetch", "registry:pypi"], "agent": ann.id});
    let token = admin.post("/api/tokens", &token).await.expect(201).json();
    let of = |key: &str| token[key].as_str().expect(key);
    let (id, ann) = (of("id"), ann.with_token(of("secret")));
    let rule = admin.rule("six", ">=1.17", "not reviewed by security yet", "mark").await;
    admin.judges_by(rule.position()).await;

    let now = tick(admin, 1).await;
    let at = |path: &str| format!("{}{path}", outside.url);
    ann.get("how to", &at("/how-to"), now).await.has(200);
    other.get("elsewhere", &at("/elsewhere"), now).await.has(200);
    ann.client.get("/pypi/simple/six/").await.has(200);
    ann.client.get("/pypi/files/six/six-1.17.0.tar.gz").await.has(403);
    ann.client.get("/pypi/files/six/six-1.16.0.tar.gz").await.has(200);
    let now = tick(admin, 1).await;
    ann.get("what now", &at("/what-now"), now).await.has(200);

    let events = timeline(admin, "ann").await;
    let told = [
        "WebRequestSubmitted",
        "WebRequestCompleted",
        "MetadataFiltered",
        "PackageBlocked",
        "PackageAllowed",
    ];
    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| event["kind"].as_str())
        .filter(|kind| told.contains(kind))
        .collect();
    let story = [&told[..], &told[..2]].concat();
    assert_eq!(kinds, story, "{events:?}");
    let positions: Vec<_> = events.iter().map(|event| event["position"].as_i64()).collect();
    assert!(positions.is_sorted());
    let actor = format!("pekko://weir/user/agents/{id}");
    let of_told =
        events.iter().filter(|event| told.contains(&event["kind"].as_str().unwrap_or("")));
    for event in of_told {
        assert_eq!(event["meta"]["actor"], actor, "by the token that it used: {event}");
    }
}
