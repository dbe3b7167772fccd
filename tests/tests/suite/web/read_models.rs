//! What the read models of the gateway say of what agents did.

pub(super) mod counters;
mod pages;
mod requests;

use std::{collections::BTreeSet, sync::Arc};

use weir_events::{
    codec::EventSet,
    nexus,
    position::Position,
    timestamp::Timestamp,
    web::{
        Event, Invalidated, PortalReportPublished, QuotaExhausted, WebCacheInvalidated,
        WebCacheStored, WebEvictionCause, WebRequestCompleted, WebRequestSubmitted,
        content::ContentFilter,
        request::{AgentId, Cost, Hash256},
    },
};
use weir_log::append::Outcome;
use weir_projections::{
    engine::{Engine, Projection},
    web::{
        cache, reports,
        request_log::{self, Filter, LeftOver, RequestState, Unsettled},
    },
};
use weir_tests::{
    database::{TestDatabase, TestLog, fresh},
    deadline::PATIENCE,
    events::facts,
    process::{Process, options},
    web::{
        agent, asked, begun, blocked, completed, evicted, expired, failed, hash, hit, shown,
        stored, submitted, too_early,
    },
};

const NAMES: [&str; 3] = ["request_log", "cache", "reports"];

fn kept() -> Vec<Arc<dyn Projection>> {
    weir_projections::all().into_iter().filter(|it| NAMES.contains(&it.name())).collect()
}

/// A log whose read models are kept.
pub(super) struct Stage {
    pub(super) database: TestDatabase,
    pub(super) log: TestLog,
    pub(super) asking: Engine,
    worker: Option<Process>,
}

impl Stage {
    pub(super) async fn new() -> Self {
        let database = TestDatabase::create().await;
        let log = database.log().await;
        let asking = Engine::new(log.log.clone(), kept(), fresh(), options());
        let mut stage = Self { database, log, asking, worker: None };
        stage.work().await;
        stage
    }

    /// From now on the read models are kept.
    pub(super) async fn work(&mut self) {
        self.worker = Some(Process::start(&self.database, kept(), options()).await);
    }

    /// From now on they stay where they are.
    pub(super) async fn rest(&mut self) {
        self.worker.take().expect("it works").stop().await;
    }

    pub(super) async fn append<E: EventSet>(&self, events: &[E]) -> Position {
        match self.log.log.append(facts("facts", events)).await.expect("append") {
            Outcome::Appended(at) => at.last,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn reached(&self, position: Position) {
        for name in NAMES {
            self.asking.wait_for(name, position, PATIENCE).await.expect("it gets there");
        }
    }

    async fn web(&self, events: &[Event]) {
        let last = self.append(events).await;
        self.reached(last).await;
    }

    async fn begin(&self, cycle: u64, after: Option<u64>) -> Position {
        let event: nexus::Event = begun(cycle, after).into();
        let last = self.append(&[event]).await;
        self.reached(last).await;
        last
    }

    async fn numbers(&self, query: &'static str) -> Vec<i64> {
        let mut tx = self.log.log.database().begin().await.expect("begin");
        let numbers = sqlx::query_scalar(query).fetch_all(&mut *tx).await.expect(query);
        tx.commit().await.expect("commit");
        numbers
    }
}
