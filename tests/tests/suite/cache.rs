//! What the cache forgets stands in the log, once and with its cause, also after a bad time.

use std::{sync::Arc, time::Duration};

use sqlx::{Connection, Executor, PgConnection};
use weir_events::registry::{CacheEvicted, Ecosystem, Event, EvictionCause};
use weir_log::{Log, lifecycle::Lifecycle};
use weir_processors::{
    clock::SystemClock,
    door::Door,
    registry::{
        cache::{ArtifactCache as _, CacheKey, CachePlugin},
        keeper,
        shelves::Shelves,
    },
};
use weir_tests::{
    cache::{open, put_in},
    database::TestDatabase,
    deadline::until,
};

async fn evictions(log: &Log) -> Vec<CacheEvicted> {
    let head = log.ask_head().await.expect("the head").position;
    let mut tail = log.tail(weir_events::position::Position::START);
    let mut found = Vec::new();
    while tail.position() < head {
        for event in tail.next(1_000).await.expect("events") {
            if let Some(Ok(Event::CacheEvicted(gone))) = event.decode::<Event>() {
                found.push(gone);
            }
        }
    }
    found
}

async fn recorded(log: &Log, n: usize) -> Vec<CacheEvicted> {
    until(&format!("{n} evictions are recorded"), async || {
        let found = evictions(log).await;
        if found.len() == n { Ok(found) } else { Err(found.len()) }
    })
    .await
}

#[tokio::test]
async fn what_expires_is_looked_for_by_itself_and_each_eviction_is_recorded_with_its_cause() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let door = Door::new(log.log.clone(), Arc::new(SystemClock));
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, lifecycle) = (open(folder.path(), 1_000).await, Lifecycle::new());
    keeper::start(&cache, &Shelves::default(), &door, Duration::from_millis(50), &lifecycle);

    put_in(&cache, "six", "old.whl", &[1; 10], Some(60)).await;
    let found = recorded(&log.log, 1).await;
    assert_eq!((found[0].cause, &*found[0].file), (EvictionCause::Expired, "old.whl"));
    let forgotten = cache.census().await.expect("a census").forgotten;
    assert_eq!(forgotten[&Ecosystem::Pypi].expired, 1);
    put_in(&cache, "six", "a.whl", &[1; 600], None).await;
    put_in(&cache, "six", "b.whl", &[1; 600], None).await;
    let found = recorded(&log.log, 2).await;
    assert_eq!((found[1].cause, &*found[1].file), (EvictionCause::Lru, "a.whl"));
    let b = CacheKey::new(Ecosystem::Pypi, "six", "b.whl").expect("a key");
    assert!(cache.delete(&b).await.expect("deleted"));
    let found = recorded(&log.log, 3).await;
    assert_eq!((found[2].cause, &*found[2].file), (EvictionCause::Purged, "b.whl"));
    assert_eq!((&*found[2].package, found[2].size_bytes), ("six", 600));

    // When many go at once, that is put down in few appends.
    for n in 0..450 {
        put_in(&cache, "six", &format!("{n}.whl"), &[1], None).await;
    }
    put_in(&cache, "six", "large.whl", &[1; 1_000], None).await;
    let found = recorded(&log.log, 453).await;
    let distinct: std::collections::HashSet<_> = found.iter().map(|gone| &gone.file).collect();
    assert_eq!(distinct.len(), 453);
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    let n_appends: i64 = sqlx::query_scalar("SELECT count(*) FROM log.commands")
        .fetch_one(&mut admin)
        .await
        .expect("count");
    assert!((6..40).contains(&n_appends), "{n_appends} appends");
    assert!(lifecycle.stop(Duration::from_secs(5)).await, "the keeper ends");
}

#[tokio::test]
async fn an_eviction_that_cannot_be_recorded_is_recorded_later_and_once() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let door = Door::new(log.log.clone(), Arc::new(SystemClock));
    let folder = tempfile::tempdir().expect("a folder");
    let (cache, lifecycle) = (open(folder.path(), 1_000).await, Lifecycle::new());
    keeper::start(&cache, &Shelves::default(), &door, Duration::from_hours(1), &lifecycle);
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    admin.execute("ALTER TABLE log.commands RENAME TO away").await.expect("break it");
    put_in(&cache, "six", "a.whl", &[1; 10], None).await;
    let a = CacheKey::new(Ecosystem::Pypi, "six", "a.whl").expect("a key");
    assert!(cache.delete(&a).await.expect("deleted"));
    until("it was tried", async || {
        let failed: i64 = sqlx::query_scalar(
            "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()",
        )
        .fetch_one(&mut admin)
        .await
        .expect("look");
        if failed > 0 { Ok(()) } else { Err(failed) }
    })
    .await;
    assert_eq!(evictions(&log.log).await.len(), 0);
    admin.execute("ALTER TABLE log.away RENAME TO commands").await.expect("mend it");
    let found = recorded(&log.log, 1).await;
    assert_eq!(found[0].cause, EvictionCause::Purged);
    assert!(lifecycle.stop(Duration::from_secs(5)).await, "the keeper ends");
    assert_eq!(evictions(&log.log).await.len(), 1);
}
