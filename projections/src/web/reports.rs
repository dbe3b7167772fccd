//! What requests add up to: counted by cycle, agent and host as they come. When a cycle has ended, and
//! all that was admitted in it, its report stands here as it was at that very event, with the hash of
//! the portal's state at the cycle's end; whoever publishes it only reads it. So a replay gives the same
//! reports, and proves the published ones. [`closing`] has the rule.
//!
//! The state hash of a cycle is SHA-256 of `weir.portal.state.v1`, the cycle, the hash before it (zeros
//! at first), SHA-256 over the digests of all requests that changed since, by id and agent, and
//! SHA-256 over the digests of all that is cached, by key, variant and owner. Each hash covers all
//! before it, so that none needs to be made of the whole log. [`digest`] says what a digest is of.

mod closing;
mod counting;
mod digest;
mod rows;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use sqlx::PgConnection;
use weir_events::{
    envelope::Recorded,
    kind::{Kind, Subsystem},
    nexus::{self, CycleStarted},
    web::Event,
};

use self::counting::Counts;
pub use self::rows::{
    QuotaRow, ReportRow, find, latest, list, quotas_in, quotas_of, so_far, unpublished,
};
use super::VIEWS;
use crate::engine::{ApplyFault, Kinds, Projection};

/// For how many days after its cycle's end it is known that a request was too early. It is as long as the
/// gateway knows an id again, and no signature counts for longer.
pub const EARLY_DAYS: i32 = 7;

/// The read model `portal.reports`, with the counters behind it.
#[derive(Debug)]
pub struct Reports;

/// The kind of `CycleStarted`.
const CYCLE_STARTED: Kind = Kind(0x1204);
/// The kind of `PortalReportPublished`.
const PUBLISHED: Kind = Kind(0x6050);

impl Projection for Reports {
    fn name(&self) -> &'static str {
        "reports"
    }

    fn version(&self) -> i32 {
        6
    }

    fn subsystem(&self) -> Subsystem {
        Subsystem::Web
    }

    fn views(&self) -> &'static str {
        VIEWS
    }

    fn kinds(&self) -> Kinds {
        Kinds::These(&[
            CYCLE_STARTED,
            Kind(0x6000),
            Kind(0x6001),
            Kind(0x6002),
            Kind(0x6003),
            Kind(0x6021),
            Kind(0x6022),
            Kind(0x6023),
            Kind(0x6024),
            Kind(0x6040),
            PUBLISHED,
        ])
    }

    fn ddl(&self) -> &'static str {
        include_str!("../../../migrations/web/reports.sql")
    }

    fn tables(&self) -> &'static [&'static str] {
        &[
            "cycle_totals",
            "cycle_agents",
            "cycle_hosts",
            "open_requests",
            "early_requests",
            "request_digests",
            "cache_digests",
            "reports",
        ]
    }

    fn apply<'a>(
        &'a self,
        batch: &'a [Arc<Recorded>],
        tx: &'a mut PgConnection,
    ) -> BoxFuture<'a, Result<(), ApplyFault>> {
        Box::pin(async move {
            // What ends a cycle finds everything before it counted, and nothing after it; so does what
            // comes after its cycle's end.
            let (mut part, mut ended) = (Vec::new(), None);
            for event in batch {
                if let Some(started) = started(event)? {
                    count(&mut part, tx).await?;
                    closing::end(&started, event, tx).await?;
                    ended = None;
                }
                match web_event(event)? {
                    Some(Event::PortalReportPublished(published)) => {
                        count(&mut part, tx).await?;
                        closing::publish(&published, event.position, tx).await?;
                    }
                    Some(event) => {
                        let cycle = counting::asked(&event).map(|asked| asked.cycle);
                        part.push(event);
                        let Some(cycle) = cycle else { continue };
                        let last = match ended {
                            Some(last) => last,
                            None => *ended.insert(closing::last(tx).await?),
                        };
                        if last.is_some_and(|last| cycle <= last) {
                            count(&mut part, tx).await?;
                            closing::late(cycle, tx).await?;
                        }
                    }
                    None => {}
                }
            }
            count(&mut part, tx).await
        })
    }
}

/// The beginning of a cycle, where an event is one.
fn started(event: &Recorded) -> Result<Option<CycleStarted>, ApplyFault> {
    let undecodable = |cause| ApplyFault::Undecodable { position: event.position, cause };
    Ok(match event.decode::<nexus::Event>().transpose().map_err(undecodable)? {
        Some(nexus::Event::CycleStarted(started)) => Some(started),
        _ => None,
    })
}

fn web_event(event: &Recorded) -> Result<Option<Event>, ApplyFault> {
    let undecodable = |cause| ApplyFault::Undecodable { position: event.position, cause };
    event.decode::<Event>().transpose().map_err(undecodable)
}

/// Counts what was not counted yet.
async fn count(part: &mut Vec<Event>, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    if part.is_empty() {
        return Ok(());
    }
    let mut counts = Counts::of(part, tx).await?;
    for event in part.drain(..) {
        counts.fold(event);
    }
    counts.write(tx).await
}
