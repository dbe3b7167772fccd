//! Tails go on: without notifications, behind a pooler, beside a stuck transaction, and they say so
//! when a cursor is not of this log.

use std::time::{Duration, Instant};

use sqlx::{Connection, Executor, PgConnection};
use weir_events::position::{Cursor, Incarnation, Position};
use weir_log::{
    LogOptions,
    database::{Database, Pooler},
    tail::{Tail, TailFault},
};
use weir_tests::{
    database::{TestDatabase, TestLog, at, cluster, fresh},
    deadline::{PATIENCE, until},
    events::{allowed, facts},
    pgbouncer::Pgbouncer,
};

/// Takes from a tail until it has seen a position; every tail is held to "no hole" on the way.
async fn reach(tail: &mut Tail, position: Position) -> u64 {
    let mut last = tail.position();
    let start = last;
    while last < position {
        let next = tokio::time::timeout(PATIENCE, tail.next(100)).await;
        for event in next.expect("something new in time").expect("read on") {
            assert_eq!(event.position, last.next());
            last = event.position;
        }
    }
    start.distance_to(last)
}

async fn append(log: &TestLog, n: u64) -> Position {
    let mut last = Position::START;
    for nth in 0..n {
        match log.log.append(facts("facts", &[allowed(nth)])).await.expect("append") {
            weir_log::append::Outcome::Appended(at) => last = at.last,
            other => panic!("{other:?}"),
        }
    }
    last
}

#[tokio::test]
async fn a_tail_in_another_process_goes_on_without_notifications() {
    let database = TestDatabase::create().await;
    let quiet = LogOptions { notify: false, ..LogOptions::default() };
    let writer = database.log_with(database.database(2), &quiet).await;
    let reader = database.log_with(database.database(2), &quiet).await;
    let mut tail = reader.log.tail(Position::START);
    let last = append(&writer, 50).await;
    assert_eq!(reach(&mut tail, last).await, 50);
}

#[tokio::test]
async fn a_tail_and_a_writer_go_on_behind_pgbouncer_in_transaction_mode() {
    let database = TestDatabase::create().await;
    let direct = database.log().await;
    let pgbouncer = Pgbouncer::start(&database).await;
    let through = Database::new(&pgbouncer.url, Pooler::Transaction, 4).expect("an address");
    let behind = database.log_with(through, &LogOptions::default()).await;
    let (mut far, mut near) = (behind.log.tail(Position::START), direct.log.tail(Position::START));
    append(&direct, 25).await;
    let last = append(&behind, 25).await;
    assert_eq!(last, Position(50));
    assert_eq!(reach(&mut far, last).await, 50);
    assert_eq!(reach(&mut near, last).await, 50);
    // Falling behind the ring means paging from the table, through the pooler too.
    let mut late = behind.log.tail(Position::START);
    assert_eq!(reach(&mut late, last).await, 50);
}

#[tokio::test]
async fn a_write_transaction_left_open_in_another_database_stalls_no_tail() {
    let database = TestDatabase::create().await;
    let other = format!("other_{}", fresh().simple());
    let mut admin = PgConnection::connect(&cluster()).await.expect("connect");
    let create = format!("CREATE DATABASE {other}");
    admin.execute(sqlx::AssertSqlSafe(create)).await.expect("another database");
    let mut stuck = PgConnection::connect(&at(&cluster(), &other)).await.expect("connect");
    stuck.execute("CREATE TABLE t (n int)").await.expect("a table");
    let mut open = stuck.begin().await.expect("begin");
    open.execute("INSERT INTO t VALUES (1)").await.expect("a write that is never committed");

    let (writer, reader) = (database.log().await, database.log().await);
    let mut tail = reader.log.tail(Position::START);
    let last = append(&writer, 20).await;
    assert_eq!(reach(&mut tail, last).await, 20);
    open.rollback().await.expect("roll back");
}

#[tokio::test]
async fn a_reader_ahead_of_a_restored_log_is_told_to_resync_and_so_is_one_of_another_life() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    append(&log, 10).await;
    let life = log.log.incarnation();

    let ahead = Cursor { incarnation: Some(life), position: Position(11) };
    let told = log.log.tail(ahead).next(10).await;
    assert!(matches!(told, Err(TailFault::Resync { head: Position(10), .. })), "{told:?}");
    let foreign = Cursor { incarnation: Some(Incarnation(fresh())), position: Position(3) };
    let told = log.log.tail(foreign).next(10).await;
    assert!(
        matches!(told, Err(TailFault::Resync { incarnation, .. }) if incarnation == life),
        "{told:?}"
    );

    // A copy of the database is another life, though its bytes are the same.
    let copy = format!("copy_{}", fresh().simple());
    log.lifecycle.stop(Duration::from_secs(5)).await;
    log.log.database().close().await;
    let mut admin = PgConnection::connect(&cluster()).await.expect("connect");
    let create = format!("CREATE DATABASE {copy} TEMPLATE {} STRATEGY wal_log", database.name);
    until("the database is copied", async || {
        admin.execute(sqlx::AssertSqlSafe(create.clone())).await.map(drop)
    })
    .await;
    let restored = TestDatabase { url: at(&cluster(), &copy), name: copy };
    let restored = restored.log().await;
    assert_ne!(restored.log.incarnation(), life);
    assert_eq!(restored.log.head(), Position(10));
    let old = Cursor { incarnation: Some(life), position: Position(5) };
    let told = restored.log.tail(old).next(10).await;
    assert!(matches!(told, Err(TailFault::Resync { .. })), "{told:?}");
}

#[tokio::test]
async fn a_tail_that_is_waiting_is_told_when_the_log_goes_back_under_it() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    append(&log, 10).await;
    let mut tail = log.log.tail(Position::START);
    reach(&mut tail, Position(10)).await;
    let waiting = tokio::spawn(async move { tail.next(10).await });
    let mut intruder = database.intruder().await;
    intruder
        .execute("DELETE FROM log.events WHERE position > 6; UPDATE log.head SET position = 6")
        .await
        .expect("restore an older state");
    let told = tokio::time::timeout(PATIENCE, waiting).await.expect("told in time");
    let told = told.expect("the tail lives");
    assert!(matches!(told, Err(TailFault::Resync { head: Position(6), .. })), "{told:?}");
}

#[tokio::test]
async fn a_thousand_tails_of_one_process_cost_the_database_no_more_than_one() {
    let database = TestDatabase::create().await;
    // Counted from before the logs are opened until every session of theirs has ended: a session
    // reports its transactions late, but at its end it reports them all.
    let mut watcher = PgConnection::connect(&cluster()).await.expect("connect");
    let before = n_transactions(&mut watcher, &database.name).await;
    let started = Instant::now();
    let (writer, reader) = (database.log().await, database.log().await);
    let tails: Vec<_> = (0..1_000)
        .map(|_| {
            let mut tail = reader.log.tail(Position::START);
            tokio::spawn(async move { reach(&mut tail, Position(200)).await })
        })
        .collect();
    append(&writer, 200).await;
    for tail in tails {
        assert_eq!(tail.await.expect("a tail ends"), 200);
    }
    for log in [writer, reader] {
        log.lifecycle.stop(PATIENCE).await;
        log.log.database().close().await;
    }
    let took = started.elapsed();
    until("every session has ended", async || {
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1";
        let sessions = sqlx::query_scalar::<_, i64>(sessions).bind(&database.name);
        match sessions.fetch_one(&mut watcher).await {
            Ok(0) => Ok(()),
            other => Err(other),
        }
    })
    .await;
    let n = n_transactions(&mut watcher, &database.name).await - before;
    println!("{n} transactions in {took:?}");
    assert!(n >= 200, "only {n} transactions were counted");
    // For each append: itself, its notification, and a look by either process, which the reader
    // follows by reading. Beyond that the two polls, and what opening a log asks.
    let most = 200 * 5 + 50 + 40 * i64::try_from(took.as_secs() + 1).expect("seconds");
    assert!(n <= most, "{n} transactions in {took:?}, which is more than {most}");
}

async fn n_transactions(watcher: &mut PgConnection, database: &str) -> i64 {
    let count = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = $1";
    sqlx::query_scalar(count).bind(database).fetch_one(watcher).await.expect("count")
}

/// The hub once asked for the head, and then compared the answer with what its own writer had
/// appended meanwhile: every busy process believed from time to time that its log was restored.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_appends_all_the_time_never_takes_its_own_appends_for_a_restore() {
    let database = TestDatabase::create().await;
    let eager = LogOptions { poll: Duration::from_millis(1), ..LogOptions::default() };
    let log = database.log_with(database.database(4), &eager).await;
    let mut tail = log.log.tail(Position::START);
    let following = tokio::spawn(async move { reach(&mut tail, Position(500)).await });
    assert_eq!(append(&log, 500).await, Position(500));
    assert_eq!(following.await.expect("never told to resync"), 500);
}
