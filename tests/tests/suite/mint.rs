//! Accounts: granted by an operator, once however often it is asked, and shown as they are.

use serde_json::{Value, json};
use weir_tests::weir::{Part, Place};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_grants_spark_once_and_the_account_shows_it() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let wanted = json!({"account": "ann", "amount": 100, "reason": "a new month"});
    let key = [("idempotency-key", "grant-1")];
    let mut last = 0;
    for _ in 0..2 {
        let granted = weir.client.send("POST", "/api/mint/grants", &key, Some(&wanted)).await;
        let granted = granted.expect("an answer").expect(201);
        last = granted.position();
        assert_eq!(
            (&granted.json()["balance"], &granted.json()["free"]),
            (&json!(100), &json!(100))
        );
    }
    let path = format!("/api/mint/accounts/ann?min_position={last}");
    let account = weir.client.get(&path).await.expect(200).json();
    assert_eq!((&account["balance"], &account["granted"]), (&json!(100), &json!(100)));
    weir.client.get("/api/mint/accounts/bob").await.has(404);

    let done = place.run(&[
        "mint",
        "grant",
        "bob",
        "7",
        "--reason",
        "to begin with",
        "--json",
        "--server",
        &weir.url,
    ]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let head = weir.client.get("/api/status").await.expect(200).json()["head"].clone();
    weir.client.reaches("accounts", head.as_i64().expect("a position")).await;
    let listed = place.run(&["mint", "ls", "--json", "--server", &weir.url]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let names: Vec<_> = listed["accounts"].as_array().expect("accounts").iter().collect();
    assert_eq!((&names[0]["account"], &names[1]["account"]), (&json!("ann"), &json!("bob")));
    assert_eq!(names.len(), 2);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_grant_that_makes_no_sense_names_the_field_and_changes_nothing() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    for (account, amount, reason, field) in [
        ("a/b", 1, "why", "account"),
        ("treasury", 1, "why", "account"),
        ("ann", 0, "why", "amount"),
        ("ann", (1_u64 << 53) + 1, "why", "amount"),
        ("ann", 1, "", "reason"),
    ] {
        let wanted = json!({"account": account, "amount": amount, "reason": reason});
        let refused = weir.client.post("/api/mint/grants", &wanted).await.expect(422).json();
        assert_eq!(refused["code"], "grant_refused", "{refused}");
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    let events = weir.client.get("/api/events?subsystem=mint").await.expect(200).json();
    assert_eq!(events["events"], json!([]));
    let (_, secret) = weir.client.issue("ann", &["mint:read"]).await;
    let ann = weir.client.with_token(Some(&secret));
    let wanted = json!({"account": "ann", "amount": 5, "reason": "I want it"});
    ann.post("/api/mint/grants", &wanted).await.has(403);
    ann.get("/api/mint/accounts").await.has(200);
    weir.stop().await;
}
