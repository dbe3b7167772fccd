//! Appending: against the event stores of the registries, on the same Postgres.

use std::{cell::RefCell, future::Future, path::PathBuf};

use tokio::process::Command;

use super::callers::Callers;
use crate::{
    Fault,
    database::Scratch,
    effort::{Effort, Pair, alternate, quantile},
    events::{N_BYTES, N_PAYLOAD, letters},
    line::{Line, Target},
    options::Options,
    pgbench::{Pgbench, output, psql},
    report::{Missing, Report},
};

/// Callers on both sides.
const N_CALLERS: usize = 32;

/// A function of another event store, called by `pgbench`.
struct Peer {
    database: &'static str,
    /// Below the folder of peers, in this order.
    files: &'static [&'static str],
    /// What its own installation would have said besides.
    settings: &'static str,
    call: &'static str,
}

const MESSAGE_DB: Peer = Peer {
    database: "message_db",
    files: &[
        "message-db/schema/message-store.sql",
        "message-db/extensions/pgcrypto.sql",
        "message-db/tables/messages.sql",
        "message-db/types/message.sql",
        "message-db/functions/message-store-version.sql",
        "message-db/functions/hash-64.sql",
        "message-db/functions/acquire-lock.sql",
        "message-db/functions/category.sql",
        "message-db/functions/is-category.sql",
        "message-db/functions/id.sql",
        "message-db/functions/cardinal-id.sql",
        "message-db/functions/stream-version.sql",
        "message-db/functions/write-message.sql",
        "message-db/indexes/messages-id.sql",
        "message-db/indexes/messages-stream.sql",
        "message-db/indexes/messages-category.sql",
    ],
    settings: "ALTER DATABASE bench_message_db SET search_path = message_store, public",
    call: "
        SELECT write_message(gen_random_uuid()::varchar, 'bench-' || :client_id,
            'PackageBlocked', :row_data::jsonb, :row_meta::jsonb);",
};

const EMMETT: Peer = Peer {
    database: "emmett",
    files: &["emmett.sql"],
    settings: "",
    call: "
        SELECT success FROM emt_append_to_stream(
            ARRAY[gen_random_uuid()::text], ARRAY[:row_data::jsonb], ARRAY[:row_meta::jsonb],
            ARRAY['1'], ARRAY['PackageBlocked'], ARRAY['E'], 'bench-' || :client_id, 'bench',
            NULL, :peer_partition);",
};

pub(super) async fn run(options: &Options, effort: Effort, report: &mut Report) {
    let message_db = Line::new(
        "append.32.vs_message_db",
        "durable appends of 32 callers, an event each",
        "events/s",
        "message-db, one category, 32 clients",
        Target::AtLeast(5.0, None),
    );
    let emmett = Line::new(
        "append.32.vs_emmett",
        "durable appends of 32 callers, an event each",
        "events/s",
        "Emmett, 32 clients",
        Target::AtLeast(3.0, None),
    );
    let postgres_es = Line::new(
        "append.32.vs_postgres_es",
        "durable appends of 32 callers, an event each",
        "events/s",
        "postgres-es (no global order), 32 clients",
        Target::AtLeast(1.0, None),
    );
    for (line, peer, most) in [(message_db, MESSAGE_DB, Some(25.0)), (emmett, EMMETT, None)] {
        if options.wants(line.name) {
            let measured = against(options, effort, &peer, line.clone(), most).await;
            report.add(line, measured);
        }
    }
    if effort.long && options.wants(postgres_es.name) {
        let measured = against_postgres_es(options, effort, postgres_es.clone()).await;
        report.add(postgres_es, measured);
    }
}

async fn against(
    options: &Options,
    effort: Effort,
    peer: &Peer,
    line: Line,
    most_p99: Option<f64>,
) -> Result<Line, Fault> {
    let files: Vec<PathBuf> = peer.files.iter().map(|file| options.peers.join(file)).collect();
    if let Some(absent) = files.iter().find(|file| !file.is_file()) {
        return Err(Missing(format!("not installed: {}", absent.display())).into());
    }
    let theirs = Scratch::create(&options.database, peer.database).await?;
    psql(options, &theirs, &files).await?;
    theirs.run(peer.settings).await?;
    let variables = vec![
        ("row_data", json(N_PAYLOAD)),
        ("row_meta", json(N_BYTES - N_PAYLOAD)),
        // Between quotes a script's colon would still begin a variable.
        ("peer_partition", "emt:default".to_owned()),
    ];
    let pgbench = Pgbench::new(options, &theirs, peer.call, variables)?;
    let n_each = pgbench.pace(N_CALLERS, effort.span.as_secs_f64()).await?;

    let measured = side_by_side(options, effort, || pgbench.rate(N_CALLERS, n_each)).await;
    theirs.discard().await?;
    let (pair, p99) = measured?;
    let bound = most_p99.map_or_else(String::new, |most| format!(" (<= {most} ms)"));
    Ok(line.pair(pair).noting(format!("p99 {p99:.2} ms{bound}")))
}

/// Our callers on a log of their own against something else; answers their p99 too.
async fn side_by_side<F: Future<Output = Result<f64, Fault>>>(
    options: &Options,
    effort: Effort,
    theirs: impl FnMut() -> F,
) -> Result<(Pair, f64), Fault> {
    let ours = Scratch::migrated(&options.database, "peer").await?;
    let open = ours.log().await?;
    let callers = tokio::sync::Mutex::new(Callers::new(&open.log, N_CALLERS).await?);
    let millis = RefCell::new(Vec::new());
    let pair = alternate(
        effort.n_rounds,
        async || {
            let round = callers.lock().await.run(effort.span).await?;
            millis.borrow_mut().extend(round.millis);
            Ok(round.rate)
        },
        theirs,
    )
    .await;
    open.close().await;
    ours.discard().await?;
    Ok((pair?, quantile(&mut millis.borrow_mut(), 0.99)))
}

/// A program of its own, which `tools/bench --long` builds beside the workspace.
async fn against_postgres_es(options: &Options, effort: Effort, line: Line) -> Result<Line, Fault> {
    let program = options.peers.join("postgres-es/target/release/against-postgres-es");
    if !program.is_file() {
        return Err(Missing(format!("not installed: {}", program.display())).into());
    }
    let theirs = Scratch::create(&options.database, "postgres_es").await?;
    let url = theirs.url();
    let rate = async |n_each: usize| -> Result<f64, Fault> {
        let mut command = Command::new(&program);
        command.args([&url, &N_CALLERS.to_string(), &n_each.to_string()]);
        Ok(output(&mut command).await?.trim().parse()?)
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a rough count"
    )]
    let n_each = (rate(60).await? * effort.span.as_secs_f64() / N_CALLERS as f64) as usize;
    let measured = side_by_side(options, effort, || rate(n_each.max(20))).await;
    theirs.discard().await?;
    let (pair, p99) = measured?;
    Ok(line.pair(pair).noting(format!("p99 {p99:.2} ms")))
}

/// A JSON object of this many bytes.
fn json(n: usize) -> String {
    format!("{{\"text\":\"{}\"}}", letters(n.saturating_sub(11)))
}
