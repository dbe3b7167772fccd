//! The database goes away: nothing acknowledged is lost, nothing is doubled, and writers go on.

use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection};
use weir_events::position::Position;
use weir_tests::{
    checker::Seen,
    database::{TestDatabase, long},
    writers::WriterProcess,
};

/// Ends every session of the database, as a crash of its server does to them.
async fn cut(admin: &mut PgConnection, database: &str) {
    sqlx::query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1")
        .bind(database)
        .execute(admin)
        .await
        .expect("cut every session");
}

#[tokio::test]
async fn sessions_cut_at_random_under_load_lose_and_double_nothing() {
    let rounds = if long() { 200 } else { 50 };
    let database = TestDatabase::create().await;
    let reader = database.log().await;
    let mut admin = PgConnection::connect(&weir_tests::database::cluster()).await.expect("connect");
    let seconds = u64::try_from(rounds).unwrap_or(50) / 5;
    let writers: Vec<_> =
        ["a", "b"].map(|name| WriterProcess::start(&database.url, name, 8, seconds)).into();
    let mut beat = tokio::time::interval(Duration::from_millis(180));
    for round in 0..rounds {
        beat.tick().await;
        // Not in step with anything.
        let jitter = Duration::from_micros(u64::from(rand::random::<u16>()));
        tokio::time::timeout(jitter, std::future::pending::<()>()).await.expect_err("jitter");
        cut(&mut admin, &database.name).await;
        assert!(round < rounds);
    }
    let acknowledged: Vec<_> =
        tokio::task::spawn_blocking(|| writers.into_iter().flat_map(WriterProcess::acknowledged))
            .await
            .expect("the writers end")
            .collect();
    check(&reader.log, &acknowledged.iter().map(|a| a.position).collect::<Vec<_>>()).await;
}

#[tokio::test]
async fn writer_processes_killed_at_random_lose_and_double_nothing() {
    let rounds = if long() { 60 } else { 12 };
    let database = TestDatabase::create().await;
    let reader = database.log().await;
    let mut acknowledged = Vec::new();
    for round in 0..rounds {
        let mut victim = WriterProcess::start(&database.url, &format!("v{round}"), 8, 30);
        let before = reader.log.head();
        let mut tail = reader.log.tail(before);
        let life = Duration::from_millis(u64::from(rand::random::<u8>()));
        // It has begun to write, and then lives a little longer.
        tail.next(1).await.expect("its first event");
        tokio::time::timeout(life, std::future::pending::<()>()).await.expect_err("its life");
        victim.kill();
        let said = tokio::task::spawn_blocking(|| victim.acknowledged()).await.expect("its report");
        acknowledged.extend(said.into_iter().map(|a| a.position));
    }
    check(&reader.log, &acknowledged).await;
}

async fn check(log: &weir_log::Log, acknowledged: &[i64]) {
    assert!(acknowledged.len() > 100, "only {} appends", acknowledged.len());
    let head = weir_tests::deadline::until("the log answers", async || {
        log.ask_head().await.map(|head| head.position)
    })
    .await;
    let mut seen = Seen::default();
    let mut last = Position::START;
    while last < head {
        let page =
            weir_tests::deadline::until("the log is read", async || log.read(last, 5_000).await)
                .await;
        for event in page {
            seen.event(event.position.0, event.stream.as_str(), event.version.0);
            last = event.position;
        }
    }
    assert_eq!(seen.violations(acknowledged), Vec::<String>::new());
    println!("{} acknowledged of {head} events", acknowledged.len());
}

#[tokio::test]
async fn an_append_whose_answer_was_lost_is_asked_after_and_not_written_twice() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let append = || weir_tests::events::facts("facts", &[weir_tests::events::allowed(1)]);
    log.log.append(append()).await.expect("a first append, so that the writer is connected");
    // The commit goes through, then the session ends before the answer: a trigger that makes the
    // head's update slow gives the time to cut the line while the batch is under way.
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    admin
        .execute(
            "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
             CREATE TRIGGER slow AFTER UPDATE ON log.head FOR EACH ROW EXECUTE FUNCTION slow()",
        )
        .await
        .expect("slow it down");
    let writing = {
        let log = log.log.clone();
        tokio::spawn(async move { log.append(append()).await })
    };
    weir_tests::deadline::until("the batch is under way", async || {
        let sleeping: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND query LIKE '%log.append%'
               AND wait_event = 'PgSleep'",
        )
        .fetch_one(&mut admin)
        .await
        .map_err(|e| e.to_string())?;
        if sleeping == 1 { Ok(()) } else { Err("not yet".to_owned()) }
    })
    .await;
    sqlx::query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event = 'PgSleep'",
    )
    .execute(&mut admin)
    .await
    .expect("cut the line");
    let outcome = writing.await.expect("it ends").expect("an answer in spite of it");
    assert!(matches!(outcome, weir_log::append::Outcome::Appended(_)), "{outcome:?}");
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(2));
}

/// A standby or a backup has an older row of this very writer: its numbers fit no more, and it must
/// go on under another name instead of never again.
#[tokio::test]
async fn a_process_goes_on_writing_after_the_log_under_it_was_restored_to_an_earlier_state() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let rules = |n: i64| weir_tests::events::at_version("s", n, &[weir_tests::events::allowed(1)]);
    let mut intruder = database.intruder().await;
    for n in 0..5 {
        log.log.append(rules(n)).await.expect("append");
    }
    let earlier = "CREATE TABLE earlier AS SELECT * FROM log.writers";
    intruder.execute(earlier).await.expect("remember an earlier state");
    for n in 5..10 {
        log.log.append(rules(n)).await.expect("append");
    }
    intruder
        .execute(
            "DELETE FROM log.events WHERE position > 5;
             UPDATE log.head SET position = 5; UPDATE log.streams SET version = 5;
             DELETE FROM log.writers; INSERT INTO log.writers SELECT * FROM earlier",
        )
        .await
        .expect("restore it");
    weir_tests::deadline::until("the process notices", async || match log.log.hub().n_restores() {
        0 => Err("not yet"),
        _ => Ok(()),
    })
    .await;
    let outcome = log.log.append(rules(5)).await.expect("it goes on");
    assert!(matches!(outcome, weir_log::append::Outcome::Appended(_)), "{outcome:?}");
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(6));
    let read = log.log.read(Position::START, 100).await.expect("read");
    assert_eq!(read.len(), 6, "what was told is what is there");
}
