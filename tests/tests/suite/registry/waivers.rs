//! Waivers, from the request to their end: what real pip may install, for whom and how long.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use weir_events::{
    registry::{Ecosystem, advisory::Class},
    timestamp::Timestamp,
};
use weir_tests::{
    advisories::{advisory, sign},
    deadline,
    weir::{Answer, Client, Part, Place, Weir},
};

use super::{
    pypi::{installed, pip_at, upstream},
    said,
};

const WHEEL: &str = "six-1.17.0-py2.py3-none-any.whl";
const PAGE: &str = "/pypi/simple/six/";

/// A Weir where six 1.17 is forbidden, and where its wheel is.
async fn weir(settings: &str, mask: &str) -> (Place, Weir, String) {
    let place = Place::on_a_test_database().await.upstream(&upstream()).setting(settings);
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    weir.client.rule("six", ">=1.17", "not reviewed by security yet", mask).await;
    (place, weir, wheel)
}

/// Where the wheel of six 1.17.0 is.
async fn wheel(client: &Client) -> String {
    let page = client.get(PAGE).await.expect(200);
    let link = page.body.split('"').find(|part| part.contains(WHEEL)).expect("its wheel");
    let link = link.split('#').next().expect("an address");
    let base: reqwest::Url = format!("{}{PAGE}", client.url()).parse().expect("a URL");
    base.join(link).expect("a link").path().to_owned()
}

fn asked(more: &Value) -> Value {
    let mut waiver = json!({"ecosystem": "pypi", "package": "Six", "reason": "needed for the fair",
        "owner": "team blue", "days": 7});
    let fields = more.as_object().expect("an object").clone();
    waiver.as_object_mut().expect("an object").extend(fields);
    waiver
}

async fn request(client: &Client, more: &Value) -> Value {
    client.post("/api/registry/waivers", &asked(more)).await.expect(201).json()
}

async fn grant(client: &Client, id: &str) -> Answer {
    client.post(&format!("/api/registry/waivers/{id}/grant"), &json!({})).await
}

async fn revoke(client: &Client, id: &str) -> Answer {
    let reason = json!({"reason": "the fair is over"});
    client.post(&format!("/api/registry/waivers/{id}/revoke"), &reason).await
}

fn id(waiver: &Value) -> String {
    waiver["id"].as_str().expect("its id").to_owned()
}

/// The waivers that are listed, at least as of a position.
async fn listed(client: &Client, query: &str, position: i64) -> Vec<Value> {
    let path = format!("/api/registry/waivers?min_position={position}{query}");
    let page = client.get(&path).await.expect(200).json();
    page["waivers"].as_array().expect("waivers").clone()
}

async fn events(client: &Client, kind: &str) -> Vec<Value> {
    let answer = client.get(&format!("/api/events?kind={kind}&limit=1000")).await.expect(200);
    answer.json()["events"].as_array().expect("events").clone()
}

/// Somebody who may change rules.
async fn person(weir: &Weir, name: &str) -> Client {
    let (_, secret) = weir.client.issue(name, &["rules:read", "rules:write"]).await;
    weir.client.with_token(Some(&secret))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiver_lets_the_very_same_pinned_install_pass_until_it_is_revoked() {
    for mask in ["hide", "mark", "deny-only"] {
        let (place, weir, wheel) = weir("", mask).await;
        let pinned = |target: &str| pip_at(&weir.url, &place, target, "six==1.17.0");
        let refused = pinned("before");
        assert!(!refused.status.success(), "{mask}: installed what is forbidden");
        let waiver = request(&weir.client, &json!({"versions": "==1.17.0"})).await;
        assert_eq!((&waiver["state"], &waiver["granted_by"]), (&json!("granted"), &json!("admin")));
        let passed = pinned("waived");
        assert!(passed.status.success(), "{mask}: {}", said(&passed));
        assert_eq!(installed(&place, "waived"), "1.17.0");
        let allowed = events(&weir.client, "PackageAllowed").await;
        let excused = |event: &&Value| event["payload"]["excuse"]["waiver"]["id"] == waiver["id"];
        let excused = allowed.iter().find(excused).unwrap_or_else(|| panic!("{allowed:?}"));
        let objection = &excused["payload"]["excuse"]["waiver"];
        assert!(objection.to_string().contains("not reviewed by security yet"), "{objection}");

        let other = place.start(Part::Api).await;
        deadline::until("the other instance goes by it", async || {
            let status = other.client.get(&wheel).await.status;
            if status == 200 { Ok(()) } else { Err(status) }
        })
        .await;
        let revoked = revoke(&weir.client, &id(&waiver)).await.expect(204);
        let since = std::time::Instant::now();
        weir.client.get(&wheel).await.has(403);
        deadline::until("the other instance refuses it", async || {
            let status = other.client.get(&wheel).await.status;
            if status == 403 { Ok(()) } else { Err(status) }
        })
        .await;
        let took = since.elapsed();
        assert!(took < deadline::promise(Duration::from_secs(1)), "{mask}: it took {took:?}");
        assert!(!pinned("after").status.success(), "{mask}: installed what was revoked");
        let rows = listed(&weir.client, "&state=revoked", revoked.position()).await;
        assert_eq!((&rows[0]["id"], &rows[0]["ended_by"]), (&waiver["id"], &json!("admin")));
        assert_eq!(rows[0]["end_reason"], "the fair is over");
        revoke(&weir.client, &id(&waiver)).await.has(404);
    }
}

fn now() -> Timestamp {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_micros();
    Timestamp::from_micros(i64::try_from(micros).expect("before 9999"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_waiver_showed_is_hidden_again_when_its_time_is_over_and_that_is_recorded() {
    let (place, weir, wheel) = weir("", "hide").await;
    let lists = async || weir.client.get(PAGE).await.expect(200).body.contains(WHEEL);
    assert!(!lists().await, "hidden, before");
    let end = now().plus_seconds(8);
    let until = json!({"days": null, "expires_at": end.to_string()});
    let waiver = request(&weir.client, &until).await;
    assert!(lists().await, "in force at once");
    weir.client.get(&wheel).await.has(200);
    let hidden_at = deadline::until("it is hidden again", async || {
        // The moment before it was asked: what is hidden then was hidden before.
        let asked_at = now();
        if lists().await { Err(asked_at) } else { Ok(now()) }
    })
    .await;
    let late = end.seconds_until(hidden_at);
    let promise = deadline::promise(Duration::from_secs(1)).as_secs_f64();
    assert!((0.0..promise).contains(&late), "{late} s after its end");
    weir.client.get(&wheel).await.has(403);
    assert!(!pip_at(&weir.url, &place, "after", "six==1.17.0").status.success());
    let expired = deadline::until("its end is recorded", async || {
        let expired = events(&weir.client, "WaiverExpired").await;
        if expired.is_empty() { Err(expired) } else { Ok(expired) }
    })
    .await;
    assert_eq!((expired.len(), &expired[0]["payload"]["id"]), (1, &waiver["id"]));
    let recorded_at = expired[0]["recorded_at"].as_str().expect("when").parse().expect("a time");
    let late = end.seconds_until(recorded_at);
    assert!((0.0..promise).contains(&late), "recorded {late} s after its end");
    let position = expired[0]["position"].as_i64().expect("where");
    let rows = listed(&weir.client, "&state=expired", position).await;
    assert_eq!((rows.len(), &rows[0]["id"]), (1, &waiver["id"]));
    assert!(rows[0]["ended_by"].is_null() && rows[0]["ended_at"].is_string(), "{rows:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_the_second_person_to_their_own_request_with_any_of_their_tokens() {
    let (place, weir, wheel) = weir("policy:\n  second_person: true\n", "mark").await;
    let (ann, again, bob) =
        (person(&weir, "ann").await, person(&weir, "ann").await, person(&weir, "bob").await);
    let waiver = request(&ann, &json!({})).await;
    assert_eq!((&waiver["state"], &waiver["granted_by"]), (&json!("waiting"), &Value::Null));
    for herself in [&ann, &again] {
        let refused = grant(herself, &id(&waiver)).await.expect(409);
        assert_eq!(refused.json()["code"], "second_person", "{}", refused.body);
    }
    weir.client.get(&wheel).await.has(403);
    let granted = grant(&bob, &id(&waiver)).await.expect(204);
    weir.client.get(&wheel).await.has(200);
    assert!(pip_at(&weir.url, &place, "granted", "six==1.17.0").status.success());
    let rows = listed(&ann, "&state=granted", granted.position()).await;
    let who = (&rows[0]["requested_by"], &rows[0]["granted_by"]);
    assert_eq!(who, (&json!("ann"), &json!("bob")), "{rows:?}");
    let reader = weir.client.issue("reader", &["rules:read"]).await.1;
    let reader = weir.client.with_token(Some(&reader));
    grant(&reader, &id(&waiver)).await.has(403);
    revoke(&reader, &id(&waiver)).await.has(403);
    reader.post("/api/registry/waivers", &asked(&json!({}))).await.has(403);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiver_for_one_token_shows_and_lets_pass_nothing_to_another() {
    let (place, weir, wheel) = weir("", "hide").await;
    let (one_id, one_secret) = weir.client.issue("one", &["registry:pypi"]).await;
    let (_, other_secret) = weir.client.issue("other", &["registry:pypi"]).await;
    let (one, other) =
        (weir.client.with_token(Some(&one_secret)), weir.client.with_token(Some(&other_secret)));
    request(&weir.client, &json!({"token": one_id})).await;
    for _ in 0..2 {
        let (of_one, of_other) = (one.get(PAGE).await.expect(200), other.get(PAGE).await);
        assert!(of_one.body.contains(WHEEL) && !of_other.body.contains(WHEEL));
        let etag = |page: &Answer| page.header("etag").expect("a validator").to_owned();
        assert_ne!(etag(&of_one), etag(&of_other));
        for (client, own, foreign) in [(&one, &of_one, &of_other), (&other, &of_other, &of_one)] {
            let with = async |tag: &str| {
                client.send("GET", PAGE, &[("if-none-match", tag)], None).await.expect("an answer")
            };
            with(&etag(own)).await.has(304);
            let fresh = with(&etag(foreign)).await.expect(200);
            assert_eq!(fresh.body, own.body, "never the other's");
        }
        one.get(&wheel).await.has(200);
        other.get(&wheel).await.has(403);
        weir.client.with_token(None).get(&wheel).await.has(403);
    }
    for (name, secret, passes) in [("one", &one_secret, true), ("other", &other_secret, false)] {
        let address = weir.url.replace("http://", &format!("http://__token__:{secret}@"));
        let output = pip_at(&address, &place, name, "six==1.17.0");
        assert_eq!(output.status.success(), passes, "{name}: {}", said(&output));
    }
    let typo = weir.client.post("/api/registry/waivers", &asked(&json!({"token": "one"}))).await;
    assert_eq!(typo.expect(422).json()["errors"][0]["field"], "token");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malware_passes_only_by_its_name_and_two_persons_whatever_it_is_called() {
    for name in ["MAL-2026-1", "GHSA-w31r-w31r-w31r"] {
        let place = Place::on_a_test_database().await.upstream(&upstream());
        let weir = place.start(Part::Up).await;
        let wheel = wheel(&weir.client).await;
        let mut malware = advisory(Ecosystem::Pypi, name, "six", "1.17.0", None);
        malware.class = Class::Malware;
        sign(&mut malware);
        // A waiver of what nobody calls malware yet is in force, and is none for malware.
        let early = request(&weir.client, &json!({"waives": ["CVE-2026-0001"]})).await;
        assert_eq!(early["state"], "granted");
        let at = place.publish(&malware).await;
        weir.client.judges_by(at).await;
        weir.client.get(&wheel).await.has(403);
        let unnamed = request(&weir.client, &json!({})).await;
        assert_eq!(unnamed["state"], "granted");
        weir.client.get(&wheel).await.has(403);
        // By its alias it is malware all the same.
        let alias = request(&weir.client, &json!({"waives": ["CVE-2026-0001"]})).await;
        assert_eq!(alias["state"], "waiting", "{name}");
        let named = request(&weir.client, &json!({"waives": [name]})).await;
        assert_eq!(named["state"], "waiting", "{name}");
        grant(&weir.client, &id(&named)).await.has(409);
        weir.client.get(&wheel).await.has(403);
        grant(&person(&weir, "bob").await, &id(&named)).await.has(204);
        weir.client.get(&wheel).await.has(200);
        assert!(pip_at(&weir.url, &place, "named", "six==1.17.0").status.success(), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_who_grant_at_once_one_does_and_both_find_it_in_force() {
    let (place, weir, wheel) = weir("policy:\n  second_person: true\n", "mark").await;
    let other = place.start(Part::Api).await;
    let (ann, bob) = (person(&weir, "ann").await, person(&weir, "bob").await);
    let cid = person(&weir, "cid").await.at(&other.url);
    for round in 1..=8 {
        let waiver = id(&request(&ann, &json!({})).await);
        let (one, two) = tokio::join!(
            async {
                grant(&bob, &waiver).await.has(204);
                weir.client.get(&wheel).await
            },
            async {
                grant(&cid, &waiver).await.has(204);
                other.client.get(&wheel).await
            }
        );
        assert_eq!((one.status, two.status), (200, 200), "each answer means in force");
        assert_eq!(events(&weir.client, "WaiverGranted").await.len(), round);
        revoke(&ann, &waiver).await.has(204);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiver_that_is_revoked_while_it_is_granted_is_not_in_force_afterwards() {
    let (place, weir, wheel) = weir("policy:\n  second_person: true\n", "mark").await;
    let other = place.start(Part::Api).await;
    let (ann, bob) = (person(&weir, "ann").await, person(&weir, "bob").await);
    let cid = person(&weir, "cid").await.at(&other.url);
    let (mut n_granted, mut last) = (0, 0);
    for _ in 0..12 {
        let waiver = id(&request(&ann, &json!({})).await);
        let (granted, revoked) = tokio::join!(grant(&bob, &waiver), revoke(&cid, &waiver));
        last = revoked.expect(204).position();
        match granted.status {
            204 => n_granted += 1,
            404 => {}
            _ => panic!("{granted:?}"),
        }
        other.client.get(&wheel).await.has(403);
    }
    assert_eq!(events(&weir.client, "WaiverGranted").await.len(), n_granted);
    assert_eq!(events(&weir.client, "WaiverRevoked").await.len(), 12);
    weir.client.judges_by(last).await;
    weir.client.get(&wheel).await.has(403);
    let rows = listed(&ann, "&state=revoked&limit=5", last).await;
    assert_eq!(rows.len(), 5);
    assert!(listed(&ann, "&state=granted", last).await.is_empty());
    assert!(listed(&ann, "&state=waiting", last).await.is_empty());
    let first = ann.get("/api/registry/waivers?limit=7").await.expect(200).json();
    let next = first["next"].as_str().expect("more");
    let rest = ann.get(&format!("/api/registry/waivers?limit=7&cursor={next}")).await.expect(200);
    let rest = rest.json();
    let all = [&first, &rest].map(|page| page["waivers"].as_array().expect("waivers").clone());
    let mut ids: Vec<String> = all.concat().iter().map(id).collect();
    assert!(rest["next"].is_null() && ids.is_sorted_by(|a, b| a > b), "{ids:?}");
    ids.dedup();
    assert_eq!(ids.len(), 12);
    let url = place.database.as_ref().expect("a test database").url.clone();
    let checked = place.run(&["replay", "waivers", "--check", "--database-url", &url]);
    assert!(checked.status.success(), "{}", said(&checked));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_request_is_one_waiver_and_the_terminal_does_all_of_it() {
    let (place, weir, wheel) = weir("policy:\n  second_person: true\n", "mark").await;
    let key = [("idempotency-key", "once")];
    let body = asked(&json!({"package": "other"}));
    let send = async || {
        let path = "/api/registry/waivers";
        weir.client.send("POST", path, &key, Some(&body)).await.expect("an answer").expect(201)
    };
    let (first, again) = (send().await, send().await);
    assert_eq!(first.body, again.body);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    for (more, field) in [
        (json!({"versions": ">="}), "versions"),
        (json!({"days": 367}), "expires_at"),
        (json!({"days": null}), "expires_at"),
        (json!({"owner": ""}), "reason"),
        (json!({"waives": [""]}), "waives"),
    ] {
        let refused = weir.client.post("/api/registry/waivers", &asked(&more)).await.expect(422);
        assert_eq!(refused.json()["errors"][0]["field"], field, "{}", refused.body);
    }

    let run = |arguments: &[&str]| {
        let output = place.run(&[&["waivers"], arguments, &["--server", &weir.url]].concat());
        (output.status.code(), said(&output))
    };
    let words = ["--reason", "needed", "--owner", "team blue"];
    let asked = [&["request", "pypi", "six", ">=1.17", "--days", "3"], &words[..]].concat();
    let (code, told) = run(&asked);
    assert!(code == Some(0) && told.contains("waits"), "{told}");
    let waiver = told.split_whitespace().nth(1).expect("its id").to_owned();
    let tail = &waiver[waiver.len() - 12..];
    deadline::until("it is listed", async || {
        let (_, told) = run(&["ls", "--state", "waiting"]);
        if told.contains(&waiver) { Ok(()) } else { Err(told) }
    })
    .await;
    let (code, told) = run(&["grant", tail, "--yes"]);
    assert!(code != Some(0) && told.contains("second person"), "{told}");
    let (_, bob) = weir.client.issue("bob", &["rules:read", "rules:write"]).await;
    let (code, told) = run(&["grant", tail, "--yes", "--token", &bob]);
    assert!(code == Some(0) && told.contains("is granted"), "{told}");
    weir.client.get(&wheel).await.has(200);
    let (code, told) = run(&["revoke", tail, "--reason", "enough", "--yes"]);
    assert!(code == Some(0) && told.contains("is revoked"), "{told}");
    weir.client.get(&wheel).await.has(403);
}
