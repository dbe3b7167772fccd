//! What would become of a request is said before it is made, and comes true.

use serde_json::{Value, json};
use weir_tests::{
    agent::Agent,
    outside::Outside,
    weir::{Client, Part},
};

use super::portal::{code, open, place, refused, tick};

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
