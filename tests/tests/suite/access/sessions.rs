//! Browsers: a cookie is a session of its own, which ends for every copy of it, on any instance.

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use sqlx::{Connection, Executor, PgConnection};
use weir_events::timestamp::Timestamp;
use weir_processors::{
    access::{self, Denied, Principal, Tokens},
    clock::{Clock, SystemClock},
    door::Door,
};
use weir_tests::{
    database::{TestDatabase, TestLog},
    deadline::{self, PATIENCE},
    weir::{Answer, Client, Part, Place},
};

/// Signs in, and answers the cookie as the browser sends it back, with all that was said of it.
async fn sign_in(client: &Client, headers: &[(&str, &str)], token: &str) -> (String, String) {
    let body = json!({"token": token});
    let client = client.with_token(None);
    let answer = client.send("POST", "/api/session", headers, Some(&body)).await;
    let answer = answer.expect("an answer").expect(200);
    let said = answer.header("set-cookie").expect("a cookie").to_owned();
    let cookie = said.split(';').next().expect("its first part").to_owned();
    (cookie, said)
}

/// A browser: no token of its own, and what browsers say of where a request comes from.
async fn browse(client: &Client, cookie: &str, method: &str, path: &str, body: &Value) -> Answer {
    let headers = [
        ("cookie", cookie),
        ("sec-fetch-site", "same-origin"),
        ("x-weir-csrf", "1"),
        ("content-type", "application/json"),
    ];
    let client = client.with_token(None);
    let body = Some(body).filter(|body| !body.is_null());
    let headers = if body.is_some() { &headers[..3] } else { &headers[..] };
    client.send(method, path, headers, body).await.expect("an answer")
}

async fn look(client: &Client, cookie: &str) -> u16 {
    browse(client, cookie, "GET", "/api/events?limit=1", &Value::Null).await.status
}

async fn refused_within_a_second(client: &Client, cookie: &str, since: Instant) {
    deadline::within(Duration::from_secs(5), "the other instance refuses it", async || match look(
        client, cookie,
    )
    .await
    {
        401 => Ok(()),
        status => Err(status),
    })
    .await;
    let took = since.elapsed();
    assert!(took < Duration::from_secs(1), "it took {took:?}");
}

#[tokio::test]
async fn signing_out_ends_every_copy_of_the_cookie_on_any_instance_within_a_second() {
    let place = Place::on_a_test_database().await;
    let (one, other) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let (_, token) = one.client.issue("reader", &["events:read"]).await;
    let (cookie, said) = sign_in(&one.client, &[], &token).await;
    assert!(!said.contains(&token) && !said.contains("rf_"), "the cookie holds the token: {said}");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=4"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("Secure") && said.starts_with("weir_session="), "{said}");
    let (second, _) = sign_in(&one.client, &[], &token).await;
    for client in [&one.client, &other.client] {
        assert_eq!(look(client, &cookie).await, 200);
        assert_eq!(look(client, &second).await, 200);
    }
    let streams = [cookie.clone(), second.clone()].map(|cookie| {
        let client = other.client.with_token(None).with_cookie(&cookie);
        tokio::spawn(
            async move { weir_tests::sse::read(&client, "/api/events", None, |_| false).await },
        )
    });
    let [ends, goes_on] = streams;
    deadline::until("both streams are open", async || {
        let metrics = one.client.with_token(None).at(other.client.url()).get("/metrics").await;
        let open = metrics.body.lines().find_map(|l| l.strip_prefix("sse_clients "));
        if open == Some("2") { Ok(()) } else { Err(format!("{open:?}")) }
    })
    .await;

    browse(&one.client, &cookie, "DELETE", "/api/session", &Value::Null).await.has(204);
    let ended_at = Instant::now();
    assert_eq!(look(&one.client, &cookie).await, 401);
    refused_within_a_second(&other.client, &cookie, ended_at).await;
    let ended = tokio::time::timeout(PATIENCE, ends).await.expect("its stream ends");
    ended.expect("no panic").expect("it was opened");
    // The token and its other browsers are none the worse.
    assert_eq!(look(&other.client, &second).await, 200);
    assert!(!goes_on.is_finished(), "the other browser's stream goes on");
    goes_on.abort();
    one.client.with_token(Some(&token)).get("/api/events?limit=1").await.has(200);
    // Once more is no mistake, and no second event.
    browse(&one.client, &cookie, "DELETE", "/api/session", &Value::Null).await.has(204);
    let events = one.client.get("/api/events?kind=SessionEnded&limit=10").await.expect(200).json();
    let events = events["events"].as_array().expect("events").clone();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["payload"]["cause"], "signed-out");
    let secret = cookie.split('=').nth(1).expect("its secret");
    let all = one.client.get("/api/events?subsystem=access&limit=100").await.expect(200).body;
    assert!(all.contains("SessionOpened") && !all.contains(secret), "{all}");
}

/// The browser is gone before the sign-out can be recorded: it is, all the same.
#[tokio::test]
async fn a_sign_out_is_carried_through_when_the_browser_goes_away() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let (_, token) = weir.client.issue("reader", &["events:read"]).await;
    let (cookie, _) = sign_in(&weir.client, &[], &token).await;
    let url = &place.database.as_ref().expect("its database").url;
    let mut holder = PgConnection::connect(url).await.expect("connect");
    let mut admin = PgConnection::connect(url).await.expect("connect");
    holder
        .execute("BEGIN; SELECT position FROM log.head FOR UPDATE")
        .await
        .expect("nothing can be recorded");
    let leaving = {
        let (client, cookie) = (weir.client.clone(), cookie.clone());
        tokio::spawn(async move {
            browse(&client, &cookie, "DELETE", "/api/session", &Value::Null).await
        })
    };
    deadline::until("the row says so", async || {
        let ended = "SELECT count(*) FROM access.sessions WHERE ended_at IS NOT NULL";
        let n: i64 = sqlx::query_scalar(ended).fetch_one(&mut admin).await.expect("look");
        if n == 1 { Ok(()) } else { Err(n) }
    })
    .await;
    leaving.abort();
    assert!(leaving.await.expect_err("it went away").is_cancelled());
    holder.execute("COMMIT").await.expect("let go");
    deadline::until("it is recorded", async || {
        let answer = weir.client.get("/api/events?kind=SessionEnded&limit=10").await.expect(200);
        let n = answer.json()["events"].as_array().map_or(0, Vec::len);
        if n == 1 { Ok(()) } else { Err(answer.body) }
    })
    .await;
    assert_eq!(look(&weir.client, &cookie).await, 401);
}

#[tokio::test]
async fn a_revoked_token_ends_its_browsers_everywhere_and_they_are_told_nobody_is_signed_in() {
    let place = Place::on_a_test_database().await;
    let (one, other) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let (id, token) = one.client.issue("reader", &["events:read"]).await;
    let (cookie, _) = sign_in(&one.client, &[], &token).await;
    for client in [&one.client, &other.client] {
        let who = browse(client, &cookie, "GET", "/api/session", &Value::Null).await.expect(200);
        assert_eq!(who.json()["principal"], "reader");
        assert!(who.json()["expires_at"].is_string(), "{who:?}");
    }
    one.client.delete(&format!("/api/tokens/{id}")).await.has(200);
    let revoked_at = Instant::now();
    assert_eq!(look(&one.client, &cookie).await, 401);
    refused_within_a_second(&other.client, &cookie, revoked_at).await;
    let nobody = json!({"principal": null, "scopes": [], "expires_at": null});
    for sent in [&*cookie, "weir_session=never-was", "theme=dark"] {
        let who = browse(&other.client, sent, "GET", "/api/session", &Value::Null).await;
        assert_eq!(who.expect(200).json(), nobody, "{sent}");
    }
    // Who shows a token, and a bad one, is told so.
    one.client.with_token(Some(&token)).get("/api/session").await.has(401);
}

#[tokio::test]
async fn a_token_is_no_session_and_a_session_is_no_token() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let (_, token) = weir.client.issue("reader", &["events:read"]).await;
    weir.client.with_token(Some(&token)).get("/api/events?limit=1").await.has(200);
    assert_eq!(look(&weir.client, &format!("weir_session={token}")).await, 401);
    let (cookie, _) = sign_in(&weir.client, &[], &token).await;
    assert_eq!(look(&weir.client, &cookie).await, 200);
    let secret = cookie.split('=').nth(1).expect("its secret");
    weir.client.with_token(Some(secret)).get("/api/events?limit=1").await.has(401);
    // Its name on secure connections means nothing here, and neither do others.
    assert_eq!(look(&weir.client, &format!("__Host-{cookie}")).await, 401);
}

#[tokio::test]
async fn a_change_by_cookie_must_come_from_our_own_pages() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let token = place.token().expect("the admin's");
    let (cookie, _) = sign_in(&weir.client, &[], &token).await;
    let host = weir.url.trim_start_matches("http://").to_owned();
    let ours = format!("http://{host}");
    let rule = json!({"ecosystem": "pypi", "package": "six", "versions": "*", "reason": "x"});
    for (said, status) in [
        (vec![("sec-fetch-site", "same-origin")], 201),
        (vec![("sec-fetch-site", "none")], 201),
        (vec![("origin", &*ours)], 201),
        (vec![("sec-fetch-site", "cross-site"), ("origin", &*ours)], 403),
        (vec![("sec-fetch-site", "same-site")], 403),
        (vec![("origin", "http://evil.example")], 403),
        (vec![("origin", "null")], 403),
        (vec![], 403),
    ] {
        let mut headers = vec![("cookie", &*cookie), ("x-weir-csrf", "1")];
        headers.extend(&said);
        let client = weir.client.with_token(None);
        let answer = client.send("POST", "/api/rules", &headers, Some(&rule)).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.status, status, "{said:?}: {}", answer.body);
        if status == 403 {
            assert_eq!(answer.header("content-type"), Some("application/problem+json"));
            assert_eq!(answer.json()["code"], "cross_site", "{said:?}");
        }
    }
    let elsewhere = [("origin", "http://evil.example")];
    let body = json!({"token": token});
    let client = weir.client.with_token(None);
    let refused = client.send("POST", "/api/session", &elsewhere, Some(&body)).await;
    assert_eq!(refused.expect("an answer").expect(403).json()["code"], "cross_site");
}

#[tokio::test]
async fn over_tls_the_cookie_is_one_that_only_this_host_can_have_set() {
    let place = Place::on_a_test_database().await;
    let place = place.setting("server:\n  trusted_proxies: [127.0.0.1]\n");
    let weir = place.start(Part::Up).await;
    let token = place.token().expect("the admin's");
    let tls = ("x-forwarded-proto", "https");
    let (cookie, said) = sign_in(&weir.client, &[tls], &token).await;
    assert!(cookie.starts_with("__Host-weir_session=") && said.ends_with("; Secure"), "{said}");
    let anybody = weir.client.with_token(None);
    let send = async |method: &str, path: &str, cookie: &str, tls: bool| {
        let mut headers = vec![("cookie", cookie), ("sec-fetch-site", "same-origin")];
        headers.extend([("x-weir-csrf", "1"), ("content-type", "application/json")]);
        headers.extend(tls.then_some(("x-forwarded-proto", "https")));
        anybody.send(method, path, &headers, None).await.expect("an answer")
    };
    send("GET", "/api/events?limit=1", &cookie, true).await.has(200);
    // Laid by a neighbour of the same site, or by somebody on the way without TLS.
    let laid = cookie.trim_start_matches("__Host-");
    send("GET", "/api/events?limit=1", laid, true).await.has(401);
    send("GET", "/api/events?limit=1", &cookie, false).await.has(401);
    let gone = send("DELETE", "/api/session", &cookie, true).await.expect(204);
    let said = gone.header("set-cookie").expect("a cookie").to_owned();
    assert!(said.starts_with("__Host-weir_session=;") && said.contains("Max-Age=0"), "{said}");
    send("GET", "/api/events?limit=1", &cookie, true).await.has(401);
}

async fn tokens() -> (TestDatabase, TestLog, Tokens, Principal) {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let tokens = Tokens::new(Door::new(log.log.clone(), Arc::new(SystemClock)));
    let admin = tokens.bootstrap().await.expect("an answer").expect("the first admin");
    let token = admin.token.expect("its token");
    let here = IpAddr::from([127, 0, 0, 1]);
    let principal = tokens.verify(&token, here).await.expect("it opens");
    (database, log, tokens, principal)
}

#[tokio::test]
async fn a_session_ends_after_its_time_and_is_swept_away_an_hour_later() {
    let (database, log, tokens, principal) = tokens().await;
    let door = Door::new(log.log.clone(), Arc::new(SystemClock));
    let over = tokens.open_session(&principal, Duration::ZERO).await.expect("opened");
    let good = tokens.open_session(&principal, Duration::from_mins(1)).await.expect("opened");
    assert!(matches!(tokens.verify_session(&over.secret).await, Err(Denied::Bad)));
    let who = tokens.verify_session(&good.secret).await.expect("it opens");
    assert_eq!((who.token_id, who.expires_at), (principal.token_id, Some(good.expires_at)));
    // Kept: whoever repeats a sign-out is understood.
    assert_eq!(access::sweep_sessions(&door).await.expect("swept"), 0);
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    // More than one transaction's worth of sessions that ended long ago.
    sqlx::query(
        "INSERT INTO access.sessions (hash, token_id, created_at, expires_at, last_used)
         SELECT sha256(n::text::bytea), 'x', now(), now() - interval '2 hours', now()
         FROM generate_series(1, 2500) n",
    )
    .execute(&mut admin)
    .await
    .expect("old sessions");
    assert_eq!(access::sweep_sessions(&door).await.expect("swept"), 2_500);
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM access.sessions")
        .fetch_one(&mut admin)
        .await
        .expect("count");
    assert_eq!(left, 2);
    let kept: Vec<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM access.sessions")
        .fetch_all(&mut admin)
        .await
        .expect("hashes");
    assert!(kept.iter().all(|hash| hash != good.secret.as_bytes()), "a secret is kept");
}

#[tokio::test]
async fn a_token_has_a_hundred_browsers_and_one_more_ends_the_one_not_used_for_longest() {
    let (_database, log, tokens, principal) = tokens().await;
    let mut secrets = Vec::new();
    for _ in 0..101 {
        let opened = tokens.open_session(&principal, Duration::from_mins(1)).await;
        secrets.push(opened.expect("opened").secret);
    }
    assert!(matches!(tokens.verify_session(&secrets[0]).await, Err(Denied::Bad)));
    for secret in &secrets[1..] {
        tokens.verify_session(secret).await.expect("it opens");
    }
    let events = log.log.read(weir_events::position::Position::START, 1_000).await.expect("read");
    let named = |name: &str| events.iter().filter(|event| event.kind.name() == name).count();
    assert_eq!((named("SessionOpened"), named("SessionEnded")), (101, 1));
}

/// A clock that is ahead of the others.
#[derive(Debug)]
struct Ahead;

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_seconds(60)
    }
}

#[tokio::test]
async fn a_session_that_was_ended_by_a_clock_ahead_opens_nothing_where_it_is_earlier() {
    let (_database, log, tokens, principal) = tokens().await;
    let ahead = Tokens::new(Door::new(log.log.clone(), Arc::new(Ahead)));
    let opened = tokens.open_session(&principal, Duration::from_mins(10)).await.expect("opened");
    assert!(ahead.end_session(&opened.secret).await.expect("ended"));
    // It has not been looked at here, so nothing is remembered.
    let elsewhere = Tokens::new(Door::new(log.log.clone(), Arc::new(SystemClock)));
    assert!(matches!(elsewhere.verify_session(&opened.secret).await, Err(Denied::Bad)));
}

#[tokio::test]
async fn a_session_never_outlives_its_token() {
    let (_database, _log, tokens, principal) = tokens().await;
    let first = tokens.open_session(&principal, Duration::from_secs(5)).await.expect("opened");
    let soon = first.expires_at;
    let brief = Principal { expires_at: Some(soon), ..principal };
    let opened = tokens.open_session(&brief, Duration::from_hours(1)).await.expect("opened");
    assert_eq!(opened.expires_at, soon);
}
