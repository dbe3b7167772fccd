//! The world's time: kept by the log, told alike by every instance, driven where it may be.

use serde_json::{Value, json};
use weir_tests::{
    deadline,
    weir::{Client, Part, Place},
};

async fn told(client: &Client) -> Value {
    client.get("/api/nexus").await.expect(200).json()
}

async fn started(client: &Client) -> Vec<Value> {
    let answer = client.get("/api/events?kind=CycleStarted&limit=1000").await.expect(200);
    let events = answer.json()["events"].as_array().expect("events").clone();
    events.iter().map(|event| event["payload"]["cycle"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_epoch_advances_once_and_every_instance_knows() {
    let place = Place::on_a_test_database().await.setting("nexus: {clock: driven}");
    let one = place.start(Part::Up).await;
    let other = place.start(Part::Api).await;
    assert_eq!(told(&one.client).await["epoch"], 0);
    let to = |epoch: u32, reason: &str| json!({"epoch": epoch, "reason": reason});
    let advanced = one.client.post("/api/nexus/epoch", &to(3, "rehearsed")).await.expect(200);
    assert_eq!(advanced.json()["epoch"], 3);
    assert_eq!(told(&other.client.with_token(place.token().as_deref())).await["epoch"], 3);
    let back = one.client.post("/api/nexus/epoch", &to(2, "too early")).await.expect(422).json();
    assert_eq!(
        (&back["code"], &back["errors"][0]["field"]),
        (&json!("epoch_refused"), &json!("epoch"))
    );
    one.client.post("/api/nexus/epoch", &to(4, " ")).await.has(422);
    let (_, secret) = one.client.issue("ann", &["events:read"]).await;
    let ann = one.client.with_token(Some(&secret));
    ann.post("/api/nexus/epoch", &to(4, "I want to")).await.has(403);
    assert_eq!(told(&ann).await["epoch"], 3);
    other.stop().await;
    one.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_driven_clock_moves_when_it_is_driven_and_begins_each_cycle_once() {
    let place =
        Place::on_a_test_database().await.setting("nexus: {clock: driven, ticks_per_cycle: 10}");
    let weir = place.start(Part::Up).await;
    deadline::until("the first cycle is announced", async || {
        let started = started(&weir.client).await;
        if started == [json!(0)] { Ok(()) } else { Err(started) }
    })
    .await;
    let drive = |ticks: u64| json!({ "ticks": ticks });
    let driven = weir.client.post("/api/nexus/ticks", &drive(9)).await.expect(200).json();
    assert_eq!((&driven["cycle"], &driven["tick"]), (&json!(0), &json!(9)));
    // Two at once: each moves it, and the boundary is crossed by one of them.
    let (path, ten) = ("/api/nexus/ticks", drive(5));
    let (one, two) = tokio::join!(weir.client.post(path, &ten), weir.client.post(path, &ten));
    one.has(200);
    two.has(200);
    let now = told(&weir.client).await;
    assert_eq!(
        (&now["cycle"], &now["tick"], &now["clock"]),
        (&json!(1), &json!(19), &json!("driven"))
    );
    assert_eq!(started(&weir.client).await, [json!(0), json!(1)]);
    weir.client.post(path, &drive(0)).await.has(422);
    weir.client.post(path, &drive(1_000_001)).await.has(422);

    let shown = place.run(&["nexus", "tick", "11", "--json", "--server", &weir.url]);
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!((&shown["cycle"], &shown["tick"]), (&json!(3), &json!(30)));
    let human = place.run(&["nexus", "show", "--server", &weir.url]);
    assert!(String::from_utf8_lossy(&human.stdout).contains("driven"));
    weir.stop().await;

    // After a restart it stands where it stood.
    let weir = place.start(Part::Up).await;
    assert_eq!(told(&weir.client).await["tick"], 30);
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wall_clock_begins_cycles_by_itself_and_is_not_driven() {
    let setting = "nexus: {tick: 10ms, ticks_per_cycle: 5}";
    let place = Place::on_a_test_database().await.setting(setting);
    let weir = place.start(Part::Up).await;
    deadline::until("three cycles have begun", async || {
        let started = started(&weir.client).await;
        if started.len() >= 3 { Ok(()) } else { Err(started) }
    })
    .await;
    let numbers: Vec<u64> = started(&weir.client).await.iter().filter_map(Value::as_u64).collect();
    assert!(numbers.windows(2).all(|two| two[0] < two[1]), "{numbers:?}");
    let refused = weir.client.post("/api/nexus/ticks", &json!({"ticks": 1})).await.expect(409);
    assert_eq!(refused.json()["code"], "clock_not_driven");
    let now = told(&weir.client).await;
    assert_eq!((&now["clock"], &now["tick_seconds"]), (&json!("wall"), &json!(0.01)));
    weir.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clock_that_nobody_could_reckon_with_is_refused_before_anything_starts() {
    let place = Place::on_a_test_database().await.setting("nexus: {ticks_per_cycle: 0}");
    let checked = place.run(&["config", "check"]);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(!checked.status.success(), "{said}");
    assert!(said.contains("ticks_per_cycle"), "{said}");
}
