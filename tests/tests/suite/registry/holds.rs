//! Holds: what an agent may not have before a person has said yes, on every instance.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use weir_events::registry::Ecosystem;
use weir_tests::{
    advisories::advisory,
    deadline,
    weir::{Answer, Client, Part, Place, Weir},
};

use super::{
    profiles::{events, issue, set, wheel},
    pypi::{installed, pip_at, upstream},
    said,
};

const PAGE: &str = "/pypi/simple/six/";

async fn holds(client: &Client, query: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/registry/holds{query}")).await.expect(200).json();
    page["holds"].as_array().expect("holds").clone()
}

fn id(hold: &Value) -> String {
    hold["id"].as_str().expect("its id").to_owned()
}

async fn answer(client: &Client, hold: &str, word: &str) -> Answer {
    let body = json!({"reason": "looked at it", "hours": 24});
    client.post(&format!("/api/registry/holds/{hold}/{word}"), &body).await
}

/// An agent for whom these grounds are held, and its secret.
async fn agent(weir: &Weir, grounds: &[&str]) -> (Client, String) {
    set(&weir.client, "agent", &json!({ "hold": grounds })).await.has(200);
    issue(weir, "robot", &["registry:pypi", "rules:read", "rules:write"], "agent").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_package_waits_for_a_person_and_passes_everywhere_within_a_second() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let other = place.start(Part::Api).await;
    let wheel = wheel(&weir.client).await;
    let (robot, secret) = agent(&weir, &["new-package"]).await;
    let address = weir.url.replace("http://", &format!("http://__token__:{secret}@"));
    let held = pip_at(&address, &place, "held", "six==1.17.0");
    assert!(!held.status.success() && said(&held).contains("held for a human"), "{}", said(&held));
    let pending = holds(&weir.client, "?state=pending").await;
    assert_eq!(pending.len(), 1, "{pending:?}");
    assert_eq!(
        (&pending[0]["package"], &pending[0]["principal"]),
        (&json!("six"), &json!("robot"))
    );
    let hold = id(&pending[0]);
    assert!(said(&held).contains(&hold), "{}", said(&held));
    // Once, however often and wherever it is asked; and who only looks is told the same.
    for client in [&robot, &robot.at(&other.url)] {
        deadline::until("it is held", async || {
            let refused = client.get(&wheel).await;
            if refused.status == 403 && refused.body.contains(&hold) {
                Ok(())
            } else {
                Err(refused)
            }
        })
        .await;
        client.send("HEAD", &wheel, &[], None).await.expect("an answer").has(403);
    }
    assert_eq!(events(&weir.client, "PackageRequested").await.len(), 1);
    // Neither the agent nor another token of its name answers.
    assert_eq!(answer(&robot, &hold, "allow").await.expect(403).json()["code"], "bound_by_profile");
    let (_, namesake) = weir.client.issue("robot", &["rules:write"]).await;
    let namesake = weir.client.with_token(Some(&namesake));
    assert_eq!(answer(&namesake, &hold, "allow").await.expect(409).json()["code"], "second_person");
    let (_, ann) = weir.client.issue("ann", &["rules:read", "rules:write"]).await;
    let ann = weir.client.with_token(Some(&ann));
    answer(&ann, &hold, "allow").await.has(204);
    let since = Instant::now();
    robot.get(&wheel).await.has(200);
    deadline::until("the other instance lets it pass", async || {
        let status = robot.at(&other.url).get(&wheel).await.status;
        if status == 200 { Ok(()) } else { Err(status) }
    })
    .await;
    assert!(since.elapsed() < deadline::promise(Duration::from_secs(1)), "{:?}", since.elapsed());
    let passed = pip_at(&address, &place, "passed", "six==1.17.0");
    assert!(passed.status.success(), "{}", said(&passed));
    assert_eq!(installed(&place, "passed"), "1.17.0");
    let listed = holds(&weir.client, "").await;
    assert_eq!(
        (&listed[0]["state"], &listed[0]["answered_by"]),
        (&json!("allowed"), &json!("ann"))
    );

    // An answer stands until it is replaced. What was let through once is new to nobody else.
    answer(&ann, &hold, "allow").await.has(204);
    assert_eq!(answer(&ann, &hold, "deny").await.expect(409).json()["code"], "hold_answered");
    let body = json!({"reason": "looked at it", "hours": 24, "replace": true});
    ann.post(&format!("/api/registry/holds/{hold}/deny"), &body).await.has(204);
    let refused = robot.get(&wheel).await.expect(403);
    assert!(refused.body.contains("ann said no: looked at it"), "{}", refused.body);
    let (second, _) = issue(&weir, "robot 2", &["registry:pypi"], "agent").await;
    deadline::until("it is known here", async || {
        let status = second.get(&wheel).await.status;
        if status == 200 { Ok(()) } else { Err(status) }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_advisory_warns_of_passes_for_the_one_who_asked_once_a_person_allows_it() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    let warned = advisory(Ecosystem::Pypi, "GHSA-2222-2222-2222", "six", "1.17.0", None);
    weir.client.judges_by(place.publish(&warned).await).await;
    let (robot, _) = agent(&weir, &["advisory"]).await;
    let refused = robot.get(&wheel).await.expect(403);
    assert!(refused.body.contains("GHSA-2222-2222-2222"), "{}", refused.body);
    assert!(refused.body.contains("held for a human"), "{}", refused.body);
    let hold = id(&holds(&weir.client, "?state=pending").await[0]);
    let run = |arguments: &[&str]| {
        let output = place.run(arguments);
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    assert!(run(&["holds", "ls"]).contains("GHSA-2222-2222-2222"));
    run(&["holds", "allow", &hold, "--reason", "not reachable", "--yes"]);
    robot.get(&wheel).await.has(200);
    let page = robot.get(PAGE).await.expect(200);
    assert!(!page.body.contains("GHSA-2222-2222-2222"), "{}", page.body);
    // Nobody else got anything by it; and what is said next is another question.
    let (other, _) = issue(&weir, "robot 2", &["registry:pypi"], "agent").await;
    other.get(&wheel).await.has(403);
    weir.client.get(&wheel).await.has(403);
    let mut worse = advisory(Ecosystem::Pypi, "GHSA-3333-3333-3333", "six", "1.17.0", None);
    worse.aliases.clear();
    weir_tests::advisories::sign(&mut worse);
    weir.client.judges_by(place.publish(&worse).await).await;
    let refused = robot.get(&wheel).await.expect(403);
    assert!(refused.body.contains("GHSA-3333-3333-3333"), "{}", refused.body);
    assert_eq!(holds(&weir.client, "?state=pending").await.len(), 2);
}

/// The id of the only hold that waits, as soon as there is one.
async fn waiting(client: &Client) -> String {
    deadline::until("a question waits", async || {
        let pending = holds(client, "?state=pending").await;
        if pending.len() == 1 { Ok(id(&pending[0])) } else { Err(pending) }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_waits_for_a_person_hears_the_answer_at_once_and_pip_gets_the_file() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let place = Arc::new(place.setting("policy:\n  holds:\n    wait: 5m\n"));
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    let (robot, secret) = agent(&weir, &["new-package"]).await;
    let (second, _) = issue(&weir, "robot 2", &["registry:pypi"], "agent").await;
    let (third, _) = issue(&weir, "robot 3", &["registry:pypi"], "agent").await;
    // It begins with all of this, which one that ran would hear of a moment later.
    let other = place.start(Part::Api).await;
    let asks = |client: Client| {
        let wheel = wheel.clone();
        tokio::spawn(async move { client.get(&wheel).await })
    };

    // Whoever was denied is told why, and did not have to ask twice.
    let asking = asks(second.at(&other.url));
    answer(&weir.client, &waiting(&weir.client).await, "deny").await.has(204);
    let refused = asking.await.expect("an answer").expect(403);
    assert!(refused.body.contains("said no: looked at it"), "{}", refused.body);
    assert_eq!(events(&weir.client, "PackageBlocked").await.len(), 1);

    // Nobody waits for a process that stops, and nobody keeps it from stopping.
    let asking = asks(third.at(&other.url));
    let hold = waiting(&weir.client).await;
    other.stop().await;
    let refused = asking.await.expect("an answer").expect(403);
    assert!(refused.body.contains(&format!("held for a human: hold {hold}")), "{}", refused.body);
    answer(&weir.client, &hold, "deny").await.has(204);

    // One request of pip, one answer of a person, one file.
    let address = weir.url.replace("http://", &format!("http://__token__:{secret}@"));
    let pip = {
        let place = Arc::clone(&place);
        tokio::task::spawn_blocking(move || pip_at(&address, &place, "waited", "six==1.17.0"))
    };
    answer(&weir.client, &waiting(&weir.client).await, "allow").await.has(204);
    let passed = pip.await.expect("pip");
    assert!(passed.status.success(), "{}", said(&passed));
    assert_eq!(installed(&place, "waited"), "1.17.0");
    let blocked = events(&weir.client, "PackageBlocked").await;
    assert!(blocked.iter().all(|event| event["meta"]["principal"] != "robot"), "{blocked:?}");
    robot.get(&wheel).await.has(200);

    // All that it did is one line of time, and of nobody else's.
    let page = weir.client.get("/api/events?principal=robot&limit=1000").await.expect(200).json();
    let told = page["events"].as_array().expect("events");
    assert!(told.iter().all(|event| event["meta"]["principal"] == "robot"), "{told:?}");
    let kinds: Vec<_> = told.iter().filter_map(|event| event["kind"].as_str()).collect();
    let at = |kind| kinds.iter().position(|it| *it == kind);
    assert!(at("PackageRequested").is_some() && at("PackageRequested") < at("PackageAllowed"));
    let tail = ["tail", "--principal", "robot", "--from-start", "--until-idle", "--json"];
    let tail = place.run(&tail);
    assert!(tail.status.success(), "{}", said(&tail));
    assert_eq!(String::from_utf8_lossy(&tail.stdout).lines().count(), told.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_revoked_while_it_waits_for_a_person_gets_nothing() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let place = place.setting("policy: {holds: {wait: 2m}}");
    let weir = place.start(Part::Up).await;
    let wheel = wheel(&weir.client).await;
    let (robot, _) = agent(&weir, &["new-package"]).await;
    let waiting = tokio::spawn({
        let wheel = wheel.clone();
        async move { robot.get(&wheel).await }
    });
    deadline::until("a person is asked", async || {
        let pending = holds(&weir.client, "?state=pending").await;
        if pending.len() == 1 { Ok(()) } else { Err(pending) }
    })
    .await;
    let tokens = weir.client.get("/api/tokens?min_position=head").await.expect(200).json();
    let mut tokens = tokens["tokens"].as_array().expect("tokens").iter();
    let token = tokens.find(|token| token["name"] == "robot").expect("its token");
    let token = token["id"].as_str().expect("an id");
    let since = Instant::now();
    weir.client.delete(&format!("/api/tokens/{token}")).await;
    waiting.await.expect("an answer").has(401);
    assert!(since.elapsed() < deadline::promise(Duration::from_secs(1)), "{:?}", since.elapsed());
    let passed = events(&weir.client, "PackageAllowed").await;
    assert!(passed.is_empty(), "{passed:?}");
}
