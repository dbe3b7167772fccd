//! The database goes away: nothing acknowledged is lost, nothing is doubled, and writers go on.

use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection};
use weir_events::position::Position;
use weir_log::{
    LogOptions,
    append::Outcome,
    database::{Database, Pooler},
};
use weir_tests::{
    checker::Seen,
    database::{TestDatabase, long},
    deadline::{PATIENCE, until},
    events::{allowed, facts},
    proxy::Proxy,
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
    for _ in 0..rounds {
        beat.tick().await;
        // Not in step with anything.
        let jitter = Duration::from_micros(u64::from(rand::random::<u16>()));
        tokio::time::timeout(jitter, std::future::pending::<()>()).await.expect_err("jitter");
        cut(&mut admin, &database.name).await;
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
    let head =
        until("the log answers", async || log.ask_head().await.map(|head| head.position)).await;
    let mut seen = Seen::default();
    let mut last = Position::START;
    while last < head {
        let page = until("the log is read", async || log.read(last, 5_000).await).await;
        for event in page {
            seen.event(event.position.0, event.stream.as_str(), event.version.0);
            last = event.position;
        }
    }
    assert_eq!(seen.violations(acknowledged), Vec::<String>::new());
    println!("{} acknowledged of {head} events", acknowledged.len());
}

/// Connections are given out unasked when they were used a moment ago: one cut had all of them fail whoever
/// came next.
#[tokio::test]
async fn who_comes_after_a_cut_is_given_a_connection_that_holds() {
    const N: u32 = 6;
    let database = TestDatabase::create().await;
    let pool = Database::new(&database.url, Pooler::None, N).expect("a database");
    let mut admin = PgConnection::connect(&weir_tests::database::cluster()).await.expect("connect");
    for whole in [true, false] {
        let mut open = Vec::new();
        for _ in 0..N {
            open.push(pool.begin().await.expect("a transaction"));
        }
        for transaction in open {
            transaction.commit().await.expect("its end");
        }
        until("all are at rest", async || {
            let n_idle = pool.pool().num_idle();
            if n_idle == 6 { Ok(()) } else { Err(n_idle) }
        })
        .await;
        cut(&mut admin, &database.name).await;
        if whole {
            let transaction = pool.begin().await.expect("a transaction after the cut");
            transaction.commit().await.expect("its end");
        } else {
            let asked = pool.execute("ask", || sqlx::query("SELECT 1")).await;
            asked.expect("a statement after the cut");
        }
    }
    pool.close().await;
}

#[tokio::test]
async fn who_listens_notices_that_the_database_went_away_and_says_so_again_once_it_listens_again() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let hub = log.log.hub();
    until("it listens", async || hub.notices_outages().then_some(()).ok_or("not yet")).await;
    let n_outages = hub.n_outages();
    // Nobody else finds out.
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'";
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    let cut = sqlx::query(cut).execute(&mut admin).await.expect("cut it off");
    assert_eq!(cut.rows_affected(), 1);
    tokio::time::timeout(PATIENCE, hub.outage_after(n_outages)).await.expect("it is noticed");
    // Between the two it may have crashed again.
    let again = hub.outage_after(n_outages + 1);
    tokio::time::timeout(PATIENCE, again).await.expect("whatever was seen is asked for again");
    until("it listens", async || hub.notices_outages().then_some(()).ok_or("not yet")).await;
}

async fn n_events(admin: &mut PgConnection, stream: &str) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM log.events WHERE stream = $1")
        .bind(stream)
        .fetch_one(admin)
        .await
        .expect("count the events")
}

/// The backend that waits for the lock 7401 of this database.
async fn waiting_for_the_lock(admin: &mut PgConnection) -> Option<i32> {
    let waiting = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 7401
        AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    sqlx::query_scalar(waiting).fetch_optional(admin).await.expect("look at locks")
}

#[tokio::test]
async fn an_append_cut_off_before_its_commit_is_sent_again_and_written_once() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    log.log.append(facts("first", &[allowed(1)])).await.expect("now the writer is connected");
    // Whoever moves the head waits for the test, with everything done but the commit.
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    admin
        .execute(
            "SELECT pg_advisory_lock(7401);
             CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN PERFORM pg_advisory_xact_lock(7401); RETURN NULL; END $$;
             CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON log.head
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()",
        )
        .await
        .expect("hold it up");
    let writing = {
        let log = log.log.clone();
        tokio::spawn(async move { log.append(facts("cut", &[allowed(2)])).await })
    };
    let backend = until("the batch waits at its commit", async || {
        waiting_for_the_lock(&mut admin).await.ok_or("nobody waits")
    })
    .await;
    sqlx::query("SELECT pg_terminate_backend($1)")
        .bind(backend)
        .execute(&mut admin)
        .await
        .expect("cut it off");
    until("the backend is gone", async || {
        let alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1";
        match sqlx::query_scalar::<_, i64>(alive).bind(backend).fetch_one(&mut admin).await {
            Ok(0) => Ok(()),
            other => Err(other),
        }
    })
    .await;
    assert_eq!(n_events(&mut admin, "cut").await, 0, "nothing was committed");
    admin.execute("SELECT pg_advisory_unlock(7401)").await.expect("let go");
    let outcome = writing.await.expect("it ends").expect("an answer in spite of it");
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
    assert_eq!(n_events(&mut admin, "cut").await, 1);
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(2));
}

#[tokio::test]
async fn an_append_that_was_committed_but_never_answered_is_asked_after_and_not_written_twice() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::start(&database);
    let through = Database::new(&proxy.url, Pooler::None, 4).expect("an address");
    let log = database.log_with(through, &LogOptions::default()).await;
    log.log.append(facts("first", &[allowed(1)])).await.expect("now the writer is connected");
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    let lost = proxy.lose_the_answer_to(b"never-answered");
    let writing = {
        let log = log.log.clone();
        tokio::spawn(async move { log.append(facts("never-answered", &[allowed(2)])).await })
    };
    tokio::time::timeout(PATIENCE, lost.answered)
        .await
        .expect("in time")
        .expect("Postgres answers");
    assert_eq!(n_events(&mut admin, "never-answered").await, 1, "it is committed");
    assert!(!writing.is_finished(), "nobody told it");
    lost.close.send(()).expect("the proxy waits");
    let outcome = writing.await.expect("it ends").expect("an answer in spite of it");
    let Outcome::Appended(at) = outcome else { panic!("{outcome:?}") };
    assert_eq!(at.last, Position(2), "it is told where its first sending went");
    assert_eq!(n_events(&mut admin, "never-answered").await, 1);
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
    until("the process notices", async || match log.log.hub().n_restores() {
        0 => Err("not yet"),
        _ => Ok(()),
    })
    .await;
    let outcome = log.log.append(rules(5)).await.expect("it goes on");
    assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(6));
    let read = log.log.read(Position::START, 100).await.expect("read");
    assert_eq!(read.len(), 6, "what was told is what is there");
}
