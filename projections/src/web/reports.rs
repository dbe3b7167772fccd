//! What requests add up to: counted by cycle, agent and host as they come. When a cycle has ended, its
//! report stands here as it was at that very event, with the hash of the portal's state; whoever
//! publishes it only reads it. So a replay gives the same reports, and proves the published ones.
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
    codec,
    envelope::Recorded,
    kind::{Kind, Subsystem},
    nexus,
    web::Event,
};

use self::counting::Counts;
pub use self::rows::{
    QuotaRow, ReportRow, find, latest, list, quotas_in, quotas_of, so_far, unpublished,
};
use super::VIEWS;
use crate::{
    decode,
    engine::{ApplyFault, Kinds, Projection},
};

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
        2
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
            // What ends a cycle finds everything before it counted, and nothing after it.
            for part in batch.split_inclusive(|event| ends(event.kind)) {
                count(part, tx).await?;
                let Some(last) = part.last().filter(|event| ends(event.kind)) else { continue };
                close(last, tx).await?;
            }
            Ok(())
        })
    }
}

fn ends(kind: Kind) -> bool {
    kind == CYCLE_STARTED || kind == PUBLISHED
}

async fn count(part: &[Arc<Recorded>], tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let mut events = Vec::new();
    for event in decode::events::<Event>(part) {
        events.push(event?.1);
    }
    let mut counts = Counts::of(&events, tx).await?;
    for event in events {
        counts.fold(event);
    }
    counts.write(tx).await
}

async fn close(last: &Arc<Recorded>, tx: &mut PgConnection) -> Result<(), ApplyFault> {
    let undecodable =
        |cause: codec::CodecFault| ApplyFault::Undecodable { position: last.position, cause };
    if let Some(event) = last.decode::<nexus::Event>() {
        if let nexus::Event::CycleStarted(started) = event.map_err(undecodable)? {
            return closing::end(&started, last.position, tx).await;
        }
    } else if let Some(event) = last.decode::<Event>()
        && let Event::PortalReportPublished(published) = event.map_err(undecodable)?
    {
        return closing::publish(&published, last.position, tx).await;
    }
    Ok(())
}
