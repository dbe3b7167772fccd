//! Appending: against what single-row transactions and `COPY` reach on the same Postgres.

use std::{cell::RefCell, time::Instant};

use bytes::{BufMut as _, BytesMut};

use super::callers::Callers;
use crate::{
    Fault,
    database::{OpenLog, Scratch},
    effort::{self, Effort, alternate, median, quantile},
    events,
    line::{Line, Target},
    options::Options,
    pgbench::Pgbench,
    report::Report,
};

/// A table of the same shape, with the indexes of a partition, for others to write to.
const SAME_SHAPE: &str = "
    CREATE SCHEMA bench;
    CREATE SEQUENCE bench.position CACHE 1;
    CREATE TABLE bench.rows (LIKE log.events INCLUDING ALL);
    CREATE UNIQUE INDEX ON bench.rows (stream, version);";

/// One event, as a program without a log would write it.
const SINGLE_ROW: &str = "
    INSERT INTO bench.rows
        (position, version, recorded_at, kind, schema, stream, payload, meta, hash)
    VALUES (nextval('bench.position'), currval('bench.position'), now(), 16387, 1,
        'bench/client-' || :client_id, :row_payload::bytea, :row_meta::bytea, :row_hash::bytea);";

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let many = Line::new(
        "append.64.vs_single_row",
        "durable appends of 64 callers, an event each",
        "events/s",
        "pgbench, 64 clients, single-row inserts",
        Target::AtLeast(2.2, Some(3.0)),
    );
    let most = Line::new(
        "append.512.vs_copy",
        "durable appends of 512 callers, an event each",
        "events/s",
        "COPY of the same rows",
        Target::AtLeast(0.3, Some(0.5)),
    );
    let one = Line::new(
        "append.1.latency_vs_single_row",
        "median latency of one caller",
        "ms",
        "pgbench, 1 client, single-row inserts",
        Target::AtMost(1.9),
    );
    let wanted = [&many, &most, &one].iter().any(|line| options.wants(line.name));
    if !wanted {
        return;
    }
    let prepared = prepare(options).await;
    let (scratch, open) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => return report.add(many, Err(fault)),
    };
    if options.wants(many.name) {
        let measured = against_single_rows(options, effort, &scratch, &open, many.clone()).await;
        report.add(many, measured);
    }
    if options.wants(most.name) {
        let measured = against_copy(effort, &scratch, &open, most.clone()).await;
        report.add(most, measured);
    }
    if options.wants(one.name) {
        let measured = latency(options, effort, &scratch, &open, one.clone()).await;
        report.add(one, measured);
    }
    open.close().await;
    drop(scratch.discard().await);
}

async fn prepare(options: &Options) -> Result<(Scratch, OpenLog), Fault> {
    let scratch = Scratch::migrated(&options.database, "append").await?;
    scratch.run(SAME_SHAPE).await?;
    let open = scratch.log().await?;
    Ok((scratch, open))
}

fn single_rows(options: &Options, scratch: &Scratch) -> Result<Pgbench, Fault> {
    let variables = vec![
        ("row_payload", events::letters(events::N_PAYLOAD)),
        ("row_meta", events::letters(events::N_BYTES - events::N_PAYLOAD)),
        ("row_hash", events::letters(32)),
    ];
    Pgbench::new(options, scratch, SINGLE_ROW, variables)
}

async fn against_single_rows(
    options: &Options,
    effort: Effort,
    scratch: &Scratch,
    open: &OpenLog,
    line: Line,
) -> Result<Line, Fault> {
    let pgbench = single_rows(options, scratch)?;
    let n_each = pgbench.pace(64, effort.span.as_secs_f64()).await?;
    let callers = tokio::sync::Mutex::new(Callers::new(&open.log, 64).await?);
    let millis = RefCell::new(Vec::new());
    let pair = alternate(
        effort.n_rounds,
        async || {
            let round = callers.lock().await.run(effort.span).await?;
            millis.borrow_mut().extend(round.millis);
            Ok(round.rate)
        },
        || pgbench.rate(64, n_each),
    )
    .await?;
    Ok(line.pair(pair).noting(format!("p99 {:.2} ms", quantile(&mut millis.borrow_mut(), 0.99))))
}

async fn latency(
    options: &Options,
    effort: Effort,
    scratch: &Scratch,
    open: &OpenLog,
    line: Line,
) -> Result<Line, Fault> {
    let pgbench = single_rows(options, scratch)?;
    let n_each = pgbench.pace(1, effort.span.as_secs_f64()).await?;
    let callers = tokio::sync::Mutex::new(Callers::new(&open.log, 1).await?);
    let pair = alternate(
        effort.n_rounds,
        async || {
            let mut round = callers.lock().await.run(effort.span).await?;
            Ok(median(&mut round.millis))
        },
        || pgbench.latency(1, n_each),
    )
    .await?;
    Ok(line.pair(pair))
}

async fn against_copy(
    effort: Effort,
    scratch: &Scratch,
    open: &OpenLog,
    line: Line,
) -> Result<Line, Fault> {
    let n_rows = if effort.quick { 40_000 } else { 150_000 };
    let callers = tokio::sync::Mutex::new(Callers::new(&open.log, 512).await?);
    let next = RefCell::new(1_i64 << 40);
    let millis = RefCell::new(Vec::new());
    let pair = alternate(
        effort.n_rounds,
        async || {
            let round = callers.lock().await.run(effort.span).await?;
            millis.borrow_mut().extend(round.millis);
            Ok(round.rate)
        },
        async || {
            let first = next.replace_with(|first| *first + n_rows);
            copy(scratch, first, n_rows).await
        },
    )
    .await?;
    Ok(line.pair(pair).noting(format!("p99 {:.2} ms", quantile(&mut millis.borrow_mut(), 0.99))))
}

/// Rows a second of one binary `COPY` in one transaction, its bytes at hand.
async fn copy(scratch: &Scratch, first: i64, n_rows: i64) -> Result<f64, Fault> {
    let event = events::plain();
    let mut bytes = BytesMut::with_capacity(512 * usize::try_from(n_rows)?);
    bytes.put_slice(b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0");
    for nth in 0..n_rows {
        let stream = format!("bench/copied-{}", nth % 512);
        let columns: [&[u8]; 9] = [
            &(first + nth).to_be_bytes(),
            &(first + nth).to_be_bytes(),
            &0_i64.to_be_bytes(),
            &event.kind.0.to_be_bytes(),
            &event.schema.to_be_bytes(),
            stream.as_bytes(),
            &event.payload,
            &event.meta,
            &[7; 32],
        ];
        bytes.put_i16(9);
        for column in columns {
            bytes.put_i32(i32::try_from(column.len())?);
            bytes.put_slice(column);
        }
    }
    bytes.put_i16(-1);
    let bytes = bytes.freeze();
    let mut connection = scratch.connect().await?;
    let began = Instant::now();
    let mut copying = connection
        .copy_in_raw(
            "COPY bench.rows
                (position, version, recorded_at, kind, schema, stream, payload, meta, hash)
             FROM STDIN (FORMAT binary)",
        )
        .await?;
    for chunk in bytes.chunks(64 << 10) {
        copying.send(chunk).await?;
    }
    let n_copied = copying.finish().await?;
    Ok(effort::rate(usize::try_from(n_copied)?, began))
}
