//! Projections keep their promises: every event counts once, whoever dies; readers never see half
//! of anything; a poison event stands apart.

mod commands;
mod crashes;
mod leases;
mod poison;
mod read_models;
mod rebuilds;

use std::{sync::Arc, time::Duration};

use weir_events::position::Position;
use weir_log::{append::Outcome, lifecycle::Lifecycle};
use weir_projections::{
    access::agents::Agents,
    engine::{Engine, EngineFault, EngineOptions, Projection, status::ProjectionStatus},
};
use weir_tests::{
    database::{TestDatabase, TestLog, fresh},
    deadline::{self, PATIENCE},
    events::{blocked, facts},
    process::{Process, options},
    readmodels::Keeper,
};

/// Longer than any test.
const HOUR: Duration = Duration::from_hours(1);

/// A database, its log, and an engine that only asks.
struct Stage {
    database: TestDatabase,
    log: TestLog,
    asking: Engine,
}

impl Stage {
    async fn new(projections: Vec<Arc<dyn Projection>>) -> Self {
        let database = TestDatabase::create().await;
        let log = database.log().await;
        let asking = Engine::new(log.log.clone(), projections, fresh(), options());
        Self { database, log, asking }
    }

    async fn with(keeper: &Keeper) -> Self {
        Self::new(vec![keeper.boxed()]).await
    }

    async fn worker(&self, keeper: &Keeper) -> Process {
        Process::start(&self.database, vec![keeper.boxed()], options()).await
    }

    /// Appends `n` events; answers the last position.
    async fn append(&self, n: u64) -> Position {
        let mut last = self.log.log.head();
        for chunk in (0..n).collect::<Vec<_>>().chunks(500) {
            let events: Vec<_> = chunk.iter().map(|&n| blocked(n)).collect();
            match self.log.log.append(facts("facts", &events)).await.expect("append") {
                Outcome::Appended(at) => last = at.last,
                other => panic!("{other:?}"),
            }
        }
        last
    }

    async fn reaches(&self, name: &str, position: Position) {
        self.asking.wait_for(name, position, PATIENCE).await.expect("it gets there");
    }

    async fn status(&self) -> ProjectionStatus {
        self.asking.status().await.expect("a status").projections.remove(0)
    }

    async fn try_numbers(&self, query: &str) -> Result<Vec<i64>, sqlx::Error> {
        let mut tx = self.log.log.database().pool().begin().await?;
        let numbers = sqlx::query_scalar(sqlx::AssertSqlSafe(query.to_owned()));
        let numbers = numbers.fetch_all(&mut *tx).await?;
        tx.commit().await?;
        Ok(numbers)
    }

    async fn numbers(&self, query: &str) -> Vec<i64> {
        self.try_numbers(query).await.expect(query)
    }

    async fn execute(&self, statement: &str) {
        let mut tx = self.log.log.database().begin().await.expect("begin");
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned()))
            .execute(&mut *tx)
            .await
            .expect(statement);
        tx.commit().await.expect("commit");
    }

    /// What the keeper keeps: every position once, and their number, which a position that was
    /// rolled back but counted would show.
    async fn keeps(&self, positions: impl IntoIterator<Item = i64>) {
        let wanted: Vec<i64> = positions.into_iter().collect();
        let kept = self.numbers("SELECT position FROM log.kept ORDER BY position").await;
        let first_wrong = kept.iter().zip(&wanted).find(|(kept, wanted)| kept != wanted);
        assert_eq!((kept.len(), first_wrong), (wanted.len(), None), "positions kept");
        let number = self.numbers("SELECT n FROM log.kept_number").await;
        assert_eq!(number, [i64::try_from(wanted.len()).expect("a count")], "their number");
    }

    /// Waits until somebody else than `not` holds the lease; answers who.
    async fn owner_other_than(&self, not: Option<&str>, within: Duration) -> String {
        deadline::within(within, "another worker holds the lease", async || {
            let owner = self.status().await.owner;
            owner.filter(|owner| Some(owner.as_str()) != not).ok_or("nobody, or the same")
        })
        .await
    }

    /// Waits until there is a live build.
    async fn is_live(&self) {
        deadline::until("there is a live build", async || {
            self.try_numbers("SELECT n FROM log.kept_number").await.map(drop)
        })
        .await;
    }
}

#[tokio::test]
async fn a_reader_waits_for_its_own_write_on_an_instance_without_a_worker() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let early = stage.asking.wait_for("keeper", Position(1), Duration::from_millis(50)).await;
    let early = early.expect_err("nobody keeps it");
    assert!(early.to_string().contains("position 0, not yet at 1"), "{early}");
    let worker = stage.worker(&keeper).await;
    let last = stage.append(1).await;
    let waits = (0..500).map(|_| stage.asking.wait_for("keeper", last, PATIENCE));
    for waited in futures_util::future::join_all(waits).await {
        assert_eq!(waited.expect("it got there"), last);
    }
    stage.keeps(1..=last.0).await;
    worker.stop().await;
}

#[tokio::test]
async fn whoever_waits_for_events_that_gather_has_them_at_once() {
    let keeper = Keeper::default();
    let stage = Stage::with(&keeper).await;
    let slow = EngineOptions { gather: HOUR, ..options() };
    let engine = Engine::new(stage.log.log.clone(), vec![keeper.boxed()], fresh(), slow);
    let lifecycle = Lifecycle::new();
    engine.start(&lifecycle);
    for n in 1..=5 {
        let last = stage.append(1).await;
        assert_eq!(engine.wait_for("keeper", last, PATIENCE).await.expect("in time"), last);
        stage.keeps(1..=n).await;
    }
    assert!(lifecycle.stop(PATIENCE).await);
}

#[tokio::test]
async fn who_reads_does_not_wait_for_an_offset_to_move_over_what_is_not_wanted() {
    let agents = || vec![Arc::new(Agents) as Arc<dyn Projection>];
    let stage = Stage::new(agents()).await;
    let slow = EngineOptions { idle_gather: HOUR, ..options() };
    let worker = Process::start(&stage.database, agents(), slow).await;
    let mut last = stage.append(1).await;
    stage.reaches("agents", last).await;
    deadline::until("the offset moves once", async || match stage.status().await.position {
        position if position == last => Ok(()),
        position => Err(position),
    })
    .await;
    for _ in 0..5 {
        last = stage.append(1).await;
        stage.reaches("agents", last).await;
        assert!(stage.status().await.position < last, "it is not to move for an hour");
    }
    // But whoever ends says how far it has come.
    deadline::until("the worker has heard of all", async || {
        worker.engine().wait_for("agents", last, Duration::ZERO).await.map(drop)
    })
    .await;
    worker.stop().await;
    assert_eq!(stage.status().await.position, last);
}

#[tokio::test]
async fn what_does_not_exist_is_named() {
    let stage = Stage::with(&Keeper::default()).await;
    let refused = stage
        .asking
        .replay("kepeer", weir_projections::engine::rebuild::ReplayOptions::default())
        .await;
    assert!(matches!(refused, Err(EngineFault::Unknown(name)) if name == "kepeer"));
    let refused = stage.asking.cancel_replay("keeper").await;
    assert!(matches!(refused, Err(EngineFault::NotReplaying(_))), "{refused:?}");
    let refused = stage.asking.check("keeper", |_| ()).await;
    assert!(matches!(refused, Err(EngineFault::NotBuilt(_))), "{refused:?}");
    let refused = stage.asking.redeliver("keeper", Position(1)).await;
    assert!(matches!(refused, Err(EngineFault::NotBuilt(_))), "{refused:?}");
}
