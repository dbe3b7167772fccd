//! Position order is commit order and has no holes, for every reader, however many write.

use std::time::Duration;

use sqlx::{Connection, Executor, PgConnection};
use weir_events::position::Position;
use weir_log::{Log, LogOptions};
use weir_tests::{
    checker::Seen,
    database::{TestDatabase, long},
    deadline,
    writers::WriterProcess,
};

/// Follows the log until it has seen `upto`, like any reader that remembers one number.
async fn follow(log: Log, upto: tokio::sync::watch::Receiver<Option<i64>>) -> Seen {
    let mut tail = log.tail(Position::START);
    let mut seen = Seen::default();
    loop {
        let wanted = *upto.borrow();
        if wanted.is_some_and(|last| tail.position().0 >= last) {
            return seen;
        }
        let next = tokio::time::timeout(Duration::from_millis(200), tail.next(500)).await;
        for event in next.map(|n| n.expect("read on")).unwrap_or_default() {
            seen.event(event.position.0, event.stream.as_str(), event.version.0);
        }
    }
}

#[tokio::test]
async fn sixty_four_writers_in_three_processes_leave_no_hole_and_every_reader_sees_one_order() {
    let seconds = if long() { 60 } else { 10 };
    let database = TestDatabase::create().await;
    let woken = database.log().await;
    let quiet = LogOptions { notify: false, ..LogOptions::default() };
    let polling = database.log_with(database.database(4), &quiet).await;
    let small = LogOptions { ring_bytes: 1, ..LogOptions::default() };
    let paging = database.log_with(database.database(4), &small).await;

    let (told, upto) = tokio::sync::watch::channel(None);
    let readers: Vec<_> = [&woken, &polling, &paging]
        .map(|reader| tokio::spawn(follow(reader.log.clone(), upto.clone())))
        .into();
    let writers: Vec<_> = [("a", 22), ("b", 21), ("c", 21)]
        .map(|(name, n)| WriterProcess::start(&database.url, name, n, seconds))
        .into();
    let acknowledged: Vec<_> =
        tokio::task::spawn_blocking(|| writers.into_iter().flat_map(WriterProcess::acknowledged))
            .await
            .expect("the writers end")
            .collect();
    let head = woken.log.ask_head().await.expect("the head").position;
    told.send(Some(head.0)).expect("tell the readers");

    let positions: Vec<i64> = acknowledged.iter().map(|a| a.position).collect();
    assert!(positions.len() > 1_000, "only {} appends", positions.len());
    for reader in readers {
        let seen = reader.await.expect("a reader ends");
        assert_eq!(seen.violations(&positions), Vec::<String>::new());
        assert_eq!(seen.len(), positions.len(), "nobody died, so all was acknowledged");
    }
    println!("{} events, {} a second", head, head.0 / i64::try_from(seconds).unwrap_or(1));
}

/// What a log on a bare `bigserial` does: the number is taken at the insert, the commit comes later.
#[tokio::test]
async fn the_same_checker_catches_a_log_on_a_bare_bigserial() {
    let database = TestDatabase::create().await;
    let mut setup = PgConnection::connect(&database.url).await.expect("connect");
    setup
        .execute("CREATE TABLE naive (position bigserial PRIMARY KEY, stream text, version bigint)")
        .await
        .expect("a naive log");
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let url = database.url.clone();
            tokio::spawn(async move {
                let mut connection = PgConnection::connect(&url).await.expect("connect");
                let mut acknowledged = Vec::new();
                for version in 1..=60_i64 {
                    let mut tx = connection.begin().await.expect("begin");
                    let position: i64 = sqlx::query_scalar(
                        "INSERT INTO naive (stream, version) VALUES ($1, $2) RETURNING position",
                    )
                    .bind(format!("s/{writer}"))
                    .bind(version)
                    .fetch_one(&mut *tx)
                    .await
                    .expect("insert");
                    sqlx::query("SELECT pg_sleep(random() * 0.01)")
                        .execute(&mut *tx)
                        .await
                        .expect("the work of a transaction");
                    tx.commit().await.expect("commit");
                    acknowledged.push(position);
                }
                acknowledged
            })
        })
        .collect();

    let url = database.url.clone();
    let (told, upto) = tokio::sync::watch::channel(None::<i64>);
    let reader = tokio::spawn(async move {
        let mut connection = PgConnection::connect(&url).await.expect("connect");
        let (mut seen, mut last) = (Seen::default(), 0_i64);
        loop {
            let wanted = *upto.borrow();
            let rows: Vec<(i64, String, i64)> = sqlx::query_as(
                "SELECT position, stream, version FROM naive WHERE position > $1 ORDER BY position",
            )
            .bind(last)
            .fetch_all(&mut connection)
            .await
            .expect("read");
            for (position, stream, version) in rows {
                seen.event(position, &stream, version);
                last = position;
            }
            if wanted.is_some_and(|end| last >= end) {
                return seen;
            }
        }
    });
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.extend(writer.await.expect("a writer ends"));
    }
    told.send(acknowledged.iter().max().copied()).expect("tell the reader");
    let violations = reader.await.expect("the reader ends").violations(&acknowledged);
    assert!(!violations.is_empty(), "the checker saw nothing wrong with a naive log");
}

#[tokio::test]
async fn a_hole_in_the_table_is_reported_and_never_stepped_over() {
    let database = TestDatabase::create().await;
    let writer = database.log().await;
    for n in 0..10 {
        let append = weir_tests::events::facts("facts", &[weir_tests::events::allowed(n)]);
        writer.log.append(append).await.expect("append");
    }
    let mut intruder = database.intruder().await;
    intruder.execute("DELETE FROM log.events WHERE position = 4").await.expect("tamper");
    let fault = writer.log.read(Position::START, 100).await.expect_err("a hole is an error");
    assert!(fault.to_string().contains("position 5 follows 3"), "{fault}");
}

#[tokio::test]
async fn partitions_lie_ahead_of_the_head_and_events_pass_from_one_to_the_next() {
    let database = TestDatabase::create().await;
    let small = LogOptions { partition_events: 1_000_000, ..LogOptions::default() };
    let log = database.log_with(database.database(2), &small).await;
    let mut intruder = database.intruder().await;
    // A log that is about to fill its first partition.
    let first_end: i64 = sqlx::query_scalar(
        "SELECT substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''(\\d+)''\\)')::bigint
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'log.events'::regclass ORDER BY 1 LIMIT 1",
    )
    .fetch_one(&mut intruder)
    .await
    .expect("the first partition");
    sqlx::query("UPDATE log.head SET position = $1")
        .bind(first_end - 3)
        .execute(&mut intruder)
        .await
        .expect("move the head");
    let before = partitions(&mut intruder).await;
    for n in 0..5 {
        let append = weir_tests::events::facts("facts", &[weir_tests::events::allowed(n)]);
        log.log.append(append).await.expect("append across the border");
    }
    weir_log::partition::ensure_ahead(log.log.database(), 1_000_000).await.expect("more");
    let after = partitions(&mut intruder).await;
    assert!(after > before, "{before} partitions, then {after}");
    let read = log.log.read(Position(first_end - 3), 10).await.expect("read across the border");
    assert_eq!(read.len(), 5);
}

async fn partitions(connection: &mut PgConnection) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM pg_inherits WHERE inhparent = 'log.events'::regclass")
        .fetch_one(connection)
        .await
        .expect("count partitions")
}

#[tokio::test]
async fn what_nobody_may_do_to_an_event_is_refused_by_the_database_itself() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let append = weir_tests::events::facts("facts", &[weir_tests::events::allowed(1)]);
    log.log.append(append).await.expect("append");
    let mut owner = PgConnection::connect(&database.url).await.expect("connect");
    for statement in [
        "UPDATE log.events SET kind = 1",
        "DELETE FROM log.events",
        "TRUNCATE log.events",
        "TRUNCATE log.events_000000000000000",
    ] {
        let refused = owner.execute(statement).await.expect_err(statement);
        assert!(refused.to_string().contains("immutable"), "{statement}: {refused}");
    }
    deadline::until("the event is still there", async || {
        match log.log.read(Position::START, 10).await {
            Ok(events) if events.len() == 1 => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

#[tokio::test]
async fn a_page_that_takes_too_long_gives_up_with_a_fault_that_passes() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    let mut other = sqlx::PgConnection::connect(&database.url).await.expect("connect");
    let mut held = other.begin().await.expect("begin");
    held.execute("LOCK TABLE log.events IN ACCESS EXCLUSIVE MODE").await.expect("lock");
    let filter = weir_log::read::Filter { kinds: vec![1], ..Default::default() };
    let page = log.log.page(&filter, Position::START, None, 10);
    let page = tokio::time::timeout(weir_tests::deadline::PATIENCE, page).await.expect("an end");
    match page {
        Err(weir_log::read::ReadFault::Database(fault)) => assert!(fault.passing(), "{fault:?}"),
        other => panic!("{other:?}"),
    }
    held.rollback().await.expect("let go");
    let page = log.log.page(&filter, Position::START, None, 10).await.expect("another page");
    assert_eq!(page.len(), 0);
}
