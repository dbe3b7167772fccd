//! The report of a cycle, however much was asked for in it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use weir_events::web::{
    Asked, Event, WebRequestCompleted, agent_stream,
    content::FilterReport,
    request::{AgentId, Cost, Hash256, HttpMethod},
};
use weir_log::{append::Outcome, lifecycle::Lifecycle};
use weir_projections::{
    engine::{Engine, EngineOptions},
    web::reports::{self, Reports},
};

use crate::{
    Fault,
    database::{OpenLog, Scratch, fresh},
    effort::{Effort, median, quantile},
    events,
    line::{Line, Target},
    options::Options,
    report::Report,
};

/// Requests of one agent, which are one append.
const N_TOGETHER: usize = 1_000;
/// Appends under way at once.
const N_AT_ONCE: usize = 4;
const CYCLE: u64 = 7;
/// How long it may take until all is counted.
const PATIENCE: Duration = Duration::from_mins(10);

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "report.1m",
        "the report of a cycle in which 1,000,000 requests were made, median",
        "ms",
        "",
        Target::About("<= 10 ms"),
    );
    if options.wants(line.name) {
        let measured = measure(options, effort, line.clone()).await;
        report.add(line, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let n_requests = if effort.quick { 50_000 } else { 1_000_000 };
    let scratch = Scratch::migrated(&options.database, "reports").await?;
    let open = scratch.log().await?;
    fill(&open, n_requests).await?;
    let lifecycle = Lifecycle::new();
    let projections = vec![Arc::new(Reports) as _];
    let engine = Engine::new(open.log.clone(), projections, fresh(), EngineOptions::default());
    let began = Instant::now();
    engine.start(&lifecycle);
    engine.wait_for("reports", open.log.head(), PATIENCE).await?;
    let counted = began.elapsed().as_secs_f64();

    let (mut took, n_reports) = (Vec::new(), if effort.quick { 100 } else { 1_000 });
    for _ in 0..n_reports {
        let began = Instant::now();
        let report = reports::so_far(open.log.database(), CYCLE).await?;
        took.push(began.elapsed().as_secs_f64() * 1_000.0);
        if report.total_requests != u64::try_from(n_requests)? {
            return Err(format!("{} requests were counted", report.total_requests).into());
        }
    }
    let note = format!(
        "{n_requests} requests, counted in {counted:.1} s; {:.2} ms for the 99th of 100",
        quantile(&mut took, 0.99)
    );
    lifecycle.stop(Duration::from_secs(5)).await;
    open.close().await;
    scratch.discard().await?;
    Ok(line.alone(median(&mut took)).noting(note))
}

/// Records requests of many agents.
async fn fill(open: &OpenLog, n_requests: usize) -> Result<(), Fault> {
    let agents: Vec<usize> = (0..n_requests / N_TOGETHER).collect();
    for some in agents.chunks(N_AT_ONCE) {
        let appends = some.iter().map(|nth| async move {
            let agent = AgentId::new(*Hash256::of(&[&nth.to_be_bytes()]).as_bytes());
            let events = (0..N_TOGETHER).map(|n| events::of(&done(agent, nth * N_TOGETHER + n)));
            let events = events.collect::<Result<Vec<_>, _>>()?;
            let append = events::append(&agent_stream(&agent, CYCLE)?, None, events);
            match open.log.append(append).await? {
                Outcome::Appended(_) => Ok::<_, Fault>(()),
                other => Err(format!("an append came to {other:?}").into()),
            }
        });
        futures_util::future::try_join_all(appends).await?;
    }
    Ok(())
}

/// A request that was answered from the cache.
fn done(agent: AgentId, nth: usize) -> Event {
    let request = Hash256::of(&[b"request", &nth.to_be_bytes()]);
    let asked = Asked {
        request,
        agent,
        url: format!("https://docs{}.example/guide/page-{}.html", nth % 500, nth % 9_973),
        method: HttpMethod::Get,
        purpose: "to learn how it is done".to_owned(),
        cycle: CYCLE,
        tick: CYCLE * 256,
    };
    WebRequestCompleted {
        asked,
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        content: Hash256::of(&[&(nth % 9_973).to_be_bytes()]),
        content_size: 20_000,
        cached: true,
        cost: Cost::CACHE_HIT,
        tax: 0,
        filtered: FilterReport { code_blocks_removed: 3, ..FilterReport::default() },
        hosts: Vec::new(),
        redirects: Vec::new(),
        approval: None,
        variant: None,
        back_off: None,
        paused_at: None,
    }
    .into()
}
