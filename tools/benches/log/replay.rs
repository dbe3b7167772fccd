//! Rebuilding read models from the whole log.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use sqlx::{PgConnection, Row as _};
use weir_events::{envelope::Recorded, kind::Subsystem};
use weir_log::lifecycle::Lifecycle;
use weir_projections::{
    engine::{ApplyFault, Engine, EngineOptions, Kinds, Projection, rebuild::ReplayOptions},
    registry::block_log::BlockLog,
};

use super::read::Filled;
use crate::{
    Fault,
    database::fresh,
    effort::{self, Effort, alternate, median},
    line::{Line, Target},
    options::Options,
    report::Report,
};

/// How often it is looked whether a rebuild is live.
const LOOK: Duration = Duration::from_millis(5);
/// How long a rebuild may take.
const PATIENCE: Duration = Duration::from_mins(2);

/// The smallest read model there is: how many events of each kind.
struct Counting;

const COUNT: &str = "
    INSERT INTO counts AS c (kind, n) SELECT * FROM unnest($1::integer[], $2::bigint[])
    ON CONFLICT (kind) DO UPDATE SET n = c.n + excluded.n";

impl Projection for Counting {
    fn name(&self) -> &'static str {
        "bench_counts"
    }

    fn version(&self) -> i32 {
        1
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Registry
    }

    fn kinds(&self) -> Kinds {
        Kinds::All
    }

    fn ddl(&self) -> &'static str {
        "CREATE TABLE counts (kind integer PRIMARY KEY, n bigint NOT NULL)"
    }

    fn tables(&self) -> &'static [&'static str] {
        &["counts"]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            let mut counts: BTreeMap<i32, i64> = BTreeMap::new();
            for event in batch {
                *counts.entry(event.kind.0).or_default() += 1;
            }
            let (kinds, n): (Vec<_>, Vec<_>) = counts.into_iter().unzip();
            sqlx::query(COUNT).bind(kinds).bind(n).execute(tx).await?;
            Ok(())
        })
    }
}

pub(super) const COUNTS: Line = Line::new(
    "replay.count",
    "rebuild of a counting read model, swap included",
    "events/s",
    "",
    Target::About("about 200,000"),
);

pub(super) const BLOCKS: Line = Line::new(
    "replay.block_log",
    "rebuild of the block log, swap included",
    "events/s",
    "INSERT ... SELECT of the same rows",
    Target::AtLeast(0.35, None),
);

/// Rebuilds both read models over a filled log.
pub(super) async fn run(options: &Options, effort: Effort, filled: &Filled, report: &mut Report) {
    if !options.wants(COUNTS.name) && !options.wants(BLOCKS.name) {
        return;
    }
    let lifecycle = Lifecycle::new();
    let projections: Vec<Arc<dyn Projection>> = vec![Arc::new(Counting), Arc::new(BlockLog)];
    let engine =
        Engine::new(filled.open.log.clone(), projections, fresh(), EngineOptions::default());
    engine.start(&lifecycle);
    let mut rebuilds = Rebuilds { engine, filled };
    if options.wants(COUNTS.name) {
        let measured = counts(effort, &mut rebuilds).await;
        report.add(COUNTS, measured);
    }
    if options.wants(BLOCKS.name) {
        let measured = blocks(effort, &mut rebuilds).await;
        report.add(BLOCKS, measured);
    }
    lifecycle.stop(Duration::from_secs(5)).await;
}

async fn counts(effort: Effort, rebuilds: &mut Rebuilds<'_>) -> Result<Line, Fault> {
    rebuilds.live("bench_counts").await?;
    let mut rates = Vec::new();
    for _ in 0..effort.n_rounds {
        rates.push(rebuilds.rate("bench_counts", effort.n_events).await?);
    }
    Ok(COUNTS.alone(median(&mut rates)))
}

async fn blocks(effort: Effort, rebuilds: &mut Rebuilds<'_>) -> Result<Line, Fault> {
    rebuilds.live("block_log").await?;
    let schema = rebuilds.schema("block_log").await?;
    let scratch = &rebuilds.filled.scratch;
    scratch
        .run(&format!(
            "CREATE SCHEMA bench; CREATE TABLE bench.rows (LIKE {schema}.block_log INCLUDING ALL);
             CREATE TABLE bench.source AS SELECT * FROM registry.block_log;
             ANALYZE bench.source"
        ))
        .await?;
    let rebuilds = &*rebuilds;
    let pair = alternate(
        effort.n_rounds,
        || rebuilds.rate("block_log", effort.n_events),
        async || {
            scratch.run("TRUNCATE bench.rows").await?;
            let mut connection = scratch.connect().await?;
            let began = Instant::now();
            sqlx::query("INSERT INTO bench.rows SELECT * FROM bench.source ORDER BY position")
                .execute(&mut connection)
                .await?;
            Ok(effort::rate(effort.n_events, began))
        },
    )
    .await?;
    Ok(BLOCKS.pair(pair))
}

struct Rebuilds<'a> {
    engine: Engine,
    filled: &'a Filled,
}

impl Rebuilds<'_> {
    /// Events a second of one rebuild, from the wish to the swap.
    async fn rate(&self, name: &str, n_events: usize) -> Result<f64, Fault> {
        let began = Instant::now();
        let options = ReplayOptions { from: None, restart: true };
        let replay = self.engine.replay(name, options).await?;
        self.until(&format!("id = {} AND state = 'live'", replay.build)).await?;
        Ok(effort::rate(n_events, began))
    }

    /// Waits until a read model has its first build and has caught up.
    async fn live(&self, name: &str) -> Result<(), Fault> {
        let head = self.filled.open.log.head();
        self.until(&format!("name = '{name}' AND state = 'live' AND position >= {head}")).await
    }

    /// The schema of a live build.
    async fn schema(&self, name: &str) -> Result<String, Fault> {
        let mut connection = self.filled.scratch.connect().await?;
        let row =
            sqlx::query("SELECT schema FROM projections.builds WHERE name = $1 AND state = 'live'")
                .bind(name)
                .fetch_one(&mut connection)
                .await?;
        Ok(row.try_get("schema")?)
    }

    async fn until(&self, condition: &str) -> Result<(), Fault> {
        let began = Instant::now();
        let mut connection = self.filled.scratch.connect().await?;
        let question = format!("SELECT EXISTS (SELECT FROM projections.builds WHERE {condition})");
        loop {
            let there: bool = sqlx::query_scalar(sqlx::AssertSqlSafe(question.as_str()))
                .fetch_one(&mut connection)
                .await?;
            if there {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("no build where {condition}").into());
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
