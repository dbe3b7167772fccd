//! `weir replay` on a long log: it shows how far it is, can be interrupted and resumed, and readers
//! never see a view half built.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use weir_events::position::Position;
use weir_log::database::{Database, Pooler};
use weir_tests::{
    database::{TestDatabase, long},
    events::{blocked, facts},
    weir::{Part, Place, signal},
};

async fn fill(database: &TestDatabase, n: u64) -> Position {
    let log = database.log().await;
    let mut last = Position::START;
    let mut appends = tokio::task::JoinSet::new();
    for chunk in 0..n / 500 {
        let log = log.log.clone();
        if appends.len() == 16 {
            appends.join_next().await;
        }
        appends.spawn(async move {
            let events: Vec<_> = (0..500).map(|nth| blocked(chunk * 500 + nth)).collect();
            log.append(facts(&format!("facts/{chunk}"), &events)).await.expect("append")
        });
    }
    while let Some(done) = appends.join_next().await {
        if let weir_log::append::Outcome::Appended(at) = done.expect("no panic") {
            last = last.max(at.last);
        }
    }
    log.log.ask_head().await.expect("the head").position
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_replay_shows_progress_resumes_after_an_interrupt_and_is_never_seen_half_done() {
    let n: u64 = if long() { 1_000_000 } else { 100_000 };
    let place = Place::on_a_test_database().await;
    let database = place.database.as_ref().expect("a test database");
    let head = fill(database, n).await;
    let weir = place.start(Part::Up).await;
    weir.client.reaches("block_log", head.0).await;
    weir.stop().await;

    // A reader that looks all the time: the whole old view, or the whole new one.
    let stop = Arc::new(AtomicBool::new(false));
    let (url, stopped) = (database.url.clone(), Arc::clone(&stop));
    let reader = tokio::spawn(async move {
        let database = Database::new(&url, Pooler::None, 1).expect("an address");
        let mut counts = std::collections::BTreeSet::new();
        while !stopped.load(Ordering::SeqCst) {
            let mut tx = database.begin().await.expect("begin");
            let n: i64 = sqlx::query_scalar("SELECT count(*) FROM registry.block_log")
                .fetch_one(&mut *tx)
                .await
                .expect("the view is always there");
            counts.insert(n);
        }
        counts
    });

    let arguments = ["replay", "block_log", "--database-url", &database.url];
    let mut command = place.command(&arguments);
    let mut first = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("replay");
    let stderr = first.stderr.take().expect("its talk");
    let pid = first.id();
    let lines = tokio::task::spawn_blocking(move || {
        let mut lines = Vec::new();
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            let progress = line.contains('%');
            lines.push(line);
            if progress {
                // The first sign of progress: interrupt it as Ctrl-C does.
                signal(pid, "INT");
            }
        }
        lines
    });
    let status = tokio::task::spawn_blocking(move || first.wait().expect("its end")).await;
    let lines = lines.await.expect("its talk");
    assert!(lines.iter().any(|line| line.contains('%')), "no progress was shown: {lines:?}");
    println!("{}", lines.join("\n"));
    let interrupted = !status.expect("its end").success();

    let second = place.run(&arguments);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(second.status.success(), "{said}");
    println!("interrupted: {interrupted}\n{said}");
    let checked = place.run(&["replay", "block_log", "--check", "--database-url", &database.url]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));

    stop.store(true, Ordering::SeqCst);
    let counts = reader.await.expect("the reader ends");
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [i64::try_from(n).expect("a count")]);
}
