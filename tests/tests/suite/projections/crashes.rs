//! Postgres crashes, Weir does not: what was not on disk yet is done again, however quiet the log is.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use futures_util::FutureExt;
use sqlx::{Connection, PgConnection};
use weir_events::position::Position;
use weir_log::{LogOptions, lifecycle::Lifecycle, migrate};
use weir_processors::web::content::Contents;
use weir_projections::engine::{Engine, EngineOptions};
use weir_tests::{
    database::{TestDatabase, fresh},
    deadline::{PATIENCE, until},
    process::options,
    readmodels::{Hook, Keeper},
    weir::signal,
};

use super::{HOUR, Stage};
use crate::chaos::Cluster;

/// A stage on a cluster of its own, with a worker in this very process.
struct Crashing {
    stage: Stage,
    lifecycle: Lifecycle,
    /// How many events were applied, each time they were.
    n_applied: Arc<AtomicUsize>,
    _cluster: Cluster,
}

/// The process that writes to disk what nobody waited for, and since when there is one.
const WAL_WRITER: &str = "
    SELECT pid, backend_start::text FROM pg_stat_activity WHERE backend_type = 'walwriter'";

impl Crashing {
    async fn new(log: LogOptions) -> Self {
        let (cluster, url) = Cluster::start();
        let database = TestDatabase { name: "weir".to_owned(), url };
        migrate::migrate(&database.database(2)).await.expect("migrate");
        let log = database.log_with(database.database(8), &log).await;
        let n_applied = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&n_applied);
        let hook: Hook = Arc::new(move |batch| {
            counted.fetch_add(batch.len(), Ordering::SeqCst);
            std::future::ready(()).boxed()
        });
        // No lease is renewed: everything that was committed before would be on disk then.
        let options = EngineOptions { lease_window: HOUR, ..options() };
        let keeper = Keeper::default().hook(hook);
        let engine = Engine::new(log.log.clone(), vec![keeper.boxed()], fresh(), options);
        let lifecycle = Lifecycle::new();
        engine.start(&lifecycle);
        let stage = Stage { database, log, asking: engine };
        stage.is_live().await;
        Self { stage, lifecycle, n_applied, _cluster: cluster }
    }

    async fn wal_writer(&self) -> Result<(i32, String), sqlx::Error> {
        let mut admin = PgConnection::connect(&self.stage.database.url).await?;
        sqlx::query_as(WAL_WRITER).fetch_one(&mut admin).await
    }

    /// From here on only that is on disk which somebody waits for.
    async fn hold_the_disk(&self) -> (i32, String) {
        let found = self.wal_writer().await.expect("it is there");
        signal(found.0.unsigned_abs(), "STOP");
        found
    }

    /// A process of the server is killed: it ends all sessions, and recovers.
    async fn crash(&self, held: (i32, String)) {
        signal(held.0.unsigned_abs(), "KILL");
        until("it is back", async || match self.wal_writer().await {
            Ok(found) if found != held => Ok(()),
            other => Err(other),
        })
        .await;
    }

    /// Waits for a position, as a reader does who knows it.
    async fn reaches(&self, position: Position) {
        until("the database answers", async || {
            self.stage.asking.wait_for("keeper", position, PATIENCE).await
        })
        .await;
    }

    fn n_applied(&self) -> i64 {
        i64::try_from(self.n_applied.load(Ordering::SeqCst)).expect("a count")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_were_not_on_disk_are_written_again_though_nothing_comes_after_them() {
    let crashing = Crashing::new(LogOptions::default()).await;
    let Crashing { stage, .. } = &crashing;
    let hub = stage.log.log.hub();
    until("it listens", async || hub.notices_outages().then_some(()).ok_or("not yet")).await;
    let held = crashing.hold_the_disk().await;
    let last = stage.append(1).await;
    crashing.reaches(last).await;
    stage.keeps(1..=last.0).await;
    let n_outages = hub.n_outages();
    crashing.crash(held).await;
    tokio::time::timeout(PATIENCE, hub.outage_after(n_outages)).await.expect("it is noticed");
    crashing.reaches(last).await;
    stage.keeps(1..=last.0).await;
    println!("{last} applied {} times", crashing.n_applied());
    assert!(crashing.lifecycle.stop(PATIENCE).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_would_not_notice_a_crash_waits_for_the_disk() {
    let quiet = LogOptions { notify: false, ..LogOptions::default() };
    let crashing = Crashing::new(quiet).await;
    let Crashing { stage, .. } = &crashing;
    assert!(!stage.log.log.hub().notices_outages());
    let held = crashing.hold_the_disk().await;
    let last = stage.append(1).await;
    crashing.reaches(last).await;
    crashing.crash(held).await;
    // Whatever the worker knows of the crash, nothing is left for it to do again.
    let last = stage.append(1).await;
    crashing.reaches(last).await;
    stage.keeps(1..=last.0).await;
    assert_eq!(crashing.n_applied(), last.0, "each was applied once");

    let contents = Contents::new(stage.log.log.clone());
    let words = Bytes::from_static(b"kept");
    let held = crashing.hold_the_disk().await;
    let hash = contents.put(&words).await.expect("put");
    crashing.crash(held).await;
    let got = until("the database answers", async || contents.get(&hash).await).await;
    assert_eq!(got, Some(words));
    assert!(crashing.lifecycle.stop(PATIENCE).await);
}
