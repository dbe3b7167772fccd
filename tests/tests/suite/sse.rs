//! Server-sent events: cut at any moment they go on without a gap or a repeat, and a thousand
//! clients cost little.

use std::time::Duration;

use weir_events::position::Position;
use weir_tests::{
    database::TestDatabase,
    deadline,
    events::{allowed, facts},
    memory, sse,
    weir::{Part, Place},
};

async fn fill(database: &TestDatabase, n: u64, pause: Duration) -> Position {
    let log = database.log().await;
    let mut last = Position::START;
    let mut beat = tokio::time::interval(pause.max(Duration::from_micros(1)));
    for chunk in (0..n).collect::<Vec<_>>().chunks(10) {
        beat.tick().await;
        let events: Vec<_> = chunk.iter().map(|&n| allowed(n)).collect();
        match log.log.append(facts("facts", &events)).await.expect("append") {
            weir_log::append::Outcome::Appended(at) => last = at.last,
            other => panic!("{other:?}"),
        }
    }
    log.lifecycle.stop(Duration::from_secs(5)).await;
    last
}

fn position(event: &sse::Event) -> Option<i64> {
    let view: serde_json::Value = serde_json::from_str(&event.data).ok()?;
    if event.name.is_empty() { view["position"].as_i64() } else { None }
}

#[tokio::test]
async fn a_client_cut_fifty_times_under_load_resumes_with_no_gap_and_no_repeat() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let database = place.database.as_ref().expect("a test database");
    let load = {
        let database = TestDatabase { name: database.name.clone(), url: database.url.clone() };
        tokio::spawn(async move { fill(&database, 4_000, Duration::from_millis(8)).await })
    };
    let mut seen: Vec<i64> = Vec::new();
    let mut last_id = None;
    for _ in 0..50 {
        let mut left = usize::from(rand::random::<u8>() % 60) + 1;
        let id = sse::read(&weir.client, "/api/events?after=0", last_id.as_deref(), |event| {
            seen.extend(position(event));
            left -= 1;
            left == 0
        })
        .await
        .expect("a stream");
        last_id = Some(id);
    }
    let head = load.await.expect("the load ends").0;
    sse::read(&weir.client, "/api/events?after=0", last_id.as_deref(), |event| {
        seen.extend(position(event));
        seen.last() == Some(&head)
    })
    .await
    .expect("a stream");
    assert_eq!(seen, (1..=head).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_filtered_stream_shows_what_passes_and_resumes_past_what_does_not() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let before = weir.client.rule("six", "<1", "old", "mark").await.position();
    fill(place.database.as_ref().expect("a database"), 50, Duration::ZERO).await;
    let after = weir.client.rule("six", "<2", "older", "mark").await.position();
    let mut seen = Vec::new();
    let id = sse::read(&weir.client, "/api/events?after=0&kind=RuleAdded", None, |event| {
        seen.extend(position(event));
        seen.len() == 2
    })
    .await
    .expect("a stream");
    assert_eq!(seen, [before, after]);
    assert!(id.ends_with(&format!("-{after}")), "{id}");
    assert!(after > before + 50);
}

#[tokio::test]
async fn a_cursor_ahead_of_the_log_is_told_to_resync_and_a_malformed_one_is_a_problem() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let mut told = None;
    sse::read(&weir.client, "/api/events?after=99999999", None, |event| {
        told = Some(event.clone());
        event.name == "resync"
    })
    .await
    .expect("a stream");
    let told = told.expect("something");
    assert_eq!(told.name, "resync", "{told:?}");
    assert!(told.data.contains("\"head\""), "{told:?}");
    let malformed = sse::read(&weir.client, "/api/events", Some("yesterday"), |_| true).await;
    assert!(malformed.is_err_and(|why| why.starts_with("400")));
}

#[tokio::test]
async fn a_thousand_clients_at_once_cost_little_memory_and_it_stays_flat() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let database = place.database.as_ref().expect("a test database");
    fill(database, 100, Duration::ZERO).await;
    // The token is verified: what its hashing takes is not what a client costs.
    weir.client.get("/api/status").await.has(200);
    let before = memory::now(&weir);
    let (told, head) = tokio::sync::watch::channel(i64::MAX);
    let clients: Vec<_> = (0..1_000)
        .map(|_| {
            let (client, head) = (weir.client.clone(), head.clone());
            tokio::spawn(async move {
                let mut next = 101;
                sse::read(&client, "/api/events?after=100", None, |event| {
                    if let Some(position) = position(event) {
                        assert_eq!(position, next, "a gap or a repeat");
                        next += 1;
                    }
                    next > *head.borrow()
                })
                .await
            })
        })
        .collect();
    deadline::until("all clients are in", async || {
        let status = weir.client.get("/api/status").await.json();
        if status["sse_clients"] == 1_000 { Ok(()) } else { Err(status.to_string()) }
    })
    .await;
    fill(database, 300, Duration::from_millis(5)).await;
    let half = memory::now(&weir);
    let last = fill(database, 300, Duration::from_millis(5)).await;
    let full = memory::now(&weir);
    told.send(last.0).expect("tell the clients");
    fill(database, 10, Duration::ZERO).await;
    for client in clients {
        client.await.expect("no gap and no repeat").expect("a stream");
    }
    let per_client = full.saturating_sub(before) / 1_000;
    println!("{before} KiB alone, {half} after 300 events to 1,000 clients, {full} after 600");
    assert!(per_client <= 64, "{per_client} KiB a client");
    assert!(full < half + half / 5, "it grows: {half} KiB, then {full}");
}
