//! Reading a log back: in order and decoded, and verified against its leaves.

use std::time::Instant;

use futures_util::TryStreamExt as _;
use weir_events::{position::Position, stream::StreamName};
use weir_log::{
    append::Outcome,
    read::MAX_READ,
    seal::{SealKey, seal_next},
    verify::VerifyOptions,
};

use crate::{
    Fault,
    database::{OpenLog, Scratch},
    effort::{self, Effort, alternate},
    events,
    line::{Line, Target},
    options::Options,
    report::Report,
};

/// Events of one append while a log is filled, and the streams they are spread over.
const N_TOGETHER: usize = 500;
const N_STREAMS: usize = 1_000;

/// A log full of blocked downloads.
pub(super) struct Filled {
    pub(super) scratch: Scratch,
    pub(super) open: OpenLog,
}

impl Filled {
    pub(super) async fn new(options: &Options, effort: Effort) -> Result<Self, Fault> {
        let scratch = Scratch::migrated(&options.database, "read").await?;
        let open = scratch.log().await?;
        fill(&open, effort.n_events).await?;
        scratch.run("VACUUM ANALYZE log.events").await?;
        Ok(Self { scratch, open })
    }
}

/// Appends this many events, in the order an installation leaves: runs on one stream after another.
pub(super) async fn fill(open: &OpenLog, n_events: usize) -> Result<(), Fault> {
    let mut nth = 0;
    while nth < n_events {
        let mut appends = Vec::new();
        for _ in 0..4 {
            let upto = n_events.min(nth + N_TOGETHER);
            let events: Result<Vec<_>, Fault> = (nth..upto).map(events::blocked).collect();
            let stream = StreamName::new(format!("bench/{}", nth / N_TOGETHER % N_STREAMS))?;
            if nth < upto {
                appends.push(events::append(&stream, None, events?));
            }
            nth = upto;
        }
        for appended in futures_util::future::join_all(
            appends.into_iter().map(|append| open.log.append(append)),
        )
        .await
        {
            if !matches!(appended?, Outcome::Appended(_)) {
                return Err("filling the log failed".into());
            }
        }
    }
    Ok(())
}

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let read = Line::new(
        "read.vs_select",
        "events read in order and decoded",
        "events/s",
        "raw COPY of the same rows",
        Target::AtLeast(0.5, None),
    );
    let verify = Line::new(
        "verify",
        "bytes of events verified against leaves and seals",
        "MB/s",
        "BLAKE3 of the same events, one core",
        Target::AtLeast(0.3, None),
    );
    let lines = [&read, &verify, &super::replay::COUNTS, &super::replay::BLOCKS];
    if !lines.iter().any(|line| options.wants(line.name)) {
        return;
    }
    let filled = match Filled::new(options, effort).await {
        Ok(filled) => filled,
        Err(fault) => return report.add(read, Err(fault)),
    };
    if options.wants(read.name) {
        let measured = against_copy(effort, &filled, read.clone()).await;
        report.add(read, measured);
    }
    super::replay::run(options, effort, &filled, report).await;
    if options.wants(verify.name) {
        let measured = super::verify::against_blake3(effort, &filled, verify.clone()).await;
        report.add(verify, measured);
    }
    filled.open.close().await;
    drop(filled.scratch.discard().await);
}

async fn against_copy(effort: Effort, filled: &Filled, line: Line) -> Result<Line, Fault> {
    let n_events = effort.n_events;
    let pair = alternate(
        effort.n_rounds,
        async || {
            let (began, mut last) = (Instant::now(), Position::START);
            loop {
                let events = filled.open.log.read(last, MAX_READ).await?;
                let Some(event) = events.last() else { break };
                last = event.position;
            }
            if last.0 != i64::try_from(n_events)? {
                return Err(format!("the log ends at {last}").into());
            }
            Ok(effort::rate(n_events, began))
        },
        async || {
            let mut connection = filled.scratch.connect().await?;
            let began = Instant::now();
            let mut rows = connection
                .copy_out_raw(
                    "COPY (SELECT position, version, recorded_at, kind, schema, stream, payload,
                        meta, hash FROM log.events ORDER BY position) TO STDOUT (FORMAT binary)",
                )
                .await?;
            let mut n_rows = 0;
            while let Some(row) = rows.try_next().await? {
                n_rows += usize::from(!row.is_empty());
            }
            if n_rows < n_events {
                return Err(format!("COPY gave {n_rows} rows").into());
            }
            Ok(effort::rate(n_events, began))
        },
    )
    .await?;
    Ok(line.pair(pair))
}

/// Seals all of a log.
pub(super) async fn seal(filled: &Filled) -> Result<(), Fault> {
    let key = SealKey::from_bytes(&[7; 32]);
    let now = weir_events::timestamp::Timestamp::from_micros(1_795_824_000_000_000);
    while seal_next(filled.open.log.database(), &key, now).await?.is_some() {}
    Ok(())
}

/// Verifies all of a log.
pub(super) async fn verify(filled: &Filled) -> Result<(), Fault> {
    let report = filled.open.log.verify(VerifyOptions::default(), |_, _| {}).await?;
    if report.good() && report.sealed_to == report.head {
        Ok(())
    } else {
        Err("the log does not verify".into())
    }
}
