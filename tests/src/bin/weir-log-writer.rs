//! A process full of writers: `weir-log-writer URL NAME WRITERS SECONDS`. Prints a line
//! `position stream version` for every append that was acknowledged, and survives a database that
//! goes away.

#![expect(clippy::expect_used, clippy::panic, reason = "its test sees how it ended")]

use std::{
    io::Write,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;
use weir_log::{
    Log, LogOptions,
    append::{AppendFault, Outcome},
    database::{Database, Pooler},
    lifecycle::Lifecycle,
};
use weir_tests::{database::fresh, events};

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, n_writers, seconds] = arguments.as_slice() else {
        panic!("usage: weir-log-writer URL NAME WRITERS SECONDS");
    };
    let database = Database::new(url, Pooler::None, 4).expect("a database address");
    let lifecycle = Lifecycle::new();
    let log = Log::open(database, &LogOptions::default(), fresh(), &lifecycle)
        .await
        .expect("open the log");
    let until = Instant::now() + Duration::from_secs(seconds.parse().expect("seconds"));
    let (reports, mut inbox) = mpsc::unbounded_channel::<String>();
    for nth in 0..n_writers.parse().expect("a number of writers") {
        let (log, reports, name) = (log.clone(), reports.clone(), name.clone());
        lifecycle.run("writer", async move { write(&log, &name, nth, until, &reports).await });
    }
    drop(reports);
    let mut out = std::io::stdout().lock();
    while let Some(line) = inbox.recv().await {
        writeln!(out, "{line}").expect("report");
        // Reported means acknowledged: the line must be out before the process can be killed.
        if inbox.is_empty() {
            out.flush().expect("report");
        }
    }
    out.flush().expect("report");
}

/// Alternates between a stream of its own, at the expected version, and a shared one of facts.
async fn write(
    log: &Log,
    process: &str,
    nth: u64,
    until: Instant,
    reports: &mpsc::UnboundedSender<String>,
) {
    let own = format!("writers/{process}/{nth}");
    let shared = format!("facts/{}", nth % 4);
    let mut version = 0;
    let mut n = 0;
    while Instant::now() < until {
        n += 1;
        let append = if n % 2 == 0 {
            events::facts(&shared, &[events::allowed(n)])
        } else {
            events::at_version(&own, version, &[events::allowed(n)])
        };
        let stream = if n % 2 == 0 { &shared } else { &own };
        match log.append(append).await {
            Ok(Outcome::Appended(at)) => {
                let at_version = at.versions.first().map_or(0, |v| v.0);
                if n % 2 == 1 {
                    version = at_version;
                }
                drop(reports.send(format!("{} {stream} {at_version}", at.first)));
            }
            // After an outage the stream may be one further on than what was acknowledged.
            Ok(Outcome::Conflict { actual, .. }) => version = actual.0,
            Ok(Outcome::Duplicate(_)) => panic!("a duplicate without a key"),
            Err(AppendFault::Invalid(what)) => panic!("{what}"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}
