//! Forgetting pages whose time has come: each on record, and gone from the read model when it is done.

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::Row as _;
use weir_events::web::{
    Event, WebCacheStored, cache_stream,
    content::FilterReport,
    request::{Hash256, HttpMethod},
};
use weir_log::lifecycle::Lifecycle;
use weir_processors::{caller::Caller, clock::SystemClock, door::Door, web::eviction::Evictions};
use weir_projections::engine::{Engine, EngineOptions};

use crate::{
    Fault,
    database::{Scratch, fresh},
    effort::{Effort, Pair, alternate},
    line::{Line, Target},
    options::Options,
    report::Report,
};

/// Pages stored in one append.
const N_TOGETHER: usize = 1_000;
const PATIENCE: Duration = Duration::from_mins(1);
/// What is written of a page: all but what the database makes of it.
const COLUMNS: &str = "SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) \
    FROM information_schema.columns \
    WHERE table_schema = $1 AND table_name = 'cache' AND is_generated = 'NEVER'";

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "evict",
        "pages whose time has come, until they are on record and gone",
        "ms",
        "the bare DELETE of the same rows",
        Target::AtMost(1.3),
    );
    if options.wants(line.name) {
        let measured = measure(options, effort, line.clone()).await;
        report.add(line, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let scratch = Scratch::migrated(&options.database, "evict").await?;
    let open = scratch.log().await?;
    let lifecycle = Lifecycle::new();
    let all = weir_projections::all();
    let engine = Engine::new(open.log.clone(), all, fresh(), EngineOptions::default());
    engine.start(&lifecycle);
    let cache = Cache {
        door: Door::new(open.log.clone(), Arc::new(SystemClock)),
        engine,
        scratch: &scratch,
        n_pages: if effort.quick { 2_000 } else { 10_000 },
        cycle: Cell::new(0),
    };
    let pair = cache.pair(effort).await?;
    let note = format!("{} pages", cache.n_pages);
    lifecycle.stop(Duration::from_secs(5)).await;
    open.close().await;
    scratch.discard().await?;
    Ok(line.pair(pair).noting(note))
}

struct Cache<'a> {
    door: Door,
    engine: Engine,
    scratch: &'a Scratch,
    n_pages: usize,
    cycle: Cell<u64>,
}

impl Cache<'_> {
    async fn pair(&self, effort: Effort) -> Result<Pair, Fault> {
        self.store().await?;
        let mut connection = self.scratch.connect().await?;
        let row = sqlx::query(
            "SELECT schema FROM projections.builds WHERE name = 'cache' AND state = 'live'",
        );
        let schema: String = row.fetch_one(&mut connection).await?.try_get("schema")?;
        let columns = sqlx::query_scalar(COLUMNS).bind(&schema);
        let columns: String = columns.fetch_one(&mut connection).await?;
        self.scratch
            .run(&format!(
                "CREATE SCHEMA bench; CREATE TABLE bench.cache (LIKE {schema}.cache INCLUDING ALL);
                 CREATE TABLE bench.source AS SELECT {columns} FROM portal.cache"
            ))
            .await?;
        self.evict().await?;
        alternate(
            effort.n_rounds,
            async || {
                self.store().await?;
                let began = Instant::now();
                self.evict().await?;
                Ok(began.elapsed().as_secs_f64() * 1_000.0)
            },
            async || {
                let fill =
                    format!("INSERT INTO bench.cache ({columns}) SELECT * FROM bench.source");
                self.scratch.run(&fill).await?;
                let mut connection = self.scratch.connect().await?;
                let began = Instant::now();
                let gone = sqlx::query("DELETE FROM bench.cache WHERE expires_at <= $1")
                    .bind(i64::MAX)
                    .execute(&mut connection)
                    .await?;
                let took = began.elapsed().as_secs_f64() * 1_000.0;
                self.all(gone.rows_affected())?;
                Ok(took)
            },
        )
        .await
    }

    /// Stores pages that are shown in this cycle, and not in the next one.
    async fn store(&self) -> Result<(), Fault> {
        let (caller, cycle) = (Caller::processor("bench"), self.cycle.get());
        let pages: Vec<usize> = (0..self.n_pages).collect();
        for some in pages.chunks(N_TOGETHER) {
            let facts = some.iter().map(|nth| {
                let stored = page(*nth, cycle);
                Ok((cache_stream(&stored.key)?, vec![Event::from(stored)]))
            });
            let facts = facts.collect::<Result<Vec<_>, Fault>>()?;
            let last = self.door.record_each(&facts, &caller).await?.last;
            self.engine.wait_for("cache", last, PATIENCE).await?;
        }
        Ok(())
    }

    /// Forgets them, as it is done at the end of a cycle.
    async fn evict(&self) -> Result<(), Fault> {
        let next = self.cycle.get() + 1;
        let gone = Evictions::new(&self.door, &self.engine).due(next, u64::MAX).await?;
        self.cycle.set(next);
        self.all(gone)
    }

    fn all(&self, gone: u64) -> Result<(), Fault> {
        let n_pages = u64::try_from(self.n_pages)?;
        if gone == n_pages { Ok(()) } else { Err(format!("{gone} of {n_pages} pages went").into()) }
    }
}

fn page(nth: usize, cycle: u64) -> WebCacheStored {
    let key = Hash256::of(&[b"page", &nth.to_be_bytes()]);
    WebCacheStored {
        key,
        variant: Hash256::of(&[b"raw"]),
        owner: None,
        url: format!("https://docs{}.example/guide/page-{nth}.html", nth % 500),
        method: HttpMethod::Get,
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        content: key,
        content_size: 20_000,
        filtered: FilterReport { code_blocks_removed: 3, ..FilterReport::default() },
        title: Some("A page".to_owned()),
        request: key,
        cycle,
        ttl: 1,
        redirected: Vec::new(),
        also: Vec::new(),
        asked_at: None,
    }
}
