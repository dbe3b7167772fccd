//! Rebuilds: beside the live build, resumable, swapped whole, and comparable row by row.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
};

use futures_util::FutureExt;
use tokio::{sync::Notify, task::JoinSet};
use weir_events::position::Position;
use weir_log::{
    LogOptions,
    database::{Database, Pooler},
};
use weir_projections::engine::{
    Engine, EngineFault,
    rebuild::{ReplayEnd, ReplayOptions},
    status::ReplayState,
};
use weir_tests::{
    database::fresh,
    deadline::{self, PATIENCE},
    pgbouncer::Pgbouncer,
    process::{Process, options},
    readmodels::{Hook, Keeper},
};

use super::Stage;

const AGAIN: ReplayOptions = ReplayOptions { from: None, restart: false };

async fn replayed(stage: &Stage, options: ReplayOptions) {
    let replay = stage.asking.replay("keeper", options).await.expect("asked");
    let end = stage.asking.follow_replay("keeper", replay.build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Swapped);
}

#[tokio::test]
async fn a_rebuild_is_swapped_in_whole_while_readers_read_and_events_come() {
    let keeper = Keeper::default();
    let stage = Arc::new(Stage::with(&keeper).await);
    let worker = stage.worker(&keeper).await;
    let last = stage.append(3_000).await;
    stage.reaches("keeper", last).await;

    let stop = Arc::new(AtomicBool::new(false));
    let (reading, stopped) = (Arc::clone(&stage), Arc::clone(&stop));
    let mut reader = JoinSet::new();
    reader.spawn(async move {
        let (mut n_reads, mut last) = (0, 0);
        while !stopped.load(Ordering::SeqCst) {
            // Both numbers are of one moment: every position is there, and counted.
            let both = "SELECT n FROM (SELECT count(*) AS n, 1 AS o FROM log.kept
                UNION ALL SELECT n, 2 FROM log.kept_number) r ORDER BY o";
            let read = reading.numbers(both).await;
            assert_eq!(read[0], read[1], "half of a build was seen");
            assert!(read[0] >= last, "{} rows after {last}", read[0]);
            (n_reads, last) = (n_reads + 1, read[0]);
        }
        n_reads
    });
    let (writing, stopped) = (Arc::clone(&stage), Arc::clone(&stop));
    let mut writer = JoinSet::new();
    writer.spawn(async move {
        let mut last = Position::START;
        while !stopped.load(Ordering::SeqCst) {
            last = writing.append(3).await;
        }
        last
    });
    for _ in 0..6 {
        replayed(&stage, AGAIN).await;
    }
    stop.store(true, Ordering::SeqCst);
    let last = writer.join_next().await.expect("a writer").expect("it ends");
    stage.reaches("keeper", last).await;
    let n_reads = reader.join_next().await.expect("a reader").expect("it saw whole builds only");
    assert!(n_reads > 10, "only {n_reads} reads");
    stage.keeps(1..=last.0).await;
    deadline::until("the old builds are gone", async || {
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'log\\_keeper\\_%'";
        match stage.numbers(schemas).await[..] {
            [1] => Ok(()),
            ref n => Err(format!("{n:?} schemas")),
        }
    })
    .await;
    worker.stop().await;
}

/// Stops in a rebuild at a position, the first time.
fn stops_once_at(position: i64) -> (Hook, Arc<Notify>) {
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
async fn an_interrupted_rebuild_goes_on_where_it_was() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let last = stage.append(12_000).await;
    let worker = stage.worker(&keeper).await;
    stage.reaches("keeper", last).await;
    worker.stop().await;

    let (hook, reached) = stops_once_at(9_000);
    let victim = stage.worker(&keeper.clone().hook(hook)).await;
    let replay = stage.asking.replay("keeper", AGAIN).await.expect("asked");
    tokio::time::timeout(PATIENCE, reached.notified()).await.expect("it gets to 9,000");
    victim.kill();
    stage.keeps(1..=12_000).await;
    let left_at = deadline::until("it is interrupted", async || {
        let replay = stage.status().await.replay.ok_or("gone")?;
        if replay.state == ReplayState::Interrupted { Ok(replay.position) } else { Err("held") }
    })
    .await;
    assert!(left_at > Position::START && left_at < Position(9_000), "{left_at}");

    let again = stage.asking.replay("keeper", AGAIN).await.expect("asked");
    assert_eq!((again.build, again.resumed), (replay.build, true));
    let other = ReplayOptions { from: Some(Position(1)), restart: false };
    let refused = stage.asking.replay("keeper", other).await;
    assert!(matches!(refused, Err(EngineFault::Replaying { .. })), "{refused:?}");

    let first = Arc::new(AtomicI64::new(i64::MAX));
    let lowest = Arc::clone(&first);
    let hook: Hook = Arc::new(move |batch| {
        let at = batch.first().map_or(i64::MAX, |event| event.position.0);
        lowest.fetch_min(at, Ordering::SeqCst);
        std::future::ready(()).boxed()
    });
    let heir = stage.worker(&keeper.clone().hook(hook)).await;
    let end = stage.asking.follow_replay("keeper", again.build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Swapped);
    assert_eq!(first.load(Ordering::SeqCst), left_at.0 + 1, "it did not go on where it was");
    stage.keeps(1..=12_000).await;
    heir.stop().await;
}

#[tokio::test]
async fn a_rebuild_from_a_position_has_what_came_after_it_and_one_begun_anew_has_all() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let worker = stage.worker(&keeper).await;
    let last = stage.append(100).await;
    stage.reaches("keeper", last).await;
    replayed(&stage, ReplayOptions { from: Some(Position(40)), restart: false }).await;
    stage.keeps(41..=100).await;
    let report = stage.asking.check("keeper", |_| ()).await.expect("a report");
    assert!(report.equal(), "{report:?}");
    replayed(&stage, ReplayOptions { from: None, restart: true }).await;
    stage.keeps(1..=100).await;
    worker.stop().await;
}

#[tokio::test]
async fn a_rebuild_that_is_called_off_leaves_the_live_build_and_nothing_else() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let (hook, reached) = stops_once_at(700);
    let worker = stage.worker(&keeper.clone()).await;
    let last = stage.append(1_000).await;
    stage.reaches("keeper", last).await;
    worker.stop().await;
    let stuck = stage.worker(&keeper.hook(hook)).await;
    let replay = stage.asking.replay("keeper", AGAIN).await.expect("asked");
    tokio::time::timeout(PATIENCE, reached.notified()).await.expect("it gets to 700");
    // It waits for the batch, which the lease's window ends.
    stage.asking.cancel_replay("keeper").await.expect("called off");
    let end = stage.asking.follow_replay("keeper", replay.build, |_| ()).await.expect("an end");
    assert_eq!(end, ReplayEnd::Cancelled);
    assert!(stage.status().await.replay.is_none());
    stage.keeps(1..=1_000).await;
    stuck.kill();
}

#[tokio::test]
async fn a_check_compares_at_one_position_while_events_come_and_finds_what_was_tampered_with() {
    let keeper = Keeper::default();
    let stage = Arc::new(Stage::with(&keeper).await);
    let worker = stage.worker(&keeper).await;
    let last = stage.append(3_000).await;
    stage.reaches("keeper", last).await;

    let stop = Arc::new(AtomicBool::new(false));
    let (writing, stopped) = (Arc::clone(&stage), Arc::clone(&stop));
    let mut writer = JoinSet::new();
    writer.spawn(async move {
        while !stopped.load(Ordering::SeqCst) {
            writing.append(10).await;
        }
    });
    let mut seen = BTreeSet::new();
    let report = stage.asking.check("keeper", |at| seen.extend([at.position])).await;
    let report = report.expect("a report");
    assert!(report.equal(), "{report:?}");
    assert!(report.position >= last && !seen.is_empty());
    assert_eq!(report.tables[0].n_rows, report.position.0.unsigned_abs());
    stop.store(true, Ordering::SeqCst);
    writer.join_next().await.expect("a writer").expect("it ends");

    stage
        .execute("UPDATE log.kept SET position = -7 WHERE position = 1234; UPDATE log.kept_number SET n = n + 1")
        .await;
    let report = stage.asking.check("keeper", |_| ()).await.expect("a report");
    assert!(!report.equal());
    let kept = &report.tables[0];
    assert_eq!((kept.n_only_live, kept.n_only_rebuilt), (1, 1));
    assert_eq!(kept.only_live, [r#"{"position": -7}"#]);
    assert_eq!(kept.only_rebuilt, [r#"{"position": 1234}"#]);
    assert_eq!((report.tables[1].n_only_live, report.tables[1].n_only_rebuilt), (1, 1));
    let scratches =
        stage.numbers("SELECT count(*) FROM projections.builds WHERE state = 'checking'").await;
    assert_eq!(scratches, [0], "a scratch was left behind");
    assert_eq!(stage.numbers("SELECT count(*) FROM projections.leases").await, [1]);
    worker.stop().await;
}

#[tokio::test]
async fn a_new_version_of_the_code_rebuilds_by_itself_and_an_old_one_keeps_its_hands_off() {
    let old = Keeper::default();
    let stage = Stage::with(&old).await;
    let worker = stage.worker(&old).await;
    let last = stage.append(500).await;
    stage.reaches("keeper", last).await;
    worker.stop().await;

    let new = old.clone().version(2);
    let worker = stage.worker(&new).await;
    let twice = deadline::until("the new version is live", async || {
        stage.try_numbers("SELECT twice FROM log.kept WHERE position = 21").await
    })
    .await;
    assert_eq!(twice, [42]);
    let last = stage.append(10).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=510).await;
    assert_eq!(stage.status().await.version, 2);
    worker.stop().await;

    let outdated = stage.worker(&old).await;
    let last = stage.append(10).await;
    let new_worker = stage.worker(&new).await;
    stage.reaches("keeper", last).await;
    stage.keeps(1..=520).await;
    outdated.stop().await;
    new_worker.stop().await;
}

#[tokio::test]
async fn everything_works_behind_pgbouncer_in_transaction_mode() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let pgbouncer = Pgbouncer::start(&stage.database).await;
    let through = Database::new(&pgbouncer.url, Pooler::Transaction, 12).expect("an address");
    let behind = stage.database.log_with(through, &LogOptions::default()).await;
    // Many at once, so that every statement meets those of others on its server connection.
    let mut projections = weir_projections::all();
    projections.push(keeper.boxed());
    let engine = Engine::new(behind.log.clone(), projections, fresh(), options());
    engine.start(&behind.lifecycle);
    keeper.poison([Position(30)]);
    let last = stage.append(2_500).await;
    for projection in engine.projections() {
        engine.wait_for(projection.name(), last, PATIENCE).await.expect("it gets there");
    }
    stage.keeps((1..=2_500).filter(|p| *p != 30)).await;
    keeper.poison([]);
    engine.redeliver("keeper", Position(30)).await.expect("redelivered");
    stage.keeps(1..=2_500).await;
    for projection in engine.projections() {
        let name = projection.name();
        let replay = engine.replay(name, AGAIN).await.expect("asked");
        let end = engine.follow_replay(name, replay.build, |_| ()).await.expect("an end");
        assert_eq!(end, ReplayEnd::Swapped);
        let report = engine.check(name, |_| ()).await.expect("a report");
        assert!(report.equal(), "{report:?}");
    }
    let last = stage.append(10).await;
    engine.wait_for("keeper", last, PATIENCE).await.expect("it goes on");
    stage.keeps(1..=last.0).await;
    assert!(behind.lifecycle.stop(PATIENCE).await);
}

#[tokio::test]
async fn a_first_build_on_a_long_log_is_seen_when_it_is_whole() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let last = stage.append(5_000).await;
    let worker = Process::start(&stage.database, vec![keeper.boxed()], options()).await;
    let first = deadline::until("the view is there", async || {
        stage.try_numbers("SELECT count(*) FROM log.kept").await
    })
    .await;
    assert_eq!(first, [last.0]);
    worker.stop().await;
}
