//! One worker at a time, and no event twice: killed, stalled, robbed or relieved.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use tokio::sync::Notify;
use weir_events::position::Position;
use weir_tests::{
    deadline::{self, PATIENCE, promise},
    process::WINDOW,
    readmodels::{Hook, Keeper},
};

use super::Stage;

/// A hook that says when it has come to a position, and then never goes on.
fn stops_at(position: i64) -> (Hook, Arc<Notify>) {
    let reached = Arc::new(Notify::new());
    let ring = Arc::clone(&reached);
    let hook: Hook = Arc::new(move |batch| {
        if batch.iter().any(|event| event.position.0 == position) {
            ring.notify_one();
            return std::future::pending().boxed();
        }
        std::future::ready(()).boxed()
    });
    (hook, reached)
}

#[tokio::test]
async fn a_worker_killed_between_rows_and_commit_leaves_no_event_out_and_none_twice() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let (hook, reached) = stops_at(1_200);
    let victim = stage.worker(&keeper.clone().hook(hook)).await;
    stage.is_live().await;
    let last = stage.append(3_000).await;
    tokio::time::timeout(PATIENCE, reached.notified()).await.expect("it gets to 1,200");
    victim.kill();
    let heir = stage.worker(&keeper).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=last.0).await;
    heir.stop().await;
}

#[tokio::test]
async fn an_owner_stalled_past_its_lease_cannot_commit_and_another_takes_over_in_time() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    // Blocks its only thread, and with it renewals and everything else, as SIGSTOP does.
    let (freeze, frozen) = mpsc::channel::<()>();
    let (thaw, thawed) = mpsc::channel::<()>();
    let (freeze, thawed) = (Mutex::new(Some(freeze)), Mutex::new(thawed));
    let hook: Hook = Arc::new(move |batch| {
        let stops = batch.iter().any(|event| event.position.0 == 5);
        if stops && let Some(freeze) = freeze.lock().expect("no panic").take() {
            freeze.send(()).expect("the test waits");
            thawed.lock().expect("no panic").recv().expect("the test lets go");
        }
        std::future::ready(()).boxed()
    });
    let stalled = stage.worker(&keeper.clone().hook(hook)).await;
    stage.is_live().await;
    let owner = stage.status().await.owner.expect("an owner");
    let last = stage.append(10).await;
    tokio::task::spawn_blocking(move || frozen.recv()).await.expect("no panic").expect("frozen");
    let stalled_at = Instant::now();

    let heir = stage.worker(&keeper).await;
    stage.owner_other_than(Some(&owner), PATIENCE).await;
    let took = stalled_at.elapsed();
    assert!(took < promise(WINDOW + Duration::from_secs(1)), "taken over after {took:?}");
    stage.reaches("keeper", last).await;
    stage.keeps(1..=10).await;

    thaw.send(()).expect("it waits");
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=20).await;
    // It did not take harm: it stands by, and takes over in its turn.
    heir.stop().await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=30).await;
    assert_eq!(stage.status().await.owner, Some(owner));
    stalled.stop().await;
}

#[tokio::test]
async fn an_owner_whose_lease_was_taken_while_it_worked_loses_its_rows_with_it() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let (inside, go) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let n_entered = Arc::new(AtomicUsize::new(0));
    let (ring, wait, count) = (Arc::clone(&inside), Arc::clone(&go), Arc::clone(&n_entered));
    let hook: Hook = Arc::new(move |batch| {
        let (ring, wait, count) = (Arc::clone(&ring), Arc::clone(&wait), Arc::clone(&count));
        let here = batch.iter().any(|event| event.position.0 == 5);
        async move {
            if here && count.fetch_add(1, Ordering::SeqCst) == 0 {
                ring.notify_one();
                wait.notified().await;
            }
        }
        .boxed()
    });
    let worker = stage.worker(&keeper.hook(hook)).await;
    stage.is_live().await;
    let last = stage.append(10).await;
    tokio::time::timeout(PATIENCE, inside.notified()).await.expect("it is in the batch");
    let fence = stage.numbers("SELECT fence FROM projections.leases").await[0];
    stage
        .execute(
            "UPDATE projections.leases
             SET owner = gen_random_uuid(), fence = fence + 1,
                 held_until = clock_timestamp() + interval '1 second'",
        )
        .await;
    go.notify_one();
    // It takes the lease again when the thief's has run out, and only then does it all over.
    stage.reaches("keeper", last).await;
    stage.keeps(1..=10).await;
    assert_eq!(n_entered.load(Ordering::SeqCst), 2, "the first rows were not rolled back");
    assert_eq!(stage.numbers("SELECT fence FROM projections.leases").await, [fence + 2]);
    worker.stop().await;
}

#[tokio::test]
async fn the_offset_in_the_database_counts_and_not_the_one_in_memory() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let worker = stage.worker(&keeper).await;
    stage.is_live().await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    // As if a commit had been answered to nobody: five events on, which are not there yet.
    stage.execute("UPDATE projections.builds SET position = position + 5").await;
    let last = stage.append(10).await;
    deadline::until("it goes on from there", async || match stage.status().await.position {
        position if position == last => Ok(()),
        position => Err(position),
    })
    .await;
    stage.keeps((1..=10).chain(16..=20)).await;
    worker.stop().await;
}

#[tokio::test]
async fn of_two_workers_one_works_and_the_other_takes_over_when_it_ends_or_dies() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let first = stage.worker(&keeper).await;
    let owner = stage.owner_other_than(None, PATIENCE).await;
    let second = stage.worker(&keeper).await;
    let last = stage.append(100).await;
    stage.reaches("keeper", last).await;
    assert_eq!(stage.status().await.owner.as_ref(), Some(&owner), "one works");

    let killed_at = Instant::now();
    first.kill();
    let heir = stage.owner_other_than(Some(&owner), PATIENCE).await;
    let took = killed_at.elapsed();
    assert!(took < promise(WINDOW + Duration::from_secs(1)), "taken over after {took:?}");
    let last = stage.append(100).await;
    stage.reaches("keeper", last).await;

    let third = stage.worker(&keeper).await;
    let stopped_at = Instant::now();
    second.stop().await;
    let own = heir.rsplit('/').next().expect("its id");
    let kept = format!(
        "SELECT count(*) FROM projections.leases
         WHERE owner = '{own}' AND held_until > clock_timestamp()"
    );
    assert_eq!(stage.numbers(&kept).await, [0], "it gave its lease up");
    stage.owner_other_than(Some(&heir), PATIENCE).await;
    let took = stopped_at.elapsed();
    assert!(took < promise(WINDOW), "a lease that was given up was free only after {took:?}");
    let last = stage.append(100).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=last.0).await;
    third.stop().await;
}

#[tokio::test]
async fn a_lease_from_before_the_clock_stepped_back_an_hour_holds_nobody_up() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let first = stage.worker(&keeper).await;
    stage.is_live().await;
    let owner = stage.owner_other_than(None, PATIENCE).await;
    first.kill();
    stage
        .execute("UPDATE projections.leases SET held_until = clock_timestamp() + interval '1 hour'")
        .await;
    let second = stage.worker(&keeper).await;
    stage.owner_other_than(Some(&owner), WINDOW * 2).await;
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=10).await;
    second.stop().await;
}

#[tokio::test]
async fn a_worker_whose_sessions_are_cut_at_random_counts_every_event_once() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let worker = stage.worker(&keeper).await;
    stage.is_live().await;
    let mut last = Position::START;
    for _ in 0..20 {
        last = stage.append(500).await;
        // The worker's sessions, not the test's own.
        stage
            .execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                 WHERE datname = current_database() AND query LIKE '%projections.%'
                     AND pid <> pg_backend_pid()",
            )
            .await;
    }
    deadline::until("the worker is through", async || match stage.status().await.position {
        position if position == last => Ok(()),
        position => Err(position),
    })
    .await;
    stage.keeps(1..=last.0).await;
    worker.stop().await;
}
