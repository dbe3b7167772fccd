//! What is let out of the door at all: GraphQL and websockets, signatures without tokens, who sees whose
//! questions, and that closed is closed.

use bytes::Bytes;
use serde_json::json;
use weir_events::web::{
    Event, WebCacheStored,
    content::ContentFilter,
    request::{HttpMethod, PortalRequest},
};
use weir_log::append::Outcome;
use weir_processors::web::{content::Contents, pages};
use weir_tests::{
    agent::Agent,
    events::facts,
    outside::{Outside, Page},
    sockets::Socket,
    web::{agent as web_agent, asked, stored, submitted},
    weir::{Answer, Client, Part, Place, Weir},
};

async fn start(port: u16, more: &str) -> (Place, Weir) {
    let setting = format!(
        "nexus: {{clock: driven, ticks_per_cycle: 100}}\n\
         web: {{allow_private: [127.0.0.0/8], ports: [80, 443, {port}], default_action: allow, \
         requests_per_tick: 100{more}}}\n"
    );
    let place = Place::on_a_test_database().await.setting(&setting);
    let weir = place.start(Part::Up).await;
    (place, weir)
}

async fn epoch(admin: &Client, epoch: u32) {
    admin.post("/api/nexus/epoch", &json!({"epoch": epoch, "reason": "a test"})).await.has(200);
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.json()["code"].as_str().unwrap_or_default().to_owned())
}

fn posts(request: PortalRequest, content_type: &str, body: &str) -> PortalRequest {
    PortalRequest {
        method: HttpMethod::Post,
        headers: [("content-type", content_type)].into(),
        body: Some(body.as_bytes().to_vec().into()),
        ..request
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn graphql_asks_from_epoch_4_on_and_changes_nothing() {
    let outside = Outside::start().await;
    let (_place, weir) = start(outside.port, "").await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let url = format!("{}/graphql", outside.url);
    epoch(admin, 3).await;
    // Reading is not asking a server to work something out, whatever the method is.
    for (n, method) in [HttpMethod::Get, HttpMethod::Head].into_iter().enumerate() {
        let asks = agent.asks(&format!("early {n}"), &format!("{url}?query=%7Ba%7D"), 0);
        let answer = agent.send(PortalRequest { method, ..asks }).await;
        assert_eq!(code(&answer), (403, "portal_closed".to_owned()), "{method:?}");
    }
    // Data is read like a page (ruling A26).
    let json = Page { body: r#"{"words": ["weir"]}"#.into(), ..Page::html("") };
    let headers = vec![("content-type", "application/json".to_owned())];
    outside.put("/data", Page { headers, ..json });
    let data = format!("{}/data?query=weirs", outside.url);
    let read = agent.get("data", &data, 0).await.expect(200).json();
    assert!(read["content_type"].as_str().is_some_and(|it| it.starts_with("application/json")));
    assert!(read["content"].as_str().is_some_and(|it| it.contains("weir")), "{read}");
    epoch(admin, 4).await;
    let query = r#"{"query":"{ a }"}"#;
    let asks = posts(agent.asks("query", &url, 0), "application/json", query);
    agent.send(asks).await.has(200);
    assert_eq!(outside.asked("/graphql"), 1);
    for (n, (query, kind, body)) in [
        ("", "application/json", r#"{"query":"mutation { a }"}"#),
        ("", "application/json", r#"{"query":"mutation{x}","a":1e999}"#),
        ("", "text/plain", r#"{"query":"mutation{x}"}"#),
        ("", "application/x-www-form-urlencoded", "query=mutation%7Bx%7D"),
        ("?query=mutation%7Bx%7D", "text/plain", "nothing"),
    ]
    .into_iter()
    .enumerate()
    {
        let asks = agent.asks(&format!("mutation {n}"), &format!("{url}{query}"), 0);
        let answer = agent.send(posts(asks, kind, body)).await;
        assert_eq!(code(&answer), (422, "portal_invalid".to_owned()), "{query} {kind} {body}");
    }
    assert_eq!(outside.asked("/graphql"), 1, "nothing of it left");
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_websocket_is_one_look_from_epoch_4_on() {
    let socket = Socket::saying(&["first", "second"]).await;
    let (_place, weir) = start(socket.port, "").await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    epoch(admin, 3).await;
    let early = agent.get("early", &socket.url, 0).await;
    assert_eq!(code(&early), (403, "portal_closed".to_owned()));
    assert_eq!(socket.n_connected(), 0);
    epoch(admin, 4).await;
    let posted = posts(agent.asks("posted", &socket.url, 0), "text/plain", "hello");
    assert_eq!(code(&agent.send(posted).await), (422, "portal_invalid".to_owned()));
    let seen = agent.get("seen", &socket.url, 0).await.expect(200).json();
    let content = seen["content"].as_str().expect("text");
    assert!(content.contains("first") && content.contains("second"), "{content}");
    assert_eq!(socket.n_connected(), 1);
    // A second look is a second connection: what is said there is never shown from the cache.
    agent.get("again", &socket.url, 0).await.has(200);
    assert_eq!(socket.n_connected(), 2);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_signature_is_enough_where_the_operator_says_so() {
    let outside = Outside::start().await;
    let (_place, weir) = start(outside.port, ", signature_only: true").await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    epoch(admin, 3).await;
    let url = format!("{}/page", outside.url);
    let bare = admin.with_token(None);
    let signed =
        |seed: &str| serde_json::to_value(agent.sign(agent.asks(seed, &url, 0))).expect("JSON");
    bare.post("/api/web/requests", &signed("bare")).await.has(200);
    // Another's signature, and one that nobody made.
    let mut forged = signed("forged");
    forged["purpose"] = json!("for something else");
    let refused = bare.post("/api/web/requests", &forged).await;
    assert!([403, 422].contains(&refused.status), "{refused:?}");
    assert_eq!(outside.asked("/page"), 1);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_sees_its_own_questions_and_a_human_all_that_is_asked() {
    let outside = Outside::start().await;
    let (_place, weir) = start(outside.port, "").await;
    let admin = &weir.client;
    let rule = json!({"pattern": "127.0.0.1", "action": "block", "category": "t", "reason": "no"});
    let ruled = admin.send("PUT", "/api/web/rules", &[], Some(&rule)).await.expect("an answer");
    ruled.has(200);
    epoch(admin, 4).await;
    let (ann, bob) = (Agent::register(admin, "ann").await, Agent::register(admin, "bob").await);
    let url = format!("{}/secret", outside.url);
    let asks = posts(ann.asks("post", &url, 0), "text/plain", "what is sent along");
    let signed = serde_json::to_value(ann.sign(asks)).expect("JSON");
    ann.client.post("/api/web/approvals", &signed).await.has(202);
    let path = "/api/web/approvals?min_position=head";
    let shown = admin.get(path).await.expect(200).json();
    let said = &shown["approvals"][0]["said"];
    assert_eq!(said["body"]["text"], "what is sent along");
    assert_eq!(said["body"]["cut"], false);
    assert_eq!(said["headers"]["content-type"], "text/plain");
    assert_eq!(said["filter"]["strip_code_blocks"], true);
    for (agent, n) in [(&ann, 1), (&bob, 0)] {
        let reader = json!({
            "name": "reader", "scopes": ["web:read"], "agent": agent.id,
        });
        let token = admin.post("/api/tokens", &reader).await.expect(201).json();
        let reader = admin.with_token(Some(token["secret"].as_str().expect("a secret")));
        let seen = reader.get(path).await.expect(200).json();
        assert_eq!(seen["approvals"].as_array().expect("approvals").len(), n);
        let of_ann = reader.get(&format!("/api/web/access?agent={}", ann.id)).await;
        assert_eq!(of_ann.status, if n == 1 { 200 } else { 403 });
    }
    weir.stop().await;
}

/// Ruling A9: closed is closed, also where nothing would have to leave.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_shown_or_found_in_a_closed_epoch_also_where_it_is_cached() {
    let outside = Outside::start().await;
    let (place, weir) = start(outside.port, "").await;
    let admin = &weir.client;
    let agent = Agent::with_spark(admin, "ann", 100).await;
    let url = format!("{}/cached", outside.url);
    let log = place.database.as_ref().expect("a database").log().await;
    let contents = Contents::new(log.log.clone());
    let content = contents.put(&Bytes::from_static(b"How weirs regulate a flow.")).await;
    // Somebody else's request brought it.
    let before = asked(1, web_agent(9), 0);
    let page = WebCacheStored {
        key: pages::key(&url, HttpMethod::Get, b""),
        variant: pages::variant(&ContentFilter::default()),
        url: url.clone(),
        ..stored(&before, None, content.expect("put"))
    };
    let events: [Event; 2] = [submitted(&before).into(), page.into()];
    let done = log.log.append(facts("facts", &events)).await.expect("append");
    let Outcome::Appended(at) = done else { panic!("{done:?}") };
    for name in ["request_log", "cache"] {
        admin.reaches(name, at.last.0).await;
    }
    let token = json!({"name": "reader", "scopes": ["web:read"], "agent": agent.id});
    let token = admin.post("/api/tokens", &token).await.expect(201).json();
    let reader = admin.with_token(token["secret"].as_str());
    for path in ["/api/web/search?q=weirs", "/api/web/cache"] {
        let answer = reader.get(path).await;
        assert_eq!(code(&answer), (403, "portal_closed".to_owned()), "{path}");
        admin.get(path).await.has(200);
    }
    let closed = agent.get("closed", &url, 0).await;
    assert_eq!(code(&closed), (403, "portal_closed".to_owned()));
    epoch(admin, 3).await;
    let shown = agent.get("shown", &url, 0).await.expect(200).json();
    assert_eq!((&shown["cached"], outside.n_asked()), (&json!(true), 0), "it was there all along");
    for path in ["/api/web/search?q=weirs", "/api/web/cache"] {
        let pages = reader.get(path).await.expect(200).json();
        let page = &pages["pages"][0];
        // Another one's request says nothing to an agent, which may not look at it.
        assert_eq!((&page["url"], &page["request"]), (&json!(url), &json!(null)), "{path}");
    }
    weir.stop().await;
}
