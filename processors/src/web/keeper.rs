//! Keeps the gateway's promises at the end of a cycle: what is cached too long or too much goes, the
//! report is published, contents that nothing needs any more are swept. One process at a time does it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use weir_events::{
    codec::CodecFault,
    envelope::Recorded,
    nexus,
    position::Position,
    stream::{StreamName, StreamNameFault},
    web::{
        Event, PortalReportPublished, REPORTS, WebRequestBlocked, WebRequestCompleted,
        WebRequestFailed,
    },
};
use weir_log::{
    idempotency::CommandKey,
    lifecycle::Lifecycle,
    tail::{Tail, TailFault},
};
use weir_projections::{
    engine::{Engine, wait::WaitFault},
    query::QueryFault,
    web::{
        content,
        reports::{self, ReportRow},
    },
};

use super::{
    eviction::{EvictionFault, Evictions},
    pages::PagesSettings,
};
use crate::{
    caller::Caller,
    door::{Door, DoorFault},
};

/// What this work is called among the leases.
const WORK: &str = "web-keeper";
/// Events taken from the tail at once.
const BATCH: usize = 1_000;
/// How long the read models may take to be where a cycle began.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause after something went wrong, at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_mins(1));
/// How long a content may wait for what is about to point at it.
const GRACE: Duration = Duration::from_mins(15);
/// How often contents are looked through.
const SWEEP_EVERY: Duration = Duration::from_mins(5);
/// Reports published without looking for more.
const REPORTS_AT_ONCE: usize = 100;
/// How many bytes of names of hosts a published report has. The counters have all of them.
const MAX_HOSTS_BYTES: usize = 128 << 10;
/// After so much of the bound was stored anew, it is looked after in the middle of a cycle.
const LOOK_AFTER: u64 = 16;

/// Starts it.
pub fn start(door: &Door, engine: &Engine, settings: PagesSettings, lifecycle: &Lifecycle) {
    let (door, own) = (door.clone(), engine.clone());
    engine.alone(
        WORK,
        lifecycle,
        Box::new(move |stop| {
            let caller = Caller::processor(WORK);
            let keeper = Keeper { door: door.clone(), engine: own.clone(), settings, caller };
            Box::pin(async move { keeper.work(&stop).await })
        }),
    );
}

#[derive(Debug)]
struct Keeper {
    door: Door,
    engine: Engine,
    settings: PagesSettings,
    caller: Caller,
}

#[derive(Debug, thiserror::Error)]
enum KeepFault {
    #[error(transparent)]
    Query(#[from] QueryFault),
    #[error(transparent)]
    Door(#[from] DoorFault),
    #[error(transparent)]
    Wait(#[from] WaitFault),
    #[error(transparent)]
    Evict(#[from] EvictionFault),
    #[error(transparent)]
    Stream(#[from] StreamNameFault),
    #[error("the event at position {0} cannot be read")]
    Undecodable(Position, #[source] CodecFault),
    #[error(transparent)]
    Tail(#[from] TailFault),
}

impl Keeper {
    async fn work(&self, stop: &CancellationToken) {
        let (mut pause, longest) = PAUSES;
        loop {
            let fault = match stop.run_until_cancelled(self.keep(&mut pause)).await {
                None | Some(Err(KeepFault::Tail(TailFault::Stopped)) | Ok(())) => return,
                Some(Err(fault)) => fault,
            };
            warn!(error = %fault, "the end of a web cycle is not looked after yet");
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            pause = (pause * 2).min(longest);
        }
    }

    /// Does what is due, and then whatever falls due. Once that is done, whatever goes wrong next is
    /// tried again soon.
    async fn keep(&self, pause: &mut Duration) -> Result<(), KeepFault> {
        let log = self.door.log();
        // Older than what is looked at: nothing falls in between.
        let mut tail = log.tail(log.head());
        let mut cycle = crate::nexus::now(&self.door).await?.cycle;
        self.ended(cycle, tail.position()).await?;
        let (mut stored, mut swept) = (0, None::<Instant>);
        loop {
            if swept.is_none_or(|at| at.elapsed() >= SWEEP_EVERY) {
                self.sweep(cycle).await?;
                swept = Some(Instant::now());
            }
            *pause = PAUSES.0;
            let news = self.next(&mut tail).await?;
            if let Some((begun, position)) = news.begun {
                cycle = begun;
                self.ended(cycle, position).await?;
            }
            if news.settled.is_some_and(|settled| settled < cycle) {
                self.settled(tail.position()).await?;
            }
            stored += news.stored;
            if stored > self.settings.max_bytes / LOOK_AFTER {
                self.engine.wait_for("cache", tail.position(), PATIENCE).await?;
                self.evict(cycle).await?;
                stored = 0;
            }
        }
    }

    async fn next(&self, tail: &mut Tail) -> Result<News, KeepFault> {
        let mut news = News::default();
        for event in tail.next(BATCH).await? {
            news.hear(&event)?;
        }
        Ok(news)
    }

    /// A cycle has begun: the ones before have ended.
    async fn ended(&self, cycle: u64, position: Position) -> Result<(), KeepFault> {
        for projection in ["cache", "reports", "request_log"] {
            self.engine.wait_for(projection, position, PATIENCE).await?;
        }
        self.publish().await?;
        self.evict(cycle).await
    }

    /// Something of a cycle that is over came to its end: perhaps the cycle's report is complete.
    async fn settled(&self, position: Position) -> Result<(), KeepFault> {
        self.engine.wait_for("reports", position, PATIENCE).await?;
        self.publish().await
    }

    async fn evict(&self, cycle: u64) -> Result<(), KeepFault> {
        let evictions = Evictions::new(&self.door, &self.engine);
        let n_pages = evictions.due(cycle, self.settings.max_bytes).await?;
        if n_pages > 0 {
            info!(n_pages, cycle, "cached pages were forgotten");
        }
        Ok(())
    }

    /// Publishes the reports of all cycles that have ended, each once, whoever else does.
    async fn publish(&self) -> Result<(), KeepFault> {
        let stream = StreamName::new(REPORTS)?;
        loop {
            let rows = reports::unpublished(self.door.log().database(), REPORTS_AT_ONCE).await?;
            let full = rows.len() == REPORTS_AT_ONCE;
            let mut last = None;
            for row in rows {
                let (cycle, revision) = (row.report.cycle, row.revision);
                let key = CommandKey::of(&self.caller.principal, &report_key(cycle, revision));
                let facts = [Event::from(published(row))];
                let done = self.door.record_once(stream.clone(), &facts, &self.caller, key).await?;
                if let Some(at) = done {
                    info!(
                        cycle,
                        revision,
                        position = %at.last,
                        "the report of a web cycle is published"
                    );
                    last = Some(at.last);
                }
            }
            match last {
                Some(last) if full => self.engine.wait_for("reports", last, PATIENCE).await?,
                _ => return Ok(()),
            };
        }
    }

    async fn sweep(&self, cycle: u64) -> Result<(), KeepFault> {
        let since = cycle.saturating_sub(self.settings.keep_answers);
        let n_swept = content::sweep(self.door.log().database(), since, GRACE).await?;
        if n_swept > 0 {
            info!(n_swept, "contents that nothing needs any more were deleted");
        }
        Ok(())
    }
}

/// What a batch of events says.
#[derive(Debug, Default)]
struct News {
    /// The last cycle that began, and where.
    begun: Option<(u64, Position)>,
    /// The first cycle of which a request came to its end.
    settled: Option<u64>,
    /// How many bytes of pages were stored.
    stored: u64,
}

impl News {
    fn hear(&mut self, event: &Arc<Recorded>) -> Result<(), KeepFault> {
        let undecodable = |cause| KeepFault::Undecodable(event.position, cause);
        if let Some(decoded) = event.decode::<nexus::Event>() {
            if let nexus::Event::CycleStarted(started) = decoded.map_err(undecodable)? {
                self.begun = Some((started.cycle, event.position));
            }
        } else if let Some(decoded) = event.decode::<Event>() {
            match decoded.map_err(undecodable)? {
                Event::WebCacheStored(stored) => self.stored += stored.content_size,
                Event::WebRequestCompleted(WebRequestCompleted { asked, .. })
                | Event::WebRequestBlocked(WebRequestBlocked { asked, .. })
                | Event::WebRequestFailed(WebRequestFailed { asked, .. }) => {
                    let cycle = self.settled.map_or(asked.cycle, |first| first.min(asked.cycle));
                    self.settled = Some(cycle);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What the publication of a report is known by, so that there is one of each.
fn report_key(cycle: u64, revision: u32) -> String {
    if revision == 0 {
        return format!("\0web/report/{cycle}");
    }
    format!("\0web/report/{cycle}/{revision}")
}

/// A report as it is published: with as many hosts as fit into an event.
fn published(row: ReportRow) -> PortalReportPublished {
    let ReportRow { mut report, state_hash, revision, .. } = row;
    let mut n_bytes = 0;
    let n_hosts = report.domains_accessed.len();
    report.domains_accessed.retain(|host| {
        n_bytes += host.len() + 8;
        n_bytes <= MAX_HOSTS_BYTES
    });
    if report.domains_accessed.len() < n_hosts {
        warn!(
            cycle = report.cycle,
            n_hosts,
            n_published = report.domains_accessed.len(),
            "a web cycle accessed more hosts than its report has room for"
        );
    }
    PortalReportPublished { report, state_hash, revision }
}

#[cfg(test)]
mod tests {
    use weir_events::web::request::{Cost, Hash256, PortalReport};

    use super::*;

    #[test]
    fn a_report_has_as_many_hosts_as_fit_the_first_ones_first() {
        let hosts: Vec<String> = (0..3_000).map(|n| format!("{n:04}{}", ".x".repeat(30))).collect();
        let report = PortalReport {
            cycle: 7,
            total_requests: 1,
            cache_hit_rate: 0.0,
            domains_accessed: hosts.clone(),
            top_users: Vec::new(),
            code_filter_hits: 0,
            blocked_requests: 0,
            total_cost: Cost::NONE,
        };
        let row = ReportRow {
            report,
            tax: 0,
            state_hash: Hash256::new([1; 32]),
            ended_at: Position(1),
            revision: 0,
            published_at: None,
        };
        let published = published(row).report.domains_accessed;
        let n = published.len();
        assert!(n > 1_000 && n < 3_000, "{n}");
        assert_eq!(published, hosts[..n]);
    }
}
