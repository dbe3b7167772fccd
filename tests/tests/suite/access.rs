//! Tokens open what their scopes say, and nothing any more once they are revoked: on any instance.

mod agents;
mod sessions;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use weir_aggregates::access::Scope;
use weir_processors::{access::Tokens, clock::SystemClock, door::Door};
use weir_tests::{
    database::TestDatabase,
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
async fn the_first_admin_is_not_made_again_when_old_commands_are_forgotten() {
    let place = Place::on_a_test_database().await;
    let first = place.start(Part::Up).await;
    let told = first.ready["admin_token"].as_str().expect("told at the first start").to_owned();
    first.stop().await;
    // As housekeeping does in time.
    let mut database = place.database.as_ref().expect("a database").intruder().await;
    sqlx::query("DELETE FROM log.commands").execute(&mut database).await.expect("forget");
    let verifier = "SELECT verifier FROM access.secrets";
    let before: Vec<String> =
        sqlx::query_scalar(verifier).fetch_all(&mut database).await.expect("the hash");
    let second = place.start(Part::Up).await;
    assert!(second.ready["admin_token"].is_null(), "another admin: {}", second.ready);
    let admin = second.client.with_token(Some(&told));
    admin.get("/api/tokens").await.has(200);
    let after: Vec<String> =
        sqlx::query_scalar(verifier).fetch_all(&mut database).await.expect("the hash");
    assert_eq!((before.len(), after), (1, before));
}

#[tokio::test]
async fn of_many_who_make_the_first_admin_at_once_one_does_and_its_secret_opens() {
    let database = TestDatabase::create().await;
    let mut intruder = database.intruder().await;
    // What another life of the log may have left.
    sqlx::query("INSERT INTO access.secrets VALUES ('0000000000000001', 'stale')")
        .execute(&mut intruder)
        .await
        .expect("an orphan");
    let logs = [database.log().await, database.log().await];
    let all =
        logs.each_ref().map(|log| Tokens::new(Door::new(log.log.clone(), Arc::new(SystemClock))));
    let calls: Vec<_> = (0..8)
        .map(|n| {
            let tokens = all[n % 2].clone();
            tokio::spawn(async move { tokens.bootstrap().await.expect("an answer") })
        })
        .collect();
    let mut told = Vec::new();
    for call in calls {
        told.extend(call.await.expect("a call ends").and_then(|issued| issued.token));
    }
    assert_eq!(told.len(), 1, "one is told");
    let here = IpAddr::from([127, 0, 0, 1]);
    for tokens in &all {
        let admin = tokens.verify(&told[0], here).await.expect("it opens");
        assert!(admin.may(Scope::RulesWrite));
    }
}

#[tokio::test]
async fn who_may_issue_tokens_hands_out_no_more_than_he_has() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let (_, secret) = weir.client.issue("porter", &["tokens:write", "events:read"]).await;
    let porter = weir.client.with_token(Some(&secret));
    for beyond in ["admin", "rules:write"] {
        let wish = json!({"name": "more", "scopes": ["events:read", beyond]});
        let refused = porter.post("/api/tokens", &wish).await.expect(403).json();
        assert_eq!(refused["code"], "missing_scope", "{refused}");
        assert!(refused.to_string().contains(&format!("`{beyond}`")), "{refused}");
    }
    let (_, reader) = porter.issue("reader", &["events:read"]).await;
    weir.client.with_token(Some(&reader)).get("/api/events?limit=1").await.has(200);
}

#[tokio::test]
async fn a_namesake_does_not_read_what_another_was_answered() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let wish = json!({"name": "made", "scopes": ["tokens:write"]});
    let mut made = Vec::new();
    for _ in 0..2 {
        let (_, secret) = weir.client.issue("namesake", &["tokens:write"]).await;
        let namesake = weir.client.with_token(Some(&secret));
        let mut answers = Vec::new();
        for _ in 0..2 {
            let key = [("idempotency-key", "one")];
            let answer = namesake.send("POST", "/api/tokens", &key, Some(&wish)).await;
            answers.push(answer.expect("an answer").expect(201).json());
        }
        assert!(answers[0]["secret"].is_string() && answers[1]["secret"].is_null(), "{answers:?}");
        assert_eq!(answers[0]["id"], answers[1]["id"]);
        made.push(answers[0]["id"].clone());
    }
    assert_ne!(made[0], made[1]);
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
    // The secret part may have this sign in it, too.
    let tail = secret.splitn(3, '_').nth(2).expect("its secret part");
    assert!(!events.contains(tail) && !events.contains("argon2"), "{events}");
}

#[tokio::test]
async fn the_eleventh_failure_from_one_address_is_told_to_come_back_later() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let (_, unused) = weir.client.issue("unused", &["events:read"]).await;
    let bad = weir.client.with_token(Some("rf_0123456789abcdef_wrong"));
    for _ in 0..10 {
        bad.get("/api/events?limit=1").await.has(401);
    }
    let locked = bad.get("/api/events?limit=1").await.expect(429);
    let seconds: u64 = locked.header("retry-after").and_then(|s| s.parse().ok()).expect("a time");
    assert!((1..=300).contains(&seconds), "{seconds}");
    // Who was let in before is let in; who comes for the first time may be guessing.
    weir.client.get("/api/events?limit=1").await.has(200);
    weir.client.with_token(Some(&unused)).get("/api/events?limit=1").await.has(429);
    bad.get("/api/events?limit=1").await.has(429);
}
