//! What dashboards ask for is measured, and moves when what it measures does.

use sqlx::{Connection, Executor, PgConnection};
use weir_tests::{
    cache,
    deadline::until,
    events::{blocked, facts},
    weir::{Client, Part, Place},
};

/// The value of a series, by its name and labels as they are shown.
async fn value(client: &Client, series: &str) -> Option<f64> {
    let text = client.with_token(None).get("/metrics").await.expect(200).body;
    let line =
        text.lines().find(|line| line.strip_prefix(series).is_some_and(|r| r.starts_with(' ')));
    line.and_then(|line| line.rsplit(' ').next()).and_then(|value| value.parse().ok())
}

async fn becomes(client: &Client, series: &str, wanted: impl Fn(f64) -> bool) -> f64 {
    until(series, async || match value(client, series).await {
        Some(value) if wanted(value) => Ok(value),
        other => Err(other),
    })
    .await
}

fn is(wanted: f64) -> impl Fn(f64) -> bool {
    move |value| (value - wanted).abs() < f64::EPSILON
}

#[tokio::test]
async fn blocked_packages_open_transactions_streams_and_lag_are_measured() {
    let place = Place::on_a_test_database().await;
    let weir = place.start(Part::Up).await;
    let database = place.database.as_ref().expect("a database");
    let log = database.log().await;
    assert_eq!(value(&weir.client, "sse_clients").await, Some(0.0));

    let blocks: Vec<_> = (1..=3).chain(1..=2).map(blocked).collect();
    log.log.append(facts("registry/decisions/2026-01-01/pypi", &blocks)).await.expect("append");
    becomes(&weir.client, "weir_registry_blocked_packages{ecosystem=\"pypi\"}", is(3.0)).await;

    // While a read model is kept from moving, its lag is seen.
    let mut holder = PgConnection::connect(&database.url).await.expect("connect");
    holder
        .execute("BEGIN; SELECT id FROM projections.builds WHERE name = 'block_log' FOR UPDATE")
        .await
        .expect("hold it up");
    log.log.append(facts("registry/decisions/2026-01-01/pypi", &blocks)).await.expect("append");
    let lag = "projection_lag_events{projection=\"block_log\"}";
    becomes(&weir.client, lag, |lag| lag >= 5.0).await;
    let lag_seconds = "projection_lag_seconds{projection=\"block_log\"}";
    becomes(&weir.client, lag_seconds, |seconds| seconds > 0.0).await;
    becomes(&weir.client, "weir_oldest_open_tx_seconds", |seconds| seconds >= 1.0).await;
    holder.execute("COMMIT").await.expect("let go");
    becomes(&weir.client, lag, is(0.0)).await;

    let reader = weir.client.clone();
    let open = tokio::spawn(async move {
        weir_tests::sse::read(&reader, "/api/events", None, |_| false).await
    });
    becomes(&weir.client, "sse_clients", is(1.0)).await;
    open.abort();
    becomes(&weir.client, "sse_clients", is(0.0)).await;
}

#[tokio::test]
async fn the_cache_is_measured_and_what_it_forgets_is_on_record() {
    let place = Place::on_a_test_database().await.upstream("http://127.0.0.1:9/simple/");
    let root = place.data_dir().join("cache");
    std::fs::create_dir_all(&root).expect("a folder");
    for file in ["six-1.tar.gz", "six-2.tar.gz", "six-3.tar.gz"] {
        cache::put(&root, "six", file, &[7; 400], None).await;
    }
    let place = place.setting("cache:\n  max_size: 1000B\n");
    let weir = place.start(Part::Up).await;
    becomes(&weir.client, "weir_registry_cache_size_bytes", is(800.0)).await;
    let events = until("the eviction is recorded", async || {
        let answer = weir.client.get("/api/events?kind=CacheEvicted&limit=10").await.expect(200);
        let events = answer.json()["events"].as_array().cloned().unwrap_or_default();
        if events.len() == 1 { Ok(events) } else { Err(answer.body) }
    })
    .await;
    let payload = &events[0]["payload"];
    for (member, wanted) in [("ecosystem", "pypi"), ("package", "six"), ("cause", "lru")] {
        assert_eq!(payload[member], wanted, "{payload}");
    }
    assert_eq!(payload["size_bytes"], 400);
    assert!(payload["sha256"].as_str().is_some_and(|hash| hash.len() == 64), "{payload}");
    let upstream = "weir_registry_upstream_duration_seconds_count{ecosystem=\"pypi\"}";
    assert_eq!(value(&weir.client, upstream).await, Some(0.0));
    // Nobody is there, and that took its time too.
    assert_eq!(weir.client.get("/pypi/simple/six/").await.status, 502);
    becomes(&weir.client, upstream, is(1.0)).await;
}
