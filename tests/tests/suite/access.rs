//! Tokens open what their scopes say, and nothing any more once they are revoked: on any instance.

use std::time::{Duration, Instant};

use serde_json::json;
use weir_tests::{
    deadline,
    weir::{Part, Place},
};

#[tokio::test]
async fn a_revoked_token_opens_nothing_on_any_instance_within_a_second_and_its_streams_end() {
    let place = Place::on_a_test_database().await;
    let (one, other) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let (id, secret) = one.client.issue("reader", &["events:read"]).await;
    let here = one.client.with_token(Some(&secret));
    let there = other.client.with_token(Some(&secret));
    for client in [&here, &there] {
        client.get("/api/events?limit=1").await.has(200);
    }
    let stream = there.clone();
    let open = tokio::spawn(async move {
        weir_tests::sse::read(&stream, "/api/events", None, |_| false).await
    });
    there.get("/api/events?limit=1").await.has(200);

    one.client.delete(&format!("/api/tokens/{id}")).await.has(200);
    let revoked_at = Instant::now();
    here.get("/api/events?limit=1").await.has(401);
    deadline::within(Duration::from_secs(5), "the other instance refuses it", async || match there
        .get("/api/events?limit=1")
        .await
        .status
    {
        401 => Ok(()),
        status => Err(status),
    })
    .await;
    let took = revoked_at.elapsed();
    assert!(took < Duration::from_secs(1), "it took {took:?}");
    let ended = tokio::time::timeout(deadline::PATIENCE, open).await.expect("its stream ends");
    ended.expect("no panic").expect("it was opened");
}

#[tokio::test]
async fn the_first_admin_is_made_once_and_its_secret_is_told_once() {
    let place = Place::on_a_test_database().await;
    let first = place.start(Part::Up).await;
    let told = first.ready["admin_token"].as_str().expect("told at the first start").to_owned();
    assert_eq!(Some(told.clone()), place.token(), "the CLI of this machine has it too");
    first.stop().await;
    let second = place.start(Part::Up).await;
    assert!(second.ready["admin_token"].is_null(), "told again: {}", second.ready);
    second.client.with_token(Some(&told)).get("/api/tokens").await.has(200);
    let logged = place.log("up");
    assert!(!logged.contains(&told), "a secret stands in the log output");
}

#[tokio::test]
async fn scopes_are_kept_and_secrets_stand_in_no_event() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let (_, secret) = weir.client.issue("installer", &["registry:pypi"]).await;
    let installer = weir.client.with_token(Some(&secret));
    for (path, scope) in [("/api/events", "events:read"), ("/api/tokens", "tokens:write")] {
        let refused = installer.get(path).await.expect(403).json();
        assert!(refused.to_string().contains(scope), "{path}: {refused}");
    }
    let rule = json!({"ecosystem": "pypi", "package": "six", "versions": "*", "reason": "x"});
    installer.post("/api/rules", &rule).await.has(403);
    weir.client.with_token(None).get("/api/events").await.has(401);

    let events = weir.client.get("/api/events?limit=1000").await.expect(200).body;
    let tail = secret.rsplit('_').next().expect("its secret part");
    assert!(!events.contains(tail) && !events.contains("argon2"), "{events}");
}

#[tokio::test]
async fn the_eleventh_failure_from_one_address_is_told_to_come_back_later() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let bad = weir.client.with_token(Some("rf_0123456789abcdef_wrong"));
    for _ in 0..10 {
        bad.get("/api/events?limit=1").await.has(401);
    }
    let locked = bad.get("/api/events?limit=1").await.expect(429);
    let seconds: u64 = locked.header("retry-after").and_then(|s| s.parse().ok()).expect("a time");
    assert!((1..=300).contains(&seconds), "{seconds}");
}
