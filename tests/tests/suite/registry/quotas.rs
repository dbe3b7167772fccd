//! Quotas: as many files as a token may have, and not one more, however many instances it asks.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use weir_tests::weir::{Client, Part, Place, Weir};

use super::{
    profiles::{events, issue, set, wheel},
    pypi::{pip_at, upstream},
    said,
};

/// An agent with this quota, and the wheel it asks for.
async fn agent(weir: &Weir, quota: &Value) -> (Client, String, String) {
    set(&weir.client, "agent", &json!({ "quota": quota })).await.has(200);
    let (client, secret) = issue(weir, "robot", &["registry:pypi"], "agent").await;
    (client, secret, wheel(&weir.client).await)
}

/// What is listed of the agent's token.
async fn used(client: &Client) -> Value {
    let tokens = client.get("/api/tokens?min_position=head").await.expect(200).json();
    let mut tokens = tokens["tokens"].as_array().expect("tokens").iter();
    tokens.find(|token| token["name"] == "robot").expect("its token")["used"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_at_once_on_two_instances_exactly_as_many_pass_as_may_also_after_a_crash() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let (one, _, wheel) = agent(&weir, &json!({"downloads_per_day": 17})).await;
    weir.client.get(&wheel).await.has(200);
    let other = place.start(Part::Api).await;
    let two = one.at(&other.url);
    two.get("/pypi/simple/six/").await.has(200);
    let asked = (0..40).map(|n| {
        let (client, wheel) = (if n % 2 == 0 { &one } else { &two }, &wheel);
        async move { client.get(wheel).await }
    });
    let answers = join_all(asked).await;
    let count = |status| answers.iter().filter(|answer| answer.status == status).count();
    let odd = answers.iter().find(|answer| ![200, 429].contains(&answer.status));
    assert_eq!(odd, None, "{} {}", place.log("up"), place.log("api"));
    assert_eq!((count(200), count(429)), (17, 23));
    assert_eq!(events(&weir.client, "QuotaSpent").await.len(), 17);
    let now = used(&weir.client).await;
    assert_eq!(
        (&now["downloads_today"], &now["quota"]["downloads_per_day"]),
        (&json!(17), &json!(17))
    );
    other.kill();
    let again = place.start(Part::Api).await;
    one.at(&again.url).get(&wheel).await.has(429);
    // A person is not counted; and more is more at once.
    weir.client.at(&again.url).get(&wheel).await.has(200);
    set(&weir.client, "agent", &json!({"quota": {"downloads_per_day": 18}})).await.has(200);
    one.get(&wheel).await.has(200);
    let refused = one.get(&wheel).await.expect(429);
    let seconds: u64 = refused.header("retry-after").expect("when").parse().expect("seconds");
    assert!((1..=86_400).contains(&seconds), "{seconds}");
    assert!(refused.body.contains("18 files a day"), "{}", refused.body);
    let blocked = events(&weir.client, "PackageBlocked").await;
    assert!(blocked.iter().all(|event| event["payload"]["source"] == "quota"), "{blocked:?}");
    assert_eq!(blocked.len(), 25);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_count_as_they_are_asked_for_and_what_is_only_asked_about_does_not() {
    let place = Place::on_a_test_database().await.upstream(&upstream());
    let weir = place.start(Part::Up).await;
    let (client, secret, wheel) = agent(&weir, &json!({"bytes_per_day": 12_000})).await;
    let head = client.send("HEAD", &wheel, &[], None).await.expect("an answer").expect(200);
    let size: u64 = head.header("content-length").expect("its size").parse().expect("a number");
    assert!((6_001..12_000).contains(&size), "the test counts on it: {size}");
    assert_eq!(used(&weir.client).await["bytes_today"], 0);
    let part = client.send("GET", &wheel, &[("range", "bytes=0-99")], None).await;
    part.expect("an answer").has(206);
    assert_eq!(used(&weir.client).await["bytes_today"], 100);
    client.get(&wheel).await.has(200);
    assert_eq!(used(&weir.client).await["bytes_today"], 100 + size);
    let refused = client.get(&wheel).await.expect(429);
    let left = 12_000 - 100 - size;
    assert!(refused.body.contains(&format!("{left} are left today")), "{}", refused.body);
    assert_eq!(used(&weir.client).await["bytes_today"], 100 + size, "a refusal costs nothing");

    // pip says why at once, and does not sleep until tomorrow.
    let since = Instant::now();
    let address = weir.url.replace("http://", &format!("http://__token__:{secret}@"));
    let output = pip_at(&address, &place, "target", "six==1.17.0");
    assert!(!output.status.success() && said(&output).contains("bytes a day"), "{}", said(&output));
    assert!(since.elapsed() < Duration::from_mins(1), "{:?}", since.elapsed());
    let listed = place.run(&["token", "ls"]);
    assert!(said(&listed).contains("of 12kB/d"), "{}", said(&listed));
}
