//! Tamper evidence: one changed byte is named by position, a rewritten or cut-off tail by range.

use sqlx::{Executor, PgConnection, Row};
use weir_events::{position::Position, timestamp::Timestamp};
use weir_log::{
    Log,
    seal::{SealKey, seal_next},
    verify::{Finding, Report, VerifyOptions},
};
use weir_tests::{
    database::{TestDatabase, TestLog},
    deadline::until,
    events::{allowed, blocked, facts},
};

async fn sealed(database: &TestDatabase, n: u64) -> TestLog {
    let log = database.log().await;
    for chunk in (0..n).collect::<Vec<_>>().chunks(100) {
        let events: Vec<_> =
            chunk.iter().map(|&n| if n % 3 == 0 { blocked(n) } else { allowed(n) }).collect();
        let stream = format!("facts/{}", chunk[0] % 700);
        log.log.append(facts(&stream, &events)).await.expect("append");
    }
    let key = SealKey::from_bytes(&[7; 32]);
    let now = Timestamp::from_micros(1_795_824_000_000_000);
    while seal_next(log.log.database(), &key, now).await.expect("seal").is_some() {}
    log
}

async fn verify(log: &Log) -> Report {
    log.verify(VerifyOptions::default(), |_, _| ()).await.expect("verify")
}

async fn run(intruder: &mut PgConnection, statement: &str) {
    intruder.execute(sqlx::AssertSqlSafe(statement.to_owned())).await.expect("tamper");
}

#[tokio::test]
async fn an_untouched_log_verifies_and_its_unsealed_rest_is_shown_as_such() {
    let database = TestDatabase::create().await;
    let log = sealed(&database, 2_500).await;
    log.log.append(facts("later", &[allowed(1)])).await.expect("append");
    let report = verify(&log.log).await;
    assert!(report.good(), "{:?}", report.findings);
    assert_eq!((report.n_events, report.n_seals), (2_501, 3));
    assert_eq!((report.sealed_to, report.head), (Position(2_500), Position(2_501)));
}

/// Neither what is appended nor what is sealed while it looks is taken for a tamperer's work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_written_and_sealed_while_it_is_verified_verifies() {
    let database = TestDatabase::create().await;
    let log = sealed(&database, 6_000).await;
    let writers = [database.log().await, database.log().await];
    let mut busy = tokio::task::JoinSet::new();
    for (n, writer) in writers.iter().enumerate() {
        let writer = writer.log.clone();
        busy.spawn(async move {
            for nth in 0.. {
                let own = facts(&format!("own/{n}"), &[allowed(nth), blocked(nth)]);
                writer.append(own).await.expect("append");
                writer.append(facts("shared", &[allowed(nth)])).await.expect("append");
            }
        });
    }
    let sealing = log.log.clone();
    busy.spawn(async move {
        let key = SealKey::from_bytes(&[7; 32]);
        for at in 1_795_824_000_000_001.. {
            let now = Timestamp::from_micros(at);
            seal_next(sealing.database(), &key, now).await.expect("seal");
        }
    });
    let mut n_moved = 0;
    for round in 0..10 {
        let report = verify(&log.log).await;
        assert!(report.good(), "round {round}: {:?}", report.findings);
        let head = log.log.ask_head().await.expect("the head").position;
        n_moved += u32::from(report.head < head);
        // The next round has other events and other seals to look at.
        until("it is sealed further", async || {
            let seal = log.log.last_seal().await.expect("seals").expect("a seal");
            if seal.last > report.head { Ok(()) } else { Err(seal.last) }
        })
        .await;
    }
    assert!(n_moved > 0, "the log never moved while it was verified");
    assert!(busy.try_join_next().is_none(), "writers and sealer went on to the end");
    busy.shutdown().await;
}

/// A byte is flipped in one column of one row, as a disk or a tamperer does it; verify must name
/// that very position; then the byte is put back.
#[tokio::test]
async fn each_of_a_thousand_one_byte_changes_is_named_by_its_position() {
    let database = TestDatabase::create().await;
    let log = sealed(&database, 1_000).await;
    let mut intruder = database.intruder().await;
    let columns = [
        "set payload = set_byte(payload, $BYTE % length(payload), get_byte(payload, $BYTE % length(payload)) # (1 << $BIT))",
        "set meta = set_byte(meta, $BYTE % length(meta), get_byte(meta, $BYTE % length(meta)) # (1 << $BIT))",
        "set hash = set_byte(hash, $BYTE % 32, get_byte(hash, $BYTE % 32) # (1 << $BIT))",
        "set kind = kind # (1 << $BIT)",
        "set schema = schema # (2 << ($BIT % 8))",
        "set version = version # (1024 << $BIT)",
        "set recorded_at = recorded_at + interval '1 microsecond' * (1 << $BIT)",
        "set stream = overlay(stream placing chr(ascii(substr(stream, $BYTE % length(stream) + 1)) # 1) from $BYTE % length(stream) + 1)",
    ];
    // Whoever writes past every rule does not keep the unique index either.
    run(&mut intruder, "DROP INDEX log.events_000000000000000_stream_version_idx").await;
    let keep = "CREATE TEMP TABLE kept AS SELECT * FROM log.events WHERE position = ";
    for n in 0..1_000_u32 {
        // Every position once, every column in turn, bytes and bits all over.
        let position = i64::from((n * 617) % 1_000) + 1;
        let change = columns[n as usize % columns.len()]
            .replace("$BYTE", &(n * 31 % 997).to_string())
            .replace("$BIT", &(n * 7 % 8).to_string());
        run(&mut intruder, &format!("{keep}{position}")).await;
        run(&mut intruder, &format!("UPDATE log.events {change} WHERE position = {position}"))
            .await;
        let report = verify(&log.log).await;
        let named = report.findings.iter().any(|finding| match finding {
            Finding::Changed { position: at } | Finding::VersionBroken { position: at, .. } => {
                at.0 == position
            }
            Finding::Missing { first, last } => first.0 == position && last.0 == position,
            _ => false,
        });
        assert!(named, "change {n} at {position} ({change}): {:?}", report.findings);
        let first = report.findings.iter().find_map(|finding| match finding {
            Finding::Changed { position }
            | Finding::VersionBroken { position, .. }
            | Finding::Missing { first: position, .. } => Some(position.0),
            _ => None,
        });
        assert_eq!(first, Some(position), "the first position named is the changed one");
        run(
            &mut intruder,
            &format!(
                "DELETE FROM log.events WHERE position = {position};
                 INSERT INTO log.events SELECT * FROM kept; DROP TABLE kept"
            ),
        )
        .await;
    }
    assert!(verify(&log.log).await.good(), "every change was put back");
}

#[tokio::test]
async fn a_tail_that_was_cut_off_is_found_against_the_last_seal() {
    let database = TestDatabase::create().await;
    let log = sealed(&database, 1_500).await;
    let mut intruder = database.intruder().await;
    run(&mut intruder, "DELETE FROM log.events WHERE position > 1400").await;
    let hole = verify(&log.log).await;
    let missing = Finding::Missing { first: Position(1_401), last: Position(1_500) };
    assert!(hole.findings.contains(&missing), "{:?}", hole.findings);
    // A cleverer one moves the head back too.
    run(&mut intruder, "UPDATE log.head SET position = 1400").await;
    let cut = verify(&log.log).await;
    let truncated = Finding::Truncated { head: Position(1_400), sealed_to: Position(1_500) };
    assert!(cut.findings.contains(&truncated), "{:?}", cut.findings);
}

#[tokio::test]
async fn an_event_rewritten_with_its_leaf_is_found_by_its_seal_and_a_forged_seal_by_its_signature()
{
    let database = TestDatabase::create().await;
    let log = sealed(&database, 2_000).await;
    let mut intruder = database.intruder().await;
    // Row 1,234 becomes a copy of its neighbour, leaf and all: it fits itself.
    run(
        &mut intruder,
        "UPDATE log.events e SET payload = o.payload, meta = o.meta, hash = o.hash, kind = o.kind
         FROM log.events o WHERE o.position = 1235 AND e.position = 1234 AND o.stream = e.stream",
    )
    .await;
    let report = verify(&log.log).await;
    let resealed = Finding::Resealed { first: Position(1_001), last: Position(2_000) };
    assert_eq!(report.findings, [resealed]);

    // A still cleverer one signs a new seal with a key of his own.
    let row = intruder
        .fetch_one("SELECT count(*) AS n FROM log.seals WHERE last_position = 2000")
        .await
        .expect("the seal");
    assert_eq!(row.get::<i64, _>("n"), 1);
    run(&mut intruder, "DELETE FROM log.seals WHERE last_position = 2000").await;
    let forger = SealKey::from_bytes(&[9; 32]);
    let now = Timestamp::from_micros(1_795_824_000_000_001);
    seal_next(log.log.database(), &forger, now).await.expect("forge").expect("a seal");
    let trusted = vec![SealKey::from_bytes(&[7; 32]).public()];
    let options = VerifyOptions { trusted, ..VerifyOptions::default() };
    let report = log.log.verify(options, |_, _| ()).await.expect("verify");
    assert!(
        matches!(report.findings[..], [Finding::SealUntrusted { last: Position(2_000), .. }]),
        "{:?}",
        report.findings
    );
}

#[tokio::test]
async fn a_hole_is_never_sealed_over() {
    let database = TestDatabase::create().await;
    let log = database.log().await;
    log.log.append(facts("f", &(0..10).map(allowed).collect::<Vec<_>>())).await.expect("append");
    run(&mut database.intruder().await, "DELETE FROM log.events WHERE position = 5").await;
    let key = SealKey::from_bytes(&[7; 32]);
    let refused = seal_next(log.log.database(), &key, Timestamp::EPOCH).await.expect_err("a hole");
    assert!(refused.to_string().contains("position 5 is missing"), "{refused}");
}
