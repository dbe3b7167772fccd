//! A resend that overtakes nothing: its first sending is still under way inside the database, and
//! both come to the same end.

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use weir_events::{
    codec::EventSet,
    position::{Position, StreamVersion},
};
use weir_log::{
    LogOptions,
    append::{Append, Outcome},
    database::{Database, Pooler},
    idempotency::{CommandKey, Remember},
};
use weir_tests::{
    database::TestDatabase,
    deadline::until,
    events::{allowed, at_version, facts},
    proxy::Proxy,
};

/// Whoever moves the head waits for this, with its streams moved already.
const HOLD: &str = "BEGIN; SELECT position FROM log.head FOR UPDATE";

fn keyed(mut append: Append, key: &str) -> Append {
    let key = CommandKey::of("tester", key);
    let answer = "the answer".into();
    append.remember = Some(Remember { key, request_hash: [7; 32], answer });
    append
}

/// Waits until so many sessions of this database wait in `log.append`: for a row, or for the first
/// sending of their batch.
async fn n_wait(admin: &mut PgConnection, event: &str, n: i64) {
    let waiting = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE '%log.append(%'
            AND wait_event_type = 'Lock' AND wait_event = $1";
    until(&format!("{n} wait for {event}"), async || {
        let found: i64 =
            sqlx::query_scalar(waiting).bind(event).fetch_one(&mut *admin).await.expect("look");
        if found == n { Ok(()) } else { Err(found) }
    })
    .await;
}

async fn n_events(admin: &mut PgConnection, stream: &str) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM log.events WHERE stream = $1")
        .bind(stream)
        .fetch_one(admin)
        .await
        .expect("count the events")
}

/// The writer lost its connection, and the backend behind it knows nothing of that: without the
/// lock on the writer, the resend would find the stream moved by its own first sending, and call it
/// a conflict.
#[tokio::test]
async fn a_batch_sent_again_while_its_first_sending_is_held_up_is_written_once_and_told_so() {
    let database = TestDatabase::create().await;
    let proxy = Proxy::start(&database);
    let through = Database::new(&proxy.url, Pooler::None, 4).expect("an address");
    let log = database.log_with(through, &LogOptions::default()).await;
    log.log.append(facts("held", &[allowed(1)])).await.expect("now the writer is connected");
    let mut holder = PgConnection::connect(&database.url).await.expect("connect");
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    holder.execute(HOLD).await.expect("hold it up");
    let cut = proxy.cut_after(b"held-up-event");
    let append = {
        let mut append = at_version("held", 1, &[allowed(2)]);
        append.writes[0].events[0].payload = b"held-up-event"[..].into();
        keyed(append, "one")
    };
    let writing = {
        let log = log.log.clone();
        tokio::spawn(async move { log.append(append).await })
    };
    n_wait(&mut admin, "transactionid", 1).await;
    cut.send(()).expect("the proxy waits");
    n_wait(&mut admin, "advisory", 1).await;
    assert!(!writing.is_finished(), "nobody knows yet");
    holder.execute("COMMIT").await.expect("let go");
    let outcome = writing.await.expect("it ends").expect("an answer in spite of it");
    let Outcome::Appended(at) = outcome else { panic!("{outcome:?}") };
    assert_eq!((at.first, at.last), (Position(2), Position(2)));
    assert_eq!(at.versions, [StreamVersion(2)]);
    assert_eq!(n_events(&mut admin, "held").await, 2);
    let known = log.log.remembered(CommandKey::of("tester", "one")).await.expect("an answer");
    let known = known.expect("it is remembered");
    assert_eq!((known.first, known.last()), (at.first, at.last), "what a retry is told");
    assert_eq!(log.log.ask_head().await.expect("the head").position, Position(2));
}

/// The same at the function itself: the two sendings of one batch on two connections, of which the
/// second has to wait for the first and gets its answer.
#[tokio::test]
async fn both_sendings_of_a_batch_get_the_same_answer() {
    let database = TestDatabase::create().await;
    let mut holder = PgConnection::connect(&database.url).await.expect("connect");
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    let opened = database.log().await;
    opened.log.append(facts("s", &[allowed(1)])).await.expect("the stream exists");
    let register = "INSERT INTO log.writers (id, batch, first_position, bases)
        VALUES ('00000000-0000-0000-0000-000000000007', 0, 0, '{}')";
    admin.execute(register).await.expect("register a writer");
    holder.execute(HOLD).await.expect("hold it up");
    let payload = hex::encode(allowed(2).encode().expect("encode").payload);
    let send = |repeated: bool| {
        let (url, payload) = (database.url.clone(), payload.clone());
        tokio::spawn(async move {
            let mut connection = PgConnection::connect(&url).await.expect("connect");
            let statement = format!(
                "SELECT outcome::int, first, bases FROM log.append(
                    0::smallint, '00000000-0000-0000-0000-000000000007', 1, {repeated}, true,
                    ARRAY['s'], ARRAY[1::bigint], ARRAY[1::bigint],
                    '{{}}', '{{}}', '{{}}', '{{}}', '{{}}',
                    ARRAY['s'], ARRAY[1], ARRAY[1::bigint], ARRAY[16386], ARRAY[1::smallint],
                    ARRAY[decode('{payload}', 'hex')], ARRAY['\\x80'::bytea], ARRAY[now()],
                    ARRAY[decode(repeat('07', 32), 'hex')])"
            );
            let row: (i32, i64, Vec<i64>) = sqlx::query_as(AssertSqlSafe(statement))
                .fetch_one(&mut connection)
                .await
                .expect("an answer");
            row
        })
    };
    let first = send(false);
    n_wait(&mut admin, "transactionid", 1).await;
    let second = send(true);
    n_wait(&mut admin, "advisory", 1).await;
    holder.execute("COMMIT").await.expect("let go");
    let (first, second) = (first.await.expect("it ends"), second.await.expect("it ends"));
    assert_eq!(first, (0, 2, vec![1]), "written");
    assert_eq!(second, (1, 2, vec![1]), "written before, and where");
    assert_eq!(n_events(&mut admin, "s").await, 2);
}

/// A client that heard nothing asks another instance, with the key it used before.
#[tokio::test]
async fn a_command_repeated_at_another_instance_while_the_first_is_held_up_gets_the_first_answer() {
    let database = TestDatabase::create().await;
    let (one, other) = (database.log().await, database.log().await);
    for log in [&one, &other] {
        log.log.append(facts("known", &[allowed(1)])).await.expect("now it is connected");
    }
    let mut holder = PgConnection::connect(&database.url).await.expect("connect");
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    holder.execute(HOLD).await.expect("hold it up");
    let send = |log: &weir_log::Log, n: u64| {
        let (log, append) = (log.clone(), keyed(facts("repeated", &[allowed(n)]), "same"));
        tokio::spawn(async move { log.append(append).await.expect("an answer") })
    };
    let first = send(&one.log, 1);
    n_wait(&mut admin, "transactionid", 1).await;
    let second = send(&other.log, 1);
    n_wait(&mut admin, "transactionid", 2).await;
    holder.execute("COMMIT").await.expect("let go");
    let (first, second) = (first.await.expect("it ends"), second.await.expect("it ends"));
    let Outcome::Appended(at) = first else { panic!("{first:?}") };
    let Outcome::Duplicate(known) = second else { panic!("{second:?}") };
    assert_eq!((known.first, known.last()), (at.first, at.last));
    assert_eq!(&*known.answer, b"the answer");
    assert_eq!(n_events(&mut admin, "repeated").await, 1);
}

/// Clients that make the same record at once cost their neighbours nothing: each twin alone would
/// send the batch of all others round again.
#[tokio::test]
async fn many_repetitions_of_one_command_do_not_hold_up_other_appends() {
    let database = TestDatabase::create().await;
    let opened = database.log().await;
    opened.log.append(keyed(facts("twins", &[allowed(0)]), "same")).await.expect("the first");
    let mut holder = PgConnection::connect(&database.url).await.expect("connect");
    let mut admin = PgConnection::connect(&database.url).await.expect("connect");
    holder.execute(HOLD).await.expect("let them gather");
    let send = |append: Append| {
        let log = opened.log.clone();
        tokio::spawn(async move { log.append(append).await })
    };
    let held_up = send(facts("before", &[allowed(0)]));
    n_wait(&mut admin, "transactionid", 1).await;
    let others = (0..10).map(|n| send(facts("others", &[allowed(n)]))).collect::<Vec<_>>();
    let twins = (0..120).map(|n| send(keyed(facts("twins", &[allowed(n)]), "same")));
    let twins = twins.collect::<Vec<_>>();
    // On one thread, every task has put its append into the queue when this one has its turn again.
    tokio::task::yield_now().await;
    holder.execute("COMMIT").await.expect("let go");
    held_up.await.expect("it ends").expect("written");
    for other in others {
        let outcome = other.await.expect("it ends").expect("none of them is turned away");
        assert!(matches!(outcome, Outcome::Appended(_)), "{outcome:?}");
    }
    for twin in twins {
        let outcome = twin.await.expect("it ends").expect("an answer");
        assert!(matches!(outcome, Outcome::Duplicate(_)), "{outcome:?}");
    }
    assert_eq!(n_events(&mut admin, "twins").await, 1);
    assert_eq!(n_events(&mut admin, "others").await, 10);
}
