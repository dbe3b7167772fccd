//! The API keeps its word: idempotency, read-your-writes, problems that help, a clean end.

use std::time::Duration;

use serde_json::{Value, json};
use weir_tests::{
    deadline,
    weir::{Answer, Part, Place},
};

fn rule(reason: &str) -> Value {
    json!({"ecosystem": "pypi", "package": "six", "versions": ">=1.17", "reason": reason,
        "mask": "mark"})
}

#[tokio::test]
async fn a_command_sent_twenty_times_at_once_to_two_instances_is_one_event_and_twenty_equal_answers()
 {
    let place = Place::on_a_test_database().await;
    let (one, other) = (place.start(Part::Up).await, place.start(Part::Api).await);
    let calls: Vec<_> = (0..20)
        .map(|n| {
            let client = if n % 2 == 0 { one.client.clone() } else { other.client.clone() };
            tokio::spawn(async move {
                let key = [("idempotency-key", "the same")];
                client.send("POST", "/api/rules", &key, Some(&rule("not reviewed"))).await
            })
        })
        .collect();
    let mut answers: Vec<Answer> = Vec::new();
    for call in calls {
        answers.push(call.await.expect("no panic").expect("an answer").expect(201));
    }
    let (body, position) = (answers[0].body.clone(), answers[0].position());
    for answer in &answers {
        assert_eq!((&answer.body, answer.position()), (&body, position));
    }
    let events = one.client.get("/api/events?kind=RuleAdded&limit=100").await.expect(200).json();
    assert_eq!(events["events"].as_array().map(Vec::len), Some(1), "{events}");

    let key = [("idempotency-key", "the same")];
    let changed = one.client.send("POST", "/api/rules", &key, Some(&rule("another"))).await;
    let changed = changed.expect("an answer").expect(422).json();
    assert!(changed["type"].is_string() && changed["detail"].is_string(), "{changed}");
}

#[tokio::test]
async fn who_passes_the_position_on_reads_what_he_wrote() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    for n in 0..20 {
        let added = weir.client.rule("six", ">=1.17", &format!("reason {n}"), "mark").await;
        let id = added.json()["id"].as_str().expect("its id").to_owned();
        let path = format!("/api/rules?min_position={}", added.position());
        let rules = weir.client.get(&path).await.expect(200).body;
        assert!(rules.contains(&id), "rule {n} was written and not read");
        weir.client.delete(&format!("/api/rules/{id}")).await.has(204);
        // Whoever wrote it, wherever that was.
        let rules = weir.client.get("/api/rules?min_position=head").await.expect(200).body;
        assert!(!rules.contains(&id), "rule {n} was removed and read");
    }
    weir.client.get("/api/events?min_position=head").await.has(200);
    for odd in ["tail", "HEAD", "1.5"] {
        let refused = weir.client.get(&format!("/api/rules?min_position={odd}")).await.expect(400);
        assert_eq!(refused.json()["errors"][0]["field"], "min_position", "{odd}");
        assert!(refused.body.contains("a position in the log, or `head`"), "{}", refused.body);
    }
    let far = weir.client.get("/api/rules?min_position=99999999").await.expect(503);
    assert!(far.header("retry-after").is_some(), "{far:?}");
}

#[tokio::test]
async fn a_rule_is_about_packages_of_any_ecosystem_in_its_own_words() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let mut newest = 0;
    for (ecosystem, package, versions, strange) in [
        ("pypi", "six", "~=1.4", "^1.17"),
        ("npm", "@scope/*", "^1.2 || 3.x", ">=1,<2"),
        ("cargo", "serde_json", ">=1, <2", ">=1 <2"),
        ("go", "example.com/Mod/*", ">=v1.2.0 <v1.4.0", "^v1"),
        ("docker", "alpine", "3.1-* || latest", "<3.1"),
    ] {
        let rule = |versions: &str| {
            json!({"ecosystem": ecosystem, "package": package, "versions": versions,
                "reason": "not reviewed"})
        };
        let added = weir.client.post("/api/rules", &rule(versions)).await.expect(201);
        newest = added.position();
        let refused = weir.client.post("/api/rules", &rule(strange)).await.expect(422).json();
        assert_eq!(refused["errors"][0]["field"], "versions", "{refused}");
    }
    let rules = weir.client.get(&format!("/api/rules?min_position={newest}")).await.expect(200);
    let rules = rules.json();
    let of = |rule: &Value| rule["ecosystem"].as_str().map(str::to_owned);
    let about: Vec<_> = rules["rules"].as_array().into_iter().flatten().filter_map(of).collect();
    assert_eq!(about, ["pypi", "npm", "cargo", "go", "docker"]);
}

#[tokio::test]
async fn every_refusal_is_a_problem_that_says_what_and_where() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let client = &weir.client;
    let send = async |method: &str, path: &str, body: Option<Value>| {
        client.send(method, path, &[], body.as_ref()).await.expect("an answer")
    };
    let cases = [
        ("GET", "/api/nowhere", None, 404),
        ("PATCH", "/api/rules", None, 405),
        ("GET", "/api/events?after=yesterday", None, 400),
        ("GET", "/api/events?limit=0", None, 400),
        ("GET", "/api/events?kind=NoSuchKind", None, 400),
        ("GET", "/api/events/99999999", None, 404),
        ("POST", "/api/rules", Some(json!({"ecosystem": "pypi"})), 400),
        (
            "POST",
            "/api/rules",
            Some(json!({"ecosystem": "pypi", "package": "six",
            "versions": ">=one", "reason": "x"})),
            422,
        ),
        ("DELETE", "/api/rules/0193a000-0000-7000-8000-000000000001", None, 404),
        ("POST", "/api/projections/nobody/replay", Some(json!({})), 404),
        ("POST", "/api/tokens", Some(json!({"name": "x", "scopes": ["root"]})), 422),
    ];
    for (method, path, body, status) in cases {
        let answer = send(method, path, body).await;
        assert_eq!(answer.status, status, "{method} {path}: {}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
        let problem = answer.json();
        for member in ["type", "title", "status", "code", "detail"] {
            assert!(!problem[member].is_null(), "{method} {path} has no {member}: {problem}");
        }
        assert_eq!(problem["status"], status);
    }
    let huge = json!({"reason": "x".repeat(2 << 20)});
    assert_eq!(send("POST", "/api/rules", Some(huge)).await.status, 413);
    let response = client.request("POST", "/api/rules", &[("content-type", "application/json")]);
    let response = response.body("{not json").send().await.expect("an answer");
    assert_eq!(response.status(), 400);
    // Nothing of this was recorded.
    let events = client.get("/api/events?subsystem=registry").await.expect(200).json();
    assert_eq!(events["events"], json!([]));
}

#[tokio::test]
async fn the_document_of_the_api_names_every_path_and_health_tells_what_it_checked() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let document = weir.client.get("/api/openapi.json").await.expect(200).json();
    assert!(document["openapi"].as_str().is_some_and(|v| v.starts_with("3.1")), "{document}");
    for path in ["/api/events", "/api/rules", "/api/tokens", "/api/projections", "/api/blocks"] {
        assert!(document["paths"][path].is_object(), "{path} is not described");
    }
    let anybody = weir.client.with_token(None);
    anybody.get("/livez").await.has(200);
    let ready = anybody.get("/readyz").await.expect(200).body;
    assert!(ready.contains("database"), "{ready}");
    anybody.get("/health").await.has(200);
    let metrics = anybody.get("/metrics").await;
    let metrics = if metrics.status == 200 { metrics } else { weir.client.get("/metrics").await };
    assert!(metrics.expect(200).body.contains("sse_clients"));
}

#[tokio::test]
async fn the_causation_chain_of_an_event_is_found_by_any_of_its_events() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let added = weir.client.rule("six", ">=1.17", "not reviewed", "mark").await;
    let position = added.position();
    let path = format!("/api/events/{position}/chain?min_position={position}");
    let chain = weir.client.get(&path).await.expect(200).json();
    assert_eq!(chain["events"][0]["position"], position, "{chain}");
    let one = weir.client.get(&format!("/api/events/{position}")).await.expect(200).json();
    assert_eq!(one["meta"]["correlation_id"], chain["correlation_id"]);
    assert_eq!(one["kind"], "RuleAdded");
    assert_eq!(one["payload"]["rule"]["reason"], "not reviewed");
}

#[tokio::test]
async fn a_replay_asked_for_over_http_runs_and_dead_letters_can_be_listed() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    weir.client.rule("six", ">=1.17", "not reviewed", "mark").await;
    let asked = weir.client.post("/api/projections/custom_rules/replay", &json!({})).await;
    asked.has(202);
    deadline::until("the replay ends", async || {
        let all = weir.client.get("/api/projections").await.json();
        let one = all["projections"].as_array().into_iter().flatten();
        match one.into_iter().find(|p| p["name"] == "custom_rules") {
            Some(one) if one["replay"].is_null() && one["lag_events"] == 0 => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let rules = weir.client.get("/api/rules?min_position=head").await.expect(200).json();
    assert_eq!(rules["rules"].as_array().map(Vec::len), Some(1), "{rules}");
    let letters = weir.client.get("/api/projections/custom_rules/dead-letters").await.expect(200);
    assert_eq!(letters.json()["dead_letters"], json!([]));
}

#[tokio::test]
async fn the_end_is_clean_with_a_hundred_streams_open_and_requests_in_flight() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let streams: Vec<_> = (0..100)
        .map(|_| {
            let client = weir.client.clone();
            tokio::spawn(async move {
                weir_tests::sse::read(&client, "/api/events?after=0", None, |_| false).await
            })
        })
        .collect();
    deadline::until("all streams are open", async || {
        let status = weir.client.get("/api/status").await.json();
        if status["sse_clients"] == 100 { Ok(()) } else { Err(status.to_string()) }
    })
    .await;
    let requests: Vec<_> = (0..20)
        .map(|n| {
            let client = weir.client.clone();
            tokio::spawn(async move {
                let rule = rule(&format!("in flight {n}"));
                client.send("POST", "/api/rules", &[], Some(&rule)).await
            })
        })
        .collect();
    let took = weir.stop().await;
    assert!(took < Duration::from_secs(5), "it took {took:?}");
    for request in requests {
        // Accepted and answered, or never accepted: nothing in between.
        if let Ok(answer) = request.await.expect("no panic") {
            assert!([201, 503].contains(&answer.status), "{answer:?}");
        }
    }
    for stream in streams {
        stream.await.expect("no panic").expect("it was opened");
    }
}
