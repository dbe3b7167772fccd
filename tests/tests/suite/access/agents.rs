//! Agents are known by their keys, and trusted until they are revoked: on any instance, at once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ed25519_dalek::SigningKey;
use serde_json::{Value, json};
use tokio::sync::broadcast;
use weir_events::web::{
    content::ContentFilter,
    request::{AgentId, Hash256, Headers, HttpMethod, PortalRequest, PublicKey, Signature},
};
use weir_processors::{
    access::{Revoked, Tokens},
    caller::Caller,
    clock::SystemClock,
    door::Door,
    web::signature::{Agents, sign},
};
use weir_tests::{
    database::{TestDatabase, TestLog},
    deadline,
    weir::{Part, Place},
};

fn key(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn public(key: &SigningKey) -> PublicKey {
    PublicKey::new(key.verifying_key().to_bytes())
}

fn registration(name: &str, key: &SigningKey) -> Value {
    json!({ "name": name, "public_key": public(key).to_string() })
}

fn request(tick: u64) -> PortalRequest {
    PortalRequest {
        id: Hash256::of(&[b"first"]),
        agent: AgentId::new([0; 32]),
        url: "https://docs.rs/serde".into(),
        method: HttpMethod::Get,
        headers: Headers::default(),
        body: None,
        filter: ContentFilter::default(),
        purpose: "learn".to_owned(),
        tick,
        signature: Signature::new([0; 64]),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_registered_listed_and_revoked() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let wanted = registration("reader", &key(1));
    let id = AgentId::of_key(&public(&key(1))).to_string();
    for _ in 0..2 {
        let made = weir.client.post("/api/access/agents", &wanted).await.expect(201).json();
        assert_eq!(made["id"], id);
    }
    let path = format!("/api/access/agents/{id}");
    let shown = weir.client.get(&format!("{path}?min_position=head")).await.expect(200).json();
    assert_eq!((&shown["name"], &shown["revoked_at"]), (&json!("reader"), &Value::Null));
    assert_eq!(shown["public_key"], wanted["public_key"]);

    let other = registration("writer", &key(1));
    let refused = weir.client.post("/api/access/agents", &other).await.expect(409).json();
    assert_eq!(refused["code"], "agent_exists");
    for (field, bad) in [
        ("name", json!({ "name": "", "public_key": "d".repeat(64) })),
        ("public_key", json!({ "name": "x", "public_key": "01".to_owned() + &"00".repeat(31) })),
        ("public_key", json!({ "name": "x", "public_key": "secret" })),
    ] {
        let refused = weir.client.post("/api/access/agents", &bad).await.expect(422).json();
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    weir.client.get("/api/access/agents/nobody").await.has(404);
    weir.client.delete(&format!("/api/access/agents/{}", "0".repeat(64))).await.has(404);

    weir.client.delete(&path).await.has(200);
    let revoked = weir.client.delete(&path).await.expect(200);
    let list = format!("/api/access/agents?min_position={}", revoked.position());
    let listed = weir.client.get(&list).await.expect(200).json();
    assert_eq!(listed["agents"].as_array().map(Vec::len), Some(1));
    assert_eq!(listed["agents"][0]["revoked_by"], "admin");
    let again = weir.client.post("/api/access/agents", &wanted).await.expect(409).json();
    assert!(again["detail"].as_str().is_some_and(|words| words.contains("was revoked")), "{again}");

    let (_, secret) = weir.client.issue("looker", &["agents:read"]).await;
    let looker = weir.client.with_token(Some(&secret));
    looker.get("/api/access/agents").await.has(200);
    looker.post("/api/access/agents", &registration("x", &key(2))).await.has(403);
    looker.delete(&path).await.has(403);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agents_own_token_ends_with_the_agent_on_any_instance_within_a_second() {
    let place = Place::on_a_test_database().await;
    let (one, other) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let wanted = registration("reader", &key(1));
    let made = one.client.post("/api/access/agents", &wanted).await.expect(201).json();
    let id = made["id"].as_str().expect("an id");
    let token = |scopes: &[&str], agent: Option<&str>| json!({ "name": "reader", "scopes": scopes, "agent": agent });
    for (scopes, agent, field) in [
        (&["web:fetch"][..], None, "agent"),
        (&["web:fetch"], Some("0".repeat(64)), "agent"),
        (&["web:fetch"], Some("nobody".to_owned()), "agent"),
        (&["web:fetch", "tokens:write"], Some(id.to_owned()), "scopes"),
        (&["admin"], Some(id.to_owned()), "scopes"),
    ] {
        let wanted = token(scopes, agent.as_deref());
        let refused = one.client.post("/api/tokens", &wanted).await.expect(422).json();
        assert_eq!(refused["errors"][0]["field"], field, "{refused}");
    }
    let wanted = token(&["web:fetch", "events:read"], Some(id));
    let issued = one.client.post("/api/tokens", &wanted).await.expect(201);
    let list = format!("/api/tokens?min_position={}", issued.position());
    let issued = issued.json();
    assert_eq!(issued["agent"], id);
    let listed = one.client.get(&list).await.expect(200).json();
    assert_eq!(listed["tokens"][0]["agent"], id);

    let secret = issued["secret"].as_str().expect("a secret").to_owned();
    let (here, there) =
        (one.client.with_token(Some(&secret)), other.client.with_token(Some(&secret)));
    for client in [&here, &there] {
        client.get("/api/events?limit=1").await.has(200);
    }
    let stream = there.clone();
    let open = tokio::spawn(async move {
        weir_tests::sse::read(&stream, "/api/events", None, |_| false).await
    });
    there.get("/api/events?limit=1").await.has(200);

    one.client.delete(&format!("/api/access/agents/{id}")).await.has(200);
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
    let refused = one.client.post("/api/tokens", &wanted).await.expect(422).json();
    assert_eq!(refused["errors"][0]["field"], "agent", "{refused}");
}

/// Tokens and agents of one instance, following the log.
async fn instance(database: &TestDatabase) -> (TestLog, Tokens, broadcast::Receiver<Revoked>) {
    let log = database.log().await;
    let tokens = Tokens::new(Door::new(log.log.clone(), Arc::new(SystemClock)));
    let (revoked, heard) = broadcast::channel(16);
    tokens.follow(revoked, &log.lifecycle);
    (log, tokens, heard)
}

#[tokio::test]
async fn a_signature_counts_until_its_agent_is_revoked_on_another_instance() {
    let database = TestDatabase::create().await;
    let (one, here, _) = instance(&database).await;
    let (other, there, mut heard) = instance(&database).await;
    let caller = Caller::principal("admin", "admin");
    let agent = AgentId::of_key(&public(&key(1)));
    let verifying = Agents::new(there.agents(), 600);
    let signed = sign(request(1_000), &key(1)).expect("signed");
    let refused = verifying.verify(&signed, 1_000).await.expect_err("unknown");
    assert_eq!(refused.code(), 0x0705);
    assert!(refused.to_string().contains("not registered"), "{refused}");

    let name = "reader".to_owned();
    here.agents().register(name, public(&key(1)), &caller, None).await.expect("registered");
    let bytes = verifying.verify(&signed, 1_600).await.expect("it counts");
    assert_eq!(bytes, signed.canonical_bytes().expect("bytes"));
    let late = verifying.verify(&signed, 1_601).await.expect_err("too late");
    assert!(late.to_string().contains("sign it again"), "{late}");
    let mut altered = signed.clone();
    altered.purpose.push('!');
    let altered = verifying.verify(&altered, 1_000).await.expect_err("altered");
    assert!(altered.to_string().contains("does not fit"), "{altered}");
    let shapeless = PortalRequest { purpose: String::new(), ..signed.clone() };
    let shapeless = verifying.verify(&shapeless, 1_000).await.expect_err("no purpose");
    assert_eq!(shapeless.code(), 0x0704);

    here.agents().revoke(&agent, &caller, None).await.expect("revoked");
    let gone = tokio::time::timeout(deadline::PATIENCE, heard.recv()).await.expect("in time");
    assert_eq!(gone.expect("it is heard of"), Revoked::Agent(agent));
    let refused = verifying.verify(&signed, 1_000).await.expect_err("revoked");
    assert_eq!(refused.code(), 0x0705);
    drop((one, other));
}

#[tokio::test]
async fn who_hears_of_no_revocations_asks_after_each_agent() {
    let database = TestDatabase::create().await;
    let (log, tokens, _heard) = instance(&database).await;
    let caller = Caller::principal("admin", "admin");
    let (agent, name) = (AgentId::of_key(&public(&key(1))), "reader".to_owned());
    tokens.agents().register(name, public(&key(1)), &caller, None).await.expect("registered");
    let signed = sign(request(1), &key(1)).expect("signed");
    // Nobody follows the log for these: what they remember is too old within a second.
    let deaf = Tokens::new(Door::new(log.log.clone(), Arc::new(SystemClock)));
    let agents = Agents::new(deaf.agents(), 600);
    agents.verify(&signed, 1).await.expect("it counts");
    tokens.agents().revoke(&agent, &caller, None).await.expect("revoked");
    deadline::within(Duration::from_secs(5), "it is asked after", async || {
        match agents.verify(&signed, 1).await {
            Err(refused) if refused.code() == 0x0705 => Ok(()),
            other => Err(other),
        }
    })
    .await;
}
