//! Whether a log slows down as it grows.

use super::{callers::Callers, read::fill};
use crate::{
    Fault,
    database::Scratch,
    effort::{Effort, alternate},
    line::{Line, Target},
    options::Options,
    report::Report,
};

const SMALL: usize = 10_000;
const LARGE: usize = 10_000_000;
const N_CALLERS: usize = 64;

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let line = Line::new(
        "growth",
        "durable appends of 64 callers to a log of 10,000,000 events",
        "events/s",
        "the same to a log of 10,000 events",
        Target::AtLeast(0.85, None),
    );
    if effort.long && options.wants(line.name) {
        let measured = measure(options, effort, line.clone()).await;
        report.add(line, measured);
    }
}

async fn measure(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let small = Scratch::migrated(&options.database, "small").await?;
    let large = Scratch::migrated(&options.database, "large").await?;
    let (open_small, open_large) = (small.log().await?, large.log().await?);
    fill(&open_small, SMALL).await?;
    fill(&open_large, LARGE).await?;
    let in_small = tokio::sync::Mutex::new(Callers::new(&open_small.log, N_CALLERS).await?);
    let in_large = tokio::sync::Mutex::new(Callers::new(&open_large.log, N_CALLERS).await?);
    let pair = alternate(
        effort.n_rounds,
        async || Ok(in_large.lock().await.run(effort.span).await?.rate),
        async || Ok(in_small.lock().await.run(effort.span).await?.rate),
    )
    .await?;
    open_small.close().await;
    open_large.close().await;
    small.discard().await?;
    large.discard().await?;
    Ok(line.pair(pair))
}
